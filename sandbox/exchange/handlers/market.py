"""Public market data that moves: tickers, trades, order books, candles (exchange REST, Public market data, supplement
2.9).

Intervals include both their ends. Without `from` an ascending list begins with the oldest there is.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass

import msgspec

from sandbox.exchange.handlers import arguments
from sandbox.exchange.handlers.arguments import Arguments
from sandbox.exchange.handlers.transactions import ASC, DEFAULT_LIMIT, DESC, FARTHEST, MOST
from sandbox.exchange.listing.symbols import Symbol
from sandbox.exchange.orders.matching import BUY, SELL
from sandbox.exchange.state import Exchange
from sandbox.exchange.tape import candles
from sandbox.exchange.tape.tape import Span
from sandbox.exchange.tape.tape_records import Figures, instant, nine_digits
from sandbox.exchange.terms import Caller

DEFAULT_DEPTH = 100
DEEPEST = 2**63 - 1
LATEST = 2**62


@dataclass(frozen=True, slots=True)
class _Page:
    """Which of the records that are found are wanted."""

    newest_first: bool
    offset: int
    limit: int

    @classmethod
    def read(cls, params: Arguments, default_order: str) -> "_Page":
        return cls(
            newest_first=arguments.choice(params, "sort", (ASC, DESC), default_order) == DESC,
            offset=arguments.whole_number(params, "offset", 0, 0, FARTHEST),
            limit=arguments.whole_number(params, "limit", DEFAULT_LIMIT, 0, MOST),
        )


@dataclass(frozen=True, slots=True)
class Listing:
    """What is told about several symbols: of each its own JSON, by symbol or, without `keyed`, in a row.

    It can be written symbol by symbol, so that other calls come in between; each part is of its own instant.
    """

    symbols: Sequence[Symbol]
    write: Callable[[Symbol], str]
    keyed: bool = True

    def part(self, symbol: Symbol) -> str:
        """What is told about one symbol."""
        return f'"{symbol.id}":{self.write(symbol)}' if self.keyed else self.write(symbol)

    def join(self, parts: Iterable[str]) -> str:
        """The parts together."""
        opening, closing = "{}" if self.keyed else "[]"
        return f"{opening}{','.join(parts)}{closing}"

    def read(self) -> object:
        """All of it at once, as plain JSON."""
        return _plain(self.join(self.part(symbol) for symbol in self.symbols))


def list_tickers(exchange: Exchange, params: Arguments) -> Listing:
    """The tickers of the named symbols, or of all."""
    return Listing(
        arguments.named_symbols(exchange, params), lambda symbol: _text(_ticker(exchange, symbol)), keyed=False
    )


def list_trades(exchange: Exchange, params: Arguments) -> Listing:
    """The trades of the named symbols, or of all, by symbol."""
    span, page = _time_span(params), _Page.read(params, DESC)
    return _remembered(
        exchange, params, page, ("trades", span, page), lambda symbol: _trades(exchange, symbol, span, page)
    )


def list_orderbooks(exchange: Exchange, params: Arguments) -> Listing:
    """The order books of the named symbols, or of all, by symbol."""
    depth = _depth(params)
    return Listing(arguments.named_symbols(exchange, params), lambda symbol: _book(exchange, symbol.id, depth))


def list_candles(exchange: Exchange, params: Arguments) -> Listing:
    """The candles of the named symbols, or of all, by symbol."""
    query = _Candles.read(params)
    return _remembered(exchange, params, query.page, query, lambda symbol: _candles(exchange, symbol, query))


# What can be told symbol by symbol.
LISTINGS: "dict[str, Callable[[Exchange, Arguments], Listing]]" = {
    "get_tickers": list_tickers,
    "get_trades": list_trades,
    "get_orderbooks": list_orderbooks,
    "get_candles": list_candles,
}


def get_tickers(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """The tickers of the named symbols, or of all."""
    return list_tickers(exchange, params).read()


def get_ticker(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """One ticker."""
    return _ticker(exchange, arguments.named_symbol(exchange, params))


def get_trades(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """The trades of the named symbols, or of all, by symbol."""
    return list_trades(exchange, params).read()


def get_symbol_trades(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """The trades of one symbol, by time or by number."""
    symbol, page = arguments.named_symbol(exchange, params), _Page.read(params, DESC)
    if arguments.choice(params, "by", ("timestamp", "id"), "timestamp") == "timestamp":
        return _plain(_trades(exchange, symbol, _time_span(params), page))
    first, last = _bounds(params, arguments.index)
    return _plain(_trades(exchange, symbol, Span.of_ids(first, last), page))


def get_orderbooks(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """The order books of the named symbols, or of all, by symbol."""
    return list_orderbooks(exchange, params).read()


def get_orderbook(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """One order book; with `volume` only as deep as that quantity goes, and with average prices."""
    symbol = arguments.named_symbol(exchange, params)
    if params.get("volume") in (None, ""):
        return _plain(_book(exchange, symbol.id, _depth(params)))
    volume = arguments.amount(params, "volume")
    return _plain(_book_for(exchange, symbol.id, -int(-volume // symbol.increment)))


def get_candles(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """The candles of the named symbols, or of all, by symbol."""
    return list_candles(exchange, params).read()


def get_symbol_candles(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """The candles of one symbol."""
    symbol = arguments.named_symbol(exchange, params)
    return _plain(_candles(exchange, symbol, _Candles.read(params)))


def _ticker(exchange: Exchange, symbol: Symbol) -> dict[str, object]:
    return exchange.tickers.ticker(symbol.id, exchange.moment_ms, exchange.quotes(symbol.id))


def _trades(exchange: Exchange, symbol: Symbol, span: Span, page: _Page) -> str:
    tape = exchange.tape
    track = tape.track(symbol.id)
    trades = tape.listed(
        track,
        span,
        until_ms=exchange.moment_ms,
        newest_first=page.newest_first,
        offset=page.offset,
        limit=page.limit,
    )
    return f"[{','.join(map(track.figures.trade, trades))}]"


@dataclass(frozen=True, slots=True)
class _Candles:
    """Which candles are wanted."""

    period: str
    span: Span
    page: _Page

    @classmethod
    def read(cls, params: Arguments) -> "_Candles":
        period = arguments.choice(params, "period", candles.PERIODS, candles.DEFAULT_PERIOD)
        return cls(period, _time_span(params), _Page.read(params, ASC))


def _candles(exchange: Exchange, symbol: Symbol, query: _Candles) -> str:
    tape = exchange.tape
    track = tape.track(symbol.id)
    bars = candles.listed(
        tape,
        track,
        query.period,
        first_ms=query.span.first_ms,
        last_ms=query.span.last_ms,
        until_ms=exchange.moment_ms,
        newest_first=query.page.newest_first,
        offset=query.page.offset,
        limit=query.page.limit,
    )
    write = track.figures.candle
    return f"[{','.join([write(start_ms, bar) for start_ms, bar in bars])}]"


def _remembered(
    exchange: Exchange, params: Arguments, page: _Page, question: Hashable, write: Callable[[Symbol], str]
) -> Listing:
    """What is kept for the next time, unless it is more than the usual."""
    if page.limit > DEFAULT_LIMIT:
        return Listing(arguments.named_symbols(exchange, params), write)

    def again(symbol: Symbol) -> str:
        track = exchange.tape.track(symbol.id)
        return exchange.texts.text(question, track, exchange.moment_ms, lambda: write(symbol))

    return Listing(arguments.named_symbols(exchange, params), again)


def _text(record: object) -> str:
    return msgspec.json.encode(record).decode()


def _plain(text: str) -> object:
    return msgspec.json.decode(text)


def _bounds(params: Arguments, bound: Callable[[Arguments, str], int | None]) -> tuple[int | None, int | None]:
    return bound(params, "from"), bound(params, "till")


def _time_span(params: Arguments) -> Span:
    first_ms, last_ms = _bounds(params, arguments.instant_ms)
    return Span(first_ms=first_ms or 0, last_ms=LATEST if last_ms is None else last_ms)


def _depth(params: Arguments) -> int:
    return arguments.whole_number(params, "limit", DEFAULT_DEPTH, 0, DEEPEST)


# Order books, written as JSON at once -------------------------------------------------------------------------------


_Levels = Sequence[tuple[int, int]]


def _book(exchange: Exchange, symbol_id: str, depth: int) -> str:
    """A symbol's book, at most `depth` levels a side; 0 takes all (exchange REST, Order book, supplement 2.9)."""
    exchange.look_at(symbol_id)
    book = exchange.pair(symbol_id).book
    return _book_record(exchange, symbol_id, book.levels(SELL, depth), book.levels(BUY, depth))


