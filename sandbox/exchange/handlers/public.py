"""Currencies and symbols. Nobody needs a key for them."""

from typing import TYPE_CHECKING

from sandbox.exchange.handlers import arguments
from sandbox.exchange.handlers.arguments import Arguments
from sandbox.exchange.listing.symbols import Symbol
from sandbox.exchange.terms import Caller

if TYPE_CHECKING:
    from sandbox.world.world import World


def get_currencies(world: "World", caller: Caller | None, params: Arguments) -> object:
    """The named currencies, or all."""
    wanted = arguments.codes(params, "currencies")
    if not wanted:
        return [currency.wire() for currency in world.exchange.currencies.values()]
    return [arguments.currency_of_code(world, code).wire() for code in dict.fromkeys(wanted)]


def get_currency(world: "World", caller: Caller | None, params: Arguments) -> object:
    """One currency."""
    return arguments.currency(world, params).wire()


def get_symbols(world: "World", caller: Caller | None, params: Arguments) -> object:
    """The named symbols, or all."""
    return [symbol.wire() for symbol in named_symbols(world, params)]


def get_symbol(world: "World", caller: Caller | None, params: Arguments) -> object:
    """One symbol."""
    return named_symbol(world, params).wire()


def named_symbol(world: "World", params: Arguments) -> Symbol:
    """The symbol that a call is about."""
    return arguments.symbol_of_id(world, arguments.text(params, "symbol", required=True).upper())


def named_symbols(world: "World", params: Arguments) -> list[Symbol]:
    """The symbols that a call is about, all when none is named."""
    wanted = arguments.codes(params, "symbols")
    if not wanted:
        return list(world.exchange.symbols.values())
    return [arguments.symbol_of_id(world, symbol_id) for symbol_id in dict.fromkeys(wanted)]
