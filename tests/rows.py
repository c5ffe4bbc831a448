"""Emptying the tables between tests, although the audit table and those about money refuse to be emptied.

The first time Django empties them, and fills in what a fresh desk has: that is noted. From then on only the tables
that a test filled are emptied, and only those of a fresh desk that it changed are put back.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings
from django.test import TransactionTestCase
from psycopg.errors import DeadlockDetected

_flush = TransactionTestCase._fixture_teardown

_OF_TABLE = {"sqlite": "", "postgresql": " ON {table}"}
_GUARDS = {
    "sqlite": "SELECT name, tbl_name, sql FROM sqlite_master WHERE type = 'trigger' ORDER BY name",
    "postgresql": """SELECT tgname, tgenabled, pg_get_triggerdef(pg_trigger.oid), pg_get_functiondef(tgfoid)
        FROM pg_trigger WHERE NOT tgisinternal ORDER BY tgname""",
}


def allow_flush() -> None:
    """Take the guards of the tables away while the tables are emptied after a transactional test."""
    TransactionTestCase._fixture_teardown = _empty  # type: ignore[method-assign]


@dataclass
class Fresh:
    """What the tables and their guards are like when no test has run: of one database, in this process."""

    tables: list[str]
    guards: list[tuple[Any, ...]]
    # On SQLite the rows themselves; PostgreSQL keeps them in a schema of their own.
    rows: dict[str, list[tuple[Any, ...]]] = field(default_factory=dict)


_fresh: dict[str, Fresh] = {}


def _empty(case: Any) -> None:
    from django.db import connection

    from desk.audit import trail, witness_chain
    from desk.restores import signs

    known = _fresh.get(str(connection.settings_dict["NAME"]))
    if known is None:
        with _without_guards():
            _flush(case)
        _fresh[str(connection.settings_dict["NAME"])] = _noted(connection)
    else:
        if known.guards != _rows_of(connection, _GUARDS[connection.vendor]):
            with _without_guards():
                """A test took some away, or changed them; all of them are made anew."""
        _ENDS[connection.vendor](connection, known)
    for name in (trail.HEADS_FILE, witness_chain.HEADS_FILE):
        Path(settings.DATA_DIR, name).unlink(missing_ok=True)
    signs._readers.clear()
    if key := signs._identity():
        signs._broker(settings.REDIS_URL).delete(key)


@contextmanager
def unguarded(*guards: Any) -> Iterator[None]:
    """What somebody with all rights on the database can do: take the triggers away, and put them back afterwards."""
    from django.db import connection

    for each in guards:
        each.remove(connection)
    try:
        yield
    finally:
        for each in guards:
            each.install(connection)


@contextmanager
def _without_guards() -> Iterator[None]:
    """Every trigger that a room declares, of rooms to come as well, is taken away and made anew."""
    from django.db import connection

    from desk import rooms
    from desk.audit import installed_guards

    statements = [text for source in rooms.guards().values() for text in source(connection.vendor).values()]
    with connection.cursor() as cursor:
        for name, guard in installed_guards.declarations(connection.vendor).items():
            cursor.execute(f"DROP TRIGGER IF EXISTS {name}{_OF_TABLE[connection.vendor].format(table=guard.table)}")
        for name in re.findall(r"CREATE FUNCTION (\w+)", "\n".join(statements)):
            cursor.execute(f"DROP FUNCTION IF EXISTS {name}()")
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)


def _noted(connection: Any) -> Fresh:
    names = sorted(connection.introspection.django_table_names(only_existing=True, include_views=False))
    known = Fresh(names, _rows_of(connection, _GUARDS[connection.vendor]))
    filled = _filled(connection, names)
    if connection.vendor == "sqlite":
        known.rows = {name: _rows_of(connection, f'SELECT * FROM "{name}"') for name in filled}
        return known
    with connection.cursor() as cursor:
        cursor.execute("DROP SCHEMA IF EXISTS fresh CASCADE; CREATE SCHEMA fresh")
        for name in filled:
            cursor.execute(f'CREATE TABLE fresh."{name}" AS TABLE "{name}"')
            known.rows[name] = []
    return known


def _end_postgresql(connection: Any, known: Fresh) -> None:
    from django.db import OperationalError

    # A process that still writes may hold what is locked last and want what is locked first: one of both is refused.
    for is_last in (False, False, False, True):
        try:
            _end_at_once(connection, known)
            return
        except OperationalError as refused:
            if is_last or not isinstance(refused.__cause__, DeadlockDetected):
                raise


def _end_at_once(connection: Any, known: Fresh) -> None:
    from django.db import transaction

    with transaction.atomic(), connection.cursor() as cursor:
        # Whoever still writes is waited for, as emptying by TRUNCATE would; and no trigger of any kind fires.
        cursor.execute(f"LOCK TABLE {_listed(known.tables)} IN SHARE ROW EXCLUSIVE MODE")
        cursor.execute("SET LOCAL session_replication_role = replica")
        differing = " UNION ALL ".join(_DIFFERS.format(name=name) for name in known.rows)
        changed = [name for (name,) in _rows_of(connection, differing)]
        emptied = [name for name in _filled(connection, known.tables) if name not in known.rows]
        orders = [f'DELETE FROM "{name}"' for name in (*emptied, *changed)]
        orders += [f'INSERT INTO "{name}" TABLE fresh."{name}"' for name in changed]
        if orders:
            cursor.execute("; ".join(orders))


_DIFFERS = """SELECT '{name}' WHERE EXISTS ((TABLE "{name}" EXCEPT ALL TABLE fresh."{name}") UNION ALL
    (TABLE fresh."{name}" EXCEPT ALL TABLE "{name}"))"""


def _end_sqlite(connection: Any, known: Fresh) -> None:
    from django.db import transaction

    with transaction.atomic(), connection.cursor() as cursor:
        filled = _filled(connection, known.tables)
        changed = [name for name, rows in known.rows.items() if _rows_of(connection, f'SELECT * FROM "{name}"') != rows]
        wanted = [name for name in filled if name not in known.rows] + changed
        guards = [(name, sql) for name, table, sql in known.guards if table in wanted]
        cursor.execute("PRAGMA defer_foreign_keys = ON")
        for name, _ in guards:
            cursor.execute(f'DROP TRIGGER "{name}"')
        for name in wanted:
            cursor.execute(f'DELETE FROM "{name}"')
        for name in changed:
            for row in known.rows[name]:
                connection.connection.execute(f'INSERT INTO "{name}" VALUES ({", ".join("?" * len(row))})', row)
        for _, sql in guards:
            cursor.execute(sql)


_ENDS = {"sqlite": _end_sqlite, "postgresql": _end_postgresql}


def _filled(connection: Any, names: Iterable[str]) -> list[str]:
    question = " UNION ALL ".join(f"SELECT '{name}' WHERE EXISTS (SELECT 1 FROM \"{name}\")" for name in names)
    return [name for (name,) in _rows_of(connection, question)]


def _rows_of(connection: Any, question: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(question)
        return list(cursor.fetchall())


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)
