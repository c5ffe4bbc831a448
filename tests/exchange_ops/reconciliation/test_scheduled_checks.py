"""The checks that run by themselves: in time, one at a time, and a failed one stands until a later run holds."""

from datetime import timedelta

import pytest
from django.db import connection

from desk import audit_check, clock
from desk.audit import triggers
from desk.models import AuditEvent
from exchange_ops.keys import store as keys
from exchange_ops.ledger import refresh as copies
from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.reconciliation import room as checks
from exchange_ops.reconciliation import scheduled_checks
from exchange_ops.shared import leases
from exchange_ops.shared.models import CheckRun
from project import celery_settings
from project.celery import app

pytestmark = [pytest.mark.django_db(transaction=True)]


@pytest.fixture
def read(account, demo_keys, sandbox):
    copies.sync_ledgers(now=clock.now(), client_for=keys.client_for)
    return account


def run(**later):
    return scheduled_checks.run_due(now=clock.now() + timedelta(**later), client_for=keys.client_for)


def test_the_scheduler_wakes_them_and_no_payout_waits_for_them():
    entry = celery_settings.beat_schedule["exchange_ops.run_checks"]
    assert entry["task"] == "exchange_ops.run_checks"
    assert app.amqp.router.route({}, entry["task"])["queue"].name == "chain"


def move_on(monkeypatch, **later):
    """From here on the desk's clock is so much later."""
    now = clock.now() + timedelta(**later)
    monkeypatch.setattr(clock, "now", lambda: now)


def test_both_run_when_they_are_due_and_not_sooner(read, monkeypatch):
    assert checks._audit().ok
    assert "not run yet" in checks._reconciliation().sentence
    assert (run(), run(minutes=59), run(minutes=61), run(hours=25)) == (2, 0, 1, 2)
    move_on(monkeypatch, hours=25)
    for facts in (checks._reconciliation(), checks._audit()):
        assert facts.ok
        assert "ago: no differences." in facts.sentence


def test_a_failed_reconciliation_is_unready_until_one_holds(read):
    strange = LedgerEntry.objects.order_by("pk").first()
    LedgerEntry.objects.filter(pk=strange.pk).update(exchange_id="not-theirs")
    run()
    facts = checks._reconciliation()
    assert not facts.ok
    assert "unknown to the exchange: 1" in facts.sentence
    LedgerEntry.objects.filter(exchange_id=strange.exchange_id).update(exchange_id="x")
    LedgerEntry.objects.filter(pk=strange.pk).update(exchange_id=strange.exchange_id)
    assert not checks._reconciliation().ok, "it stands until the next run"
    CheckRun.objects.filter(name=scheduled_checks.name_of(read)).update(findings=["x: old"])
    assert "x: old" in checks._reconciliation().sentence


def test_a_changed_trail_is_unready_until_a_check_holds(read, monkeypatch):
    audit_of_nothing = AuditEvent.objects.order_by("seq").first()
    with connection.cursor() as cursor:
        triggers.remove(connection)
        cursor.execute("UPDATE desk_auditevent SET action = 'a.forged' WHERE seq = %s", [audit_of_nothing.seq])
        triggers.install(connection)
    run()
    assert not checks._audit().ok
    assert f"Event {audit_of_nothing.seq} was changed" in checks._audit().sentence
    with connection.cursor() as cursor:
        triggers.remove(connection)
        cursor.execute(
            "UPDATE desk_auditevent SET action = %s WHERE seq = %s", [audit_of_nothing.action, audit_of_nothing.seq]
        )
        triggers.install(connection)
    assert audit_check.verify() == []
    assert not checks._audit().ok
    move_on(monkeypatch, hours=25)
    run()
    assert checks._audit().ok


def test_one_that_comes_to_no_answer_keeps_the_answer_before_it_and_is_late_in_the_end(read, sandbox):
    run()
    sandbox.control("faults", {"operation": "get_balances", "kind": "refuse", "code": 600, "times": 99})
    assert run(hours=1, minutes=1) == 0
    facts = checks._reconciliation()
    assert facts.ok
    assert "The last run failed: 600" in facts.sentence
    CheckRun.objects.filter(name=scheduled_checks.name_of(read)).update(ran_at=clock.now() - timedelta(hours=4))
    assert not checks._reconciliation().ok


def test_only_one_process_runs_them(read):
    now = clock.now()
    assert leases.hold(name=scheduled_checks.LEASE, holder="another", now=now, lasts=timedelta(minutes=5))
    assert run() == 0
    assert not CheckRun.objects.exists()
