"""Amounts of property tokens: texts with as many places as the property has, and base units (supplement 1.11 and 2)."""

import re
from decimal import Context, Decimal

from chaindata.wire import refusals
from chaindata.wire.tokens.payload_fields import CannotWrite
from wire import values

MOST_UNITS = 2**63 - 1
PRICE_PLACES = 8  # of a crowdsale's price, and of the first property
FROZEN_TOKENS = 100  # what a freeze names as its amount; nothing depends on it
_DIGITS = re.compile("[0-9]{1,40}")
_EXACT = Context(prec=values.MOST_DIGITS)


def units_of(text: str, precision: int) -> int:
    """The base units of an amount as nodes read it: digits and one point, at most `precision` of them behind it.

    Undivided properties cut at the point. Raises `CannotWrite`: for what is not 1 to 2^63 - 1 units, too.
    """
    integer, _, fraction = text.partition(".")
    if precision == 0:
        fraction = ""
    digits = integer + fraction.ljust(precision, "0")
    if not _DIGITS.fullmatch(digits) or len(fraction) > precision or "-" in text:
        raise CannotWrite(refusals.INVALID_AMOUNT)
    units = int(digits)
    if not 1 <= units <= MOST_UNITS:
        raise CannotWrite(refusals.INVALID_AMOUNT)
    return units


def amount_text(units: int, precision: int) -> str:
    """Base units as an amount: exactly `precision` places, and no point when there are none."""
    return values.decimal_text(Decimal(units).scaleb(-precision, _EXACT))


def frozen_amount(precision: int) -> int:
    """The amount that a freeze names: a hundred tokens, whatever is frozen."""
    return FROZEN_TOKENS * int(10**precision)
