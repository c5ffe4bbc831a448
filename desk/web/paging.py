"""Pages of a list by key, never by offset, so that new rows do not shift rows from one page to the next."""

from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest

PAGE_ROWS = 50
_LARGEST_KEY = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Page:
    """The rows, newest first, with the query strings of the newer and the older page where there are such."""

    rows: list[Any]
    newer: str
    older: str


def page(request: HttpRequest, rows: QuerySet[Any], *, key: str, size: int = PAGE_ROWS) -> Page:
    """The page of `rows` that `?before=` or `?after=` asks for, by the unique whole-number column `key`, descending.

    A key that is no number, or is out of bounds, is ignored: the page of a list never fails.
    """
    before, after = _key(request, "before"), _key(request, "after")
    if after is not None:
        page_rows = list(rows.filter(**{f"{key}__gt": after}).order_by(key)[: size + 1])
        has_newer, page_rows = len(page_rows) > size, page_rows[:size][::-1]
        has_older = True
    else:
        older_than = {f"{key}__lt": before} if before is not None else {}
        page_rows = list(rows.filter(**older_than).order_by(f"-{key}")[: size + 1])
        has_older, page_rows = len(page_rows) > size, page_rows[:size]
        has_newer = before is not None
    if not page_rows:
        return Page([], _query(request) if before is not None or after is not None else "", "")
    newest, oldest = getattr(page_rows[0], key), getattr(page_rows[-1], key)
    return Page(
        page_rows,
        _query(request, after=newest) if has_newer else "",
        _query(request, before=oldest) if has_older else "",
    )


def _key(request: HttpRequest, name: str) -> int | None:
    text = request.GET.get(name, "")
    if not (text.isascii() and text.isdigit() and len(text) <= 19):
        return None
    return int(text) if int(text) <= _LARGEST_KEY else None


def _query(request: HttpRequest, **place: int) -> str:
    """The current filters with another position, as a query string that starts with a question mark."""
    query = request.GET.copy()
    for name in ("before", "after"):
        query.pop(name, None)
    query.update({name: str(value) for name, value in place.items()})
    return f"?{query.urlencode()}"
