"""A database of a released version as one small file, which no engine and no machine is part of: written and loaded.

The file is JSON, compressed by xz: the version and its migrations, when it was written, the made-up key ring and
secret key under which its rows are sealed, every row of every table, the two files of heads from beside the database,
and the journal of the sandbox that the desk was in front of. Values are as JSON has them, else as text: decimals
without an exponent, times in UTC with microseconds, bytes in base64. `record.py` beside it says how one is made.
"""

import base64
import json
import lzma
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Self

from django.apps import apps
from django.core.management.color import no_style
from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor

FOLDER = Path(__file__).parent / "recordings"
MOST_BYTES = 300_000  # of one file
_GUARDS = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"


@dataclass(frozen=True)
class Table:
    """All rows of one table, by their key: the columns in the order of each row's values."""

    columns: list[str]
    rows: list[list[Any]]


@dataclass(frozen=True)
class Recording:
    """One version's database with what stood beside it. `written_at` is the desk's time when the last row was written.

    `heads` are the files of heads by their names, `journal` the sandbox's lines, `migrations` the last ones by app.
    """

    version: str
    written_at: str
    key_ring: str
    secret_key: str
    migrations: dict[str, str]
    tables: dict[str, Table]
    heads: dict[str, str]
    journal: str

    @property
    def moment(self) -> datetime:
        """When it was written."""
        return datetime.fromisoformat(self.written_at)

    @classmethod
    def read(cls, version: str) -> Self:
        """The recording of this version."""
        content = json.loads(lzma.decompress((FOLDER / f"{version}.json.xz").read_bytes()))
        content["tables"] = {label: Table(**table) for label, table in content["tables"].items()}
        return cls(**content)

    def write(self, path: Path) -> int:
        """Write the file: one content, one sequence of bytes. The number of bytes."""
        text = json.dumps(asdict(self), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return path.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))

    def states(self, label: str) -> dict[Any, str]:
        """By key the state of each row of a table."""
        table = self.tables[label]
        state = table.columns.index("state")
        key = table.columns.index("id")
        return {row[key]: row[state] for row in table.rows}


def versions() -> list[str]:
    """The versions of which there is a recording, oldest first."""
    names = [path.name.removesuffix(".json.xz") for path in FOLDER.glob("*.json.xz")]
    return sorted(names, key=lambda name: [int(part) for part in name.split(".")])


# Written --------------------------------------------------------------------------------------------------------------


def tables() -> dict[str, Table]:
    """Every table of this version that has rows, as its models have it."""
    every = {model._meta.label_lower: _table(model) for model in _models(apps)}
    return {label: table for label, table in every.items() if table.rows}


def last_migrations() -> dict[str, str]:
    """The last migration of each app, as this version has them."""
    return dict(MigrationExecutor(connection).loader.graph.leaf_nodes())


def _models(registry: Any) -> list[Any]:
    return [model for model in registry.get_models(include_auto_created=True) if _is_table(model)]


def _is_table(model: Any) -> bool:
    return bool(model._meta.managed and not model._meta.proxy)


def _table(model: Any) -> Table:
    names = [field.attname for field in model._meta.concrete_fields]
    rows = model._base_manager.order_by("pk").values_list(*names)
    return Table(names, [[_as_json(value) for value in row] for row in rows])


def _as_json(value: Any) -> Any:
    match value:
        case Decimal():
            return format(value, "f")
        case datetime():
            return value.astimezone(UTC).isoformat(timespec="microseconds")
        case None | bool() | int() | str() | dict() | list():
            return value
        case bytes() | memoryview():
            return base64.b64encode(bytes(value)).decode()
    return str(value)


# Loaded ---------------------------------------------------------------------------------------------------------------


def load(recording: Recording) -> None:
    """Make the tables of the recorded version in this empty database, and fill them with its rows."""
    executor = MigrationExecutor(connection)
    targets = list(recording.migrations.items())
    executor.migrate(targets)
    state = executor.loader.project_state(targets).apps
    known = {model._meta.label_lower: model for model in _models(state)}
    with _unguarded():
        # What migrations put in by themselves is in the recording too.
        for model in known.values():
            _execute(f"DELETE FROM {_quoted(model._meta.db_table)}")
        for label, table in recording.tables.items():
            _fill(known[label], table)
        for statement in connection.ops.sequence_reset_sql(no_style(), list(known.values())):
            _execute(statement)


def _fill(model: Any, table: Table) -> None:
    fields = {field.attname: field for field in model._meta.concrete_fields}
    assert sorted(fields) == sorted(table.columns), f"{model._meta.label} has other columns than it had"
    columns = [fields[name] for name in table.columns]
    names = ", ".join(_quoted(field.column) for field in columns)
    places = ", ".join(["%s"] * len(columns))
    rows = [[_prepared(*pair) for pair in zip(columns, row, strict=True)] for row in table.rows]
    with connection.cursor() as cursor:
        cursor.executemany(f"INSERT INTO {_quoted(model._meta.db_table)} ({names}) VALUES ({places})", rows)


def _prepared(field: Any, value: Any) -> Any:
    return field.get_db_prep_save(field.to_python(value), connection)


@contextmanager
def _unguarded() -> Iterator[None]:
    """In one transaction, without any trigger and before references are looked at: rows come in any order and state."""
    with connection.constraint_checks_disabled(), transaction.atomic():
        if connection.vendor == "postgresql":
            _execute("SET LOCAL session_replication_role = replica")
            yield
            return
        with connection.cursor() as cursor:
            guards = dict(cursor.execute(_GUARDS).fetchall())
        for name in guards:
            _execute(f'DROP TRIGGER "{name}"')
        yield
        for statement in guards.values():
            _execute(statement)


def _quoted(name: str) -> str:
    return connection.ops.quote_name(name)


def _execute(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)
