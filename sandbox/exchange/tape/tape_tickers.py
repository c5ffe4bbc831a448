"""Tickers: what the last 24 hours of a tape come to, up to the millisecond.

The trade before the 24 hours gives the opening price, and as long as nothing else was traded also the other prices. The
inside of the 24 hours, in whole leaves, is summed up once in a quarter of an hour; only its two ends are looked at
trade by trade.
"""

from bisect import bisect_right
from collections.abc import Sequence
from operator import attrgetter
from typing import Final, NamedTuple

from sandbox.engine.clock import DAY_MS
from sandbox.exchange.tape.tape import Tape
from sandbox.exchange.tape.tape_figures import instant
from sandbox.exchange.tape.tape_records import Track, bar_of, joined
from sandbox.exchange.tape.tape_sketches import LEAF_MS
from sandbox.exchange.tape.trades import Bar, Trade

NOTHING: Final = "0"
_when = attrgetter("at_ms")


class _Inside(NamedTuple):
    """The whole leaves from one to another, both included, and the price of the latest trade before them, if any."""

    first: int
    last: int
    bar: Bar | None
    before: int | None


class Tickers:
    """The tickers of one world."""

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        self._insides: dict[str, _Inside] = {}

    def ticker(self, symbol_id: str, at_ms: int, quotes: tuple[int | None, int | None]) -> dict[str, object]:
        """The Ticker record at an instant, in the member order of the streams; `quotes` are bid and ask in ticks."""
        track = self._tape.track(symbol_id)
        figures = track.figures
        day, before = self._day(track, at_ms)
        bid, ask = (None if quote is None else figures.price(quote) for quote in quotes)
        last = before if day is None else day.close
        prices = [price for price in (before, *((day.low, day.high) if day is not None else ())) if price is not None]
        opened = before if before is not None or day is None else day.open
        return {
            "ask": ask,
            "bid": bid,
            "last": None if last is None else figures.price(last),
            "open": None if opened is None else figures.price(opened),
            "low": figures.price(min(prices)) if prices else NOTHING,
            "high": figures.price(max(prices)) if prices else NOTHING,
            "volume": NOTHING if day is None else figures.quantity(day.quantity),
            "volumeQuote": NOTHING if day is None else figures.notional(day.notional),
            "timestamp": instant(at_ms),
            "symbol": symbol_id,
        }

    def _day(self, track: Track, at_ms: int) -> tuple[Bar | None, int | None]:
        """The bar of the 24 hours up to an instant, and the price of the latest trade before them."""
        begin_ms = at_ms - DAY_MS
        first, last = begin_ms // LEAF_MS, at_ms // LEAF_MS
        inside = self._insides.get(track.symbol.id)
        if inside is None or (inside.first, inside.last) != (first + 1, last - 1):
            inside = self._insides[track.symbol.id] = self._inside(track, first, last)
        opening: Sequence[Trade] = self._tape.trades(track, first, at_ms)
        left_out = bisect_right(opening, begin_ms, key=_when)
        parts = (bar_of(opening[left_out:]), inside.bar, bar_of(self._tape.trades(track, last, at_ms)))
        bars = [part for part in parts if part is not None]
        before = opening[left_out - 1].price if left_out else inside.before
        return (joined(bars) if bars else None), before

    def _inside(self, track: Track, first: int, last: int) -> _Inside:
        """What lies between two leaves that are not whole."""
        end_ms = last * LEAF_MS
        leaves = self._tape.leaves(track, (first + 1) * LEAF_MS, end_ms - 1)
        bars = [bar for bar in (self._tape.bar(track, leaf, end_ms) for leaf in leaves) if bar is not None]
        earlier = self._tape.last(track, first * LEAF_MS - 1)
        return _Inside(first + 1, last - 1, joined(bars) if bars else None, None if earlier is None else earlier.price)
