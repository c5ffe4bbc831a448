"""The favourite symbols of a person, one row each; they decide nothing."""

from datetime import datetime
from typing import TYPE_CHECKING, Final

from exchange_ops.market.models import Favourite, Symbol

if TYPE_CHECKING:
    from desk.models import Person

MOST: Final = 50


class TooMany(ValueError):
    """The person already has the maximum number of favourites; the text says so."""


def codes(person: "Person") -> list[str]:
    """Their codes in the order in which they were marked, including symbols that are no longer listed."""
    return list(Favourite.objects.filter(person=person).order_by("pk").values_list("symbol", flat=True)[:MOST])


def mark(*, person: "Person", symbol: Symbol, now: datetime) -> None:
    """Add a symbol; adding it twice changes nothing. Raises `TooMany`."""
    rows = Favourite.objects.filter(person=person)
    if rows.count() >= MOST and not rows.filter(symbol=symbol.code).exists():
        raise TooMany(f"Limit of {MOST} favourites reached. Remove one first.")
    Favourite.objects.get_or_create(person=person, symbol=symbol.code, defaults={"created_at": now})


def unmark(*, person: "Person", symbol: Symbol) -> None:
    """Remove a symbol."""
    Favourite.objects.filter(person=person, symbol=symbol.code).delete()
