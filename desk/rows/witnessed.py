"""Which tables decide or prove something, and the record of every row of them that the desk itself writes.

An app registers its tables once, each with the columns that decide nothing and the reasons; all other columns are
witnessed. Rows written through the models are noted, and just before the transaction commits their contents become one
entry of the chain of witnesses (`witness_chain`), under a key that is not in the database. A write that bypasses the
desk leaves no entry, so `verify_audit --replay` reports the row.

A model needs the base `Witnessed`. A model of another library needs only `register`, which connects to its signals, and
`note` wherever its rows are changed without signals.
"""

import json
import zlib
from base64 import urlsafe_b64encode
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import cached_property
from hashlib import sha256
from typing import Any, TypeVar
from uuid import UUID

from django.db import connection, models, transaction
from django.db.models.signals import post_delete, post_save

from desk import rooms
from desk.fields import plain
from desk.rows.by_key import all_rows, rows_by_key

More = Callable[[Collection[Any] | None], Mapping[Any, Mapping[str, Any]]]
M_co = TypeVar("M_co", bound=models.Model, covariant=True)
_CHUNK = 512
_DIGEST_BYTES = 24  # 192 bits, 32 characters


@dataclass(frozen=True, eq=False)
class Table:
    """One table that decides or proves something. `loose` columns do neither, each for the reason beside it.

    `more` gives further values of rows (with the given keys, or of all) that are stored in other tables. `rules` marks
    tables whose rows are checked against the chain before they are followed (`witness_chain.has_foreign_rows`).
    """

    model: type[models.Model]
    loose: Mapping[str, str] = field(default_factory=dict)
    more: More | None = None
    rules: bool = False

    def register(self) -> None:
        """Witness the rows of this table; called once, when its app is ready."""
        _tables[self.model] = self
        post_save.connect(_noted, sender=self.model, dispatch_uid=f"desk.rows.witnessed.{self.label}")
        post_delete.connect(_noted, sender=self.model, dispatch_uid=f"desk.rows.witnessed.{self.label}")

    @cached_property
    def label(self) -> str:
        """How entries and findings name the table, for example "exchange_ops.approval"."""
        return self.model._meta.label_lower

    @cached_property
    def names(self) -> frozenset[str]:
        """Every column but the key."""
        return frozenset(field.attname for field in self.model._meta.concrete_fields if not field.primary_key)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The witnessed columns."""
        if unknown := self.loose.keys() - self.names:
            raise LookupError(f"{self.label} has no columns {sorted(unknown)}.")
        return tuple(sorted(self.names - self.loose.keys()))

    @cached_property
    def blank(self) -> dict[str, str]:
        """The default of each column. Default values are left out of the digest, so that a column which is added later
        does not change earlier witnesses."""
        fields = {field.attname: field for field in self.model._meta.concrete_fields}
        return {name: _text(fields[name].get_default()) for name in self.columns}

    def concerns(self, names: Iterable[str]) -> bool:
        """Whether a change of these fields changes anything witnessed."""
        fields = self.model._meta.get_field
        attnames = {getattr(fields(name), "attname", name) if name != "pk" else name for name in names}
        return not attnames.issubset(self.loose)

    def witnesses(self, keys: Collection[Any] | None = None) -> Iterator[tuple[str, str]]:
        """Key and witness of every row, or of those with these keys. A witness is a digest of the whole row and four
        digits for each column, by which a changed column is named."""
        for key, values in self._contents(keys):
            yield str(key), self.witness(values)

    def witness(self, values: Mapping[str, Any]) -> str:
        """The witness of one row's values by column."""
        texts = {name: _text(value) for name, value in values.items()}
        pairs = [[name, texts[name]] for name in sorted(texts) if texts[name] != self.blank.get(name)]
        digest = sha256(json.dumps(pairs, separators=(",", ":")).encode()).digest()[:_DIGEST_BYTES]
        return urlsafe_b64encode(digest).decode() + "".join(_check(texts[name]) for name in sorted(texts))

    def with_columns(self, columns: Collection[str]) -> "Table":
        """The same table with exactly these columns witnessed."""
        return replace(self, loose=dict.fromkeys(self.names - {*columns}, "of another version"))

    def compared(self, other: "Table", keys: Collection[Any]) -> Iterator[tuple[str, str, str]]:
        """For each row its key, its witness by the columns of `other` and that by these columns, from one read."""
        for key, values in self.with_columns({*self.columns, *other.columns})._contents(keys):
            of_tables = [
                table.witness({name: value for name, value in values.items() if name not in table.loose})
                for table in (other, self)
            ]
            yield str(key), of_tables[0], of_tables[1]

    def changed(self, old: str, new: str) -> list[str]:
        """Names of the columns in which two witnesses differ; all of them when columns were added since."""
        names = sorted([*self.columns, *self._names_of_more()])
        old, new = old[32:], new[32:]
        if len(old) != len(new) or len(new) != 4 * len(names):
            return []
        return [name for place, name in enumerate(names) if old[4 * place : 4 * place + 4] != new[4 * place :][:4]]

    def _contents(self, keys: Collection[Any] | None) -> Iterator[tuple[Any, dict[str, Any]]]:
        if keys is None:
            yield from self._with_more(all_rows(self.model, self.columns), None)
            return
        ordered = list(keys)
        for start in range(0, len(ordered), _CHUNK):
            chunk = ordered[start : start + _CHUNK]
            yield from self._with_more(rows_by_key(self.model, self.columns, chunk), chunk)

    def _with_more(
        self, rows: Iterable[Sequence[Any]], keys: Collection[Any] | None
    ) -> Iterator[tuple[Any, dict[str, Any]]]:
        more = self.more(keys) if self.more else {}
        for key, *values in rows:
            yield key, dict(zip(self.columns, values, strict=True)) | dict(more.get(key, {}))

    def _names_of_more(self) -> list[str]:
        if self.more is None:
            return []
        return sorted({name for values in self.more(None).values() for name in values})


