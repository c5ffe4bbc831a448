"""A database whose migrations this version has no more is refused with what to do, and left as it is; some go back."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

pytestmark = pytest.mark.django_db
ADDED = {"listed", "signed_with_id", "position"}
FIRST = ("exchange_ops", "0001_squashed_0045_fee_rates")


def test_a_database_that_was_begun_by_older_migrations_is_refused_before_anything_else():
    recorder = MigrationRecorder(connection)
    recorder.record_unapplied(*FIRST)
    recorder.record_applied("exchange_ops", "0001_accounts_money_and_rules")
    before = recorder.applied_migrations()
    with pytest.raises(CommandError, match=r"No changes made. .* from before version 0\.7\.0"):
        call_command("migrate", interactive=False)
    assert recorder.applied_migrations().keys() == before.keys()


def test_a_database_that_passed_through_them_goes_on(capsys):
    """What was replaced stays written down beside what replaces it."""
    MigrationRecorder(connection).record_applied("exchange_ops", "0001_accounts_money_and_rules")
    call_command("migrate", interactive=False, plan=True)
    assert "No planned migration operations" in capsys.readouterr().out


@pytest.mark.thorough("all migrations, in processes of their own")
def test_lists_of_decisions_are_taken_back_out_of_a_database_of_sqlite_and_put_in_again(tmp_path):
    """Triggers of other tables read the table of second factors, which SQLite makes anew for each change of it."""
    file = tmp_path / "desk.sqlite3"
    environment = os.environ | {"DATABASE_URL": f"sqlite:///{file}", "DATA_DIR": str(tmp_path), "DEBUG": "1"}
    # Not from the newest: later migrations of the desk make guards, which have no way back.
    targets = {"exchange_ops": False, "desk 0024": True, "desk 0020": False, "": True}
    for target, is_there in targets.items():
        command = [sys.executable, "manage.py", "migrate", *target.split()]
        assert subprocess.run(command, env=environment, capture_output=True, check=False).returncode == 0
        with closing(sqlite3.connect(file)) as database:
            columns = {row[1] for row in database.execute("PRAGMA table_info(desk_stepup)")}
            triggers = {row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")}
        assert columns & ADDED == (ADDED if is_there else set())
        assert {"desk_restore_by_two", "exchange_ops_approval_second_factor"} <= triggers
