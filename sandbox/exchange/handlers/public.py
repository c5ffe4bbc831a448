"""Currencies and symbols. Nobody needs a key for them."""

from sandbox.exchange.handlers import arguments
from sandbox.exchange.handlers.arguments import Arguments
from sandbox.exchange.listing.symbols import Symbol
from sandbox.exchange.state import Exchange
from sandbox.exchange.terms import Caller


def get_currencies(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """The named currencies, or all."""
    wanted = arguments.codes(params, "currencies")
    if not wanted:
        return [currency.wire() for currency in exchange.currencies.values()]
    return [arguments.currency_of_code(exchange, code).wire() for code in dict.fromkeys(wanted)]


def get_currency(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """One currency."""
    return arguments.currency(exchange, params).wire()


def get_symbols(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """The named symbols, or all."""
    return [symbol.wire() for symbol in named_symbols(exchange, params)]


def get_symbol(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """One symbol."""
    return named_symbol(exchange, params).wire()


def named_symbol(exchange: Exchange, params: Arguments) -> Symbol:
    """The symbol that a call is about."""
    return arguments.symbol_of_id(exchange, arguments.text(params, "symbol", required=True).upper())


def named_symbols(exchange: Exchange, params: Arguments) -> list[Symbol]:
    """The symbols that a call is about, all when none is named."""
    wanted = arguments.codes(params, "symbols")
    if not wanted:
        return list(exchange.symbols.values())
    return [arguments.symbol_of_id(exchange, symbol_id) for symbol_id in dict.fromkeys(wanted)]
