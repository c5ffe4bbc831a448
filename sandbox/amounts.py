"""Exact amounts: read strictly, added without rounding, written without exponents. No binary floating point."""

import re
from decimal import (
    ROUND_UP,
    Clamped,
    Context,
    Decimal,
    DivisionByZero,
    Inexact,
    InvalidOperation,
    Overflow,
)

ZERO = Decimal(0)
MOST_DIGITS = 24  # on either side of the point
# Sums and products of amounts stay far below 150 digits; a sum that would round raises instead of losing money.
EXACT = Context(prec=150, traps=[Inexact, InvalidOperation, DivisionByZero, Overflow, Clamped])

_PLAIN = re.compile(r"-?[0-9]{1,24}(?:\.[0-9]{1,24})?", re.ASCII)


class NotAnAmount(ValueError):
    """The value is no plain decimal number; the message says what is expected."""


def decimal_of(value: object, *, signed: bool = False) -> Decimal:
    """`value` (text, whole number or Decimal) as an exact Decimal of at most 24 + 24 digits.

    Refuses NaN, infinity, exponents, signs (unless `signed`), separators, spaces, digits of other scripts and float.
    """
    text = value
    if isinstance(value, Decimal) and value.is_finite() and -30 < value.adjusted() < 30:
        text = format(value, "f")
    elif isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**MOST_DIGITS:
        text = str(value)
    if not isinstance(text, str) or not _PLAIN.fullmatch(text) or (text[0] == "-" and not signed):
        raise NotAnAmount("it takes a plain decimal number such as 0.25, without exponent.")
    return Decimal(text)


def digits_after_point(amount: Decimal) -> int:
    """How many digits after the point the amount needs; trailing zeros don't count."""
    if amount == 0:
        return 0
    exponent = amount.normalize(EXACT).as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def text_of(amount: Decimal, least_digits: int = 0) -> str:
    """The amount without exponent and trailing zeros, but with at least `least_digits` digits after the point."""
    text = format(amount, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    if text in {"-0", ""}:
        text = "0"
    if least_digits:
        integer, _, fraction = text.partition(".")
        text = f"{integer}.{fraction.ljust(least_digits, '0')}"
    return text


def rounded_up(amount: Decimal, digits: int) -> Decimal:
    """The amount rounded up to `digits` digits after the point, as fees are."""
    return amount.quantize(Decimal(1).scaleb(-digits), rounding=ROUND_UP, context=Context(prec=150))
