"""Drills: trouble by the control plane of a sandbox, people by the desk's own rules, times from its rows."""

import re
from functools import partial

import pytest

from desk import clock
from desk.incidents import closings, decisions, review
from desk.incidents.models import Incident
from exchange_ops.ledger.models import Balance
from exchange_ops.policy import freezes
from exchange_ops.policy.models import Freeze
from exchange_ops.rehearsals import report
from exchange_ops.rehearsals.drills import conducting
from exchange_ops.rehearsals.drills.sandbox_control import CannotControl, SandboxControl
from exchange_ops.rehearsals.drills.scene import CannotDrill
from exchange_ops.shared import alarms
from tests.exchange_ops.rehearsals.conducted import conduct


def close(walk, person):
    row = Incident.objects.get(kind=alarms.PAYOUT_ELSEWHERE)
    words = {"reason": "Known by now", "digest": closings.digest_of(row), "session_key": "s", "now": clock.now()}
    decisions.close(incident_id=row.pk, person=person, answer=walk.answer(person), **words)


def test_a_payout_that_nobody_requested(walk, control, tmp_path):
    first, second = walk.approvers[:2]
    for code in ("BTC", "ETH"):
        Balance.objects.create(
            account=walk.account, currency=code, wallet="bank", available=100, reserved=0, read_at=clock.now()
        )

    def freeze():
        freezes.freeze(account=walk.account, person=first, reason="Not ours", now=clock.now(), session_key="s")

    def notice():
        walk.read_ledger()
        review.review_now(alarms.PAYOUT_ELSEWHERE, now=clock.now())

    closings_of_two = [partial(close, walk, person) for person in (first, second)]
    record, said = conduct("foreign-payout", control, notice, freeze, *closings_of_two)
    assert record.began < record.alarm < record.person < record.resolved
    assert record.alarm_text.startswith("Unrecognised withdrawal (I-")
    assert [act.who for act in record.acts] == ["treasury", "treasury", "treasury2"]
    assert re.fullmatch(r"The account is frozen: by treasury, \d s after the withdrawal\.", *record.findings)
    assert sum("resolved" in line for line in said) == 1
    with conducting.alone(tmp_path):
        conducting.keep(record, tmp_path)
        with pytest.raises(CannotDrill, match="Another drill"), conducting.alone(tmp_path):
            pass
    assert conducting.kept_in(tmp_path) == [record]
    text = "\n".join(report.as_text(report.payouts(), [record], desk_url="http://localhost"))
    assert "first person  after" in text
    assert "No payout has been decided yet." in text


def test_the_hold_whose_answer_is_lost(walk, control):
    rows = []

    def request():
        rows.append(walk.until(walk.request(), "hold_unknown"))

    def find():
        control.call("clock", {"advance_ms": 120_000})
        walk.until(rows[0], "held")

    record, _ = conduct("answer-lost", control, request, find)
    assert record.alarm_text == f"Reservation unknown ({rows[0].reference})"
    assert record.findings == ["Nobody requested it again while the outcome was unknown."]
    assert control.call("state")["config"]["list_delay_ms"] == 0, "the sandbox is as it was"
    walk.approve(walk.step(rows[0]))
    (times,) = report.payouts()
    assert (times.reference, times.requested_by, times.outcome) == (rows[0].reference, "operator", "approved")
    assert (times.by, times.first_vote_s) == (["treasury"], times.decision_s)
    adopted_at = rows[0].events.get(event="hold_adopted").at
    decided = rows[0].events.get(event="quorum_reached").at
    assert times.decision_s == pytest.approx((decided - adopted_at).total_seconds(), abs=0.01)


def test_trouble_ends_with_the_drill_however_it_ends(walk, control):
    def interrupt():
        assert control.call("faults")["faults"]
        raise KeyboardInterrupt

    record, said = conduct("exchange-silent", control, interrupt)
    assert (record.alarm, record.resolved) == ("", "")
    assert said[-1] == "Stopped before the trouble was over."
    assert control.call("faults")["faults"] == []


def test_drills_need_a_rehearsal_and_what_they_are_about(walk, control, settings):
    for name in ("chain-reorganised", "approvers-absent"):
        with pytest.raises(CannotDrill, match="Nothing was done"):
            conduct(name, control)
    with pytest.raises(CannotControl):
        SandboxControl("https://exchange.example")
    settings.REHEARSAL = False
    with pytest.raises(CannotControl):
        SandboxControl(walk.sandbox.url)
    assert not Freeze.objects.exists()