def _book_for(exchange: Exchange, symbol_id: str, quantity: int) -> str:
    """The book just deep enough for a quantity in increments, with the average price of the levels shown.

    A side that is empty has no average.
    """
    exchange.look_at(symbol_id)
    book = exchange.pair(symbol_id).book
    asks, bids = book.volume_for(SELL, quantity), book.volume_for(BUY, quantity)
    figures = exchange.tape.track(symbol_id).figures
    averages = f'"askAveragePrice":{_average_price(asks, figures)},"bidAveragePrice":{_average_price(bids, figures)}'
    return f"{_book_record(exchange, symbol_id, asks, bids)[:-1]},{averages}}}"


def _book_record(exchange: Exchange, symbol_id: str, asks: _Levels, bids: _Levels) -> str:
    figures, now_ms = exchange.tape.track(symbol_id).figures, exchange.moment_ms
    return (
        f'{{"symbol":"{symbol_id}","timestamp":"{nine_digits(now_ms)}","batchingTime":"{instant(now_ms)}",'
        f'"ask":{figures.levels(asks)},"bid":{figures.levels(bids)}}}'
    )


def _average_price(levels: _Levels, figures: Figures) -> str:
    """The average price weighted by size, rounded to the nearest tick, as JSON."""
    quantity = sum(size for _, size in levels)
    if not quantity:
        return "null"
    notional = sum(price * size for price, size in levels)
    return f'"{figures.price((2 * notional + quantity) // (2 * quantity))}"'
