"""The tape: every public trade of every symbol, simulated ones and those of the matching engine, in one order; and the
tickers: what its last 24 hours come to, up to the millisecond.

Simulated trades are never kept, they are made when somebody asks; what the matching engine tells is kept in memory and
comes back when the journal is lived again. Numbers and instants of a symbol's trades grow together. What is asked
always has an end, `until_ms`: nothing of the future is told.

Of a ticker the trade before the 24 hours gives the opening price, and as long as nothing else was traded also the other
prices. The inside of the 24 hours, in whole leaves, is summed up once in a quarter of an hour; only its two ends are
looked at trade by trade.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Final, NamedTuple

from sandbox.engine.clock import DAY_MS
from sandbox.exchange.listing.symbols import Symbol
from sandbox.exchange.orders.orders_reports import MarketTrade
from sandbox.exchange.tape.market import Market
from sandbox.exchange.tape.tape_lively import Lively
from sandbox.exchange.tape.tape_quiet import Quiet
from sandbox.exchange.tape.tape_records import (
    ID_ROOM,
    ID_STEP,
    LEAVES_A_DAY,
    Bar,
    Track,
    Trade,
    bar_of,
    instant,
    joined,
)
from sandbox.exchange.tape.tape_sketches import LEAF_MS

_SLACK_MS: Final = 60_000  # by how much numbers may run ahead of their instants
_MOST_TRADES, _MOST_BARS, _MOST_DAYS = 100_000, 60_000, 100_000
_FOREVER_MS: Final = 2**62
_when = attrgetter("at_ms")


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a tape, both ends included: instants in milliseconds, and numbers of trades."""

    first_ms: int = 0
    last_ms: int = _FOREVER_MS
    first_id: int = 0
    last_id: int = 2**80

    @classmethod
    def of_ids(cls, first: int | None, last: int | None) -> "Span":
        """The trades from one number to another."""
        return cls(
            first_ms=0 if first is None else max(first // ID_STEP - _SLACK_MS, 0),
            last_ms=_FOREVER_MS if last is None else last // ID_STEP + _SLACK_MS,
            first_id=0 if first is None else first,
            last_id=2**80 if last is None else last,
        )

    def has(self, trade: Trade) -> bool:
        """Whether a trade lies in it."""
        return self.first_ms <= trade.at_ms <= self.last_ms and self.first_id <= trade.id <= self.last_id

    def covers(self, leaf: int) -> bool:
        """Whether a whole leaf does, surely."""
        first_ms, end_ms = leaf * LEAF_MS, (leaf + 1) * LEAF_MS
        return self.first_ms + 2 * _SLACK_MS < first_ms and end_ms < self.last_ms - 2 * _SLACK_MS


class Simulation:
    """The simulated trades of one world, made from the seed, the symbol and the quarter of an hour alone.

    They follow the path of the market, and can be had in three ways that agree exactly: as the bar of a whole day or of
    a leaf, in a few sums, or one by one.
    """

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


class Tape:
    """The tape of one world."""

    def __init__(self, market: Market, symbols: Iterable[Symbol], started_ms: int) -> None:
        self._market = market
        self._simulation = Simulation(market)
        self._tracks = {symbol.id: Track(symbol, place, market, started_ms) for place, symbol in enumerate(symbols)}
        self._reported: dict[str, dict[int, list[Trade]]] = {}
        self._counts: dict[int, int] = {}
        self._reported_days: dict[str, set[int]] = {}
        self._simulated_trades: dict[tuple[int, int], list[Trade]] = {}
        self._simulated_count = 0
        self._reported_bars: dict[tuple[int, int], Bar | None] = {}
        self._days: dict[tuple[int, int], Bar | None] = {}

    def track(self, symbol_id: str) -> Track:
        """What distinguishes the trades of a symbol that exists."""
        return self._tracks[symbol_id]

    def hear(self, trade: MarketTrade) -> None:
        """Takes in a trade of the matching engine; a simulated one that it passes on is on the tape already."""
        track, leaf = self._tracks[trade.pair.symbol.id], trade.at_ms // LEAF_MS
        if trade.id % ID_STEP >= ID_ROOM and any(other.id == trade.id for other in self._simulated(track, leaf)):
            return
        self._counts[track.number] = self._counts.get(track.number, 0) + 1
        self._reported_days.setdefault(track.symbol.id, set()).add(leaf // LEAVES_A_DAY)
        leaves = self._reported.setdefault(track.symbol.id, {})
        leaves.setdefault(leaf, []).append(Trade(trade.id, trade.at_ms, trade.price, trade.quantity, trade.side))

    def reported(self, track: Track) -> int:
        """How many trades the matching engine has told of a symbol."""
        return self._counts.get(track.number, 0)

    def next_ms(self, track: Track, at_ms: int) -> int:
        """Up to when, after an instant, no simulated trade of a symbol happens: the next one, or midnight at most."""
        day, leaf = at_ms // DAY_MS, at_ms // LEAF_MS
        for later in self._simulation.leaves(track, day):
            if later == leaf:
                trades = self._simulated(track, leaf)
                place = bisect_right(trades, at_ms, key=_when)
                if place < len(trades):
                    return trades[place].at_ms
            elif later > leaf:
                return later * LEAF_MS
        return (day + 1) * DAY_MS

    # Trades ----------------------------------------------------------------------------------------------------------

    def listed(
        self, track: Track, span: Span, *, until_ms: int, newest_first: bool, offset: int, limit: int
    ) -> list[Trade]:
        """The trades of a span, at most `limit` after leaving out `offset`."""
        page: list[Trade] = []
        last_ms = min(span.last_ms, until_ms)
        for leaf in self.leaves(track, span.first_ms, last_ms, newest_first=newest_first):
            if offset and span.covers(leaf) and self._is_over(leaf, until_ms):
                count = self._count(track, leaf)
                if count <= offset:
                    offset -= count
                    continue
            trades = [trade for trade in self.trades(track, leaf, until_ms) if span.has(trade)]
            if newest_first:
                trades.reverse()
            page += trades[offset : offset + limit - len(page)]
            offset = max(offset - len(trades), 0)
            if len(page) >= limit:
                break
        return page

    def last(self, track: Track, until_ms: int) -> Trade | None:
        """The latest trade."""
        for leaf in self.leaves(track, 0, until_ms, newest_first=True):
            trades = self.trades(track, leaf, until_ms)
            if trades:
                return trades[-1]
        return None

    def trades(self, track: Track, leaf: int, until_ms: int) -> Sequence[Trade]:
        """The trades of a leaf, oldest first."""
        trades = self.simulated(track, leaf, until_ms)
        reported = self._reported.get(track.symbol.id, {}).get(leaf)
        if not reported:
            return trades
        return sorted([*trades, *reported[: bisect_right(reported, until_ms, key=_when)]])

    def simulated(self, track: Track, leaf: int, until_ms: int) -> Sequence[Trade]:
        """The simulated trades of a leaf, oldest first."""
        reached_ms = self._market.reached_ms(until_ms)
        if leaf * LEAF_MS > reached_ms:
            return ()
        trades = self._simulated(track, leaf)
        return trades if (leaf + 1) * LEAF_MS <= reached_ms else trades[: bisect_right(trades, reached_ms, key=_when)]

    def _simulated(self, track: Track, leaf: int) -> list[Trade]:
        if track.is_quiet:
            return self._simulation.trades(track, leaf) if self._simulation.has(track, leaf) else []
        key = track.number, leaf
        trades = self._simulated_trades.get(key)
        if trades is None:
            if self._simulated_count > _MOST_TRADES:
                self._simulated_count = 0
                self._simulated_trades.clear()
            trades = self._simulation.trades(track, leaf) if self._simulation.has(track, leaf) else []
            self._simulated_trades[key] = trades
            self._simulated_count += len(trades) + 1
        return trades

    def _count(self, track: Track, leaf: int) -> int:
        reported = self._reported.get(track.symbol.id, {}).get(leaf, ())
        return len(reported) + (self._simulation.count(track, leaf) if self._simulation.has(track, leaf) else 0)

    # Leaves and bars -------------------------------------------------------------------------------------------------

    def leaves(self, track: Track, first_ms: int, last_ms: int, *, newest_first: bool = False) -> Iterator[int]:
        """The leaves that may have trades between two instants, both ends included."""
        first, last = max(first_ms // LEAF_MS, track.begin_day * LEAVES_A_DAY), last_ms // LEAF_MS
        days = range(first // LEAVES_A_DAY, self.last_day(track, last_ms) + 1)
        for day in reversed(days) if newest_first else days:
            leaves = self._of_day(track, day)
            for leaf in reversed(leaves) if newest_first else leaves:
                if first <= leaf <= last:
                    yield leaf

    def _of_day(self, track: Track, day: int) -> Sequence[int]:
        leaves = self._simulation.leaves(track, day)
        reported = self._reported.get(track.symbol.id)
        if reported:
            first = day * LEAVES_A_DAY
            others = [leaf for leaf in range(first, first + LEAVES_A_DAY) if leaf in reported]
            return sorted({*leaves, *others}) if others else leaves
        return leaves

    def last_day(self, track: Track, last_ms: int) -> int:
        """The latest day, up to an instant, that may have trades."""
        reported = self._reported.get(track.symbol.id)
        latest = self._market.reached_ms(last_ms) // DAY_MS
        return max(latest, min(next(reversed(reported)) // LEAVES_A_DAY, last_ms // DAY_MS)) if reported else latest

    def bar(self, track: Track, leaf: int, until_ms: int) -> Bar | None:
        """The bar of a leaf; None when it has no trades."""
        if not self._is_over(leaf, until_ms):
            return bar_of(self.trades(track, leaf, until_ms))
        if leaf in self._reported.get(track.symbol.id, ()):
            return self._reported_bar(track, leaf, until_ms)
        return self._simulation.bar(track, leaf) if self._simulation.has(track, leaf) else None

    def _reported_bar(self, track: Track, leaf: int, until_ms: int) -> Bar | None:
        key = track.number, leaf
        if key not in self._reported_bars:
            if len(self._reported_bars) >= _MOST_BARS:
                self._reported_bars.clear()
            self._reported_bars[key] = bar_of(self.trades(track, leaf, until_ms))
        return self._reported_bars[key]

    def day(self, track: Track, day: int, until_ms: int) -> Bar | None:
        """The bar of a day, counted since 1970; None when it has no trades."""
        key = track.number, day
        if key in self._days:
            return self._days[key]
        first_ms = day * DAY_MS
        last_ms = min(first_ms + DAY_MS - 1, until_ms)
        is_over = first_ms + DAY_MS <= self._market.reached_ms(until_ms)
        if is_over and day >= track.begin_day and day not in self._reported_days.get(track.symbol.id, ()):
            bar: Bar | None = self._simulation.day(track, day)
        else:
            leaves = self.leaves(track, first_ms, last_ms)
            traded = [bar for bar in (self.bar(track, leaf, until_ms) for leaf in leaves) if bar is not None]
            bar = joined(traded) if traded else None
        if is_over:
            if len(self._days) >= _MOST_DAYS:
                self._days.clear()
            self._days[key] = bar
        return bar

    def _is_over(self, leaf: int, until_ms: int) -> bool:
        """Whether no more trades can come into a leaf, and all it has are to be told."""
        return (leaf + 1) * LEAF_MS <= self._market.reached_ms(until_ms)


# Tickers --------------------------------------------------------------------------------------------------------------


NOTHING: Final = "0"


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
