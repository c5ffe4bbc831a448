"""Drills that take away people, the broker, or what the rows know since a backup."""

import re
import sqlite3
import tempfile
from contextlib import closing
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from django.db import connection

from desk import clock
from desk.incidents import decisions, review
from desk.incidents.models import Incident
from desk.notifications import finding
from desk.people import roles, scopes, totp
from desk.processes import stops
from desk.restores import settling
from desk.restores.waiting import CANCEL, GO_ON
from desk.staff import changes
from desk.staff import states as staff_states
from exchange_ops.rehearsals.drills import payments
from exchange_ops.rehearsals.drills.scene import CannotDrill, Scene
from exchange_ops.shared import alarms, heartbeats
from exchange_ops.withdrawals import workflow
from tests.exchange_ops.rehearsals.conducted import conduct
from tests.exchange_ops.withdrawals.walks import SESSION, TOTP_SECRET


def test_nobody_decides_and_the_desk_releases_the_money(walk, control):
    row = walk.held()

    def near_the_deadline():
        walk.later(minutes=50)
        finding.notify_due(now=clock.now())

    def run_out():
        walk.later(minutes=6)
        walk.until(row, "rolled_back")

    record, said = conduct("approvers-absent", control, near_the_deadline, run_out)
    waits = f"{row.reference} waits for approvals: 0.0500 BTC to {row.address}, requested by operator."
    assert waits in said
    assert sum("treasury, treasury2, treasury3." in line for line in said) == 1
    assert record.alarm_text == f"Final reminder, to everyone ({row.reference})"
    assert record.began < record.alarm < record.resolved
    assert (record.person, record.acts) == ("", [])
    assert [line.partition(",")[0] for line in record.findings] == [
        "Nobody decided: the desk released the money at the deadline"
    ]


def test_somebody_who_is_absent_decides_and_others_withdraw(walk, control, make_person):
    rows = [walk.held(), walk.held()]
    other = make_person("operator", username="other")

    def cancel():
        workflow.cancel(withdrawal_id=rows[0].pk, person=walk.operator, reason="Nobody is here", now=clock.now())
        walk.until(rows[0], "rolled_back")

    def elsewhere():
        workflow.cancel(withdrawal_id=rows[1].pk, person=walk.operator, reason="Another one", now=clock.now())

    record, _ = conduct("approvers-absent", control, elsewhere, cancel)
    assert [act.who for act in record.acts] == ["operator"], "what is done about another payout is not counted"
    assert record.findings[0].startswith("Withdrawn by operator, after")

    row, admin = walk.held(), make_person("admin")
    totp.enrol(admin, TOTP_SECRET)

    def cover():
        grants, until = ("operator", "treasury"), clock.now() + timedelta(days=2)
        digest = changes.digest_of(other, staff_states.ROLES, grants, until)
        details = {"kind": staff_states.ROLES, "grants": grants, "until": until, "reason": "Away", "digest": digest}
        words = {"actor": admin, "answer": walk.answer(admin), "session_key": SESSION, "now": clock.now()}
        assert changes.request(person_id=other.pk, **details, **words).alone, "as in a rehearsal, which is a demo"

    def approve():
        walk.approve(row)
        walk.until(row, "committed")

    record, _ = conduct("approvers-absent", control, cover, approve)
    assert [act.who for act in record.acts] == ["admin", "admin", "treasury"]
    assert record.findings[0].startswith("Cover: other has the role until")
    assert record.findings[0].endswith("but no treasurer confirmed them: no approval counts.")
    assert record.findings[1].startswith("Approved by treasury, after")
    assert record.findings[2] == "Acted although absent: treasury."


def test_the_broker_is_stopped_until_somebody_acts(walk, control, settings):
    alive = settings.REDIS_URL

    def supervise():
        """What `manage.py up` does every half second."""
        settings.REDIS_URL = "redis://127.0.0.1:1/0" if stops.stopped(settings.DATA_DIR) == "redis" else alive

    def notice():
        review.review_now(alarms.BROKER_AWAY, now=clock.now())

    def take_on():
        walk.until(walk.committing(), "committed")
        notice()
        (row,) = Incident.objects.filter(kind=alarms.BROKER_AWAY)
        decisions.acknowledge(incident_id=row.pk, person=admin, now=clock.now())

    def recover():
        supervise()
        notice()

    admin = walk.approvers[0]
    scopes.set_grants(admin, [roles.ADMIN, roles.TREASURY])
    record, said = conduct("broker-dead", control, supervise, notice, take_on, recover)
    assert record.alarm_text.startswith("Broker not responding (I-")
    assert record.person_name == "treasury"
    assert record.resolved > record.person
    assert sum("the trouble was taken away" in line for line in said) == 1
    assert record.findings[0] == "Payouts during the drill: 1 requested, 1 paid."
    assert record.findings[-1] == "Nothing was paid twice, by the exchange's ledger."
    with pytest.raises(CannotDrill, match="was not stopped"):
        conduct("broker-dead", control, *([lambda: None] * 15))
    assert stops.stopped(settings.DATA_DIR) == ""


