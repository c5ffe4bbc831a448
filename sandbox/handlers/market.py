"""Public market data that moves: tickers, trades, order books, candles (REST "Public market data", supplement 2.9).

Intervals include both their ends. Without `from` an ascending list begins with the oldest there is.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sandbox.exchange import books, candles
from sandbox.exchange.symbols import Symbol
from sandbox.exchange.tape import Span
from sandbox.exchange.tape_figures import instant
from sandbox.exchange.tape_simulated import Trade
from sandbox.exchange.terms import Caller
from sandbox.handlers import given
from sandbox.handlers.given import Arguments
from sandbox.handlers.public import named_symbol, named_symbols
from sandbox.handlers.transactions import ASC, DEFAULT_LIMIT, DESC, FARTHEST, MOST

if TYPE_CHECKING:
    from sandbox.world import World

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
    def asked(cls, arguments: Arguments, default_order: str) -> "_Page":
        return cls(
            newest_first=given.choice(arguments, "sort", (ASC, DESC), default_order) == DESC,
            offset=given.whole(arguments, "offset", 0, 0, FARTHEST),
            limit=given.whole(arguments, "limit", DEFAULT_LIMIT, 1, MOST),
        )


def get_tickers(world: "World", caller: Caller | None, arguments: Arguments) -> object:
    """The tickers of the named symbols, or of all."""
    return [_ticker(world, symbol) for symbol in named_symbols(world, arguments)]


def get_ticker(world: "World", caller: Caller | None, arguments: Arguments) -> object:
    """One ticker."""
    return _ticker(world, named_symbol(world, arguments))


def get_trades(world: "World", caller: Caller | None, arguments: Arguments) -> object:
    """The trades of the named symbols, or of all, by symbol."""
    span, page = _time_span(arguments), _Page.asked(arguments, DESC)
    return {symbol.id: _trades(world, symbol, span, page) for symbol in named_symbols(world, arguments)}


def get_symbol_trades(world: "World", caller: Caller | None, arguments: Arguments) -> object:
    """The trades of one symbol, by time or by number."""
    symbol, page = named_symbol(world, arguments), _Page.asked(arguments, DESC)
    if given.choice(arguments, "by", ("timestamp", "id"), "timestamp") == "timestamp":
        return _trades(world, symbol, _time_span(arguments), page)
    first, last = _bounds(arguments, given.index)
    return _trades(world, symbol, Span.of_ids(first, last), page)


def get_orderbooks(world: "World", caller: Caller | None, arguments: Arguments) -> object:
    """The order books of the named symbols, or of all, by symbol."""
    depth = _depth(arguments)
    return {symbol.id: books.book(world.exchange, symbol.id, depth) for symbol in named_symbols(world, arguments)}


def get_orderbook(world: "World", caller: Caller | None, arguments: Arguments) -> object:
    """One order book; with `volume` only as deep as that quantity goes, and with average prices."""
    symbol = named_symbol(world, arguments)
    if arguments.get("volume") in (None, ""):
        return books.book(world.exchange, symbol.id, _depth(arguments))
    volume = given.amount(arguments, "volume")
    return books.book_for(world.exchange, symbol.id, -int(-volume // symbol.increment))


def get_candles(world: "World", caller: Caller | None, arguments: Arguments) -> object:
    """The candles of the named symbols, or of all, by symbol."""
    listed = _candles(world, arguments)
    return {symbol.id: listed(symbol) for symbol in named_symbols(world, arguments)}


def get_symbol_candles(world: "World", caller: Caller | None, arguments: Arguments) -> object:
    """The candles of one symbol."""
    symbol = named_symbol(world, arguments)
    return _candles(world, arguments)(symbol)


def _ticker(world: "World", symbol: Symbol) -> dict[str, object]:
    exchange = world.exchange
    return exchange.tickers.ticker(symbol.id, exchange.moment_ms, exchange.quotes(symbol.id))


def _trades(world: "World", symbol: Symbol, span: Span, page: _Page) -> list[dict[str, object]]:
    tape = world.exchange.tape
    track = tape.track(symbol.id)
    found = tape.listed(
        track,
        span,
        until_ms=world.exchange.moment_ms,
        newest_first=page.newest_first,
        offset=page.offset,
        limit=page.limit,
    )
    price, quantity = track.figures.price, track.figures.quantity

    def record(trade: Trade) -> dict[str, object]:
        return {
            "id": trade.id,
            "price": price(trade.price),
            "quantity": quantity(trade.quantity),
            "side": trade.side,
            "timestamp": instant(trade.at_ms),
        }

    return [record(trade) for trade in found]


def _candles(world: "World", arguments: Arguments) -> Callable[[Symbol], list[dict[str, object]]]:
    period = given.choice(arguments, "period", candles.PERIODS, candles.DEFAULT_PERIOD)
    span, page = _time_span(arguments), _Page.asked(arguments, ASC)
    tape, moment_ms = world.exchange.tape, world.exchange.moment_ms

    def listed(symbol: Symbol) -> list[dict[str, object]]:
        track = tape.track(symbol.id)
        found = candles.listed(
            tape,
            track,
            period,
            first_ms=span.first_ms,
            last_ms=span.last_ms,
            until_ms=moment_ms,
            newest_first=page.newest_first,
            offset=page.offset,
            limit=page.limit,
        )
        return [candles.record(candle, track.figures) for candle in found]

    return listed


def _bounds(arguments: Arguments, bound: Callable[[Arguments, str], int | None]) -> tuple[int | None, int | None]:
    return bound(arguments, "from"), bound(arguments, "till")


def _time_span(arguments: Arguments) -> Span:
    first_ms, last_ms = _bounds(arguments, given.instant_ms)
    return Span(first_ms=first_ms or 0, last_ms=LATEST if last_ms is None else last_ms)


def _depth(arguments: Arguments) -> int:
    return given.whole(arguments, "limit", DEFAULT_DEPTH, 0, DEEPEST)
