"""An exchange that may do with an order whatever exchanges do, and what a desk gets to know of that.

Beside each fact stands what the desk believes. A replacement takes the old order's place in one step and has what that
had filled; the call may be lost before or after that, or come late; what the desk is told may be wrong.
"""

from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from exchange_ops.orders.brackets import chains
from exchange_ops.orders.brackets.chains import Link, Presence

ZERO = Decimal(0)
LOST_BEFORE, LOST_AFTER, LATE, ACCEPTED, REFUSED, NEVER_LEFT = (
    "lost before", "lost after", "late", "accepted", "refused", "never left",
)  # fmt: skip
DENIED = "refused, and there"
FATES = (ACCEPTED, REFUSED, NEVER_LEFT, LOST_BEFORE, LOST_AFTER, LATE)


@dataclass(eq=False)
class Order:
    """One order: `open` and `filled` are the exchange's facts, what is `seen_` and `presence` the desk's belief."""

    number: int
    quantity: Decimal
    since: datetime
    replaces: "Order | None" = None
    fate: str = ""  # empty while it was not sent
    on_its_way: bool = True
    taken_in: bool = False
    open: bool = False
    filled: Decimal = ZERO
    presence: Presence = Presence.COMING
    seen_open: bool = False
    seen_filled: Decimal = ZERO
    final: bool = False
    cancelling: bool = False

    @property
    def left(self) -> Decimal:
        """What the exchange may still fill."""
        return max(self.quantity - self.filled, ZERO) if self.open else ZERO

    @property
    def link(self) -> Link:
        """What the desk knows of it."""
        return Link(
            number=self.number,
            quantity=self.quantity,
            filled=self.seen_filled,
            presence=self.presence,
            since=self.since,
            replaces=self.replaces.number if self.replaces else None,
            open=self.seen_open,
            final=self.final,
        )

    def arrive(self) -> bool:
        """The exchange takes it in, if it can: whether it did. A call acts once."""
        self.on_its_way, old = False, self.replaces
        if old is not None:
            if not old.open:
                return False
            old.open = False
            if self.quantity <= old.filled:
                return False
            self.filled = old.filled
        self.taken_in = self.open = True
        return True

    def show(self) -> None:
        """The desk sees it as it is, and so that what it replaced is over."""
        self.presence = Presence.THERE
        self.look_again()
        if self.replaces is not None:
            self.replaces.seen_open = False

    def look_again(self) -> None:
        """The desk sees it anew, if it knows it."""
        if self.presence is Presence.THERE:
            self.seen_open, self.seen_filled = self.open, self.filled
            # Filled whole: nothing took its place.
            self.final = self.final or (not self.open and self.filled == self.quantity)


@dataclass(eq=False)
class Family:
    """An order and everything that was to replace it. Moments are counted, since several things happen in one."""

    role: str
    at: datetime
    orders: list[Order] = field(default_factory=list)
    settled_at: datetime | None = None
    settled: int = 0
    changed: int = 0
    read: int = 0
    denied: bool = False

    @property
    def filled(self) -> Decimal:
        """What the exchange filled of it: each order has what the one before it had."""
        return max(order.filled for order in self.orders)

    @property
    def left(self) -> Decimal:
        """What the exchange may still fill of it."""
        return sum((order.left for order in self.orders), ZERO)

    @property
    def links(self) -> list[Link]:
        """What the desk knows of its orders."""
        return [order.link for order in self.orders]

    @property
    def head(self) -> Order:
        """The order that counts, to the desk."""
        number = chains.head_of(self.links).number
        return next(order for order in self.orders if order.number == number)

    def working(self) -> list[Order]:
        """What the desk would cancel."""
        head = chains.head_of(self.links)
        numbers = {head.number, *(heir.number for heir in chains.heirs_of(head, self.links))}
        return [order for order in self.orders if order.number in numbers]

    def cancel(self) -> None:
        """The desk has what works of it cancelled."""
        for order in self.working():
            order.cancelling = order.presence is Presence.THERE and order.seen_open

    def send(self, order: Order, fate: str) -> None:
        """The desk's one call for an order, and what it hears of it at once."""
        old = order.replaces
        if old is not None and (old.cancelling or not old.seen_open):
            fate = NEVER_LEFT  # the desk itself looks once more
        order.fate = fate
        if fate in {LOST_BEFORE, NEVER_LEFT, REFUSED}:
            order.on_its_way = False
        elif fate != LATE:
            arrived = order.arrive()
            if not arrived and fate in {ACCEPTED, DENIED}:
                order.fate = fate = REFUSED
        if fate == ACCEPTED:
            order.show()
        elif fate in {REFUSED, NEVER_LEFT, DENIED}:
            order.presence = Presence.ABSENT
            self.denied = self.denied or fate == DENIED
            if old is not None and fate == REFUSED:
                old.look_again()

    def known_left(self) -> Decimal:
        """What the desk believes to rest of it."""
        return sum((max(order.quantity - order.seen_filled, ZERO) for order in self.orders if order.seen_open), ZERO)


def every(families: list[Family]) -> list[tuple[Family, Order]]:
    """Each order with its family."""
    return [(family, order) for family in families for order in family.orders]


def some(things: list[Any], number: int) -> Any:
    """One of them, or nothing where there is none."""
    return things[number % len(things)] if things else None
