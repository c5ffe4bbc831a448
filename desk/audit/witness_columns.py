"""Which columns of each table are witnessed, and what happens to existing rows when a version witnesses other columns.

A witness is a digest of the witnessed columns alone, so after a column was added or left out all older rows would be
reported as changed. The chain itself states by which columns its entries were made: the first entry for every table,
and a further entry after each change. This was preferred to a list in each migration because nobody can forget it,
because it is under the desk's key like every entry, and because an interrupted upgrade leaves it as it was, so that the
next one goes on. Only desks whose chain is older than these statements get theirs once from a migration (`statement`).

After migrations (`desk.apps`) the declared columns are compared with the stated ones. The rows of a table with other
columns are witnessed anew, once and in one transaction. Each row is read once, and first compared with its last entry
by the columns of that time. A row that differs, has no entry, or whose entry the desk did not write is left as it is,
so that `verify_audit` still reports it. The content of an added column is taken as it is, since nothing vouched for it
before. As with every migration, no process of the older version may be running.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import structlog
from django.db import connection, migrations, transaction
from django.db.migrations.executor import MigrationExecutor

from desk.audit import witness_chain
from desk.models import RowWitness
from desk.rows import witnessed
from desk.rows.witnessed import Table

AT_ONCE = 50_000  # rows whose last witnesses are in memory at once; the chain is read once for every so many rows
_log = structlog.get_logger(__name__)


class CannotRenew(RuntimeError):
    """A witnessed column no longer exists, so no row can be compared with its last entry."""


def renew() -> int:
    """Witness anew the rows of every table whose witnessed columns differ from the stated ones; the number of rows.

    Does nothing on a desk without entries, or while some migrations are not applied. Raises CannotRenew.
    """
    stated, declared = witness_chain.stated_columns(), witnessed.columns()
    tables = [table for table in witnessed.tables() if stated.get(table.label) != declared[table.label]]
    if not stated or not tables or _is_behind():
        return 0
    with transaction.atomic():
        witness_chain.wait_for_turn()
        count = sum(_renew(table, stated.get(table.label)) for table in tables)
        witness_chain.append({"columns": {table.label: declared[table.label] for table in tables}}, rules=True)
    _log.info("witness_columns.renewed", tables=[table.label for table in tables], rows=count)
    return count


def state(columns: Mapping[str, list[str]]) -> None:
    """Append an entry that states the witnessed columns of those of these tables whose columns are not yet stated."""
    with transaction.atomic():
        witness_chain.wait_for_turn()
        stated = witness_chain.stated_columns()
        missing = {label: names for label, names in columns.items() if label not in stated}
        if missing and RowWitness.objects.exists():
            witness_chain.append({"columns": missing}, rules=True)


def statement(loose: Mapping[str, str]) -> migrations.RunPython:
    """The operation of the migration that states what was witnessed so far; `loose` are the other columns, by table."""

    def state_all(apps: Any, _: Any) -> None:
        columns = {}
        for label, names in loose.items():
            fields = apps.get_model(label)._meta.concrete_fields
            of_table = {field.attname for field in fields if not field.primary_key}
            columns[label] = sorted(of_table - set(names.split()))
        state(columns)

    return migrations.RunPython(state_all, migrations.RunPython.noop, elidable=True)


def _is_behind() -> bool:
    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def _renew(table: Table, columns: list[str] | None) -> int:
    """Witness one table anew, whose rows were witnessed by these columns before; None where they were not at all."""
    if gone := {*(columns or ())} - table.names:
        raise CannotRenew(
            f"{table.label} no longer has {sorted(gone)}, which its row witness entries cover. First stop covering "
            "a column, then remove it in a later version that can only be reached through that one."
        )
    before, count = table.with_columns(columns or ()), 0
    for keys in _keys(table):
        last = witness_chain.last_witnesses(table.label, {*map(str, keys)})
        for start in range(0, len(keys), witness_chain.MOST_ROWS):
            rows: dict[str, str | None] = {}
            for key, old, new in table.compared(before, keys[start : start + witness_chain.MOST_ROWS]):
                if columns is None:
                    rows |= {} if key in last else {key: new}
                elif (last_witness := last.get(key)) is not None:
                    rows |= _renewed(key, last_witness, old, new)
            if rows:
                witness_chain.append({"rows": {table.label: rows}}, rules=table.rules)
            count += len(rows)
    return count


def _renewed(key: str, last_witness: str, old: str, new: str) -> dict[str, str | None]:
    """What the new entry says of a row: nothing where the row differs, or where its last entry also fits this version.

    A row that was forged in a column which is no longer witnessed may fit by accident where that column was empty,
    because digests leave empty columns out. Its entry is withdrawn, so that the row is still reported.
    """
    if last_witness[:32] == old[:32]:
        return {} if old[:32] == new[:32] else {key: new}
    return {key: None} if last_witness != new and last_witness[:32] == new[:32] else {}


def _keys(table: Table) -> Iterator[list[Any]]:
    """The keys of all rows, `AT_ONCE` at a time."""
    rows = table.model._base_manager.order_by("pk").values_list("pk", flat=True)
    keys = list(rows[:AT_ONCE])
    while keys:
        yield keys
        keys = list(rows.filter(pk__gt=keys[-1])[:AT_ONCE])
