"""Pages of a list by keys, never by an offset: new rows above do not push rows from one page to the next.

The place of a page is what the row at its edge is sorted by, its key last, so a row that is changed or gone meanwhile
moves nothing either. Rows are compared as one tuple, which both engines read from one index.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from django.core.exceptions import ValidationError
from django.db.models import F, Model, QuerySet
from django.db.models.fields.tuple_lookups import Tuple, TupleGreaterThan, TupleLessThan

PAGE_ROWS: Final = 50
LARGEST_KEY: Final = 2**63 - 1
_LONGEST_PLACE = 600


@dataclass(frozen=True, slots=True)
class Order:
    """The fields that rows are sorted by, the last of them unique, and which way."""

    fields: tuple[str, ...]
    is_descending: bool = True

    @property
    def names(self) -> list[str]:
        """As a query takes them."""
        return [f"-{name}" if self.is_descending else name for name in self.fields]

    def beyond(self, rows: QuerySet[Any], place: Sequence[Any], *, back: bool) -> QuerySet[Any]:
        """The rows behind a place, or with `back` those before it."""
        is_below = self.is_descending != back
        if len(place) == 1:
            return rows.filter(**{f"{self.fields[0]}__{'lt' if is_below else 'gt'}": place[0]})
        compare = TupleLessThan if is_below else TupleGreaterThan
        # Beside the tuple the bound of its first field, without which SQLite reads the index from its beginning.
        rows = rows.filter(**{f"{self.fields[0]}__{'lte' if is_below else 'gte'}": place[0]})
        return rows.filter(compare(Tuple(*(F(name) for name in self.fields)), tuple(place)))


@dataclass(frozen=True, slots=True)
class Page:
    """Rows in their order, with the places of the page before and the one behind it where there are any."""

    rows: list[Any]
    before: str = ""
    behind: str = ""
    is_first: bool = True


class NoPlace(ValueError):
    """The address names a place that this list has not; the text is for people."""

    def __init__(self) -> None:
        super().__init__("Invalid page link; showing the first page.")


def page(rows: QuerySet[Any], order: Order, *, size: int, before: str = "", after: str = "") -> Page:
    """The page that follows the place `before`, or ends at the place `after`. Raises NoPlace.

    `before` is named for the usual order, the newest first: what comes before a moment stands behind it.
    """
    text, back = (after, True) if after else (before, False)
    place = read(rows.model, order, text) if text else None
    order_of_reading = order if not back else Order(order.fields, not order.is_descending)
    rows = rows.order_by(*order_of_reading.names)
    if place is not None:
        rows = order.beyond(rows, place, back=back)
    entries = list(rows[: size + 1])
    has_more, entries = len(entries) > size, entries[:size]
    if back:
        entries.reverse()
    if not entries:
        return Page([], is_first=place is None)
    return Page(
        entries,
        before=_text(entries[0], order) if (has_more if back else place is not None) else "",
        behind=_text(entries[-1], order) if back or has_more else "",
        is_first=place is None,
    )


def read(model: type[Model], order: Order, text: str) -> list[Any]:
    """The place that a text names. Raises NoPlace for what is none of this order."""
    try:
        values = json.loads(text) if len(text) <= _LONGEST_PLACE else None
    except (ValueError, RecursionError):
        raise NoPlace from None
    values = values if isinstance(values, list) else [values]
    if len(values) != len(order.fields):
        raise NoPlace
    return [_value(model, name, value) for name, value in zip(order.fields, values, strict=True)]


def _value(model: type[Model], name: str, content: Any) -> Any:
    field = model._meta.pk if name == "pk" else model._meta.get_field(name)
    if isinstance(content, bool | float | list | dict) or content is None or "\0" in str(content):
        raise NoPlace
    try:
        value = field.to_python(content)  # type: ignore[union-attr]
        if isinstance(value, int) and not 0 <= value <= LARGEST_KEY:
            raise NoPlace
        field.get_prep_value(value)  # type: ignore[union-attr]
    except (ValidationError, ValueError, TypeError, ArithmeticError):
        raise NoPlace from None
    if isinstance(value, datetime) and value.tzinfo is None:
        raise NoPlace
    return value


def _text(row: Any, order: Order) -> str:
    values = [_plain(getattr(row, name)) for name in order.fields]
    return str(values[0]) if len(values) == 1 else json.dumps(values, separators=(",", ":"))


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return format(value, "f") if isinstance(value, Decimal) else value
