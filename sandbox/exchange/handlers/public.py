"""Currencies and symbols. Nobody needs a key for them."""

from sandbox.exchange.handlers import arguments
from sandbox.exchange.handlers.arguments import Arguments
from sandbox.exchange.state import Exchange
from sandbox.exchange.terms import Caller


def get_currencies(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """The named currencies, or all."""
    codes = arguments.codes(params, "currencies")
    if not codes:
        return [currency.wire() for currency in exchange.currencies.values()]
    return [arguments.currency_of_code(exchange, code).wire() for code in dict.fromkeys(codes)]


def get_currency(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """One currency."""
    return arguments.currency(exchange, params).wire()


def get_symbols(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """The named symbols, or all."""
    return [symbol.wire() for symbol in arguments.named_symbols(exchange, params)]


def get_symbol(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """One symbol."""
    return arguments.named_symbol(exchange, params).wire()
