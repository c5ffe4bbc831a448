"""One conversation with the public stream: tickers, order books, trades and candles of symbols that come and go.

`follow` says what is wanted; the session subscribes and unsubscribes until that is so, a few requests at a time, since
sockets are limited as well (supplement 1.7). A book that lost its sequence is subscribed to anew. A subscription that
the exchange refuses is told once and tried again much later.
Source: supplement 1.3.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import Any

from exchange_ops.wire import records
from exchange_ops.wire.book import Book, Step
from exchange_ops.wire.conversation import BecameLive, Conversation, Ended, Odd, Pace, Phase, refusal_text
from wire import jsonrpc
from wire import records as wire_records
from wire.errors import BadReply

SNAPSHOT_SIZE = 500  # of trades and candles
TOO_MANY_REQUESTS = 429


class Channel(StrEnum):
    """What can be followed of a symbol, as the methods call it."""

    TICKER = "Ticker"
    BOOK = "Orderbook"
    TRADES = "Trades"
    CANDLES = "Candles"


@dataclass(frozen=True, slots=True, order=True)
class Subscription:
    """One channel of one symbol; `period` is for candles."""

    symbol: str
    channel: Channel
    period: str = ""

    @property
    def params(self) -> dict[str, object]:
        """The params of unsubscribing; subscribing may say a size as well."""
        return {"symbol": self.symbol, **({"period": self.period} if self.period else {})}


@dataclass(frozen=True, slots=True)
class MarketPace(Pace):
    """Milliseconds in addition to those of `Pace`. The exchange sends each followed ticker at least once a minute, so a
    socket that sends nothing for `quiet_ms` is dead even if it answers pings. At most `most_open` requests wait for
    answers at once, with `between_ms` between two of them."""

    quiet_ms: int = 150_000
    between_ms: int = 50
    most_open: int = 8
    rest_ms: int = 2_000  # after "too many requests"
    refused_ms: int = 300_000  # until a refused subscription is asked for again
    snapshot_ms: int = 5_000  # how long a book that was asked for may stay away
    rebuild_ms: int = 500  # between two rebuildings of one book, doubled each time up to `recheck_ms`


@dataclass(frozen=True, slots=True)
class TickerTold:
    """The last 24 hours of one symbol."""

    record: records.Ticker


@dataclass(frozen=True, slots=True)
class BookChanged:
    """The book is whole and newer than it was; it goes on changing, so it is read when it is needed."""

    book: Book


@dataclass(frozen=True, slots=True)
class TradesTold:
    """Public trades; if `is_complete`, the newest of all without a gap."""

    symbol: str
    records: tuple[records.PublicTrade, ...]
    is_complete: bool


@dataclass(frozen=True, slots=True)
class CandlesTold:
    """Candles of one period; if `is_complete`, the newest of all without a gap."""

    symbol: str
    period: str
    records: tuple[records.Candle, ...]
    is_complete: bool


@dataclass(frozen=True, slots=True)
class BookBroke:
    """A book lost its sequence and is asked for anew; until then what is kept of it is old."""

    symbol: str


@dataclass(frozen=True, slots=True)
class NotFollowed:
    """The exchange refused a subscription."""

    subscription: Subscription
    sentence: str


OwnEvent = TickerTold | BookChanged | TradesTold | CandlesTold | BookBroke | NotFollowed
Event = OwnEvent | BecameLive | Odd | Ended


@dataclass(slots=True)
class _BookState:
    """A book, and when and how often it was rebuilt."""

    book: Book
    due_ms: int  # when to ask again, should it not be whole by then
    rebuilt_ms: int = 0
    rebuilds: int = 0


@dataclass(slots=True)
class _Subscriptions:
    """The target, what the exchange was asked for, and what it refused, with the time to ask again."""

    targets: frozenset[Subscription] = frozenset()
    closely: frozenset[str] = frozenset()  # symbols of which a book is wanted
    requested: set[Subscription] = field(default_factory=set)
    refused: dict[Subscription, int] = field(default_factory=dict)

    def turn(self, one: Subscription) -> tuple[bool, str, Channel, str]:
        """Its place among those that wait to be asked for."""
        return one.symbol not in self.closely, one.symbol, one.channel, one.period


class MarketSession(Conversation[OwnEvent]):
    """The client's side of one socket of public market data; no login is needed."""

    def __init__(self, pace: MarketPace | None = None) -> None:
        self._market_pace = pace or MarketPace()
        super().__init__(self._market_pace)
        self._subscriptions = _Subscriptions()
        self._books: dict[str, _BookState] = {}
        self._may_ask_ms = self._told_ms = 0

    @property
    def followed(self) -> frozenset[Subscription]:
        """What the exchange was asked for and has not refused."""
        return frozenset(self._subscriptions.requested)

    def follow(self, targets: Iterable[Subscription], now_ms: int) -> None:
        """Follow these subscriptions from now on, and no others."""
        self._subscriptions.targets = frozenset(targets)
        self._subscriptions.closely = frozenset(
            one.symbol for one in self._subscriptions.targets if one.channel is Channel.BOOK
        )
        self._subscriptions.refused = {
            one: at for one, at in self._subscriptions.refused.items() if one in self._subscriptions.targets
        }
        if self.phase is Phase.LIVE:
            self._arrange(now_ms)

    def _begin(self, now_ms: int) -> None:
        self.phase = Phase.LIVE
        self._told_ms = now_ms
        self._events.append(BecameLive())
        self._arrange(now_ms)

    def _idle(self, now_ms: int) -> None:
        if not any(one.channel is Channel.TICKER for one in self._subscriptions.requested):
            self._told_ms = now_ms
        if now_ms - self._told_ms > self._market_pace.quiet_ms:
            self._end(f"No market data from the exchange for {self._market_pace.quiet_ms // 1000} s.")
            return
        for symbol, state in list(self._books.items()):
            if not state.book.is_whole and now_ms >= state.due_ms:
                self._rebuild(symbol, state, now_ms)
        self._arrange(now_ms)

    # Subscribing -----------------------------------------------------------------------------------------------------

    def _arrange(self, now_ms: int) -> None:
        """Subscribe and unsubscribe towards the targets; symbols whose book is followed come first."""
        if not self._is_free(now_ms):
            return
        subscriptions = self._subscriptions
        for one in sorted(subscriptions.requested - subscriptions.targets):
            if not self._may_ask(now_ms):
                return
            self._leave(one, now_ms)
        for one in sorted(subscriptions.targets - subscriptions.requested, key=subscriptions.turn):
            if subscriptions.refused.get(one, 0) > now_ms:
                continue
            if not self._may_ask(now_ms):
                return
            self._join(one, now_ms)

    def _is_free(self, now_ms: int) -> bool:
        return now_ms >= self._may_ask_ms and len(self._pending) < self._market_pace.most_open

    def _may_ask(self, now_ms: int) -> bool:
        if not self._is_free(now_ms):
            return False
        self._may_ask_ms = now_ms + self._market_pace.between_ms
        return True

    def _join(self, one: Subscription, now_ms: int) -> None:
        self._subscriptions.requested.add(one)
        self._subscriptions.refused.pop(one, None)
        has_size = one.channel in (Channel.TRADES, Channel.CANDLES)
        params = one.params | ({"limit": SNAPSHOT_SIZE} if has_size else {})
        if one.channel is Channel.BOOK:
            self._books[one.symbol] = _BookState(Book(one.symbol), now_ms + self._market_pace.snapshot_ms)
        refused = partial(self._refused, one)
        self._ask(f"subscribe{one.channel.value}", params, now_ms, self._confirmed, refused)

    def _leave(self, one: Subscription, now_ms: int) -> None:
        self._subscriptions.requested.discard(one)
        if one.channel is Channel.BOOK:
            self._books.pop(one.symbol, None)
        self._ask(f"unsubscribe{one.channel.value}", one.params, now_ms, self._confirmed, self._not_left)

    def _confirmed(self, result: bytes, now_ms: int) -> None:
        if result != b"true":
            self._end("The exchange did not confirm a subscription change.")
        else:
            self._arrange(now_ms)

    def _not_left(self, failure: jsonrpc.Failure, now_ms: int) -> None:
        self._odd(f"The exchange rejected an unsubscribe request: {refusal_text(failure)}"[:300])

    def _refused(self, one: Subscription, failure: jsonrpc.Failure, now_ms: int) -> None:
        self._subscriptions.requested.discard(one)
        if one.channel is Channel.BOOK:
            self._books.pop(one.symbol, None)
        if failure.code == TOO_MANY_REQUESTS:
            self._may_ask_ms = now_ms + self._market_pace.rest_ms
            return
        self._subscriptions.refused[one] = now_ms + self._market_pace.refused_ms
        what = f"the {one.channel.value.lower()} for {one.symbol}"
        self._events.append(NotFollowed(one, f"The exchange rejected {what}: {refusal_text(failure)}"[:300]))

    # What is told ----------------------------------------------------------------------------------------------------

    def _notified(self, frame: jsonrpc.Notification, now_ms: int) -> None:
        take = _TAKERS.get(frame.method)
        if take is None:
            self._unknown(frame.method)
            return
        kind, step = take
        self._told_ms = now_ms
        try:
            report = wire_records.decode(frame.params, kind)
        except BadReply as problem:
            self._odd(f"Unreadable {frame.method} message: {problem.reason}"[:300])
            self._break_books_of(frame, now_ms)
            return
        step(self, report, frame.method.startswith("snapshot"), now_ms)

    def _ticker(self, report: records.Ticker, is_complete: bool, now_ms: int) -> None:
        if Subscription(report.symbol, Channel.TICKER) in self._subscriptions.requested:
            self._events.append(TickerTold(report))

    def _trades(self, report: records.TradesReport, is_complete: bool, now_ms: int) -> None:
        if Subscription(report.symbol, Channel.TRADES) in self._subscriptions.requested:
            self._events.append(TradesTold(report.symbol, tuple(report.data), is_complete))

    def _candles(self, report: records.CandlesReport, is_complete: bool, now_ms: int) -> None:
        if Subscription(report.symbol, Channel.CANDLES, report.period) in self._subscriptions.requested:
            self._events.append(CandlesTold(report.symbol, report.period, tuple(report.data), is_complete))

    # Order books -----------------------------------------------------------------------------------------------------

    def _book(self, report: records.BookReport, is_complete: bool, now_ms: int) -> None:
        state = self._books.get(report.symbol)
        if state is None:
            return  # said before the exchange heard that it is not wanted any more
        step = state.book.restart(report) if is_complete else state.book.update(report)
        if step is Step.APPLIED:
            self._events.append(BookChanged(state.book))
            if not is_complete and now_ms - state.rebuilt_ms > self._pace.recheck_ms:
                state.rebuilds = 0
        elif step is Step.BROKEN:
            self._broken(report.symbol, state, now_ms)

    def _break_books_of(self, frame: jsonrpc.Notification, now_ms: int) -> None:
        """An unreadable update breaks every order book that it may be about."""
        if frame.method in ("snapshotOrderbook", "updateOrderbook"):
            for symbol, state in self._books.items():
                named = f'"{symbol}"'.encode() in frame.params
                if named and state.book.is_whole:
                    state.book.is_whole = False
                    self._broken(symbol, state, now_ms)

    def _broken(self, symbol: str, state: _BookState, now_ms: int) -> None:
        """Ask for the book again: at once the first time, then at growing intervals while that does not help."""
        self._events.append(BookBroke(symbol))
        pause = min(self._market_pace.rebuild_ms << min(state.rebuilds, 10), self._pace.recheck_ms)
        state.due_ms = max(now_ms, state.rebuilt_ms + pause) if state.rebuilds else now_ms
        if state.due_ms <= now_ms:
            self._rebuild(symbol, state, now_ms)

    def _rebuild(self, symbol: str, state: _BookState, now_ms: int) -> None:
        """Requests of one socket are answered in order, so both can be sent at once."""
        one = Subscription(symbol, Channel.BOOK)
        state.rebuilds += 1
        state.rebuilt_ms, state.due_ms = now_ms, now_ms + self._market_pace.snapshot_ms
        self._ask("unsubscribeOrderbook", one.params, now_ms, self._confirmed, self._not_left)
        self._ask("subscribeOrderbook", one.params, now_ms, self._confirmed, partial(self._refused, one))


_TAKERS: dict[str, tuple[Any, Any]] = {
    "ticker": (records.Ticker, MarketSession._ticker),
    "snapshotOrderbook": (records.BookReport, MarketSession._book),
    "updateOrderbook": (records.BookReport, MarketSession._book),
    "snapshotTrades": (records.TradesReport, MarketSession._trades),
    "updateTrades": (records.TradesReport, MarketSession._trades),
    "snapshotCandles": (records.CandlesReport, MarketSession._candles),
    "updateCandles": (records.CandlesReport, MarketSession._candles),
}
