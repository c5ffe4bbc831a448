"""What the public stream tells of one symbol, and how far it has told it (exchange supplement 1.3).

A topic is shared by all who follow it: it finds out once what is new, and writes it once. `snapshot` is for one who
just came, `news` is for all; both speak of the exchange's present moment.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple, Protocol

import msgspec

from sandbox.exchange.orders.matching import BUY, SELL
from sandbox.exchange.state import Exchange
from sandbox.exchange.tape import candles
from sandbox.exchange.tape.tape import Span
from sandbox.exchange.tape.tape_records import ID_STEP, Trade, instant

MOST: Final = 1_000  # trades or candles in one notification: after a long leap only the latest are told
FIRST_SEQUENCE: Final = 500_000
_MINUTE_MS: Final = 60_000
_BEAT_MS, _BEATS = 100, 10
_STEP_MS, _QUIET_STEP_MS = 1_000, 5_000  # how often the offers of the traders move; the made-up symbols are seen less
_OVERLAP: Final = 2_000 * ID_STEP  # numbers of trades and their instants may be so far out of step

Levels = list[tuple[int, int]]


class Message(NamedTuple):
    """A notification: its method, and its params as JSON."""

    method: str
    params: str


class Topic(Protocol):
    """Something that is told of a symbol. `due_ms` is when it may have changed by the course of time alone."""

    symbol_id: str
    due_ms: int

    def snapshot(self, exchange: Exchange, limit: int) -> Message:
        """What one who just came is told first."""
        ...

    def news(self, exchange: Exchange) -> Message | None:
        """What changed since the last time; None when nothing did."""
        ...


class TickerTopic:
    """The ticker: told when it changed, and once a minute when only its timestamp did."""

    def __init__(self, symbol_id: str) -> None:
        self.symbol_id, self.due_ms = symbol_id, 0
        self._sent: dict[str, object] = {}
        self._minute = -1

    def snapshot(self, exchange: Exchange, limit: int) -> Message:
        """The ticker as it is."""
        return self._message(exchange, self._ticker(exchange))

    def news(self, exchange: Exchange) -> Message | None:
        """The ticker, if it changed or a minute has begun."""
        ticker = self._ticker(exchange)
        is_same = self._sent == ticker | {"timestamp": self._sent.get("timestamp")}
        if is_same and self._minute == exchange.moment_ms // _MINUTE_MS:
            return None
        return self._message(exchange, ticker)

    def _ticker(self, exchange: Exchange) -> dict[str, object]:
        self.due_ms = min(_next_step(exchange, self.symbol_id), (exchange.moment_ms // _MINUTE_MS + 1) * _MINUTE_MS)
        return exchange.tickers.ticker(self.symbol_id, exchange.moment_ms, exchange.quotes(self.symbol_id))

    def _message(self, exchange: Exchange, ticker: dict[str, object]) -> Message:
        self._sent, self._minute = ticker, exchange.moment_ms // _MINUTE_MS
        return Message("ticker", msgspec.json.encode(ticker).decode())


class PublishedBook:
    """An order book as the stream has sent it: the levels, sizes by prices, and the sequence of the latest message.

    Only levels that were sent can be sent as gone, and the sequence counts every message of a change, without a gap.
    """

    __slots__ = ("asks", "bids", "sequence")

    def __init__(self, sequence: int, asks: Iterable[tuple[int, int]], bids: Iterable[tuple[int, int]]) -> None:
        self.sequence = sequence
        self.asks = dict(asks)
        self.bids = dict(bids)

    def change(self, asks: Levels, bids: Levels) -> tuple[Levels, Levels] | None:
        """What to send so that these are the levels: asks ascending, bids descending, size 0 for a level that is gone.
        None when nothing changed; else the sequence has grown by one."""
        asks_now, bids_now = dict(asks), dict(bids)
        changes = sorted(_differences(self.asks, asks_now)), sorted(_differences(self.bids, bids_now), reverse=True)
        if not any(changes):
            return None
        self.sequence += 1
        self.asks, self.bids = asks_now, bids_now
        return changes

    def levels(self) -> tuple[Levels, Levels]:
        """Asks ascending and bids descending, as they were sent."""
        return sorted(self.asks.items()), sorted(self.bids.items(), reverse=True)


def _differences(before: dict[int, int], now: dict[int, int]) -> Levels:
    gone = [(price, 0) for price in before if price not in now]
    return gone + [(price, size) for price, size in now.items() if before.get(price) != size]


class BookTopic:
    """The order book: whole, then its changes with sequences that grow by one."""

    def __init__(self, symbol_id: str, sequence: int) -> None:
        self.symbol_id, self.due_ms = symbol_id, 0
        self._first = sequence
        self._book: PublishedBook | None = None

    @property
    def sequence(self) -> int:
        """The sequence of the latest telling."""
        return self._first if self._book is None else self._book.sequence

    def snapshot(self, exchange: Exchange, limit: int) -> Message:
        """The book as it was told last, so that the next change follows on it."""
        if self._book is None:
            self._book = PublishedBook(self._first, *self._levels(exchange))
        return self._written("snapshotOrderbook", exchange, self._book.levels())

    def news(self, exchange: Exchange) -> Message | None:
        """The levels that changed."""
        levels = self._levels(exchange)
        if self._book is None:
            return self.snapshot(exchange, MOST)
        changes = self._book.change(*levels)
        return None if changes is None else self._written("updateOrderbook", exchange, changes)

    def _levels(self, exchange: Exchange) -> tuple[Levels, Levels]:
        self.due_ms = _next_step(exchange, self.symbol_id)
        exchange.look_at(self.symbol_id)
        book = exchange.pair(self.symbol_id).book
        return book.levels(SELL), book.levels(BUY)

    def _written(self, method: str, exchange: Exchange, sides: tuple[Levels, Levels]) -> Message:
        asks, bids = map(exchange.tape.track(self.symbol_id).figures.levels, sides)
        when = instant(exchange.moment_ms)
        return Message(
            method,
            f'{{"ask":{asks},"bid":{bids},"symbol":"{self.symbol_id}","sequence":{self.sequence},"timestamp":"{when}"}}',
        )


class TradesTopic:
    """The public trades: the latest, then every new one."""

    def __init__(self, symbol_id: str) -> None:
        self.symbol_id, self.due_ms = symbol_id, 0
        self._sent: set[int] = set()  # numbers of the latest trades that were told
        self._until = 0

    def snapshot(self, exchange: Exchange, limit: int) -> Message:
        """The latest trades, oldest first."""
        return self._written("snapshotTrades", exchange, self._latest(exchange, Span(), limit))

    def news(self, exchange: Exchange) -> Message | None:
        """The trades that were not told yet, oldest first."""
        is_first = not self._until
        since = self._until - _OVERLAP
        trades = self._latest(exchange, Span() if is_first else Span.of_ids(since, None), MOST)
        new = [trade for trade in trades if trade.id not in self._sent]
        self._until = max(self._until, exchange.moment_ms * ID_STEP, *(trade.id for trade in new), 0)
        oldest_id = self._until - _OVERLAP
        self._sent = {trade.id for trade in trades if trade.id >= oldest_id} | {
            number for number in self._sent if number >= oldest_id
        }
        return None if is_first or not new else self._written("updateTrades", exchange, new)

    def _latest(self, exchange: Exchange, span: Span, limit: int) -> list[Trade]:
        tape, at_ms = exchange.tape, exchange.moment_ms
        track = tape.track(self.symbol_id)
        self.due_ms = tape.next_ms(track, at_ms)
        return tape.listed(track, span, until_ms=at_ms, newest_first=True, offset=0, limit=limit)[::-1]

    def _written(self, method: str, exchange: Exchange, trades: list[Trade]) -> Message:
        records = ",".join(map(exchange.tape.track(self.symbol_id).figures.trade, trades))
        return Message(method, f'{{"data":[{records}],"symbol":"{self.symbol_id}"}}')


class CandlesTopic:
    """The candles of one period: the latest, then those that trades changed or began."""

    def __init__(self, symbol_id: str, period: str) -> None:
        self.symbol_id, self.due_ms = symbol_id, 0
        self._period = period
        self._sent = ""  # the latest candle
        self._start_ms = -1

    def snapshot(self, exchange: Exchange, limit: int) -> Message:
        """The latest candles, oldest first."""
        return self._written("snapshotCandles", [text for _, text in self._latest(exchange, 0, limit)])

    def news(self, exchange: Exchange) -> Message | None:
        """The latest told candle if it changed, and all after it."""
        is_first = self._start_ms < 0
        candle_texts = self._latest(exchange, max(self._start_ms, 0), 1 if is_first else MOST)
        changed = [text for _, text in candle_texts if text != self._sent]
        self._start_ms, self._sent = candle_texts[-1] if candle_texts else (max(self._start_ms, 0), self._sent)
        return None if is_first or not changed else self._written("updateCandles", changed)

    def _latest(self, exchange: Exchange, first_ms: int, limit: int) -> list[tuple[int, str]]:
        tape, at_ms = exchange.tape, exchange.moment_ms
        track = tape.track(self.symbol_id)
        self.due_ms = tape.next_ms(track, at_ms)
        bars = candles.listed(
            tape,
            track,
            self._period,
            first_ms=first_ms,
            last_ms=at_ms,
            until_ms=at_ms,
            newest_first=True,
            offset=0,
            limit=limit,
        )
        return [(start_ms, track.figures.candle(start_ms, bar)) for start_ms, bar in reversed(bars)]

    def _written(self, method: str, texts: list[str]) -> Message:
        return Message(method, f'{{"data":[{",".join(texts)}],"symbol":"{self.symbol_id}","period":"{self._period}"}}')


def _next_step(exchange: Exchange, symbol_id: str) -> int:
    """When the traders of a symbol may offer anew; the symbols take turns, so that they don't come all at once."""
    track = exchange.tape.track(symbol_id)
    step_ms = _QUIET_STEP_MS if track.is_quiet else _STEP_MS
    return (exchange.moment_ms // step_ms + 1) * step_ms + track.number % _BEATS * _BEAT_MS
