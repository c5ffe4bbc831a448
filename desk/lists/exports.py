"""Lists as files: CSV that no spreadsheet takes for formulas, or JSON; streamed, told to the trail before they leave.

CSV is a plain table that every reader takes as it is: the zone stands in the heads of its columns, the filters in
the name of the file. JSON says beside its rows what they are of, and ends with their totals, added up
from what was written.
"""

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from decimal import Decimal
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, cast

from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, StreamingHttpResponse

from desk import invisible
from desk.audit import trail
from desk.lists.declared import Totals
from wire.values import decimal_text

if TYPE_CHECKING:
    from desk.models import Person

Columns = Sequence[tuple[str, str]]
KINDS: Final = {"csv": "text/csv; charset=utf-8", "json": "application/json"}
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\0", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_CHUNK = 500
_LONGEST_NAME = 120  # characters of a file's name, before what it ends with


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """What leaves: the rows in their order, their columns, and what they are of.

    `{zone}` in the title of a column is where the zone of its moments stands. `prepare` gives rows what else is in
    the file.
    """

    name: str
    rows: QuerySet[Any]
    columns: Columns
    zone: tzinfo
    zone_name: str
    filters: Mapping[str, str]
    order: str
    now: datetime
    totals: Totals | None = None
    prepare: Callable[[list[Any]], None] | None = None


def answer(request: HttpRequest, export: Export, *, kind: str) -> StreamingHttpResponse:
    """The rows as a file called after the list, its filters and the moment."""
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
    response["Content-Disposition"] = f'attachment; filename="{_file_name(export)}.{kind}"'
    response["Cache-Control"] = "no-store"
    return response


def safe_cell(text: str) -> str:
    """Text that no spreadsheet takes for a formula or draws backwards: people read these files, JSON is exact.

    An apostrophe stands before what could start a formula; invisible characters are marks (`desk.invisible`).
    """
    visible = invisible.revealed(text)
    return f"'{visible}" if text.lstrip(" \ufeff").startswith(_FORMULA_STARTS) else visible


def _file_name(export: Export) -> str:
    words = [export.name, *(f"{name}-{value}" for name, value in export.filters.items() if name != "zone")]
    plain = (re.sub(r"[^A-Za-z0-9.]+", "-", word).strip("-.") for word in words)
    return f"{'_'.join(plain)[:_LONGEST_NAME].rstrip('-_.')}_{export.now.astimezone(UTC):%Y%m%dT%H%M%SZ}"


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
    yield writer.writerow([title.replace("{zone}", export.zone_name) for title, _ in export.columns])
    for row in _rows(export):
        yield writer.writerow([_cell(row, path, export.zone) for _, path in export.columns])


def _json(export: Export) -> Iterator[str]:
    head = json.dumps(_head(export), ensure_ascii=False)
    yield f'{head[:-1]}, "rows": ['
    columns = [(title.removesuffix(" ({zone})"), path) for title, path in export.columns]
    between, sums = "\n", _Sums(export.totals)
    for row in _rows(export):
        content = {title: _exact(_value(row, path), export.zone) for title, path in columns}
        sums.add(row)
        yield between + json.dumps(content, ensure_ascii=False)
        between = ",\n"
    yield f'\n], "totals": {json.dumps(sums.found(), ensure_ascii=False)}}}\n'


def _rows(export: Export) -> Iterator[Any]:
    rows = export.rows.iterator(chunk_size=_CHUNK)
    while chunk := list(islice(rows, _CHUNK)):
        if export.prepare:
            export.prepare(chunk)
        yield from chunk


class _Sums:
    """What the rows that were written add up to, exactly; each line says what it is of."""

    def __init__(self, totals: Totals | None) -> None:
        self._by = totals.by if totals else ()
        self._names = tuple(totals.sums) if totals else ()
        self._count = 0
        self._lines: dict[tuple[str, ...], tuple[int, list[Decimal]]] = {}

    def add(self, row: Any) -> None:
        """Count this row and add up its figures."""
        self._count += 1
        if not self._names:
            return
        of = tuple(str(getattr(row, name)) for name in self._by)
        count, sums = self._lines.get(of, (0, [Decimal(0)] * len(self._names)))
        added = [total + (getattr(row, name) or 0) for total, name in zip(sums, self._names, strict=True)]
        self._lines[of] = (count + 1, added)

    def found(self) -> dict[str, Any]:
        """How many rows there were, and a line of sums for each value that they are kept apart by."""
        lines = [
            dict(zip(self._by, of, strict=True))
            | {"count": count}
            | {name: decimal_text(total) for name, total in zip(self._names, sums, strict=True)}
            for of, (count, sums) in sorted(self._lines.items())
        ]
        return {"count": self._count, "sums": lines}


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
