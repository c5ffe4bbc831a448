"""Reading the arguments of a call: each function returns a sound value or refuses with the code for what is odd.

Arguments arrive in plain JSON form and were read by the catalogue before; what is checked here holds for every caller.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import TypeAlias

from sandbox.amounts import NotAnAmount, decimal_of
from sandbox.engine.journal import NotPlain, plain
from sandbox.exchange.accounts.accounts import SubStatus
from sandbox.exchange.listing.currencies import Currency
from sandbox.exchange.listing.symbols import Symbol
from sandbox.exchange.state import Exchange
from sandbox.exchange.terms import (
    AUTHORIZATION_REQUIRED,
    CURRENCY_NOT_FOUND,
    FORBIDDEN_FOR_ACCOUNT,
    SYMBOL_NOT_FOUND,
    VALIDATION_ERROR,
    Caller,
    Refusal,
)
from wire import values

Arguments: TypeAlias = Mapping[str, object]
SYMBOL_DESCRIPTION = "Try get /api/2/public/symbol, to get list of all available symbols."
LONGEST_TEXT = 1_000
INDEX_BOUND = 2**63


class PlainArguments(dict[str, object]):
    """Arguments in the plain form that handlers read and a journal keeps; only `plain_arguments` makes them."""


def plain_arguments(arguments: Arguments) -> PlainArguments:
    """The arguments in plain form, absent ones left out; those that are plain already come back as they are.

    Refuses with 10001 what has no such form.
    """
    if isinstance(arguments, PlainArguments):
        return arguments
    try:
        return PlainArguments({name: plain(value, name) for name, value in arguments.items() if value is not None})
    except NotPlain as problem:
        raise Refusal(VALIDATION_ERROR, f"Param '{problem.name}' is not valid") from None


def account(exchange: Exchange, caller: Caller | None) -> str:
    """The e-mail of the account that calls; 1001 when nobody does, 403 when it is a sub-account that isn't active."""
    if caller is None or exchange.accounts.find(caller.account) is None:
        raise Refusal(AUTHORIZATION_REQUIRED)
    sub_account = exchange.accounts.sub_account(caller.account)
    if sub_account is not None and sub_account.status is not SubStatus.ACTIVE:
        raise Refusal(FORBIDDEN_FOR_ACCOUNT)
    return caller.account


def missing(name: str) -> Refusal:
    """The refusal of a call that lacks a parameter."""
    return Refusal(VALIDATION_ERROR, f"Param '{name}' required")


def odd(name: str, problem: str) -> Refusal:
    """The refusal of a parameter that is there but not right."""
    return Refusal(VALIDATION_ERROR, f"Param '{name}' {problem}")


def only(arguments: Arguments, *names: str) -> None:
    """Refuses a call that brings anything else."""
    unknown = sorted(set(arguments) - set(names))
    if unknown:
        raise odd(unknown[0][:64], f"is not known here; this takes {', '.join(names)}")


def text(arguments: Arguments, name: str, *, required: bool = False, longest: int = LONGEST_TEXT) -> str:
    """A text without control characters; empty counts as absent."""
    value = arguments.get(name)
    if value is None or value == "":
        if required:
            raise missing(name)
        return ""
    if not isinstance(value, str):
        raise odd(name, "must be a text")
    if len(value) > longest:
        raise odd(name, f"is longer than {longest} characters")
    if not value.isprintable():
        raise odd(name, "has control characters")
    return value


def word(arguments: Arguments, name: str, *, required: bool = False, longest: int = 255) -> str:
    """A text of printable ASCII without spaces, as addresses and ids are."""
    value = text(arguments, name, required=required, longest=longest)
    if not value.isascii() or " " in value:
        raise odd(name, "must have neither spaces nor letters beyond ASCII")
    return value


