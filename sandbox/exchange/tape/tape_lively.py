"""The simulated trades of the listed symbols: they trade in every leaf, and a whole day comes to its bar at once.

A plan says which sketch each leaf of a day has. With it the sums and extremes of a day are those of all its marks.
"""

from collections.abc import Sequence
from functools import lru_cache
from operator import add, mul
from typing import Final, NamedTuple

from sandbox.exchange.tape.market import MARK_MS, MARKS_A_DAY, UNIT, Market, mixed
from sandbox.exchange.tape.tape_records import LEAVES_A_DAY, Bar, Track, Trade, trades_of_leaf
from sandbox.exchange.tape.tape_sketches import LEAF_MS, NOWHERE, POINTS, Sketch, sketches

_MARKS: Final = LEAF_MS // MARK_MS
_PLANS: Final = 6  # for each symbol
_BUSIEST: Final = 5
_USUAL_WEIGHT: Final = 10  # of a trade
_MOST_BARS: Final = 60_000
# Of all worlds of a process: one that begins anew from the same seed has the same bars.
_bars: dict[tuple[int, int, int, int], Bar] = {}


class Plan(NamedTuple):
    """The sketches of a day's leaves, each with how large its trades are, and what the sums of the day need.

    `weights` are the shares of the volume by mark; `lowest` and `highest` are the outermost offsets by mark, in ticks,
    and `net` is the sum of the offsets by their shares.
    """

    leaves: tuple[tuple[Sketch, int], ...]
    weights: tuple[int, ...]
    net: int
    total: int
    lowest: tuple[int, ...]
    highest: tuple[int, ...]
    trades: int


class Lively:
    """The simulated trades of the listed symbols of one world."""

    def __init__(self, market: Market) -> None:
        self._market = market

    def leaves(self, track: Track, day: int) -> Sequence[int]:
        """All leaves of a day."""
        return range(day * LEAVES_A_DAY, (day + 1) * LEAVES_A_DAY)

    def count(self, track: Track, leaf: int) -> int:
        """How many trades a leaf has."""
        sketch, _, _, _ = self._leaf(track, leaf)
        return len(sketch.slots)

    def bar(self, track: Track, leaf: int) -> Bar:
        """The bar of a leaf."""
        key = track.key, track.offset, track.increments, leaf
        bar = _bars.get(key)
        if bar is None:
            if len(_bars) >= _MOST_BARS:
                _bars.clear()
            bar = _bars[key] = self._bar(track, leaf)
        return bar

    def _bar(self, track: Track, leaf: int) -> Bar:
        sketch, size, prices, offset = self._leaf(track, leaf)
        first, last = sketch.slots[0], sketch.slots[-1]
        return Bar(
            prices[first.point] + first.offset * offset,
            prices[last.point] + last.offset * offset,
            min(price + low * offset for price, low in zip(prices, sketch.lowest, strict=True)),
            max(price + high * offset for price, high in zip(prices, sketch.highest, strict=True)),
            size * sketch.total,
            size * (sum(map(mul, prices, sketch.weights)) + offset * sketch.net),
            len(sketch.slots),
        )

    def day(self, track: Track, day: int) -> Bar:
        """The bar of a whole day."""
        plan, size = self._plan(track, day)
        prices, offset = self._market.path_of_day(track.symbol, day), track.offset
        first, last = plan.leaves[0][0].slots[0], plan.leaves[-1][0].slots[-1]
        return Bar(
            prices[first.point] + first.offset * offset,
            prices[last.point - POINTS] + last.offset * offset,
            min(map(add, prices, plan.lowest)),
            max(map(add, prices, plan.highest)),
            size * plan.total,
            size * (sum(map(mul, prices, plan.weights)) + plan.net),
            plan.trades,
        )

    def trades(self, track: Track, leaf: int) -> list[Trade]:
        """The trades of a leaf in their order; no two in the same millisecond."""
        sketch, size, prices, offset = self._leaf(track, leaf)
        priced = [prices[slot.point] + slot.offset * offset for slot in sketch.slots]
        return trades_of_leaf(track, leaf, sketch.slots, priced, size)

    def _leaf(self, track: Track, leaf: int) -> tuple[Sketch, int, Sequence[int], int]:
        """The sketch of a leaf, the increments for each share of its volume, its prices by point, and how many ticks
        one offset is."""
        day, place = divmod(leaf, LEAVES_A_DAY)
        plan, size = self._plan(track, day)
        sketch, busy = plan.leaves[place]
        prices = self._market.path_of_day(track.symbol, day)[place * _MARKS : place * _MARKS + POINTS]
        return sketch, size * busy, prices, track.offset

    def _plan(self, track: Track, day: int) -> tuple[Plan, int]:
        """The plan of a day, and the increments for each share of its volume: of some twenty to four hundred dollars
        for a usual trade, at least one."""
        number = mixed(track.key ^ day << 20)
        dollars = 20 + (number >> 8) % 400
        size = max(dollars * track.increments // (UNIT * _USUAL_WEIGHT * _BUSIEST // 2), 1)
        return _planned(track.lengths, track.offset, track.key % 2**32 * _PLANS + number % _PLANS), size


@lru_cache(maxsize=1_000)
def _planned(lengths: tuple[int, ...], offset: int, number: int) -> Plan:
    leaves, marks = [], MARKS_A_DAY + 1
    weights, lowest, highest = [0] * marks, [NOWHERE] * marks, [-NOWHERE] * marks
    for place in range(LEAVES_A_DAY):
        drawn = mixed(number * LEAVES_A_DAY + place)
        variants = sketches(lengths[drawn >> 60 & 3])
        sketch, busy = variants[drawn % len(variants)], 1 + (drawn >> 8) % _BUSIEST
        leaves.append((sketch, busy))
        for point in range(POINTS):
            mark = place * _MARKS + point
            weights[mark] += busy * sketch.weights[point]
            lowest[mark] = min(lowest[mark], sketch.lowest[point] * offset)
            highest[mark] = max(highest[mark], sketch.highest[point] * offset)
    return Plan(
        tuple(leaves),
        tuple(weights),
        offset * sum(busy * sketch.net for sketch, busy in leaves),
        sum(busy * sketch.total for sketch, busy in leaves),
        tuple(lowest),
        tuple(highest),
        sum(len(sketch.slots) for sketch, _ in leaves),
    )
