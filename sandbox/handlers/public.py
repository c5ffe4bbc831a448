"""Public market data: currencies, symbols, tickers. Nobody needs a key for them."""

from typing import TYPE_CHECKING

from sandbox.exchange.symbols import Symbol
from sandbox.exchange.terms import Caller
from sandbox.handlers import given
from sandbox.handlers.given import Arguments

if TYPE_CHECKING:
    from sandbox.world import World


def get_currencies(world: "World", caller: Caller | None, arguments: Arguments) -> object:
    """The named currencies, or all."""
    wanted = given.codes(arguments, "currencies")
    if not wanted:
        return [currency.wire() for currency in world.exchange.currencies.values()]
    return [given.currency_of_code(world, code).wire() for code in dict.fromkeys(wanted)]


def get_currency(world: "World", caller: Caller | None, arguments: Arguments) -> object:
    """One currency."""
    return given.currency(world, arguments).wire()


def get_symbols(world: "World", caller: Caller | None, arguments: Arguments) -> object:
    """The named symbols, or all."""
    return [symbol.wire() for symbol in _symbols(world, arguments)]


def get_symbol(world: "World", caller: Caller | None, arguments: Arguments) -> object:
    """One symbol."""
    return _symbol(world, arguments).wire()


def get_tickers(world: "World", caller: Caller | None, arguments: Arguments) -> object:
    """The tickers of the named symbols, or of all."""
    exchange = world.exchange
    return [exchange.market.ticker(symbol, exchange.moment_ms) for symbol in _symbols(world, arguments)]


def get_ticker(world: "World", caller: Caller | None, arguments: Arguments) -> object:
    """One ticker."""
    exchange = world.exchange
    return exchange.market.ticker(_symbol(world, arguments), exchange.moment_ms)


def _symbol(world: "World", arguments: Arguments) -> Symbol:
    return given.symbol_of_id(world, given.text(arguments, "symbol", required=True).upper())


def _symbols(world: "World", arguments: Arguments) -> list[Symbol]:
    wanted = given.codes(arguments, "symbols")
    if not wanted:
        return list(world.exchange.symbols.values())
    return [given.symbol_of_id(world, symbol_id) for symbol_id in dict.fromkeys(wanted)]