def choice(arguments: Arguments, name: str, choices: tuple[str, ...], default: str = "") -> str:
    """One of the choices, exactly as documented; without a default the parameter is required."""
    value = text(arguments, name, required=not default) or default
    if value not in choices:
        raise odd(name, f"must be one of {', '.join(choices)}")
    return value


def amount(arguments: Arguments, name: str = "amount") -> Decimal:
    """A positive decimal number of at most 24 digits on either side of the point."""
    value = arguments.get(name)
    if value is None or value == "":
        raise missing(name)
    try:
        read = decimal_of(value)
    except NotAnAmount:
        raise odd(name, "must be a positive number") from None
    if read <= 0:
        raise odd(name, "must be a positive number")
    return read


def flag(arguments: Arguments, name: str, default: bool) -> bool:
    """True or false."""
    value = arguments.get(name, default)
    if not isinstance(value, bool):
        raise odd(name, "must be true or false")
    return value


def whole_number(arguments: Arguments, name: str, default: int, lowest: int, highest: int) -> int:
    """A whole number within bounds, as a number or as digits."""
    value = arguments.get(name, default)
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 20:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not lowest <= value <= highest:
        raise odd(name, f"must be a whole number from {lowest} to {highest}")
    return value


def index(arguments: Arguments, name: str) -> int | None:
    """An index, or None when absent."""
    if arguments.get(name) in (None, ""):
        return None
    value = arguments[name]
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 20:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < INDEX_BOUND:
        raise odd(name, "must be an index")
    return value


def instant_ms(arguments: Arguments, name: str) -> int | None:
    """An instant in milliseconds since 1970 (a date and time in ISO 8601, or milliseconds), or None when absent."""
    value = arguments.get(name)
    if value is None or value == "":
        return None
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise odd(name, "must be a date and time")
    try:
        instant = values.instant_from(value)
    except values.CannotRead:
        raise odd(name, "must be a date and time") from None
    return int(instant.timestamp()) * 1000 + instant.microsecond // 1000


def codes(arguments: Arguments, name: str) -> list[str]:
    """A list of codes in capital letters, given as a list or separated by commas; empty means all."""
    value = arguments.get(name)
    if value is None or value == "":
        return []
    items = value.split(",") if isinstance(value, str) else value
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise odd(name, "must be a list of codes")
    return [item.strip().upper() for item in items if item.strip()]


def currency(exchange: Exchange, arguments: Arguments, name: str = "currency") -> Currency:
    """The currency of a required code; 2002 when there is none."""
    return currency_of_code(exchange, text(arguments, name, required=True).upper())


def optional_currency(exchange: Exchange, arguments: Arguments) -> str:
    """The code of an existing currency, or empty when absent; 2002 when there is none."""
    code = text(arguments, "currency").upper()
    return currency_of_code(exchange, code).code if code else ""


def currency_of_code(exchange: Exchange, code: str) -> Currency:
    """The currency of a code; 2002 when there is none."""
    existing = exchange.currencies.get(code)
    if existing is None:
        raise Refusal(CURRENCY_NOT_FOUND, f"The requested currency can't found. Requested: {code[:32]}")
    return existing


def symbol_of_id(exchange: Exchange, symbol_id: str) -> Symbol:
    """The symbol of an id; 2001 when there is none."""
    symbol = exchange.symbols.get(symbol_id)
    if symbol is None:
        raise Refusal(SYMBOL_NOT_FOUND, SYMBOL_DESCRIPTION)
    return symbol


def named_symbol(exchange: Exchange, arguments: Arguments) -> Symbol:
    """The symbol that a call is about."""
    return symbol_of_id(exchange, text(arguments, "symbol", required=True).upper())


def named_symbols(exchange: Exchange, arguments: Arguments) -> list[Symbol]:
    """The symbols that a call is about, all when none is named."""
    symbol_ids = codes(arguments, "symbols")
    if not symbol_ids:
        return list(exchange.symbols.values())
    return [symbol_of_id(exchange, symbol_id) for symbol_id in dict.fromkeys(symbol_ids)]
