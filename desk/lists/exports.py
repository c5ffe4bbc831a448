"""Lists as files: CSV that no spreadsheet takes for formulas, or JSON; streamed, told to the trail before they leave.

Both begin with what they hold: list, filters, order, zone and moment. In CSV these lines begin with `#`.
"""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from decimal import Decimal
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, cast

from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, StreamingHttpResponse

from desk import invisible
from desk.audit import trail
from wire.values import decimal_text

if TYPE_CHECKING:
    from desk.models import Person

Columns = Sequence[tuple[str, str]]
KINDS: Final = {"csv": "text/csv; charset=utf-8", "json": "application/json"}
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\0", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_CHUNK = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """What leaves: the rows in their order, their columns, and what is said of them at the head."""

    name: str
    rows: QuerySet[Any]
    columns: Columns
    zone: tzinfo
    zone_name: str
    filters: Mapping[str, str]
    order: str
    now: datetime


def answer(request: HttpRequest, export: Export, *, kind: str) -> StreamingHttpResponse:
    """The rows as a file called after the list and the moment."""
    with transaction.atomic():
        trail.record(
            actor=cast("Person", request.user),
            action=f"{export.name}.exported",
            subject=export.name,
            before={},
            after=dict(export.filters),
            now=export.now,
            session_key=request.session.session_key or "",
        )
    lines = _csv(export) if kind == "csv" else _json(export)
    response = StreamingHttpResponse(lines, content_type=KINDS[kind])
    response["Content-Disposition"] = f'attachment; filename="{export.name}-{export.now:%Y%m%dT%H%M%SZ}.{kind}"'
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


def _head(export: Export) -> dict[str, Any]:
    return {
        "list": export.name,
        "exported_at": _moment(export.now, UTC),
        "zone": export.zone_name,
        "order": export.order,
        "filters": dict(export.filters),
    }


def _csv(export: Export) -> Iterator[str]:
    writer = csv.writer(_Line())
    head = _head(export)
    filters = head.pop("filters")
    for name, value in chain(head.items(), ((f"filter {name}", value) for name, value in filters.items())):
        yield writer.writerow([f"# {name}", safe_cell(str(value))])
    yield writer.writerow([title for title, _ in export.columns])
    for row in export.rows.iterator(chunk_size=_CHUNK):
        yield writer.writerow([_cell(row, path, export.zone) for _, path in export.columns])


def _json(export: Export) -> Iterator[str]:
    head = json.dumps(_head(export), ensure_ascii=False)
    yield f'{head[:-1]}, "rows": ['
    between = "\n"
    for row in export.rows.iterator(chunk_size=_CHUNK):
        content = {title: _exact(_value(row, path), export.zone) for title, path in export.columns}
        yield between + json.dumps(content, ensure_ascii=False)
        between = ",\n"
    yield "\n]}\n"


def _value(row: Any, path: str) -> Any:
    value: Any = row
    for name in path.split("."):
        value = getattr(value, name, None)
        value = value() if callable(value) else value
    return value


def _cell(row: Any, path: str, zone: tzinfo) -> str:
    """A number stays a number, whatever its sign; everything else is text that is safe."""
    value = _value(row, path)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Decimal | datetime | int):
        return str(_exact(value, zone))
    return "" if value is None else safe_cell(str(value))


def _exact(value: Any, zone: tzinfo) -> Any:
    """Amounts as text without an exponent, moments with their offset, everything else as it is."""
    if isinstance(value, Decimal):
        return decimal_text(value)
    if isinstance(value, datetime):
        return _moment(value, zone)
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def _moment(when: datetime, zone: tzinfo) -> str:
    return when.astimezone(zone).isoformat(timespec="seconds").replace("+00:00", "Z")
