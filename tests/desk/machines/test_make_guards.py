"""A migration that installs guards anew: what it writes, run on this database, is what is declared."""

import re
import runpy
from types import SimpleNamespace

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from desk.audit import installed_guards
from exchange_ops.addresses.guards import GUARDS

pytestmark = pytest.mark.django_db


def written(tmp_path, *, gone=()):
    call_command("make_guards", "exchange_ops", "addresses", gone=list(gone), folder=tmp_path, verbosity=0)
    (path,) = tmp_path.glob("*.py")
    return path, runpy.run_path(str(path))


def test_the_migration_installs_what_is_declared(tmp_path, capsys):
    path, migration = written(tmp_path)
    assert path.name.endswith("_guards_of_addresses.py")
    assert max(map(len, path.read_text().splitlines())) <= 120
    assert migration["SQLITE"] == GUARDS.statements("sqlite")
    assert migration["POSTGRESQL"] == GUARDS.statements("postgresql")
    GUARDS.remove(connection)
    assert len(list(installed_guards.findings())) == len(migration["SQLITE"])
    migration["install"](None, SimpleNamespace(connection=connection))
    assert list(installed_guards.findings()) == []


def test_the_migration_follows_the_newest_one(tmp_path, capsys):
    path, migration = written(tmp_path)
    ((app, newest),) = migration["Migration"].dependencies
    assert app == "exchange_ops"
    last = re.sub(r"^\d+_squashed_", "", newest)  # one that replaces others bears their first and last number
    assert int(path.name[:4]) == int(last[:4]) + 1


def test_a_trigger_that_is_no_longer_declared_is_taken_away(tmp_path, capsys):
    old = "exchange_ops_addressrequest_of_old"
    table = "exchange_ops_addressrequest"
    with connection.cursor() as cursor:
        text = GUARDS.statements(connection.vendor)[f"{table}_no_removal"]
        cursor.execute(text.replace(f"{table}_no_removal", old))
    assert [finding for finding in installed_guards.findings() if old in finding]
    _, migration = written(tmp_path, gone=[f"{table}.{old}"])
    migration["install"](None, SimpleNamespace(connection=connection))
    assert list(installed_guards.findings()) == []


def test_a_room_that_declares_none_is_refused(tmp_path):
    with pytest.raises(CommandError, match="No room declares guards as 'cats'"):
        call_command("make_guards", "exchange_ops", "cats", folder=tmp_path)
