"""What was earned on one coin: lots that were bought or came in, and what their sale brought. Pure functions.

Two methods: first in, first out takes the oldest lot; average cost takes the same part of everything that is held. A
lot may have no known cost, and what left may have no known price: neither is guessed, each is counted apart. Costs and
proceeds are in one quote currency, fees included by whoever makes the movements. All is exact to `PLACES`: what a
division leaves over stays with the rest of the lot, so that nothing is lost and both methods agree in total once
everything is sold.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import ROUND_HALF_EVEN, Context, Decimal, localcontext
from typing import Final, Protocol

ZERO: Final = Decimal(0)
PLACES: Final = Decimal(1).scaleb(-24)
_EXACT: Final = Context(prec=120, rounding=ROUND_HALF_EVEN)
FIFO, AVERAGE = "fifo", "average"
METHODS: Final = {FIFO: "First in, first out", AVERAGE: "Average cost"}


@dataclass(frozen=True, slots=True)
class Movement:
    """What one event did to the coin: `quantity` came in (above zero) or left (below).

    `value` is what was paid for it or received, after fees, and None where no price is known; `fee` is what of it were
    fees, for display.
    """

    at: datetime
    quantity: Decimal
    value: Decimal | None
    fee: Decimal = ZERO


@dataclass(frozen=True, slots=True)
class Lot:
    """What is held of one purchase or arrival. `at` is None for what was there before the history begins."""

    at: datetime | None
    quantity: Decimal
    cost: Decimal | None


@dataclass(slots=True)
class Day:
    """What one day brought."""

    realised: Decimal = ZERO
    fees: Decimal = ZERO


@dataclass(slots=True)
class Book:
    """The outcome. `opening` was there before the first movement, at no known cost; `unexplained` left without one.

    `sold_without_cost` left for `proceeds_without_cost`, its cost unknown; `left_without_price` had cost
    `cost_without_price` and left at no known price. Neither is in `realised`.
    """

    lots: list[Lot] = field(default_factory=list)
    realised: Decimal = ZERO
    fees: Decimal = ZERO
    sold_without_cost: Decimal = ZERO
    proceeds_without_cost: Decimal = ZERO
    left_without_price: Decimal = ZERO
    cost_without_price: Decimal = ZERO
    opening: Decimal = ZERO
    unexplained: Decimal = ZERO
    days: dict[date, Day] = field(default_factory=dict)

    @property
    def quantity(self) -> Decimal:
        """Everything that is held."""
        return _EXACT.plus(sum((lot.quantity for lot in self.lots), ZERO))

    @property
    def known_quantity(self) -> Decimal:
        """What is held of it at a known cost."""
        return sum((lot.quantity for lot in self.lots if lot.cost is not None), ZERO)

    @property
    def cost(self) -> Decimal:
        """The cost of that."""
        return sum((lot.cost for lot in self.lots if lot.cost is not None), ZERO)


class _Holding(Protocol):
    def add(self, lot: Lot) -> None: ...
    def take(self, quantity: Decimal) -> list[Lot]: ...
    def rest(self) -> list[Lot]: ...


def book(movements: Iterable[Movement], *, balance: Decimal, method: str) -> Book:
    """The lots and what was realised, by `method`; the quantities of the lots add up to `balance`, what is held.

    Movements of one moment count in the order in which they come.
    """
    with localcontext(_EXACT):
        ordered = sorted(movements, key=lambda movement: movement.at)
        found, holding = Book(), _METHODS[method]()
        found.opening, found.unexplained = _missing(ordered, balance)
        if found.opening:
            holding.add(Lot(None, found.opening, None))
        for movement in ordered:
            _apply(found, holding, movement)
        if found.unexplained:
            holding.take(found.unexplained)
        found.lots = holding.rest()
        return found


def unrealised(*, quantity: Decimal, cost: Decimal, price: Decimal | None) -> Decimal | None:
    """What a sale of `quantity` at `price` would bring above its cost; None without a price."""
    with localcontext(_EXACT):
        return None if price is None else _cut(quantity * price) - cost


def _missing(movements: Sequence[Movement], balance: Decimal) -> tuple[Decimal, Decimal]:
    """What must have been there before, so that nothing left that was not there; and what must have left unseen."""
    running = lowest = ZERO
    for movement in movements:
        running += movement.quantity
        lowest = min(lowest, running)
    opening = max(balance - running, -lowest)
    return opening, opening + running - balance


def _apply(found: Book, holding: _Holding, movement: Movement) -> None:
    day = found.days.setdefault(movement.at.date(), Day())
    found.fees += movement.fee
    day.fees += movement.fee
    if movement.quantity > 0:
        holding.add(Lot(movement.at, movement.quantity, movement.value))
    elif movement.quantity < 0:
        before = found.realised
        _dispose(found, holding.take(-movement.quantity), movement.value)
        day.realised += found.realised - before


def _dispose(found: Book, parts: list[Lot], proceeds: Decimal | None) -> None:
    """Divide what was received among the parts of the lots that left, the last one taking what is left over."""
    left_quantity, left_proceeds = sum((part.quantity for part in parts), ZERO), proceeds
    for number, part in enumerate(parts, start=1):
        if left_proceeds is None:
            found.left_without_price += part.quantity
            found.cost_without_price += part.cost or ZERO
            continue
        is_last = number == len(parts)
        share = left_proceeds if is_last else _cut(left_proceeds * part.quantity / left_quantity)
        left_quantity, left_proceeds = left_quantity - part.quantity, left_proceeds - share
        if part.cost is None:
            found.sold_without_cost += part.quantity
            found.proceeds_without_cost += share
        else:
            found.realised += share - part.cost


class _FirstInFirstOut:
    """The oldest lot leaves first."""

    def __init__(self) -> None:
        self._lots: deque[Lot] = deque()

    def add(self, lot: Lot) -> None:
        self._lots.append(lot)

    def take(self, quantity: Decimal) -> list[Lot]:
        taken = []
        while quantity:
            lot = self._lots.popleft()
            part = lot
            if lot.quantity > quantity:
                part, rest = _split(lot, quantity)
                self._lots.appendleft(rest)
            taken.append(part)
            quantity -= part.quantity
        return taken

    def rest(self) -> list[Lot]:
        return list(self._lots)


class _AverageCost:
    """The same part of what has a known cost and of what has none leaves; within each, every unit costs the same."""

    def __init__(self) -> None:
        self._known = Lot(None, ZERO, ZERO)
        self._unknown = Lot(None, ZERO, None)

    def add(self, lot: Lot) -> None:
        if lot.cost is None:
            self._unknown = _joined(self._unknown, lot)
        else:
            self._known = _joined(self._known, lot)

    def take(self, quantity: Decimal) -> list[Lot]:
        whole = self._known.quantity + self._unknown.quantity
        known = min(_cut(quantity * self._known.quantity / whole), quantity, self._known.quantity)
        known = max(known, quantity - self._unknown.quantity)
        first, self._known = _split(self._known, known)
        second, self._unknown = _split(self._unknown, quantity - known)
        return [part for part in (first, second) if part.quantity]

    def rest(self) -> list[Lot]:
        return [lot for lot in (self._known, self._unknown) if lot.quantity]


_METHODS: Final[dict[str, Callable[[], _Holding]]] = {FIFO: _FirstInFirstOut, AVERAGE: _AverageCost}


def _split(lot: Lot, quantity: Decimal) -> tuple[Lot, Lot]:
    """What is taken of a lot, and its rest. The rest keeps what the division of the cost leaves over."""
    if lot.cost is None:
        return Lot(lot.at, quantity, None), Lot(lot.at, lot.quantity - quantity, None)
    cost = lot.cost if quantity == lot.quantity else _cut(lot.cost * quantity / lot.quantity)
    return Lot(lot.at, quantity, cost), Lot(lot.at, lot.quantity - quantity, lot.cost - cost)


def _joined(lot: Lot, other: Lot) -> Lot:
    cost = None if lot.cost is None or other.cost is None else lot.cost + other.cost
    return Lot(lot.at or other.at, lot.quantity + other.quantity, cost)


def _cut(value: Decimal) -> Decimal:
    return value.quantize(PLACES, rounding=ROUND_HALF_EVEN)
