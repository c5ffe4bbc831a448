"""What is wrong with a call before it is sent, field by field: bounds, steps of price and quantity, decimal places.

Pure functions over the exchange's own rules of a symbol or currency, for the client and for forms alike. They give
every problem, each a `BadArgument` that names its parameter as the wire does; `refuse` raises the first. The exchange
judges last: it may know rules that have changed since.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Protocol

from exchange_ops.wire import catalogue
from exchange_ops.wire.new_orders import NewOrder
from wire.params import BadArgument, Param, Problem, to_text
from wire.values import CannotRead, decimal_from, decimal_text

LONGEST_CLIENT_ORDER_ID = 32
WITH_PRICE = frozenset({"limit", "stopLimit"})
WITH_STOP_PRICE = frozenset({"stopLimit", "stopMarket"})
AT_ONCE = frozenset({"IOC", "FOK"})

_CLIENT_ORDER_ID = re.compile(r"[A-Za-z0-9._-]+", re.ASCII)

Problems = list[BadArgument]


class SymbolRules(Protocol):
    """The steps of a symbol: its record from the exchange, or our copy of it."""

    @property
    def quantity_increment(self) -> Decimal:
        """In the base currency."""

    @property
    def tick_size(self) -> Decimal:
        """In the quote currency."""


class CurrencyRules(Protocol):
    """What a currency allows: its record from the exchange, or our copy of it. None: the exchange does not say."""

    @property
    def transfer_enabled(self) -> bool:
        """Whether money moves between the wallets."""

    @property
    def precision_transfer(self) -> int | None:
        """Decimal places of a transfer."""

    @property
    def payout_enabled(self) -> bool:
        """Whether money leaves."""

    @property
    def precision_payout(self) -> int | None:
        """Decimal places of a payout."""

    @property
    def payout_minimal_amount(self) -> Decimal | None:
        """The least payout."""


def refuse(problems: Iterable[BadArgument]) -> None:
    """Raise the first problem, if there is one."""
    for problem in problems:
        raise problem


# Bounds of every parameter -------------------------------------------------------------------------------------------


def argument_problems(operation: str, arguments: Mapping[str, object]) -> Problems:
    """What the documented kinds, bounds, lengths and choices say against the arguments of an operation."""
    row = catalogue.by_name[operation]
    problems = [BadArgument(name, Problem.UNKNOWN) for name in arguments if row.param(name) is None]
    for param in row.params:
        problems += _param_problems(param, arguments.get(param.name))
    return problems


def _param_problems(param: Param, value: object) -> Problems:
    if value is None:
        return [BadArgument(param.name, Problem.MISSING)] if param.required else []
    try:
        to_text(param, value)
    except BadArgument as problem:
        return [problem]
    return []


# Orders --------------------------------------------------------------------------------------------------------------


def order_problems(order: NewOrder, rules: SymbolRules | None = None, *, now: datetime | None = None) -> Problems:
    """What is wrong with a new order, at most one problem a field.

    Without `rules`, the symbol's own, the steps are not looked at; with `now`, in the exchange's time, an expiry that
    has passed is a problem.
    """
    problems = argument_problems("create_order", order.arguments())
    problems += client_order_id_problems(order.client_order_id)
    problems += quantity_problems(order.quantity, rules)
    problems += _applies("price", order.price, order.type in WITH_PRICE, f"{order.type} orders")
    problems += _applies("stopPrice", order.stop_price, order.type in WITH_STOP_PRICE, f"{order.type} orders")
    problems += price_problems(order.price, rules) + price_problems(order.stop_price, rules, param="stopPrice")
    problems += _applies("expireTime", order.expire_time, order.in_force == "GTD", f"{order.in_force} orders")
    problems += _time_problems(order, now)
    problems += _fraction_problems("takeLiquidityMarkup", order.take_liquidity_markup)
    problems += _fraction_problems("provideLiquidityMarkup", order.provide_liquidity_markup)
    return _first_of_each(problems)


def replacement_problems(
    *, new_client_order_id: str, quantity: Decimal, price: Decimal | None, rules: SymbolRules | None = None
) -> Problems:
    """What is wrong with the order that is to replace another; the new id is the parameter requestClientId."""
    problems = client_order_id_problems(new_client_order_id, param="requestClientId")
    return _first_of_each(problems + quantity_problems(quantity, rules) + price_problems(price, rules))


def client_order_id_problems(text: str, *, param: str = "clientOrderId") -> Problems:
    """1 to 32 ASCII letters, digits, dots, dashes and underscores, not dots alone: it goes into a path.

    Source: exchange REST, Conventions 5; supplement 2.8 and 5.11. An earlier version refused ids shorter than 8.
    """
    if not isinstance(text, str) or not text:
        return [BadArgument(param, Problem.EMPTY, text)]
    if len(text) > LONGEST_CLIENT_ORDER_ID:
        return [BadArgument(param, Problem.TOO_LONG, text, f"at most {LONGEST_CLIENT_ORDER_ID} characters")]
    if not _CLIENT_ORDER_ID.fullmatch(text) or not text.strip("."):
        return [BadArgument(param, Problem.MALFORMED, text, "letters, digits, dots, dashes and underscores only")]
    return []


def quantity_problems(quantity: Decimal, rules: SymbolRules | None, *, param: str = "quantity") -> Problems:
    """Above zero, and a multiple of the quantity increment."""
    return _step_problems(param, quantity, rules.quantity_increment if rules else None)


def price_problems(price: Decimal | None, rules: SymbolRules | None, *, param: str = "price") -> Problems:
    """None, or above zero and a multiple of the tick size."""
    return [] if price is None else _step_problems(param, price, rules.tick_size if rules else None)


def _step_problems(param: str, value: Decimal, step: Decimal | None) -> Problems:
    if problems := _positive_problems(param, value):
        return problems
    if step is None or step <= 0:
        return []
    if value < step:
        return [BadArgument(param, Problem.TOO_LOW, value, f"at least {decimal_text(step)}")]
    if Fraction(value) % Fraction(step):
        return [BadArgument(param, Problem.NOT_A_MULTIPLE, value, f"of {decimal_text(step)}")]
    return []


def _applies(param: str, value: object, needed: bool, what: str) -> Problems:
    if needed and value is None:
        return [BadArgument(param, Problem.MISSING)]
    if value is not None and not needed:
        return [BadArgument(param, Problem.NOT_TAKEN, value, f"not used for {what}")]
    return []


def _time_problems(order: NewOrder, now: datetime | None) -> Problems:
    problems: Problems = []
    if order.type == "market" and order.in_force not in AT_ONCE:
        problems.append(BadArgument("timeInForce", Problem.NOT_TAKEN, order.in_force, "a market order can't rest"))
    if order.post_only and (order.type not in WITH_PRICE or order.in_force in AT_ONCE):
        problems.append(BadArgument("postOnly", Problem.NOT_TAKEN, True, "this order can't rest in the book"))
    expires = order.expire_time
    if now is not None and isinstance(expires, datetime) and expires.tzinfo is not None and expires <= now:
        problems.append(BadArgument("expireTime", Problem.TOO_LOW, expires, "it is in the past"))
    return problems


def _fraction_problems(param: str, value: Decimal | None) -> Problems:
    if value is None:
        return []
    if problems := _number_problems(param, value):
        return problems
    if value < 0:
        return [BadArgument(param, Problem.TOO_LOW, value, "a fraction from 0 to 1")]
    return [BadArgument(param, Problem.TOO_HIGH, value, "a fraction below 1")] if value >= 1 else []


# Amounts -------------------------------------------------------------------------------------------------------------


def transfer_problems(amount: Decimal, rules: CurrencyRules | None = None) -> Problems:
    """Above zero, within the decimal places of a transfer, and transfers open; the rules are the currency's own."""
    if rules is not None and not rules.transfer_enabled:
        return [BadArgument("currency", Problem.CLOSED, None, "transfers are disabled at the exchange")]
    return amount_problems(amount, None if rules is None else rules.precision_transfer)


