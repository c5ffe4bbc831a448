"""What browsers are told of public markets between two writings: of each topic the newest values, as exact text.

Messages come many times a second; `Ticks.tell` says what they amount to, a few times a second. Any tick may get lost on
its way to a browser, so each says all that its part of a page shows: the next one makes up for it.
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
    """What was taken in and not told yet. `take_…` is called for each message, `tell` a few times a second."""

    _due: dict[str, Callable[[], Values]] = field(default_factory=dict)
    _trades: dict[str, dict[int, records.PublicTrade]] = field(default_factory=dict)
    _candles: dict[tuple[str, str], dict[datetime, records.Candle]] = field(default_factory=dict)

    @property
    def is_due(self) -> bool:
        """Whether there is something new to tell."""
        return bool(self._due)

    def take_ticker(self, record: records.Ticker, *, now: datetime) -> None:
        """The last 24 hours of a symbol; the caller leaves out those that were overtaken."""
        if all(_fits(getattr(record, name)) for name in _PRICES):
            self._due[topics.of(record.symbol)] = partial(_of_ticker, record, now)

    def take_book(self, book: Book, *, now: datetime) -> None:
        """A book that changed; it is read when it is told, so that it is the newest then."""
        self._due[topics.of(book.symbol, "book")] = partial(_of_book, book, now)

    def take_trades(
        self, symbol: str, found: Iterable[records.PublicTrade], *, whole: bool = False, now: datetime
    ) -> None:
        """Trades that were made, in any order; with `whole` there are no others."""
        kept = {} if whole else self._trades.pop(symbol, {})
        kept |= {one.id: one for one in found if quotes.is_trade(one) and _is_plain(one)}
        if len(kept) > TRADES:
            kept = {number: kept[number] for number in heapq.nlargest(TRADES, kept)}
        self._trades[symbol] = kept
        if len(self._trades) > _MOST_LISTS:
            del self._trades[next(iter(self._trades))]
        self._due[topics.of(symbol, "trades")] = partial(_of_trades, symbol, kept, now)

    def take_candles(
        self, symbol: str, period: str, found: Iterable[records.Candle], *, whole: bool = False, now: datetime
    ) -> None:
        """Candles that began or grew; of a period that the interface does not have there are none."""
        if period not in PERIODS:
            return
        kept = {} if whole else self._candles.get((symbol, period), {})
        kept |= {one.timestamp: one for one in found if quotes.is_candle(one) and _are_plain(one)}
        kept = {at: kept[at] for at in heapq.nlargest(CANDLES, kept)}
        self._candles[symbol, period] = kept
        self._due[topics.of(symbol, "candles", period=period)] = partial(_of_candles, symbol, period, kept, now)

    def tell(self) -> int:
        """Tell browsers the newest of each topic that changed since the last time; how many topics that were."""
        due, self._due = self._due, {}
        sent = 0
        for topic, values_of in due.items():
            if values := values_of():
                announcements.tick(topic, **values)
                sent += 1
        return sent


def _of_ticker(record: records.Ticker, now: datetime) -> Values:
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


def _of_book(book: Book, now: datetime) -> Values:
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


def _of_trades(symbol: str, kept: dict[int, records.PublicTrade], now: datetime) -> Values:
    """The newest first. Their numbers are text too: a browser's numbers are too short for them."""
    rows, room = [], 2 * _ROOM
    for number in sorted(kept, reverse=True):
        one = kept[number]
        figures = decimal_text(one.price), decimal_text(one.quantity)
        row = [str(number), *figures, one.side, instant_text(one.timestamp)]
        room -= sum(map(len, row)) + 20
        if room < 0:
            break
        rows.append(row)
    return {"symbol": symbol, "at": instant_text(now), "read_at": instant_text(now), "rows": rows}


def _of_candles(symbol: str, period: str, kept: dict[datetime, records.Candle], now: datetime) -> Values:
    """The oldest first: its second, open, high, low, close, volume, turnover."""
    rows = []
    for at in sorted(kept):
        one = kept[at]
        figures = (one.open, one.max, one.min, one.close, one.volume, one.volume_quote)
        rows.append([int(at.timestamp()), *map(decimal_text, figures)])
    stamp = instant_text(now)
    return {"symbol": symbol, "period": period, "at": stamp, "read_at": stamp, "rows": rows}


def _levels(levels: Iterable[records.Level]) -> list[list[str]]:
    """Price and size of each, as many as there is room for: any but absurd ones."""
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
    """Whether the rows would take it: a page that is drawn anew must show the same."""
    return len(one.side) <= _LONGEST_SIDE and "\0" not in one.side and _fits(one.price) and _fits(one.quantity)


def _are_plain(one: records.Candle) -> bool:
    return all(map(_fits, (one.open, one.close, one.min, one.max, one.volume, one.volume_quote)))


def _fits(value: Decimal | None) -> bool:
    """Whether a column for amounts takes the figure; most are so short that nobody has to count."""
    if value is None or (len(str(value)) <= _SURELY_SHORT and "E" not in str(value)):
        return True
    _, digits, exponent = value.normalize().as_tuple()
    return isinstance(exponent, int) and exponent >= -_MOST_PLACES and len(digits) + exponent <= _MOST_WHOLE
