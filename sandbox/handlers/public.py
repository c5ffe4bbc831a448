"""Currencies and symbols. Nobody needs a key for them."""

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
    return [symbol.wire() for symbol in named_symbols(world, arguments)]


def get_symbol(world: "World", caller: Caller | None, arguments: Arguments) -> object:
    """One symbol."""
    return named_symbol(world, arguments).wire()


def named_symbol(world: "World", arguments: Arguments) -> Symbol:
    """The symbol that a call is about."""
    return given.symbol_of_id(world, given.text(arguments, "symbol", required=True).upper())


def named_symbols(world: "World", arguments: Arguments) -> list[Symbol]:
    """The symbols that a call is about, all when none is named."""
    wanted = given.codes(arguments, "symbols")
    if not wanted:
        return list(world.exchange.symbols.values())
    return [given.symbol_of_id(world, symbol_id) for symbol_id in dict.fromkeys(wanted)]
