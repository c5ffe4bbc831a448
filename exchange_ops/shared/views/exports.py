"""Lists as files: CSV that no spreadsheet takes for formulas, streamed, told to the audit trail before it leaves."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, StreamingHttpResponse

from desk import invisible
from desk.audit import trail
from wire.values import decimal_text

Columns = Sequence[tuple[str, str]]
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\0", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def export(
    request: HttpRequest, rows: QuerySet[Any], columns: Columns, *, name: str, chosen: Mapping[str, Any], now: datetime
) -> StreamingHttpResponse:
    """The rows as a file called after the list and the moment; `chosen` are the filters, for the trail."""
    with transaction.atomic():
        trail.record(
            actor=request.user,
            action=f"{name}.exported",
            subject=name,
            before={},
            after={filtered: str(value) for filtered, value in chosen.items()},
            now=now,
            session_key=request.session.session_key or "",
        )
    response = StreamingHttpResponse(_lines(rows, columns), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}-{now:%Y%m%dT%H%M%SZ}.csv"'
    response["Cache-Control"] = "no-store"
    return response


def safe_cell(text: str) -> str:
    """Text that no spreadsheet takes for a formula or draws backwards: people read these files, JSON is exact.

    An apostrophe stands before what could start a formula; invisible characters are marks (`desk.invisible`).
    """
    visible = invisible.revealed(text)
    return f"'{visible}" if text.lstrip(" \ufeff").startswith(_FORMULA_STARTS) else visible


class _Line:
    """What csv.writer writes to: it gives the line back instead of keeping it."""

    def write(self, text: str) -> str:
        return text


def _lines(rows: QuerySet[Any], columns: Columns) -> Iterator[str]:
    writer = csv.writer(_Line())
    yield writer.writerow([title for title, _ in columns])
    for row in rows.order_by("-pk").iterator(chunk_size=500):
        yield writer.writerow([_cell(row, path) for _, path in columns])


def _cell(row: Any, path: str) -> str:
    """A number stays a number, whatever its sign; everything else is text that is safe."""
    value: Any = row
    for name in path.split("."):
        value = getattr(value, name, None)
    if isinstance(value, Decimal):
        return decimal_text(value)
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%dT%H:%M:%SZ")
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else safe_cell(str(value))
