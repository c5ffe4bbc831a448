"""What the public stream tells, coalesced: of each topic only the newest is kept in the rows and told to browsers.

Messages come many times a second and are taken in memory. `Tally.tell` shows browsers what they amount to several times
a second, `Tally.keep` writes it about once a second, and never what no browser was told yet: what is shown on an open
page is at least as new as what a page drawn anew would show.
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


def wanted(*, now: datetime) -> frozenset[Subscription]:
    """Everything to follow now: all channels of the symbols that are watched, candles of the periods looked at, and the
    tickers of what is seen in lists."""
    found = {Subscription(symbol, Channel.TICKER) for symbol in interest.glanced(now=now)}
    for look in interest.watched(now=now):
        found |= {Subscription(look.symbol, one) for one in (Channel.TICKER, Channel.BOOK, Channel.TRADES)}
        found.add(Subscription(look.symbol, Channel.CANDLES, look.period))
    return frozenset(found)


@dataclass(slots=True)
class _Heap:
    """Trades or candles of one topic since the last writing, by what names them; `whole` as the session says it."""

    whole: bool = False
    found: dict[Any, Any] = field(default_factory=dict)

    def add(self, pairs: Iterable[tuple[Any, Any]], whole: bool) -> None:
        """Add more; all of the newest replace what was gathered before."""
        if whole:
            self.whole, self.found = True, {}
        self.found |= dict(pairs)


@dataclass(slots=True)
class Tally:
    """The newest of each topic that is not written, or not told, yet. One for each session."""

    tickers: dict[str, records.Ticker] = field(default_factory=dict)
    books: dict[str, Book] = field(default_factory=dict)
    trades: dict[str, _Heap] = field(default_factory=dict)
    candles: dict[tuple[str, str], _Heap] = field(default_factory=dict)
    told_at: dict[str, datetime] = field(default_factory=dict)
    ticks: Ticks = field(default_factory=Ticks)

    def take(self, event: market_session.Event, *, now: datetime) -> None:
        """Take in what the session says. Nothing that the exchange tells makes this fail."""
        match event:
            case market_session.TickerTold(record):
                self._take_ticker(record, now)
            case market_session.BookChanged(book):
                self.books[book.symbol] = book
                self.ticks.take_book(book, now=now)
            case market_session.TradesTold(symbol, found, whole):
                self.trades.setdefault(symbol, _Heap()).add(((one.id, one) for one in found), whole)
                self.ticks.take_trades(symbol, found, whole=whole, now=now)
            case market_session.CandlesTold(symbol, period, found, whole):
                heap = self.candles.setdefault((symbol, period), _Heap())
                heap.add(((one.timestamp, one) for one in found), whole)
                self.ticks.take_candles(symbol, period, found, whole=whole, now=now)
            case _:
                _take_standing(event, now)

    def tell(self) -> int:
        """Tell browsers what is new since the last time; of how many topics something was."""
        return self.ticks.tell()

    def keep(self, *, now: datetime) -> None:
        """Write everything that was gathered; what of it was not told yet is told before."""
        self.tell()
        problems = _keep_tickers(self.tickers, now) + _keep_books(self.books, now)
        for symbol, heap in self.trades.items():
            problems += quotes.keep_trades(symbol=symbol, found=list(heap.found.values()), now=now, whole=heap.whole)
            MarketLook.objects.filter(symbol=symbol).update(trades_read_at=now)
        for (symbol, period), heap in self.candles.items():
            records = list(heap.found.values())
            problems += quotes.keep_candles(symbol=symbol, period=period, found=records, now=now, whole=heap.whole)
            MarketLook.objects.filter(symbol=symbol, period=period).update(candles_read_at=now)
        for problem in problems[:5]:
            _log.warning("market_stream.left_out", reason=problem)
        self.tickers, self.books, self.trades, self.candles = {}, {}, {}, {}

    def _take_ticker(self, record: records.Ticker, now: datetime) -> None:
        """A ticker that was overtaken on its way is dropped."""
        if record.timestamp >= self.told_at.get(record.symbol, record.timestamp):
            self.told_at[record.symbol] = record.timestamp
            self.tickers[record.symbol] = record
            self.ticks.take_ticker(record, now=now)


def _take_standing(event: market_session.Event, now: datetime) -> None:
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


def _keep_tickers(found: dict[str, records.Ticker], now: datetime) -> list[str]:
    return list(reference.keep_tickers(found=list(found.values()), now=now).problems) if found else []


def _keep_books(books: dict[str, Book], now: datetime) -> list[str]:
    problems, kept = [], []
    for symbol, book in books.items():
        if not book.is_whole:
            continue
        ask, bid = book.best(quotes.DEPTH)
        at = instant_text(book.timestamp or now)
        found = records.OrderBook(ask=ask, bid=bid, timestamp=Nanoseconds.from_text(at))
        try:
            quotes.keep_book(symbol=symbol, found=found, now=now)
        except quotes.NotABook as problem:
            problems.append(f"The order book of {symbol[:40]!r} can't be kept: {problem}.")
        else:
            kept.append(symbol)
    MarketLook.objects.filter(symbol__in=kept).update(book_read_at=now)
    return problems
