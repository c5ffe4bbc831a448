"""Values as texts of a document: exact, grouped by commas, in UTC, whoever takes the file."""

from datetime import datetime
from decimal import Decimal
from typing import Final

from desk.personal.formats import UTC_NAME, figure

NONE: Final = "\u2013"


def amount(value: Decimal | None, currency: str = "", *, plus: bool = False) -> str:
    """All digits of an amount, with its currency where one is given; a dash where there is none."""
    if value is None:
        return NONE
    return f"{'+' if plus and value > 0 else ''}{figure(value)} {currency}".rstrip()


def time(when: datetime | None) -> str:
    """A time for a column whose head says that it is in UTC; a dash where there is none."""
    return NONE if when is None else f"{when:%Y-%m-%d %H:%M:%S}"


def moment(when: datetime) -> str:
    """A time that says its zone."""
    return f"{time(when)} {UTC_NAME}"
