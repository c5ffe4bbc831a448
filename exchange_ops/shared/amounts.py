"""Columns for money: exact on every engine, 60 digits with 24 after the point, wide enough for every known currency."""

from decimal import Decimal
from typing import Any

from desk.fields import ExactDecimalField


def amount_field(**options: Any) -> ExactDecimalField:
    """A column for an amount of any currency, exact to 24 digits after the point."""
    return ExactDecimalField(max_digits=60, decimal_places=24, **options)


def storable(amount: Decimal) -> bool:
    """Whether the columns for money take this number: 36 digits before the point and 24 after it."""
    exponent = amount.normalize().as_tuple().exponent
    return isinstance(exponent, int) and exponent >= -24 and amount.adjusted() < 36
