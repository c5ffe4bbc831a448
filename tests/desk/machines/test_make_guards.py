"""A migration that installs guards anew: what it writes, run on this database, is what is declared."""

import re
import runpy
from types import SimpleNamespace

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from desk import rooms
from desk.audit import installed_guards
from desk.machines.guards import drop_statement
from desk.management.commands import make_guards
from exchange_ops.addresses.machine import GUARDS

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.thorough("a tool of developers; that every declared trigger is installed is proven in each run"),
]


SILENT = "exchange_ops_addressrequest_no_removal"


@pytest.fixture(scope="module")
def there():
    return make_guards.installed_on_sqlite()


@pytest.fixture
def write(there, tmp_path, monkeypatch, capsys):
    """Write the migration as if all migrations so far left these triggers alone otherwise."""

    def run(*, without=(), gone=()):
        left = {name: text for name, text in there.items() if name not in without}
        monkeypatch.setattr(make_guards, "installed_on_sqlite", lambda: left)
        call_command("make_guards", "exchange_ops", "addresses", gone=list(gone), folder=tmp_path)
        paths = list(tmp_path.glob("*.py"))
        return (paths[0], runpy.run_path(str(paths[0]))) if paths else (None, capsys.readouterr().out)

    return run


def run(migration):
    (operation,) = migration["Migration"].operations
    operation.database_forwards("exchange_ops", SimpleNamespace(connection=connection), None, None)


def test_where_nothing_changed_nothing_is_written(write):
    path, said = write()
    assert path is None
    assert "no files written" in said


def test_triggers_that_a_migration_took_along_are_installed_and_no_others(write):
    """As SQLite loses them with a table that it makes anew."""
    path, migration = write(without=[SILENT])
    assert path.name.endswith("_guards_of_addresses.py")
    assert max(map(len, path.read_text().splitlines())) <= 120
    assert migration["SQLITE"] == {SILENT: GUARDS.statements("sqlite")[SILENT]}
    assert migration["POSTGRESQL"] == {SILENT: GUARDS.statements("postgresql")[SILENT]}
    with connection.cursor() as cursor:
        cursor.execute(drop_statement(connection.vendor, "exchange_ops_addressrequest", SILENT))
    assert len(list(installed_guards.findings())) == 1
    run(migration)
    assert list(installed_guards.findings()) == []


@pytest.mark.parametrize("vendor", ["sqlite", "postgresql"])
def test_a_text_that_changed_on_one_engine_is_installed_on_both(write, monkeypatch, vendor):
    known = rooms.guards()
    declared = {name: known["addresses"](name) for name in ("sqlite", "postgresql")}
    declared[vendor] |= {SILENT: declared[vendor][SILENT].replace("DELETE", "UPDATE")}
    monkeypatch.setattr(rooms, "guards", lambda: {**known, "addresses": declared.__getitem__})
    _, migration = write()
    assert migration["SQLITE"] == {SILENT: declared["sqlite"][SILENT]}
    assert migration["POSTGRESQL"] == {SILENT: declared["postgresql"][SILENT]}


def test_the_migration_follows_the_newest_one(write):
    path, migration = write(without=[SILENT])
    ((app, newest),) = migration["Migration"].dependencies
    assert app == "exchange_ops"
    last = re.sub(r"^\d+_squashed_", "", newest)  # one that replaces others bears their first and last number
    assert int(path.name[:4]) == int(last[:4]) + 1


def test_a_trigger_that_is_no_longer_declared_is_taken_away(write):
    old = "exchange_ops_addressrequest_of_old"
    table = "exchange_ops_addressrequest"
    with connection.cursor() as cursor:
        text = GUARDS.statements(connection.vendor)[f"{table}_no_removal"]
        cursor.execute(text.replace(f"{table}_no_removal", old))
    assert [finding for finding in installed_guards.findings() if old in finding]
    _, migration = write(gone=[f"{table}.{old}"])
    run(migration)
    assert list(installed_guards.findings()) == []


def test_a_room_that_declares_none_is_refused(tmp_path):
    with pytest.raises(CommandError, match="No room declares guards as 'cats'"):
        call_command("make_guards", "exchange_ops", "cats", folder=tmp_path)
