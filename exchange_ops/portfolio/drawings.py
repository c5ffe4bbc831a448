"""Time series as line charts: coordinates are rounded, the exact figures are in the table beside the chart."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Final

WIDTH, HEIGHT, ROOM = 1000, 200, 10
_TENTH: Final = Decimal("0.1")
Series = Sequence[tuple[datetime, Decimal | None]]


@dataclass(frozen=True, slots=True)
class Spot:
    """A point that the pointer can rest on: where its section begins, how wide it is, and where its figure is."""

    at: datetime
    value: Decimal
    start: str
    width: str
    x: str
    y: str


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart of WIDTH by HEIGHT: the line, the area below it, a second line, and the figures at its edges."""

    line: str
    area: str
    beside: str
    low: Decimal
    middle: Decimal
    high: Decimal
    first: datetime
    last: datetime
    spots: list[Spot] = field(default_factory=list)


def line(series: Series, *, beside: Series = ()) -> Picture | None:
    """Values over time, oldest first; a missing one is a gap. With fewer than two values there is no chart or line."""
    beside = beside if sum(1 for _, value in beside if value is not None) > 1 else ()
    values = [value for _, value in (*series, *beside) if value is not None]
    if sum(1 for _, value in series if value is not None) < 2:
        return None
    low, high, first, last = min(values), max(values), series[0][0], series[-1][0]
    frame = _Frame(low, high, first, last)
    placed = [(at, value, frame.x(at), frame.y(value)) for at, value in series if value is not None]
    drawn = _path(series, frame)
    return Picture(
        line=drawn,
        area=""
        if len(placed) < len(series)
        else f"{drawn}L{_text(placed[-1][2])} {HEIGHT}L{_text(placed[0][2])} {HEIGHT}Z",
        beside=_path(beside, frame),
        low=low,
        middle=(low + high) / 2,
        high=high,
        first=first,
        last=last,
        spots=_spots(placed),
    )


@dataclass(frozen=True, slots=True)
class _Frame:
    low: Decimal
    high: Decimal
    first: datetime
    last: datetime

    def x(self, at: datetime) -> Decimal:
        length = (self.last - self.first).total_seconds()
        # Whole seconds are enough: the position of a point is not an amount of money.
        return Decimal(int((at - self.first).total_seconds())) * WIDTH / Decimal(max(int(length), 1))

    def y(self, value: Decimal) -> Decimal:
        if self.high == self.low:
            return Decimal(HEIGHT) / 2
        return ROOM + (self.high - value) / (self.high - self.low) * (HEIGHT - 2 * ROOM)


def _path(series: Series, frame: _Frame) -> str:
    parts, is_down = [], False
    for at, value in series:
        if value is not None:
            parts.append(f"{'L' if is_down else 'M'}{_text(frame.x(at))} {_text(frame.y(value))}")
        is_down = value is not None
    return "".join(parts)


def _spots(placed: Sequence[tuple[datetime, Decimal, Decimal, Decimal]]) -> list[Spot]:
    """The section of each point reaches halfway to its neighbours."""
    spots = []
    for number, (at, value, x, y) in enumerate(placed):
        start = (placed[number - 1][2] + x) / 2 if number else x
        end = (placed[number + 1][2] + x) / 2 if number + 1 < len(placed) else x
        spots.append(Spot(at, value, _text(start), _text(end - start), _text(x), _text(y)))
    return spots


def _text(value: Decimal) -> str:
    return f"{value.quantize(_TENTH):f}"
