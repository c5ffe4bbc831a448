"""An order book as people read it: what can be had up to each level, and how far apart the sides are."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from exchange_ops.market.models import BookSnapshot

ZERO = Decimal(0)


@dataclass(frozen=True, slots=True)
class Step:
    """One level with everything between it and the best one: `total` of the base currency, `worth` of the quote."""

    price: Decimal
    size: Decimal
    total: Decimal
    worth: Decimal


@dataclass(frozen=True, slots=True)
class Ladder:
    """Both sides, best level first."""

    ask: tuple[Step, ...] = ()
    bid: tuple[Step, ...] = ()

    @property
    def deepest(self) -> Decimal:
        """The larger of what both sides offer in all."""
        return max((side[-1].total for side in (self.ask, self.bid) if side), default=ZERO)

    @property
    def gap(self) -> Decimal | None:
        """The distance of the best prices; None where a side is empty."""
        return self.ask[0].price - self.bid[0].price if self.ask and self.bid else None

    @property
    def middle(self) -> Decimal | None:
        """The middle of the best prices; None where a side is empty."""
        return (self.ask[0].price + self.bid[0].price) / 2 if self.ask and self.bid else None

    def top(self, count: int) -> "Ladder":
        """Only the best `count` levels of each side."""
        return Ladder(self.ask[:count], self.bid[:count])


def ladder(*, book: BookSnapshot | None) -> Ladder:
    """The levels of a kept book with their running totals; empty sides where there is none."""
    return Ladder() if book is None else Ladder(_steps(book.ask), _steps(book.bid))


def _steps(levels: Iterable[list[str]]) -> tuple[Step, ...]:
    steps, total, worth = [], ZERO, ZERO
    for price, size in ((Decimal(price), Decimal(size)) for price, size in levels):
        total, worth = total + size, worth + price * size
        steps.append(Step(price, size, total, worth))
    return tuple(steps)
