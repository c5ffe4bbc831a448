"""An order book as people read it: the cumulative size at each level, and the spread."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from itertools import groupby
from typing import Literal

from exchange_ops.market.models import BookSnapshot

ZERO = Decimal(0)
GROUPS = (1, 5, 10, 50, 100)  # how many ticks may stand in one row
Side = Literal["ask", "bid"]


@dataclass(frozen=True, slots=True)
class Step:
    """One level with the cumulative size up to it: `total` in the base currency, `worth` in the quote currency."""

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
        """The total size of the larger side."""
        return max((side[-1].total for side in (self.ask, self.bid) if side), default=ZERO)

    @property
    def gap(self) -> Decimal | None:
        """The spread between the best prices; None where a side is empty."""
        return self.ask[0].price - self.bid[0].price if self.ask and self.bid else None

    @property
    def middle(self) -> Decimal | None:
        """The middle of the best prices; None where a side is empty."""
        return (self.ask[0].price + self.bid[0].price) / 2 if self.ask and self.bid else None

    def top(self, count: int) -> "Ladder":
        """Only the best `count` levels of each side."""
        return Ladder(self.ask[:count], self.bid[:count])


@dataclass(frozen=True, slots=True)
class Rung:
    """A row of the ladder on a page: a level, or an empty row; `own` is the size of our orders in it."""

    step: Step | None
    own: Decimal | None = None


def rungs(side: tuple[Step, ...], *, least: int = 0, own: Mapping[Decimal, Decimal] | None = None) -> list[Rung]:
    """The levels of one side as rows, at least so many of them."""
    rows = [Rung(step, (own or {}).get(step.price)) for step in side]
    return rows + [Rung(None)] * (least - len(rows))


def grouped(ladder: Ladder, step: Decimal) -> Ladder:
    """Levels grouped to multiples of `step`, rounded away from the middle so that no price looks better than it is."""
    return Ladder(_grouped(ladder.ask, "ask", step), _grouped(ladder.bid, "bid", step))


def row_of(price: Decimal, *, side: Side, step: Decimal) -> Decimal:
    """The multiple of `step` in whose row a price of this side stands."""
    count = (price / step).to_integral_value(rounding=ROUND_CEILING if side == "ask" else ROUND_FLOOR)
    return count * step


def _grouped(steps: tuple[Step, ...], side: Side, step: Decimal) -> tuple[Step, ...]:
    rows = []
    for price, group in groupby(steps, key=lambda one: row_of(one.price, side=side, step=step)):
        levels = list(group)
        rows.append(Step(price, sum((one.size for one in levels), ZERO), levels[-1].total, levels[-1].worth))
    return tuple(rows)


def ladder(*, book: BookSnapshot | None) -> Ladder:
    """The levels of a stored book with their running totals; empty sides where there is none."""
    return Ladder() if book is None else Ladder(_steps(book.ask), _steps(book.bid))


def _steps(levels: Iterable[list[str]]) -> tuple[Step, ...]:
    steps, total, worth = [], ZERO, ZERO
    for price, size in ((Decimal(price), Decimal(size)) for price, size in levels):
        total, worth = total + size, worth + price * size
        steps.append(Step(price, size, total, worth))
    return tuple(steps)
