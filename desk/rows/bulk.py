"""Writes many rows of copies at once, about as fast as the database's own bulk load.

A row is written when it is new, or when it was read later than the stored one and differs from it. The same statement
leaves all other rows alone: of two processes that read at once, none overwrites a newer reading with an older one. A
row that was read in the future, before a clock fell back, is always written. Such tables have a column `read_at`, and
their primary key is the outside system's own identifier of the record.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from operator import itemgetter
from typing import Any

from django.db import connection, models, transaction

from desk import clock
from desk.fields import ExactDecimalField, plain

READ_AT = "read_at"
HIGHEST_COUNT = 32_767  # the most that the smallest column for counts holds
FEW = 200  # fewer rows than this PostgreSQL writes faster without a temporary table
_SURELY_SHORT = 24  # a number of at most so many characters fits every money column

Row = Sequence[Any]
Column = Callable[[Sequence[Any]], list[Any]]  # prepares the values of one column for the database; raises CannotKeep


class CannotKeep(ValueError):
    """A value does not fit its column; the text says which one and why."""


@dataclass(frozen=True, slots=True)
class Table:
    """How the rows of one model are written. `names` is the order in which a row gives its values."""

    name: str
    names: tuple[str, ...]
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    types: tuple[str, ...]
    statement: str

    def keep(self, rows: Iterable[Row], *, wrong: Callable[[Row, str], None] | None = None) -> int:
        """Write what is new, or newer and different; the number of rows written. Of rows with one key the last counts.

        A row that can't be stored is passed to `wrong` with the reason and left out; without `wrong` it raises
        CannotKeep.
        """
        ready = self._once_each(self._ready(list(rows), wrong))
        if not ready:
            return 0
        with transaction.atomic(), connection.cursor() as cursor:
            return _send(self, cursor, ready)

    def confirm(self, keys: Sequence[str], *, read_at: datetime) -> None:
        """Record that the rows with these keys were read again at `read_at`; for tables whose key is one text."""
        (key,) = self.key
        is_sqlite = connection.vendor == "sqlite"
        among = "IN (SELECT value FROM json_each(%s))" if is_sqlite else "= ANY(%s)"
        named = json.dumps(list(keys)) if is_sqlite else list(keys)
        when = connection.ops.adapt_datetimefield_value(read_at)
        with connection.cursor() as cursor:
            cursor.execute(
                f"UPDATE {self.name} SET read_at = %s WHERE (read_at < %s OR read_at > %s) "  # noqa: S608
                f"AND {key} {among}",
                [when, when, _still_to_come(), named],
            )

    def _ready(self, rows: list[Row], wrong: Callable[[Row, str], None] | None) -> list[tuple[Any, ...]]:
        """The rows prepared for the database: a column at a time, and one by one when a value does not fit."""
        if not rows:
            return []
        try:
            columns = [column(values) for column, values in zip(self.columns, zip(*rows, strict=True), strict=True)]
            return list(zip(*columns, strict=True))
        except CannotKeep:
            if wrong is None:
                raise
            return list(self._each(rows, wrong))

    def _each(self, rows: list[Row], wrong: Callable[[Row, str], None]) -> Iterator[tuple[Any, ...]]:
        for row in rows:
            try:
                yield tuple(column([value])[0] for column, value in zip(self.columns, row, strict=True))
            except CannotKeep as problem:
                wrong(row, str(problem))

    def _once_each(self, ready: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """The rows with each key once, since one statement must not write a key twice."""
        key_of = itemgetter(*(self.names.index(name) for name in self.key))
        by_key = {key_of(row): row for row in ready}
        return ready if len(by_key) == len(ready) else list(by_key.values())


def table(model: type[models.Model]) -> Table:
    """The table of a model that has `read_at`."""
    return _table(model, connection.vendor)


@lru_cache
def _table(model: type[models.Model], vendor: str) -> Table:
    fields = model._meta.concrete_fields
    key = tuple(field.attname for field in model._meta.pk_fields)
    names = tuple(field.attname for field in fields)
    name = connection.ops.quote_name(model._meta.db_table)
    quoted = [connection.ops.quote_name(column) for column in names]
    types = tuple(str(field.db_type(connection)) for field in fields)
    return Table(
        name=name,
        names=names,
        key=key,
        columns=tuple(_column(field, vendor) for field in fields),
        types=types,
        statement=_statement(name, quoted, [connection.ops.quote_name(part) for part in key], vendor),
    )


# The statements ------------------------------------------------------------------------------------------------------


def _statement(name: str, names: Sequence[str], key: Sequence[str], vendor: str) -> str:
    """The upsert, with a placeholder for the rows. Numbers stored as texts have one form, so texts are compared."""
    compared = [column for column in names if column not in {*key, '"read_at"'}]
    if vendor == "sqlite":
        differs = " OR ".join(f"{name}.{column} COLLATE BINARY IS NOT excluded.{column}" for column in compared)
        rows = f"VALUES ({', '.join(['%s'] * len(names))})"
    else:
        differs = " OR ".join(f"{name}.{column} IS DISTINCT FROM excluded.{column}" for column in compared)
        rows = "{rows}"
    changes = ", ".join(f"{column} = excluded.{column}" for column in names if column not in key)
    return (
        f"INSERT INTO {name} ({', '.join(names)}) {rows} ON CONFLICT ({', '.join(key)}) DO UPDATE SET {changes} "
        f"WHERE ({name}.read_at < excluded.read_at AND ({differs})) OR {name}.read_at > '{{future}}'"
    )


def _send(table: Table, cursor: Any, ready: list[tuple[Any, ...]]) -> int:
    """Write all rows in the way that is fastest here; how many were written."""
    statement = table.statement.replace("{future}", str(_still_to_come()))
    if connection.vendor == "sqlite":
        cursor.executemany(statement, ready)
    elif len(ready) < FEW:
        arrays = ", ".join(f"%s::{kind}[]" for kind in table.types)
        statement = statement.replace("{rows}", f"SELECT * FROM unnest({arrays})")  # noqa: S608
        cursor.execute(statement, [list(column) for column in zip(*ready, strict=True)])
    else:
        return _send_copy(table, statement, cursor, ready)
    return int(cursor.rowcount)


def _still_to_come() -> Any:
    """The time from which on a row was read before this machine's clock fell back, so that any reading is newer."""
    return connection.ops.adapt_datetimefield_value(clock.now() + clock.TOLERANCE)


