"""The simulated trades of every symbol, made from the seed, the symbol and the quarter of an hour alone.

They follow the path of the market, and can be had in three ways that agree exactly: as the bar of a whole day or of a
leaf, in a few sums, or one by one.
"""

from collections.abc import Sequence

from sandbox.exchange.tape.market import Market
from sandbox.exchange.tape.tape_lively import Lively
from sandbox.exchange.tape.tape_quiet import Quiet
from sandbox.exchange.tape.tape_records import LEAVES_A_DAY, Bar, Track, Trade


class Simulation:
    """The simulated trades of one world."""

    def __init__(self, market: Market) -> None:
        self._lively = Lively(market)
        self._quiet = Quiet(market)

    def leaves(self, track: Track, day: int) -> Sequence[int]:
        """The leaves of a day (both counted since 1970) in which the symbol trades, in their order."""
        return self._simulation_of(track).leaves(track, day) if day >= track.begin_day else ()

    def has(self, track: Track, leaf: int) -> bool:
        """Whether the symbol trades in the leaf."""
        return leaf in self.leaves(track, leaf // LEAVES_A_DAY)

    def count(self, track: Track, leaf: int) -> int:
        """How many trades a leaf has in which the symbol trades."""
        return self._simulation_of(track).count(track, leaf)

    def bar(self, track: Track, leaf: int) -> Bar:
        """The bar of a leaf in which the symbol trades."""
        return self._simulation_of(track).bar(track, leaf)

    def day(self, track: Track, day: int) -> Bar:
        """The bar of a whole day on which the symbol was listed: it trades on every one of them."""
        return self._simulation_of(track).day(track, day)

    def trades(self, track: Track, leaf: int) -> list[Trade]:
        """The trades of a leaf in which the symbol trades, in their order; no two in the same millisecond."""
        return self._simulation_of(track).trades(track, leaf)

    def _simulation_of(self, track: Track) -> Lively | Quiet:
        return self._quiet if track.is_quiet else self._lively
