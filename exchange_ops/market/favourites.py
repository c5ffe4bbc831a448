"""The symbols that a person wants to have at hand: a row for each, which decides nothing."""

from datetime import datetime
from typing import TYPE_CHECKING, Final

from exchange_ops.market.models import Favourite, Symbol

if TYPE_CHECKING:
    from desk.models import Person

MOST: Final = 50


class TooMany(ValueError):
    """A person has as many as there may be; the text says so."""


def of(person: "Person") -> list[str]:
    """Their codes, the first marked first; those that are not listed any more are among them."""
    return list(Favourite.objects.filter(person=person).order_by("pk").values_list("symbol", flat=True)[:MOST])


def mark(*, person: "Person", symbol: Symbol, now: datetime) -> None:
    """Have a symbol among them; marked twice it is there once. Raises `TooMany`."""
    rows = Favourite.objects.filter(person=person)
    if rows.count() >= MOST and not rows.filter(symbol=symbol.code).exists():
        raise TooMany(f"{MOST} favourites are the most there can be: remove one first.")
    Favourite.objects.get_or_create(person=person, symbol=symbol.code, defaults={"created_at": now})


def unmark(*, person: "Person", symbol: Symbol) -> None:
    """Have a symbol no longer among them."""
    Favourite.objects.filter(person=person, symbol=symbol.code).delete()
