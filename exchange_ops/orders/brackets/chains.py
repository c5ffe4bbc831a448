"""What is left to fill of a bracket's order, counted with everything that replaced it or may have: data in, data out.

The exchange cancels the old order and places the new one in one step, so exactly one of the two is there at any moment,
and the new one carries what the old one had filled (exchange REST, Spot orders; supplement 1.4). The replacement counts
once the exchange has it. Until then the original counts, and while nobody knows which of them is there, both count.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Final

from desk import clock

ZERO: Final = Decimal(0)
PATIENCE: Final = timedelta(minutes=2)  # how long an order that was sent counts as a guard without an answer


class Presence(StrEnum):
    """Whether the exchange has an order, as far as the desk knows."""

    THERE = "there"
    COMING = "coming"  # on its way, or being looked for
    NOT_SEEN = "not_seen"  # looked for, which is no proof
    ABSENT = "absent"  # refused, or it never left the desk


@dataclass(frozen=True, slots=True)
class Link:
    """One order of a chain as last read. Quantities are in the base currency; `quantity` includes what was filled.

    `replaces` is the number of the order that it replaces. `open`: it is at the exchange and can be filled. `final`: it
    was filled, expired, or cancelled by System with the exchange's consent, so nothing replaced it and nothing can.
    `since` is when it was requested; None while it waits for a person.
    """

    number: int
    quantity: Decimal
    filled: Decimal
    presence: Presence
    since: datetime | None
    replaces: int | None = None
    open: bool = False
    final: bool = False

    @property
    def is_there(self) -> bool:
        """Whether the exchange has or had it."""
        return self.presence is Presence.THERE


@dataclass(frozen=True, slots=True)
class Chain:
    """An order together with everything that was to replace it; quantities in the base currency.

    `number` is the order that counts, `quantity` its full quantity, `rests` what remains of it while it is open.
    `least` is what it closes or guards for certain, `most` what may still be filled. `open`: some of it may be filled,
    or the desk is still finding out. `coming` are the numbers of orders on their way, `unseen` those of orders that
    were not seen at the exchange and may be there all the same; `since` is when the oldest in `coming` was requested.
    """

    number: int
    quantity: Decimal
    filled: Decimal
    open: bool
    rests: Decimal = ZERO
    least: Decimal = ZERO
    most: Decimal = ZERO
    coming: tuple[int, ...] = ()
    unseen: tuple[int, ...] = ()
    since: datetime | None = None

    @property
    def remaining(self) -> Decimal:
        """What is not filled of the order that counts."""
        return max(self.quantity - self.filled, ZERO)

    @property
    def is_lost(self) -> bool:
        """Whether an order of it may be at the exchange although none is known to be."""
        return not self.open and bool(self.unseen)

    @property
    def is_in_doubt(self) -> bool:
        """Whether it works, while a larger order that was to replace it was not seen."""
        return self.open and not self.coming and self.most > self.least

    def is_overdue(self, now: datetime) -> bool:
        """Whether an order has been on its way for too long to be relied on."""
        return _is_overdue(self.since, now)


def _is_overdue(since: datetime | None, now: datetime) -> bool:
    return since is not None and (now - since > PATIENCE or clock.is_future(since, now))


def head_of(links: Sequence[Link]) -> Link:
    """The order that counts: the newest replacement that the exchange is known to have, else the first order."""
    head = links[0]
    while after := [link for link in links if link.replaces == head.number and link.is_there]:
        head = after[-1]
    return head


def heirs_of(head: Link, links: Iterable[Link]) -> list[Link]:
    """The orders that may have replaced the one that counts, or still may."""
    if head.final:
        return []
    return [
        link for link in links if link.replaces == head.number and link.presence in {Presence.COMING, Presence.NOT_SEEN}
    ]


def comes_to(links: Sequence[Link], *, now: datetime) -> Chain:
    """The chain of these links: the first order first, its replacements in the order of their numbers."""
    head, filled = head_of(links), max(link.filled for link in links)
    candidates = heirs_of(head, links) if head.is_there else [head]
    coming = [link for link in candidates if link.presence is Presence.COMING]
    unseen = [link for link in candidates if link.presence is Presence.NOT_SEEN]
    rests = max(head.quantity - filled, ZERO) if head.open else ZERO
    may_be = [max(link.quantity - filled, ZERO) for link in (*coming, *unseen)]
    on_the_way = [max(link.quantity - filled, ZERO) for link in coming]
    since = min((link.since for link in coming if link.since is not None), default=None)
    if head.open:
        least = min([rests, *on_the_way])
    elif _is_overdue(since, now):
        least = ZERO  # nothing but what is on its way would guard it
    else:
        least = min(on_the_way, default=ZERO)
    return Chain(
        number=head.number,
        quantity=head.quantity,
        filled=filled,
        open=head.open or bool(coming),
        rests=rests,
        least=least,
        most=max([rests, *may_be]),
        coming=tuple(link.number for link in coming),
        unseen=tuple(link.number for link in unseen),
        since=since,
    )
