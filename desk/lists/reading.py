"""The values of a list's file, row by row: only the columns that the file has, and no object for each row.

A path such as "account.name" is a column, of the row or of a row that it points at. What a model works out from its
columns ("label") is declared with those that it reads (`List.reads`): it is worked out by the model itself, from these
alone, and once for equal ones. A list with anything else in its file is read as objects, as its page is.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any

from django.core.exceptions import FieldDoesNotExist
from django.db import connections
from django.db.models import DateTimeField, Func, Model, QuerySet

Prepare = Callable[[list[Any]], None]
_CHUNK = 2_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_REMEMBERED = 10_000  # results of one property


@dataclass(frozen=True, slots=True)
class _Worked:
    """A property: the model that has it, the attributes that it reads, and where their columns stand in a line."""

    model: type[Model]
    name: str
    attributes: tuple[str, ...]
    places: tuple[int, ...]
    may_be_absent: bool


class _MomentField(DateTimeField):  # type: ignore[type-arg]
    """A moment that the database gives in microseconds since 1970."""

    def from_db_value(self, value: int | None, expression: Any, connection: Any) -> datetime | None:
        return None if value is None else _EPOCH + timedelta(microseconds=value)


class _Moment(Func):
    """A column of moments as microseconds, exactly: what is extracted is a number of PostgreSQL's own, no float."""

    template = "(EXTRACT(EPOCH FROM %(expressions)s) * 1000000)::bigint"
    output_field = _MomentField()


class _NotColumns(Exception):
    """The file has something that is neither a column nor declared."""


def values(
    rows: QuerySet[Any],
    paths: Sequence[str],
    *,
    reads: Mapping[str, tuple[str, ...]],
    prepare: Prepare | None = None,
) -> Iterator[Sequence[Any]]:
    """What stands at these paths in each row, in the order of the rows; `prepare` gives objects what else they show."""
    try:
        plan = _Plan(rows, paths, reads)
    except _NotColumns:
        return _of_objects(rows, paths, prepare)
    return plan.lines()


def value(row: Any, path: str) -> Any:
    """What stands at the path, nothing where it leads nowhere; what can be called is."""
    for name in path.split("."):
        row = getattr(row, name, None)
        row = row() if callable(row) else row
    return row


def _of_objects(rows: QuerySet[Any], paths: Sequence[str], prepare: Prepare | None) -> Iterator[Sequence[Any]]:
    objects = rows.iterator(chunk_size=_CHUNK)
    while chunk := list(islice(objects, _CHUNK)):
        if prepare:
            prepare(chunk)
        for row in chunk:
            yield [value(row, path) for path in paths]


class _Plan:
    """Which columns are read, and what is made of them."""

    def __init__(self, rows: QuerySet[Any], paths: Sequence[str], reads: Mapping[str, tuple[str, ...]]) -> None:
        self._rows, self._reads = rows, reads
        self._columns: list[str] = []
        self._moments: set[str] = set()
        self._sources: list[int | _Worked] = [self._source(path) for path in paths]

    def lines(self) -> Iterator[Sequence[Any]]:
        """The values of each row."""
        # psycopg's own reading of a moment in a zone is Python's, and the slowest of all columns; a number is C's.
        is_postgres = connections[self._rows.db].vendor == "postgresql"
        columns = [_Moment(name) if is_postgres and name in self._moments else name for name in self._columns]
        lines = self._rows.values_list(*columns).iterator(chunk_size=_CHUNK)
        if self._sources == list(range(len(self._columns))):
            yield from lines
            return
        getters = [_getter(one) for one in self._sources]
        for line in lines:
            yield [get(line) for get in getters]

    def _source(self, path: str) -> int | _Worked:
        *names, last = path.split(".")
        model: type[Model] = self._rows.model
        for name in names:
            field = _field(model, name)
            if field is None or not field.many_to_one:
                raise _NotColumns(path)
            model = field.related_model
        if path in self._reads:
            attributes = tuple("id" if name == "pk" else name for name in self._reads[path])
            places = tuple(self._place(model, names, name) for name in attributes)
            return _Worked(model, last, attributes, places, may_be_absent=bool(names))
        return self._place(model, names, last)

    def _place(self, model: type[Model], names: list[str], name: str) -> int:
        is_added = not names and name in self._rows.query.annotations
        if not is_added and _field(model, name) is None:
            raise _NotColumns(name)
        column = "__".join([*names, name])
        if isinstance(_field(model, name), DateTimeField):
            self._moments.add(column)
        if column not in self._columns:
            self._columns.append(column)
        return self._columns.index(column)


def _field(model: type[Model], name: str) -> Any:
    try:
        field = model._meta.get_field(name)
    except FieldDoesNotExist:
        return None
    return field if field.concrete else None


def _getter(source: int | _Worked) -> Callable[[Sequence[Any]], Any]:
    if isinstance(source, int):
        return lambda line: line[source]
    results: dict[tuple[Any, ...], Any] = {}

    def get(line: Sequence[Any]) -> Any:
        read = tuple(line[place] for place in source.places)
        if source.may_be_absent and all(one is None for one in read):
            return None
        if read in results:
            return results[read]
        if len(results) >= _REMEMBERED:
            results.clear()
        results[read] = result = value(_lean(source, read), source.name)
        return result

    return get


def _lean(worked: _Worked, read: tuple[Any, ...]) -> Model:
    """A row with these attributes alone; another one would be read when it is asked for."""
    attributes = dict(zip(worked.attributes, read, strict=True))
    # Django pairs the values with the columns in the columns' own order.
    stored = [field.attname for field in worked.model._meta.concrete_fields if field.attname in attributes]
    row = worked.model.from_db(None, stored, [attributes.pop(name) for name in stored])
    row.__dict__.update(attributes)
    return row
