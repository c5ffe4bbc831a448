"""A database whose migrations this version has no more is refused with what to do, and left as it is."""

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

pytestmark = pytest.mark.django_db
FIRST = ("exchange_ops", "0001_squashed_0045_fee_rates")


def test_a_database_that_was_begun_by_older_migrations_is_refused_before_anything_else():
    recorder = MigrationRecorder(connection)
    recorder.record_unapplied(*FIRST)
    recorder.record_applied("exchange_ops", "0001_accounts_money_and_rules")
    before = recorder.applied_migrations()
    with pytest.raises(CommandError, match=r"Nothing was changed. .* created before version 0\.7\.0"):
        call_command("migrate", interactive=False)
    assert recorder.applied_migrations().keys() == before.keys()


def test_a_database_that_passed_through_them_goes_on(capsys):
    """What was replaced stays written down beside what replaces it."""
    MigrationRecorder(connection).record_applied("exchange_ops", "0001_accounts_money_and_rules")
    call_command("migrate", interactive=False, plan=True)
    assert "No planned migration operations" in capsys.readouterr().out
