"""The simulated trades of the made-up symbols: now and then a few, all at the price of one mark.

There may be thousands of these symbols, so that each leaf must come to its bar in a few sums.
"""

from collections.abc import Sequence
from functools import cache
from typing import Final

from sandbox.exchange.tape.market import MARK_MS, UNIT, Market, mixed
from sandbox.exchange.tape.tape_records import LEAVES_A_DAY, Bar, Track, Trade, joined, trades_of_leaf
from sandbox.exchange.tape.tape_sketches import LEAF_MS, Sketch, sketches

_MARKS: Final = LEAF_MS // MARK_MS
_MOST_LEAVES: Final = 3  # of a day in which such a symbol trades
_LENGTHS: Final = (1, 1, 2, 3)
_USUAL_WEIGHT: Final = 10  # of a trade


class Quiet:
    """The simulated trades of the made-up symbols of one world."""

    def __init__(self, market: Market) -> None:
        self._market = market

    def leaves(self, track: Track, day: int) -> Sequence[int]:
        """The leaves of a day in which the symbol trades, in their order: one to three."""
        if track.leaves_of_day[0] != day:
            bits, first = mixed(track.key ^ day << 20), day * LEAVES_A_DAY
            places = {(bits >> 7 * place & 127) % LEAVES_A_DAY for place in range(1 + (bits >> 60) % _MOST_LEAVES)}
            track.leaves_of_day = day, [first + place for place in sorted(places)]
        return track.leaves_of_day[1]

    def count(self, track: Track, leaf: int) -> int:
        """How many trades a leaf has in which the symbol trades."""
        return len(_shapes()[mixed(track.key ^ leaf) & 63].slots)

    def bar(self, track: Track, leaf: int) -> Bar:
        """The bar of a leaf in which the symbol trades."""
        sketch, size, price = self._leaf(track, leaf)
        slots, offset, total = sketch.slots, track.offset, sketch.total
        return Bar(
            price + slots[0].offset * offset,
            price + slots[-1].offset * offset,
            price + sketch.least * offset,
            price + sketch.most * offset,
            size * total,
            size * (price * total + offset * sketch.net),
            len(slots),
        )

    def day(self, track: Track, day: int) -> Bar:
        """The bar of a whole day."""
        return joined([self.bar(track, leaf) for leaf in self.leaves(track, day)])

    def trades(self, track: Track, leaf: int) -> list[Trade]:
        """The trades of a leaf in which the symbol trades, in their order; no two in the same millisecond."""
        sketch, size, price = self._leaf(track, leaf)
        return trades_of_leaf(
            track, leaf, sketch.slots, [price + slot.offset * track.offset for slot in sketch.slots], size
        )

    def _leaf(self, track: Track, leaf: int) -> tuple[Sketch, int, int]:
        """The sketch of a leaf, the increments for each share of its volume, and its price."""
        number = mixed(track.key ^ leaf)
        size = (20 + (number >> 8) % 400) * track.increments // (UNIT * _USUAL_WEIGHT) or 1
        return _shapes()[number & 63], size, self._market.path(track.symbol, leaf * _MARKS + 1)


@cache
def _shapes() -> tuple[Sketch, ...]:
    """What a leaf may look like, each as likely as the others: 64 of them."""
    return tuple(sketch for length in _LENGTHS for sketch in sketches(length))
