"""The public stream, coalesced: only the newest message of each topic is stored and sent to browsers.

Messages come many times a second and are collected in memory. `Tally.announce` sends browsers the newest several times
a second, `Tally.keep` stores it about once a second and announces it first: an open page is never older than a page
that is loaded now.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import structlog

from exchange_ops.market import interest, quotes, reference
from exchange_ops.market.models import MarketLook
from exchange_ops.market.ticks import Ticks
from exchange_ops.shared import stream_states
from exchange_ops.wire import market_session, records
from exchange_ops.wire.book import Book
from exchange_ops.wire.conversation import BecameLive, Ended, Odd
from exchange_ops.wire.market_session import Channel, Subscription
from wire.values import Nanoseconds, instant_text

NAME = "market stream"
_log = structlog.get_logger(__name__)


def subscriptions(*, now: datetime) -> frozenset[Subscription]:
    """Everything to follow now: all channels of watched symbols, candles of the periods looked at, tickers of lists."""
    subscriptions = {Subscription(symbol, Channel.TICKER) for symbol in interest.glanced(now=now)}
    for look in interest.watched(now=now):
        subscriptions |= {
            Subscription(look.symbol, channel) for channel in (Channel.TICKER, Channel.BOOK, Channel.TRADES)
        }
        subscriptions.add(Subscription(look.symbol, Channel.CANDLES, look.period))
    return frozenset(subscriptions)


@dataclass(slots=True)
class _Heap:
    """Trades or candles of one topic since the last writing, by their key; `is_complete` as the session says it."""

    is_complete: bool = False
    records: dict[Any, Any] = field(default_factory=dict)

    def add(self, pairs: Iterable[tuple[Any, Any]], is_complete: bool) -> None:
        """Add more; a complete list replaces what was collected before."""
        if is_complete:
            self.is_complete, self.records = True, {}
        self.records |= dict(pairs)


@dataclass(slots=True)
class Tally:
    """The newest messages that are not stored or not announced yet. One tally for each session."""

    tickers: dict[str, records.Ticker] = field(default_factory=dict)
    books: dict[str, Book] = field(default_factory=dict)
    trades: dict[str, _Heap] = field(default_factory=dict)
    candles: dict[tuple[str, str], _Heap] = field(default_factory=dict)
    ticker_at: dict[str, datetime] = field(default_factory=dict)
    ticks: Ticks = field(default_factory=Ticks)

    def add(self, event: market_session.Event, *, now: datetime) -> None:
        """Collect an event of the session. No message of the exchange makes this fail."""
        match event:
            case market_session.TickerTold(record):
                self._add_ticker(record, now)
            case market_session.BookChanged(book):
                self.books[book.symbol] = book
                self.ticks.add_book(book, now=now)
            case market_session.TradesTold(symbol, trades, is_complete):
                self.trades.setdefault(symbol, _Heap()).add(((one.id, one) for one in trades), is_complete)
                self.ticks.add_trades(symbol, trades, is_complete=is_complete, now=now)
            case market_session.CandlesTold(symbol, period, candles, is_complete):
                heap = self.candles.setdefault((symbol, period), _Heap())
                heap.add(((one.timestamp, one) for one in candles), is_complete)
                self.ticks.add_candles(symbol, period, candles, is_complete=is_complete, now=now)
            case _:
                _record_status(event, now)

    def announce(self) -> int:
        """Send browsers what is new since the last time; returns how many topics had something new."""
        return self.ticks.announce()

    def keep(self, *, now: datetime) -> None:
        """Store everything that was collected; what was not announced yet is announced first."""
        self.announce()
        problems = _keep_tickers(self.tickers, now) + _keep_books(self.books, now)
        for symbol, heap in self.trades.items():
            problems += quotes.keep_trades(
                symbol=symbol, trades=list(heap.records.values()), now=now, is_complete=heap.is_complete
            )
            MarketLook.objects.filter(symbol=symbol).update(trades_read_at=now)
        for (symbol, period), heap in self.candles.items():
            candles = list(heap.records.values())
            problems += quotes.keep_candles(
                symbol=symbol, period=period, candles=candles, now=now, is_complete=heap.is_complete
            )
            MarketLook.objects.filter(symbol=symbol, period=period).update(candles_read_at=now)
        for problem in problems[:5]:
            _log.warning("market_stream.left_out", reason=problem)
        self.tickers, self.books, self.trades, self.candles = {}, {}, {}, {}

    def _add_ticker(self, record: records.Ticker, now: datetime) -> None:
        """A ticker that was overtaken on its way is dropped."""
        if record.timestamp >= self.ticker_at.get(record.symbol, record.timestamp):
            self.ticker_at[record.symbol] = record.timestamp
            self.tickers[record.symbol] = record
            self.ticks.add_ticker(record, now=now)


def _record_status(event: market_session.Event, now: datetime) -> None:
    match event:
        case market_session.BookBroke(symbol):
            stream_states.closed_gaps(NAME, count=1)
            _log.info("market_stream.book_broke", symbol=symbol)
        case market_session.NotFollowed():
            stream_states.remark(NAME, sentence=event.sentence)
        case BecameLive():
            stream_states.became_live(NAME, now=now)
        case Odd():
            _log.warning("market_stream.odd", reason=event.sentence)
        case Ended():
            stream_states.ended(NAME, sentence=event.sentence, now=now)


def _keep_tickers(tickers: dict[str, records.Ticker], now: datetime) -> list[str]:
    return list(reference.keep_tickers(tickers=list(tickers.values()), now=now).problems) if tickers else []


def _keep_books(books: dict[str, Book], now: datetime) -> list[str]:
    problems, symbols = [], []
    for symbol, book in books.items():
        if not book.is_whole:
            continue
        ask, bid = book.best(quotes.DEPTH)
        at = instant_text(book.timestamp or now)
        order_book = records.OrderBook(ask=ask, bid=bid, timestamp=Nanoseconds.from_text(at))
        try:
            quotes.keep_book(symbol=symbol, book=order_book, now=now)
        except quotes.NotABook as problem:
            problems.append(f"The order book of {symbol[:40]!r} was not recorded: {problem}.")
        else:
            symbols.append(symbol)
    MarketLook.objects.filter(symbol__in=symbols).update(book_read_at=now)
    return problems
