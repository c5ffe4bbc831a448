"""Reads rows by key, or all rows, with SQL that is built once for each connection.

Django takes several times longer to build such a query than the database to answer it. Every transaction needs one for
each witnessed table that it wrote to, and every verification one for each witnessed table.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.db import connection, models

_CHUNK = 2000  # rows in memory at once when a whole table is read


def rows_by_key(model: type[models.Model], columns: tuple[str, ...], keys: Sequence[Any]) -> Iterable[Sequence[Any]]:
    """The key and these columns of each row that is there, in the order of the keys, as `values_list` gives them.

    There is at least one key, and no more than fit into one query.
    """
    count = 1 << (len(keys) - 1).bit_length()  # few queries: the keys are filled up to a power of two
    return _question(model, columns, count).rows([*keys, *[keys[-1]] * (count - len(keys))])


def all_rows(model: type[models.Model], columns: tuple[str, ...]) -> Iterator[Sequence[Any]]:
    """The key and these columns of every row, as `values_list(...).iterator()` gives them."""
    return _question(model, columns, 0).every_row()


def _question(model: type[models.Model], columns: tuple[str, ...], count: int) -> "_Question":
    questions: dict[Any, _Question] = connection.by_key  # type: ignore[attr-defined]
    question = questions.get((model, columns, count))
    if question is None:
        question = questions[model, columns, count] = _Question(model, columns, count)
    return question


class _Question:
    """The SQL for so many keys (0: for all rows), with the converters of its result."""

    def __init__(self, model: type[models.Model], columns: tuple[str, ...], count: int) -> None:
        self._key: models.Field[Any, Any] = model._meta.pk
        rows = model._base_manager.order_by("pk")
        if count:
            rows = rows.filter(pk__in=[self._key.get_default() or 0])
        self._compiler = rows.values_list("pk", *columns).query.get_compiler(connection=connection)
        text, _ = self._compiler.as_sql()
        self._text = text.replace(" IN (%s) ", f" IN ({', '.join(['%s'] * count)}) ")
        self._converters = self._compiler.get_converters([column for column, *_ in self._compiler.select])

    def rows(self, keys: Sequence[Any]) -> Iterable[Sequence[Any]]:
        with connection.cursor() as cursor:
            cursor.execute(self._text, [self._key.get_db_prep_value(key, connection) for key in keys])
            return self._values(cursor.fetchall())

    def every_row(self) -> Iterator[Sequence[Any]]:
        with connection.chunked_cursor() as cursor:
            cursor.execute(self._text, [])
            while chunk := cursor.fetchmany(_CHUNK):
                yield from self._values(chunk)

    def _values(self, chunk: Iterable[Sequence[Any]]) -> Iterable[Sequence[Any]]:
        return self._compiler.apply_converters(chunk, self._converters) if self._converters else chunk