def payout_problems(amount: Decimal, rules: CurrencyRules | None = None) -> Problems:
    """Not below the least payout, within the decimal places of a payout, and payouts open."""
    if rules is not None and not rules.payout_enabled:
        return [BadArgument("currency", Problem.CLOSED, None, "payouts are disabled at the exchange")]
    problems = amount_problems(amount, None if rules is None else rules.precision_payout)
    least = None if rules is None else rules.payout_minimal_amount
    if not problems and least is not None and amount < least:
        problems.append(BadArgument("amount", Problem.TOO_LOW, amount, f"at least {decimal_text(least)}"))
    return problems


def amount_problems(amount: Decimal, places: int | None, *, param: str = "amount") -> Problems:
    """Above zero, with at most so many decimal places; zeros at the end don't count."""
    problems = _positive_problems(param, amount)
    if not problems and places is not None and Fraction(amount) * 10**places % 1:
        problems.append(BadArgument(param, Problem.TOO_PRECISE, amount, f"at most {places}"))
    return problems


def _positive_problems(param: str, value: Decimal) -> Problems:
    problems = _number_problems(param, value)
    if not problems and value <= 0:
        problems.append(BadArgument(param, Problem.TOO_LOW, value, "greater than zero"))
    return problems


def _number_problems(param: str, value: object) -> Problems:
    """A finite Decimal of a sensible size: only then is it safe to calculate with."""
    if not isinstance(value, Decimal):
        return [BadArgument(param, Problem.MALFORMED, value, "a decimal number is required")]
    try:
        decimal_from(value)
    except CannotRead as problem:
        return [BadArgument(param, Problem.MALFORMED, value, str(problem))]
    return []


def _first_of_each(problems: Problems) -> Problems:
    first: dict[str, BadArgument] = {}
    for problem in problems:
        first.setdefault(problem.param, problem)
    return list(first.values())