def test_a_second_payment_is_seen_in_the_exchange_s_own_ledger(walk, control):
    row = walk.until(walk.committing(), "committed")
    scene = Scene(control, clock.now(), print, print)
    assert payments.paid_twice(scene) == ["Nothing was paid twice, by the exchange's ledger."]
    order = {"currency": row.currency, "amount": f"{row.amount:f}", "address": row.address}
    control.call("foreign-withdrawal", order)
    (sentence,) = payments.paid_twice(scene)
    assert "0.0500 BTC" in sentence
    assert "2 times, 2 of them reserved or about to be paid; this desk has 1 request for it." in sentence
    walk.later(minutes=30)
    (sentence,) = payments.paid_twice(scene)
    assert re.fullmatch(r"The exchange paid 0\.0500 BTC to \S+ 2 times; this desk has 1 request for it\.", sentence)
    control.fault("get_transactions", "refuse", code=1002)
    (sentence,) = payments.paid_twice(scene)
    assert sentence.startswith("Whether anything was paid twice is not known")


@pytest.fixture
def own_file(walk, settings):
    """The rows in a file of this test's own: a restore puts another one in its place, which threads of other tests,
    that have the usual one open, would not see."""
    if connection.vendor != "sqlite":
        pytest.skip("a rehearsal's rows are in SQLite")
    usual = settings.DATABASES["default"]["NAME"]
    folder = Path(tempfile.mkdtemp(dir=settings.DATA_DIR))  # rows and folder are on one file system
    with closing(sqlite3.connect(usual)) as source, closing(sqlite3.connect(folder / "desk.sqlite3")) as copy:
        source.backup(copy)
    settings.DATA_DIR = folder
    use_rows_of(folder / "desk.sqlite3", settings)
    yield
    use_rows_of(usual, settings)


def use_rows_of(file, settings):
    connection.close()
    connection.settings_dict["NAME"] = settings.DATABASES["default"]["NAME"] = str(file)


@pytest.mark.usefixtures("own_file")
@pytest.mark.parametrize("verdict", [CANCEL, GO_ON])
def test_a_backup_is_restored_over_a_payment(walk, control, verdict):
    rows = []

    def request():
        rows.append(walk.request())
        for _ in range(2):
            rows[0] = walk.step(rows[0])

    def pay():
        row = walk.until(rows[0], "held")
        row = walk.step(row) if row.echo_ok is None else row
        walk.approve(row)
        walk.until(row, "committed")

    record, said = conduct(
        "backup-restored",
        control,
        request,
        pay,
        *[partial(settle, walk, person, verdict) for person in walk.approvers[:2]],
    )
    row = walk.fresh(rows[0])
    assert row.state == ("cancelled" if verdict == CANCEL else "queued")
    assert record.findings[0].startswith("First treasurer to decide: treasury, after")
    assert record.findings[1].startswith("Second treasurer to decide: treasury2, after")
    assert record.findings[-1] == "Nothing was paid twice, by the exchange's ledger."
    assert ("although it is paid" in record.findings[-2]) is (verdict == GO_ON)
    assert len(walk.payouts()) == 1
    assert any("Stop the rehearsal now" in line for line in said)


def settle(walk, person, verdict):
    heartbeats.succeeded(heartbeats.ledger_of(walk.account), now=clock.now(), account=walk.account)
    restore = settling.current()
    items = settling.items(restore)
    verdicts = {item.subject: verdict for item in items}
    settling.give_word(
        restore_id=restore.pk,
        person=person,
        verdicts=verdicts,
        comment="Compared with the exchange's own page",
        digest=settling.digest_of(restore, items, verdicts),
        answer=walk.answer(person),
        session_key=SESSION,
        now=clock.now(),
    )
