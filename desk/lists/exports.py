"""Lists as files: CSV that no spreadsheet takes for formulas, or JSON; streamed, told to the trail before they leave.

CSV is a plain table in UTF-8 with a byte order mark, by which spreadsheets know the encoding: the zone stands in the
heads of its columns, the filters in the name of the file. JSON says beside its rows what they are of, and ends with
their totals, added up from what was written.
"""

import csv
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from decimal import Decimal
from functools import partial
from io import StringIO
from itertools import groupby, islice
from json.encoder import encode_basestring
from typing import Any, Final

from django.db import transaction
from django.db.models import QuerySet
from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase

from desk import invisible
from desk.audit import trail
from desk.lists import reading
from desk.lists.declared import Totals
from desk.lists.totals import combined
from desk.web.requests import DeskRequest
from wire.values import decimal_text

Columns = Sequence[tuple[str, str]]
KINDS: Final = {"csv": "text/csv; charset=utf-8", "json": "application/json"}
# The four signs, and what compatibility normalisation turns into one of them: wide, small, raised and lowered forms.
_SIGNS = "=\uff1d\ufe66\u207c\u208c+\uff0b\ufe62\u207a\u208a\ufb29-\uff0d\ufe63@\uff20\ufe6b"
_STARTS_FORMULA = re.compile(rf"(?:[^\S\t\r\n]|\ufeff)*[{re.escape(_SIGNS)}\t\r\n\0]").match
# Most texts: nothing invisible, no formula.
_PLAIN = re.compile(r"(?:[0-9A-Za-z][\x20-\x3a\x3c-\x7b\x7d\x7e]*)?").fullmatch
# Where a reader splits at one of these, what follows begins a cell of its own. Each blank is looked at once.
_LATER_START = re.compile(rf'(?<=[;|\t\r\n])(?=(?:[^\S\t\r\n]|")*[{re.escape(_SIGNS)}])')
BOM: Final = "\ufeff"
_JSON = json.JSONEncoder(ensure_ascii=False)
_CHUNK = 500
_LARGEST_EXACT: Final = 2**53 - 1
_LONGEST_NAME = 120  # characters of a file's name, before what it ends with


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """What leaves: the rows in their order, their columns, and what they are of.

    `{zone}` in the title of a column is where the zone of its moments stands. `prepare` gives rows what else is in
    the file. `ids` are the paths of ids of the exchange.
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
    reads: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ids: Collection[str] = ()
    prepare: Callable[[list[Any]], None] | None = None


def answer(request: DeskRequest, export: Export, *, kind: str) -> StreamingHttpResponse:
    """The rows as a file called after the list, its filters and the moment."""
    with transaction.atomic():
        trail.record(
            actor=request.user,
            action=f"{export.name}.exported",
            subject=export.name,
            before={},
            after=dict(export.filters),
            now=export.now,
            session_key=request.session.session_key or "",
        )
    lines = _csv(export) if kind == "csv" else _json(export)
    response = StreamingHttpResponse(lines, content_type=KINDS[kind])
    as_file(response, f"{_file_name(export)}.{kind}")
    return response


def table(heads: Sequence[str], rows: Iterable[Iterable[Any]]) -> str:
    """The CSV of a table that is computed and no list: each value as in the file of a list, moments in UTC."""
    return "".join(streamed_table(heads, rows))


def streamed_table(heads: Sequence[str], rows: Iterable[Iterable[Any]]) -> Iterator[str]:
    """The same in pieces, for a table that may be long."""
    yield BOM
    yield from _written(list(heads), _cells(rows, UTC))


def as_file(response: HttpResponseBase, name: str) -> None:
    """Have a browser keep the answer as a file of this name, and not in its cache.

    It takes away the cookie by which the page knows that somebody waits for a file (static/js/progress.js).
    """
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["Cache-Control"] = "no-store"
    response.delete_cookie("file", samesite="Lax")


def safe_cell(text: str) -> str:
    """Text that no spreadsheet takes for a formula or draws backwards: people read these files, JSON is exact.

    An apostrophe stands before what could start a formula, at the beginning and behind each `;`, `|`, tab and line
    end, at which many spreadsheets split; invisible characters are marks (`desk.invisible`).
    """
    if _PLAIN(text):
        return text
    visible = _LATER_START.sub("'", invisible.revealed(text))
    return f"'{visible}" if _STARTS_FORMULA(text) else visible


def _file_name(export: Export) -> str:
    words = [export.name, *(f"{name}-{value}" for name, value in export.filters.items() if name != "zone")]
    plain = (re.sub(r"[^A-Za-z0-9.]+", "-", word).strip("-.") for word in words)
    return f"{'_'.join(plain)[:_LONGEST_NAME].rstrip('-_.')}_{export.now.astimezone(UTC):%Y%m%dT%H%M%SZ}"


def _head(export: Export) -> dict[str, Any]:
    return {
        "list": export.name,
        "exported_at": _moment(export.now, UTC),
        "zone": export.zone_name,
        "order": export.order,
        "filters": dict(export.filters),
    }


def _csv(export: Export) -> Iterator[str]:
    paths = [path for _, path in export.columns]
    heads = [title.replace("{zone}", export.zone_name) for title, _ in export.columns]
    rows = _cells(_rows(export, paths), export.zone)
    yield BOM
    yield from _written(heads, rows)


def _written(heads: list[str], rows: Iterator[list[str]]) -> Iterator[str]:
    chunk: list[list[str]] = [heads]
    while chunk:
        written = StringIO()
        csv.writer(written).writerows(chunk)
        yield written.getvalue()
        chunk = list(islice(rows, _CHUNK))


def _cells(rows: Iterable[Iterable[Any]], zone: tzinfo) -> Iterator[list[str]]:
    writers, usual = _csv_writers(zone), _text
    for row in rows:
        yield [writers.get(type(value), usual)(value) for value in row]


def _json(export: Export) -> Iterator[str]:
    """The rows, and behind them their sums, whose columns are read with the others."""
    head = _JSON.encode(_head(export))
    yield f'{head[:-1]}, "rows": ['
    sums = _Sums(export.totals)
    titles = [title.removesuffix(" ({zone})") for title, _ in export.columns]
    rows, writers = _rows(export, [*(path for _, path in export.columns), *sums.paths]), _json_writers(export.zone)
    usual: Writer = _quoted
    between, count = "\n", len(titles)
    ids = [place for place, (_, path) in enumerate(export.columns) if path in export.ids]
    template = "{" + ", ".join(f"{_quoted(title)}: ".replace("%", "%%") + "%s" for title in titles) + "}"
    while chunk := list(islice(rows, _CHUNK)):
        sums.add(row[count:] for row in chunk)
        chunk = [_with_texts(row, ids) for row in chunk] if ids else chunk
        lines = [template % tuple([writers.get(type(one), usual)(one) for one in row[:count]]) for row in chunk]
        yield between + ",\n".join(lines)
        between = ",\n"
    yield f'\n], "totals": {_JSON.encode(sums.totals())}}}\n'


def _rows(export: Export, paths: Sequence[str]) -> Iterator[Sequence[Any]]:
    return iter(reading.values(export.rows, paths, reads=export.reads, prepare=export.prepare))


class _Sums:
    """What the rows that were written add up to, exactly; each line says what it is of."""

    def __init__(self, totals: Totals | None) -> None:
        self._totals = totals
        self._by = (*totals.by, *totals.apart) if totals else ()
        self._names = tuple(totals.sums) if totals else ()
        self._count = 0
        self._lines: dict[tuple[str, ...], tuple[int, list[Decimal]]] = {}

    @property
    def paths(self) -> tuple[str, ...]:
        """What of each row is counted by and added up."""
        return (*self._by, *self._names) if self._names else ()

    def add(self, rows: Iterable[Sequence[Any]]) -> None:
        """Count these rows and add up their figures; each has what stands at `paths`."""
        split = len(self._by)
        for row in rows:
            self._count += 1
            if not self._names:
                continue
            of = tuple(str(value) for value in row[:split])
            count, sums = self._lines.get(of, (0, [Decimal(0)] * len(self._names)))
            self._lines[of] = (
                count + 1,
                [total + (value or 0) for total, value in zip(sums, row[split:], strict=True)],
            )

    def totals(self) -> dict[str, Any]:
        """How many rows there were, and a line of sums for each value that they are kept apart by."""
        return {"count": self._count, "sums": list(self._combined(self._totals)) if self._totals else []}

    def _combined(self, totals: Totals) -> Iterator[dict[str, Any]]:
        split = len(totals.by)
        for of, lines in groupby(sorted(self._lines.items()), key=lambda line: line[0][:split]):
            groups = list(lines)
            sums = [(apart[split:], dict(zip(self._names, values, strict=True))) for apart, (_, values) in groups]
            figures = combined(sums, totals)
            yield (
                dict(zip(totals.by, of, strict=True))
                | {"count": sum(count for _, (count, _) in groups)}
                | {name: decimal_text(value) for name, value in figures.items()}
            )


Writer = Callable[[Any], Any]
Writers = Mapping[type, Writer]


def _csv_writers(zone: tzinfo) -> Writers:
    """How a value of a type is written: a number stays a number, whatever its sign; everything else is safe text."""
    moment = partial(_moment, zone=zone)
    return {
        str: safe_cell,
        type(None): _nothing,
        bool: _yes_or_no,
        int: str,
        Decimal: decimal_text,
        datetime: moment,
    }


def _json_writers(zone: tzinfo) -> Writers:
    """Amounts as text without an exponent, moments with their offset, everything else as it is.

    A number beyond 2^53 is text, because many readers round it; ids of the exchange always are (`Value.is_id`).
    """
    return {
        str: encode_basestring,
        type(None): lambda value: "null",
        bool: lambda value: "true" if value else "false",
        int: lambda value: str(value) if abs(value) <= _LARGEST_EXACT else f'"{value}"',
        Decimal: lambda value: f'"{decimal_text(value)}"',
        datetime: lambda value: f'"{_moment(value, zone)}"',
    }


def _nothing(value: None) -> str:
    return ""


def _yes_or_no(value: bool) -> str:
    return "yes" if value else "no"


def _with_texts(row: Sequence[Any], places: Iterable[int]) -> Sequence[Any]:
    """The row with texts in place of the numbers at these places."""
    values = list(row)
    for place in places:
        values[place] = None if values[place] is None else str(values[place])
    return values


def _quoted(value: object) -> str:
    """Of any other type: what it is as text."""
    return encode_basestring(str(value))


def _text(value: object) -> str:
    """Of any other type: what it is as text, which is safe."""
    return safe_cell(str(value))


def _moment(when: datetime, zone: tzinfo) -> str:
    there = when if when.tzinfo is zone else when.astimezone(zone)
    return there.isoformat(timespec="seconds").replace("+00:00", "Z")
