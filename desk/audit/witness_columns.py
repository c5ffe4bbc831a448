"""Which columns of each table are witnessed, and what a version that witnesses others does with the rows there are.

A witness is a digest of the witnessed columns alone, so rows from before a column was taken in or out would all be
named as changed. The chain says itself by which columns its entries were made: its first entry states those of every
table, and so does an entry after each change. That was chosen over a list of changes in each migration because nobody
can forget it, because it is under the desk's key like every entry, and because an upgrade that was cut off leaves it as
it was: the next one goes on. Only desks whose chain is older than such statements have theirs from a migration, once
(`statement`).

After migrations (`desk.apps`) what is declared is compared with what is stated. A table with other columns has its rows
witnessed anew, once and in one transaction, each by the reading that showed that it still agrees with its last entry by
the columns of that time. One that does not, that no entry tells of, or whose entry the desk did not write, is left as
it is: `verify_audit` names it afterwards as it did before. What stands in a column that is taken in is believed as it
is, since nothing vouched for it. Processes of the older version have to have ended, as with every migration.
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

AT_ONCE = 50_000  # rows whose last witnesses are in memory; the chain is walked once for each so many
_log = structlog.get_logger(__name__)


class CannotRenew(RuntimeError):
    """A column that was witnessed is no longer there, so no row can be compared with its last entry."""


def renew() -> int:
    """Witness the rows of every table whose witnessed columns are others than stated; how many rows that were.

    Nothing is done on a desk without entries, or as long as some migrations are not applied. Raises CannotRenew.
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
    """Append an entry that says by which columns these tables were witnessed, those left out whose are stated."""
    with transaction.atomic():
        witness_chain.wait_for_turn()
        stated = witness_chain.stated_columns()
        missing = {label: names for label, names in columns.items() if label not in stated}
        if missing and RowWitness.objects.exists():
            witness_chain.append({"columns": missing}, rules=True)


def statement(loose: Mapping[str, str]) -> migrations.RunPython:
    """For the migration that states what was witnessed up to it: by table the columns that were not, in one text."""

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
    """The rows of one table, witnessed by these columns before; of a table that was not witnessed, all of its rows."""
    if gone := {*(columns or ())} - table.names:
        raise CannotRenew(
            f"{table.label} was witnessed by {sorted(gone)}, which it has no longer: a column is first taken out of "
            "the witnessed ones, and removed by a later version, which no desk reaches without the one before."
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
    """What the new entry says of a row: nothing where it does not agree, or where its entry holds for this version too.

    A row that was forged in a column that is taken out may agree by accident, where the column was empty before, since
    empty ones are left out of digests: its entry is taken back, so that it stays named.
    """
    if last_witness[:32] == old[:32]:
        return {} if old[:32] == new[:32] else {key: new}
    return {key: None} if last_witness != new and last_witness[:32] == new[:32] else {}


def _keys(table: Table) -> Iterator[list[Any]]:
    """The keys of all rows, so many at a time."""
    rows = table.model._base_manager.order_by("pk").values_list("pk", flat=True)
    keys = list(rows[:AT_ONCE])
    while keys:
        yield keys
        keys = list(rows.filter(pk__gt=keys[-1])[:AT_ONCE])