def _send_copy(table: Table, statement: str, cursor: Any, ready: list[tuple[Any, ...]]) -> int:
    """Through a temporary table of the same shape."""
    names = ", ".join(connection.ops.quote_name(name) for name in table.names)
    lines = zip(*map(_copy_column, zip(*ready, strict=True)), strict=True)
    cursor.execute(f"CREATE TEMPORARY TABLE arriving (LIKE {table.name}) ON COMMIT DROP")
    with cursor.copy(f"COPY arriving ({names}) FROM STDIN") as copy:
        copy.write("".join([f"{line}\n" for line in map("\t".join, lines)]))
    cursor.execute(statement.replace("{rows}", f"SELECT {names} FROM arriving"))  # noqa: S608
    written = int(cursor.rowcount)
    cursor.execute("DROP TABLE arriving")  # the transaction may go on with the next table
    return written


_SPECIAL = frozenset("\\\t\n\r")
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def _copy_column(values: Sequence[Any]) -> Sequence[str]:
    """The values of one column as COPY takes them. Texts without a character that needs escaping stay as they are."""
    kinds = set(map(type, values))
    if kinds == {str}:
        is_plain = _SPECIAL.isdisjoint("".join(values))
        return values if is_plain else [value.translate(_ESCAPES) for value in values]
    if kinds == {datetime}:
        texts = {value: str(value) for value in set(values)}
        return [texts[value] for value in values]
    return [r"\N" if value is None else str(value).translate(_ESCAPES) for value in values]


# The columns ---------------------------------------------------------------------------------------------------------


def _column(field: "models.Field[Any, Any]", vendor: str) -> Column:
    """What prepares the values of a field, all at once."""
    named: dict[type, Column] = {
        ExactDecimalField: _amounts(field.attname),
        models.DateTimeField: _instants if vendor == "sqlite" else list,
        models.CharField: _texts(field.attname, getattr(field, "max_length", None) or 0),
        models.PositiveIntegerField: _counts(field.attname),
        models.PositiveSmallIntegerField: _counts(field.attname),
        models.BooleanField: lambda values: [bool(value) for value in values],
        models.BigIntegerField: list,
        models.JSONField: lambda values: [json.dumps(value, separators=(",", ":")) for value in values],
    }
    return named[type(field)]


def _amounts(name: str) -> Column:
    def ready(values: Sequence[Decimal | None]) -> list[Any]:
        # Most numbers are written plainly already: short, without exponent, and with no zero at their end.
        return [
            text
            if text[-1] in "123456789" and len(text) <= _SURELY_SHORT and "E" not in text
            else _text_of(name, value)
            for text, value in zip(map(str, values), values, strict=True)
        ]

    return ready


def _text_of(name: str, value: Decimal | None) -> str | None:
    """The text of a number as `ExactDecimalField` stores it: no exponent, no trailing zeros."""
    if value is None:
        return None
    text = format(value, "f")
    if len(text) > _SURELY_SHORT or not text[-1].isdigit():
        return _long_text(name, value)
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _long_text(name: str, value: Decimal) -> str:
    if not value.is_finite():
        raise CannotKeep(f"{name} is not a number")
    bare = plain(value)
    exponent = bare.as_tuple().exponent
    if not isinstance(exponent, int) or exponent < -24 or bare.adjusted() >= 36:
        raise CannotKeep(f"{name} has too many digits")
    return format(bare, "f")


def _texts(name: str, longest: int) -> Column:
    def ready(values: Sequence[str]) -> list[Any]:
        if any(len(value) > longest or "\0" in value for value in values):
            raise CannotKeep(f"{name} is too long or has invalid characters")
        return list(values)

    return ready


def _counts(name: str) -> Column:
    def ready(values: Sequence[int | None]) -> list[Any]:
        if any(value is not None and not 0 <= value <= HIGHEST_COUNT for value in values):
            raise CannotKeep(f"{name} is out of range")
        return list(values)

    return ready


def _instants(values: Sequence[datetime | None]) -> list[Any]:
    """Prepare times; most rows of one reading share them, so each is formatted once."""
    texts = {value: connection.ops.adapt_datetimefield_value(value) for value in set(values)}
    return [texts[value] for value in values]
