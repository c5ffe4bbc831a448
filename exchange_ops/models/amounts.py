"""Columns for money: exact on every engine, 60 digits with 24 after the point, wide enough for every known currency."""

from typing import Any

from desk.fields import ExactDecimalField


def amount_field(**options: Any) -> ExactDecimalField:
    """A column for an amount of any currency, exact to 24 digits after the point."""
    return ExactDecimalField(max_digits=60, decimal_places=24, **options)
