"""Candles of all periods, summed up from the tape: from single trades below a quarter of an hour, from leaves above.

Days, weeks (from Monday) and months are those of UTC. A period without trades has no candle, and the present one has
what was traded so far.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import date, timedelta
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Final, NamedTuple

from sandbox.engine.clock import DAY_MS, HOUR_MS
from sandbox.exchange.tape.tape import Tape
from sandbox.exchange.tape.tape_records import Bar, Track, bar_of, joined
from sandbox.exchange.tape.tape_sketches import LEAF_MS

_MINUTE_MS: Final = 60_000
_MONDAY_MS: Final = 4 * DAY_MS  # the first Monday after the beginning of 1970
_MONTH: Final = "1M"
_EPOCH: Final = date(1970, 1, 1)
LENGTHS_MS: Final = {
    "M1": _MINUTE_MS,
    "M3": 3 * _MINUTE_MS,
    "M5": 5 * _MINUTE_MS,
    "M15": LEAF_MS,
    "M30": 2 * LEAF_MS,
    "H1": HOUR_MS,
    "H4": 4 * HOUR_MS,
    "D1": DAY_MS,
    "D7": 7 * DAY_MS,
}
PERIODS: Final = (*LENGTHS_MS, _MONTH)
DEFAULT_PERIOD: Final = "M30"

# The start of a candle, in milliseconds, and what was traded in it.
Candle = tuple[int, Bar]
_Start = Callable[[int], int]


class _Stretch(NamedTuple):
    """From when to when candles are wanted, and until when trades are known."""

    begin_ms: int
    end_ms: int
    until_ms: int
    newest_first: bool


def listed(
    tape: Tape,
    track: Track,
    period: str,
    *,
    first_ms: int,
    last_ms: int,
    until_ms: int,
    newest_first: bool,
    offset: int,
    limit: int,
) -> list[Candle]:
    """The candles that start between two instants, both included, at most `limit` after leaving out `offset`."""
    start = start_of(period)
    first_ms, latest_ms = max(first_ms, start(track.begin_day * DAY_MS)), min(last_ms, until_ms)
    if first_ms > latest_ms or not limit:
        return []
    begin_ms = first_ms if start(first_ms) == first_ms else _next(period, start(first_ms))
    end_ms = min(_next(period, start(latest_ms)) - 1, until_ms)
    pieces = _pieces(tape, track, period, _Stretch(begin_ms, end_ms, until_ms, newest_first))
    candles: list[Candle] = []
    for place, (start_ms, group) in enumerate(groupby(pieces, key=itemgetter(0))):
        if place < offset:
            continue
        bars = [bar for _, bar in group]
        if newest_first:
            bars.reverse()
        candles.append((start_ms, joined(bars)))
        if len(candles) >= limit:
            break
    return candles


def _pieces(tape: Tape, track: Track, period: str, stretch: _Stretch) -> Iterator[Candle]:
    """Bars no longer than the period, with the starts of their periods."""
    begin_ms, end_ms, until_ms, newest_first = stretch
    start, length_ms = start_of(period), LENGTHS_MS.get(period, DAY_MS)
    if length_ms >= DAY_MS:
        days = range(max(begin_ms // DAY_MS, track.begin_day), tape.last_day(track, end_ms) + 1)
        for day in reversed(days) if newest_first else days:
            bar = tape.day(track, day, until_ms)
            if bar is not None:
                yield start(day * DAY_MS), bar
        return
    for leaf in tape.leaves(track, begin_ms, end_ms, newest_first=newest_first):
        if length_ms < LEAF_MS:
            yield from _within(tape, track, leaf, start, stretch)
        elif (bar := tape.bar(track, leaf, until_ms)) is not None:
            yield start(leaf * LEAF_MS), bar


def _within(tape: Tape, track: Track, leaf: int, start: _Start, stretch: _Stretch) -> Sequence[Candle]:
    """The candles of a leaf that are shorter than it."""
    candles = []
    trades = tape.trades(track, leaf, stretch.until_ms)
    for start_ms, group in groupby(trades, key=lambda trade: start(trade.at_ms)):
        bar = bar_of(group)
        if bar is not None and stretch.begin_ms <= start_ms <= stretch.end_ms:
            candles.append((start_ms, bar))
    return candles[::-1] if stretch.newest_first else candles


def start_of(period: str) -> _Start:
    """The function from an instant to the start of its period."""
    if period == _MONTH:
        return _month
    length_ms = LENGTHS_MS[period]
    shift_ms = _MONDAY_MS if period == "D7" else 0
    return lambda at_ms: at_ms - (at_ms - shift_ms) % length_ms


def _next(period: str, start_ms: int) -> int:
    """The start of the period after the one that starts then."""
    return _month(start_ms + 31 * DAY_MS) if period == _MONTH else start_ms + LENGTHS_MS[period]


def _month(at_ms: int) -> int:
    return _month_of_day(at_ms // DAY_MS)


@lru_cache(maxsize=20_000)
def _month_of_day(day: int) -> int:
    return (day - (_EPOCH + timedelta(days=day)).day + 1) * DAY_MS
