"""An order book as people read it: what can be had up to each level, and how far apart the sides are."""

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


@dataclass(frozen=True, slots=True)
class Rung:
    """A row of the ladder as it is shown: a level, or none where it only keeps its place; `own` of it is ours."""

    step: Step | None
    own: Decimal | None = None


def rungs(side: tuple[Step, ...], *, least: int = 0, own: Mapping[Decimal, Decimal] | None = None) -> list[Rung]:
    """The levels of one side as rows, at least so many of them."""
    rows = [Rung(step, (own or {}).get(step.price)) for step in side]
    return rows + [Rung(None)] * (least - len(rows))


def grouped(whole: Ladder, step: Decimal) -> Ladder:
    """Levels put together to multiples of `step`, away from the middle: nobody is promised a better price."""
    return Ladder(_grouped(whole.ask, "ask", step), _grouped(whole.bid, "bid", step))


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
    """The levels of a kept book with their running totals; empty sides where there is none."""
    return Ladder() if book is None else Ladder(_steps(book.ask), _steps(book.bid))


def _steps(levels: Iterable[list[str]]) -> tuple[Step, ...]:
    steps, total, worth = [], ZERO, ZERO
    for price, size in ((Decimal(price), Decimal(size)) for price, size in levels):
        total, worth = total + size, worth + price * size
        steps.append(Step(price, size, total, worth))
    return tuple(steps)