_tables: dict[type[models.Model], Table] = {}
_idle: dict[str, str] = {}


def register(
    model: type[models.Model],
    *,
    loose: Mapping[str, str] | None = None,
    more: More | None = None,
    rules: bool = False,
) -> None:
    """Witness the rows of this model from now on; see `Table`."""
    Table(model, dict(loose or {}), more, rules).register()


def decides_nothing(reasons: Mapping[str, str]) -> None:
    """Tables that are not witnessed, by "app.model" in lower case, each with the reason."""
    _idle.update(reasons)


def tables() -> list[Table]:
    """Every witnessed table, in the order of their names."""
    return sorted(_tables.values(), key=lambda table: table.label)


def columns() -> dict[str, list[str]]:
    """The witnessed columns of every table, by its label."""
    return {table.label: [*table.columns] for table in tables()}


def idle() -> Mapping[str, str]:
    """Every table that decides nothing, with the reason."""
    return _idle | rooms.idle_tables()


def note(model: type[models.Model], keys: Iterable[Any]) -> None:
    """Note rows that this transaction has written or removed: their contents are witnessed when it commits."""
    written = set(keys)
    if model not in _tables or not written:
        return
    if not connection.in_atomic_block:
        with transaction.atomic():
            note(model, written)
        return
    connection.unwitnessed.setdefault(_tables[model], set()).update(written)  # type: ignore[attr-defined]


class Rows(models.QuerySet[M_co]):
    """Rows of a witnessed table: every change is noted in the same transaction."""

    def update(self, **changes: Any) -> int:
        """Change the rows and note those whose witnessed columns change."""
        table = _tables.get(self.model)
        if table is None or not table.concerns(changes):
            return super().update(**changes)
        if not connection.in_atomic_block:
            with transaction.atomic():
                return self.update(**changes)
        note(self.model, self._locked())
        return super().update(**changes)

    def bulk_create(self, objs: Iterable[Any], *arguments: Any, **options: Any) -> Any:
        """Make the rows and note them. With `ignore_conflicts` the database doesn't tell which: the caller notes."""
        if connection.in_atomic_block:
            rows = super().bulk_create(objs, *arguments, **options)
            note(self.model, [row.pk for row in rows if row.pk is not None])
            return rows
        with transaction.atomic():
            return self.bulk_create(objs, *arguments, **options)

    def _locked(self) -> list[Any]:
        """The keys of the rows that an update will change, locked where the engine can."""
        rows = self.order_by().only("pk")
        if connection.features.has_select_for_update:
            rows = rows.select_for_update(of=("self",))
        return [row.pk for row in rows]


class Witnessed(models.Model):
    """Base of a model whose rows are witnessed: a row and its witness are written in one transaction."""

    objects = Rows.as_manager()

    class Meta:
        abstract = True

    def save(self, *arguments: Any, **options: Any) -> None:
        """As every model, in a transaction."""
        if connection.in_atomic_block:
            super().save(*arguments, **options)
            return
        with transaction.atomic():
            super().save(*arguments, **options)


def _noted(
    sender: type[models.Model], instance: models.Model, update_fields: Collection[str] | None = None, **_: Any
) -> None:
    if update_fields is None or _tables[sender].concerns(update_fields):
        note(sender, [instance.pk])


def _check(text: str) -> str:
    return format(zlib.crc32(text.encode("utf-8", "surrogatepass")) & 0xFFFF, "04x")


def _text(value: Any) -> str:
    """One text for each value of a column, as read from the database; a letter tells the types apart."""
    if value is None:
        return "n"
    if isinstance(value, bool):
        return f"b{value:d}"
    if isinstance(value, str):
        return "s" + value
    if isinstance(value, int):
        return f"i{value}"
    return _rare_text(value)


def _rare_text(value: Any) -> str:
    if isinstance(value, Decimal):
        return f"d{plain(value):f}" if value.is_finite() else f"d{value}"
    if isinstance(value, datetime):
        return "t" + value.astimezone(UTC).isoformat(timespec="microseconds")
    if isinstance(value, date | UUID):
        return f"u{value}"
    if isinstance(value, bytes | memoryview):
        return "x" + bytes(value).hex()
    return "j" + json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)
