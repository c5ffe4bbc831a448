"""What the public stream tells, coalesced: of each topic only the newest is kept in the rows and told to browsers.

Messages come many times a second and are taken in memory; `Tally.keep` writes what they amount to, about once a second.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import structlog

from desk import live
from exchange_ops.domain import looks, market, quotes, stream_states, watched
from exchange_ops.models import MarketLook
from exchange_ops.wire import market_session, records
from exchange_ops.wire.book import Book
from exchange_ops.wire.conversation import BecameLive, Ended, Odd
from exchange_ops.wire.market_session import Channel, Subscription
from wire.values import Nanoseconds, decimal_text, instant_text

NAME = "market stream"
_TOLD = ("last", "bid", "ask", "open", "low", "high", "volume")  # of a ticker, to browsers
_log = structlog.get_logger(__name__)


def wanted(*, now: datetime) -> frozenset[Subscription]:
    """Everything to follow now: all channels of the symbols that are watched, candles of the periods looked at."""
    found: set[Subscription] = set()
    for look in looks.watched(now=now):
        found |= {Subscription(look.symbol, one) for one in (Channel.TICKER, Channel.BOOK, Channel.TRADES)}
        found.add(Subscription(look.symbol, Channel.CANDLES, look.period))
    return frozenset(found)


@dataclass(slots=True)
class _Heap:
    """Trades or candles of one topic since the last writing, by what names them; `whole` as the session says it."""

    whole: bool = False
    found: dict[Any, Any] = field(default_factory=dict)

    def add(self, told: Iterable[tuple[Any, Any]], whole: bool) -> None:
        """Add more; all of the newest replace what was gathered before."""
        if whole:
            self.whole, self.found = True, {}
        self.found |= dict(told)


@dataclass(slots=True)
class Tally:
    """The newest of each topic that is not written yet. One for each session."""

    tickers: dict[str, records.Ticker] = field(default_factory=dict)
    books: dict[str, Book] = field(default_factory=dict)
    trades: dict[str, _Heap] = field(default_factory=dict)
    candles: dict[tuple[str, str], _Heap] = field(default_factory=dict)
    told_at: dict[str, datetime] = field(default_factory=dict)

    def take(self, event: market_session.Event, *, now: datetime) -> None:
        """Take in what the session says. Nothing that the exchange tells makes this fail."""
        match event:
            case market_session.TickerTold(record):
                self._take_ticker(record)
            case market_session.BookChanged(book):
                self.books[book.symbol] = book
            case market_session.TradesTold(symbol, found, whole):
                self.trades.setdefault(symbol, _Heap()).add(((one.id, one) for one in found), whole)
            case market_session.CandlesTold(symbol, period, found, whole):
                heap = self.candles.setdefault((symbol, period), _Heap())
                heap.add(((one.timestamp, one) for one in found), whole)
            case _:
                _take_standing(event, now)

    def keep(self, *, now: datetime) -> None:
        """Write everything that was gathered, and tell browsers of each symbol once."""
        parts: dict[str, set[str]] = {}
        problems = _keep_tickers(self.tickers, parts, now) + _keep_books(self.books, parts, now)
        for symbol, heap in self.trades.items():
            problems += quotes.keep_trades(symbol=symbol, found=list(heap.found.values()), now=now, whole=heap.whole)
            parts.setdefault(symbol, set()).add("trades")
            MarketLook.objects.filter(symbol=symbol).update(trades_read_at=now)
        for (symbol, period), heap in self.candles.items():
            told = list(heap.found.values())
            problems += quotes.keep_candles(symbol=symbol, period=period, found=told, now=now, whole=heap.whole)
            parts.setdefault(symbol, set()).add("candles")
            MarketLook.objects.filter(symbol=symbol, period=period).update(candles_read_at=now)
        for problem in problems[:5]:
            _log.warning("market_stream.left_out", reason=problem)
        for symbol, changed in parts.items():
            _announce(symbol, changed, self.tickers.get(symbol))
        self.tickers, self.books, self.trades, self.candles = {}, {}, {}, {}

    def _take_ticker(self, record: records.Ticker) -> None:
        """A ticker that was overtaken on its way is dropped."""
        if record.timestamp >= self.told_at.get(record.symbol, record.timestamp):
            self.told_at[record.symbol] = record.timestamp
            self.tickers[record.symbol] = record


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


def _keep_tickers(found: dict[str, records.Ticker], parts: dict[str, set[str]], now: datetime) -> list[str]:
    if not found:
        return []
    for symbol in found:
        parts.setdefault(symbol, set()).add("ticker")
    return list(market.keep_tickers(found=list(found.values()), now=now).problems)


def _keep_books(books: dict[str, Book], parts: dict[str, set[str]], now: datetime) -> list[str]:
    problems = []
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
            parts.setdefault(symbol, set()).add("book")
    kept = [symbol for symbol, changed in parts.items() if "book" in changed]
    MarketLook.objects.filter(symbol__in=kept).update(book_read_at=now)
    return problems


def _announce(symbol: str, changed: set[str], ticker: records.Ticker | None) -> None:
    """One hint for each symbol, with the values of its ticker: everybody may see them. The page draws from its rows."""
    values = {name: decimal_text(value) for name in _TOLD if (value := getattr(ticker, name, None)) is not None}
    told = {"at": instant_text(ticker.timestamp)} if ticker is not None else {}
    live.announce(watched.topic(symbol=symbol), parts=" ".join(sorted(changed)), **values, **told)
