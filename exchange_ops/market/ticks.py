"""What browsers get of public markets between two writes to the rows: the newest values of each topic, as exact text.

Messages come many times a second; `Ticks.announce` sends the newest values a few times a second. A tick may get lost on
its way to a browser, so each holds everything that its part of a page shows: the next one makes up for it.
"""

import heapq
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Any

from desk.live import announcements
from exchange_ops.market import queries, quotes, topics
from exchange_ops.market.interest import PERIODS
from exchange_ops.wire import records
from exchange_ops.wire.book import Book
from wire.values import decimal_text, instant_text

TRADES = 30  # of the list that a page shows
CANDLES = 3  # the growing one, and those before it, in case a tick got lost while it ended
_ROOM = 6_500  # characters for one side of a book; for all trades twice as many
_LONGEST_SIDE = 20
_MOST_PLACES, _MOST_WHOLE, _SURELY_SHORT = 24, 36, 24  # of a figure that the rows take
_MOST_LISTS = 200  # symbols whose newest trades are kept in memory
_PRICES = ("last", "bid", "ask", "open", "low", "high", "volume", "volume_quote")

Values = dict[str, Any]


@dataclass(slots=True)
class Ticks:
    """The messages that are not announced yet. `add_…` is called for each message, `announce` a few times a second."""

    _due: dict[str, Callable[[], Values]] = field(default_factory=dict)
    _trades: dict[str, dict[int, records.PublicTrade]] = field(default_factory=dict)
    _candles: dict[tuple[str, str], dict[datetime, records.Candle]] = field(default_factory=dict)

    @property
    def is_due(self) -> bool:
        """Whether there is something new to announce."""
        return bool(self._due)

    def add_ticker(self, record: records.Ticker, *, now: datetime) -> None:
        """The last 24 hours of a symbol; the caller leaves out those that were overtaken."""
        if all(_fits(getattr(record, name)) for name in _PRICES):
            self._due[topics.topic(record.symbol)] = partial(_ticker_values, record, now)

    def add_book(self, book: Book, *, now: datetime) -> None:
        """A book that changed; it is read when it is announced, so that it is the newest then."""
        self._due[topics.topic(book.symbol, "book")] = partial(_book_values, book, now)

    def add_trades(
        self, symbol: str, trades: Iterable[records.PublicTrade], *, is_complete: bool = False, now: datetime
    ) -> None:
        """New trades, in any order; with `is_complete` there are no others."""
        newest = {} if is_complete else self._trades.pop(symbol, {})
        newest |= {one.id: one for one in trades if quotes.is_trade(one) and _is_plain(one)}
        if len(newest) > TRADES:
            newest = {number: newest[number] for number in heapq.nlargest(TRADES, newest)}
        self._trades[symbol] = newest
        if len(self._trades) > _MOST_LISTS:
            del self._trades[next(iter(self._trades))]
        self._due[topics.topic(symbol, "trades")] = partial(_trade_values, symbol, newest, now)

    def add_candles(
        self, symbol: str, period: str, candles: Iterable[records.Candle], *, is_complete: bool = False, now: datetime
    ) -> None:
        """Candles that began or grew; those of a period that the interface does not have are dropped."""
        if period not in PERIODS:
            return
        newest = {} if is_complete else self._candles.get((symbol, period), {})
        newest |= {one.timestamp: one for one in candles if quotes.is_candle(one) and _are_plain(one)}
        newest = {at: newest[at] for at in heapq.nlargest(CANDLES, newest)}
        self._candles[symbol, period] = newest
        self._due[topics.topic(symbol, "candles", period=period)] = partial(_candle_values, symbol, period, newest, now)

    def announce(self) -> int:
        """Send browsers the newest values of each topic that changed since the last time; returns how many topics."""
        due, self._due = self._due, {}
        sent = 0
        for topic, values_of in due.items():
            if values := values_of():
                announcements.tick(topic, **values)
                sent += 1
        return sent


def _ticker_values(record: records.Ticker, now: datetime) -> Values:
    """`at` is the exchange's time, `read_at` ours; `change` and `spread` are percentages as a page shows them."""
    change = queries.percent_of(queries.change_of(record.last, record.open), digits=queries.CHANGE_DIGITS)
    spread = queries.percent_of(queries.spread_of(record.bid, record.ask), digits=queries.SPREAD_DIGITS)
    return {
        "symbol": record.symbol,
        "at": instant_text(record.timestamp),
        "read_at": instant_text(now),
        **{name: _text(getattr(record, name)) for name in _PRICES},
        "change": _text(change),
        "spread": _text(spread),
    }


def _book_values(book: Book, now: datetime) -> Values:
    """Both sides, the best level first; nothing while the book is broken."""
    if not book.is_whole:
        return {}
    ask, bid = book.best(quotes.DEPTH)
    at = instant_text(book.timestamp or now)
    return {
        "symbol": book.symbol,
        "at": at,
        "read_at": instant_text(now),
        "ask": _levels(ask),
        "bid": _levels(bid),
    }


def _trade_values(symbol: str, trades: dict[int, records.PublicTrade], now: datetime) -> Values:
    """The newest first. Their numbers are text too: a browser's numbers are too short for them."""
    rows, room = [], 2 * _ROOM
    for number in sorted(trades, reverse=True):
        trade = trades[number]
        figures = decimal_text(trade.price), decimal_text(trade.quantity)
        row = [str(number), *figures, trade.side, instant_text(trade.timestamp)]
        room -= sum(map(len, row)) + 20
        if room < 0:
            break
        rows.append(row)
    return {"symbol": symbol, "at": instant_text(now), "read_at": instant_text(now), "rows": rows}


def _candle_values(symbol: str, period: str, candles: dict[datetime, records.Candle], now: datetime) -> Values:
    """The oldest first: its second, open, high, low, close, volume, turnover."""
    rows = []
    for at in sorted(candles):
        candle = candles[at]
        figures = (candle.open, candle.max, candle.min, candle.close, candle.volume, candle.volume_quote)
        rows.append([int(at.timestamp()), *map(decimal_text, figures)])
    stamp = instant_text(now)
    return {"symbol": symbol, "period": period, "at": stamp, "read_at": stamp, "rows": rows}


def _levels(levels: Iterable[records.Level]) -> list[list[str]]:
    """Price and size of each, as many as there is room for: all but absurd ones."""
    texts, room = [], _ROOM
    for level in levels:
        pair = [decimal_text(level.price), decimal_text(level.size)]
        room -= len(pair[0]) + len(pair[1]) + 8
        if room < 0:
            break
        texts.append(pair)
    return texts


def _text(value: Decimal | None) -> str | None:
    return None if value is None else decimal_text(value)


def _is_plain(one: records.PublicTrade) -> bool:
    """Whether the table would store it: a page that is reloaded must show the same."""
    return len(one.side) <= _LONGEST_SIDE and "\0" not in one.side and _fits(one.price) and _fits(one.quantity)


def _are_plain(one: records.Candle) -> bool:
    return all(map(_fits, (one.open, one.close, one.min, one.max, one.volume, one.volume_quote)))


def _fits(value: Decimal | None) -> bool:
    """Whether a column for amounts takes the figure; most are so short that counting is not needed."""
    if value is None or (len(str(value)) <= _SURELY_SHORT and "E" not in str(value)):
        return True
    _, digits, exponent = value.normalize().as_tuple()
    return isinstance(exponent, int) and exponent >= -_MOST_PLACES and len(digits) + exponent <= _MOST_WHOLE
