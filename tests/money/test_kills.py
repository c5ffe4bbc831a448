"""SIGKILL of a worker process at the named points: a fresh one brings the row where the table of crash points says."""

import pytest

from desk import audit_check, clock
from exchange_ops.policy import freezes
from exchange_ops.withdrawals.decisions import approvals
from exchange_ops.withdrawals.models import Approval, ExternalCall

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.engine("what a killed process leaves"),
    pytest.mark.timeout(240),
]

EXCHANGE = {"kind": "connect", "like": "127.0.0.1"}
KEPT_CALL = {"kind": "sql", "like": 'INSERT INTO "exchange_ops_externalcall"'}
KEPT_OUTCOME = {"kind": "sql", "like": 'UPDATE "exchange_ops_externalcall" SET "outcome"'}


def ends_paid(after, row):
    """The rest of the way by fresh workers and one approver, and one payout in the books."""
    row = after.walk.fresh(row)
    assert (row.state, row.echo_ok) == ("held", True), row.last_problem
    after.walk.approve(row)
    after.pay_out()
    row = after.walk.fresh(row)
    assert row.state == "settled", row.last_problem
    assert after.statuses(row) == ["success"]
    assert len(after.heard(row)) == 1
    assert after.orders(row) == {"commit": 1}
    sound(after)


def sound(after):
    """The exchange's books balance, and the trail replays to the rows."""
    assert after.walk.balanced()
    assert audit_check.verify(replay=True) == []


# The hold -------------------------------------------------------------------------------------------------------------


def test_c3_inside_the_claim_it_is_still_queued(after):
    row = after.die(after.queued(), **KEPT_CALL)
    assert (row.state, row.attempt, ExternalCall.objects.count()) == ("queued", 0, 0)
    assert after.walk.calls() == []
    after.sweep(2)
    ends_paid(after, row)


@pytest.mark.parametrize(
    "point",
    [{**KEPT_OUTCOME}, {**EXCHANGE}, {"kind": "send", "like": "^POST"}],
    ids=["c4 claimed", "c4 marked as sent", "c5 connected"],
)
def test_c4_c5_claimed_and_nothing_sent_is_unknown_and_lapses(after, point):
    row = after.die(after.queued(), **point)
    assert row.state == "holding"
    assert after.walk.calls() == []
    after.sweep()
    assert after.walk.fresh(row).state == "hold_unknown"
    after.exchange_later(minutes=62, seconds=5)
    after.sweep(2)
    row = after.walk.fresh(row)
    assert row.state == "lapsed"
    assert ExternalCall.objects.get(withdrawal=row).outcome == "absent"
    assert after.walk.payouts() == []
    assert after.walk.calls() == [], "an unknown hold is never asked for again"
    sound(after)


@pytest.mark.parametrize(
    "point",
    [
        {"kind": "recv", "after": "^send"},
        {"kind": "recv", "after": "^send", "nth": 2},
        {**KEPT_OUTCOME, "after": "^recv"},
        {"kind": "sql", "like": 'INSERT INTO "desk_auditevent"', "after": "^recv"},
        {"kind": "commit", "after": "^recv"},
    ],
    ids=["c6 sent", "c6 half answered", "c12 answered", "c12 outcome kept", "c12 moved, not committed"],
)
def test_c6_c12_what_the_exchange_has_reserved_is_adopted(after, point):
    row = after.die(after.queued(), **point)
    assert row.state == "holding"
    after.sweep(2)
    row = after.walk.fresh(row)
    assert row.exchange_id == after.walk.payouts()[0].id
    ends_paid(after, row)


# The decision and the payment -----------------------------------------------------------------------------------------


def test_c21_decided_and_killed_before_anybody_was_woken(after):
    row = after.compared()
    person = after.walk.approvers[0]
    code = after.walk.answer(person)["code"]
    outcome = after.nursery.run(
        "approve",
        withdrawal_id=row.pk,
        username=person.username,
        code=code,
        dies={"kind": "connect", "like": "redis", "after": "^commit"},
    )
    assert outcome["killed"]
    row = after.walk.fresh(row)
    assert (row.state, row.decision, row.put_count) == ("committing", "commit", 0)
    after.sweep()
    assert after.walk.fresh(row).state in {"committed", "sent"}
    assert after.orders(row) == {"commit": 1}
    assert after.statuses(row) != ["failed"]
    sound(after)


@pytest.mark.parametrize(
    "point",
    [
        {**KEPT_OUTCOME},
        {**EXCHANGE, "nth": 2},
        {"kind": "send", "like": "^PUT"},
    ],
    ids=["counted", "marked as sent", "connected"],
)
def test_c22_counted_and_then_frozen_is_not_recalled_and_the_ledger_decides(after, point):
    row = after.die(after.committing(), **point)
    assert (row.state, row.put_count) == ("committing", 1)
    freezes.freeze(person=after.walk.approvers[1], reason="Odd", account=after.walk.account, now=clock.now())
    assert after.walk.fresh(row).state == "committing"
    with pytest.raises(approvals.CannotApprove, match="can no longer be recalled"):
        approvals.recall(withdrawal_id=row.pk, person=after.walk.approvers[1], reason="Stop", now=clock.now())
    after.sweep(2)
    assert after.orders(row) == {}, "a freeze stops further orders"
    after.exchange_later(minutes=59, seconds=40)
    after.sweep(2)
    assert after.walk.fresh(row).state == "commit_unknown"
    after.exchange_later(minutes=3)
    after.sweep(2)
    assert after.walk.fresh(row).state == "expired"
    assert after.orders(row) == {}
    assert after.statuses(row) == ["failed"]
    sound(after)


@pytest.mark.parametrize(
    ("point", "heard"),
    [
        ({"kind": "send", "like": "^PUT"}, False),
        ({"kind": "recv", "after": "^send PUT"}, True),
        ({**KEPT_OUTCOME, "after": "^send PUT"}, True),
        ({"kind": "commit", "after": "^send PUT"}, True),
    ],
    ids=["not sent", "sent", "answered", "moved, not committed"],
)
def test_c23_killed_around_the_order_it_is_paid_once(after, point, heard):
    row = after.die(after.committing(), **point)
    assert (row.state, row.put_count) == ("committing", 1)
    after.exchange_later(minutes=1)
    after.pay_out()
    row = after.walk.fresh(row)
    assert row.state == "settled", row.last_problem
    assert after.orders(row)["commit"] == 1, "what the ledger shows as paid is not ordered again"
    assert after.orders(row)["rollback"] == 0
    assert row.put_count == (1 if heard else 2)
    assert after.statuses(row) == ["success"]
    sound(after)


# The release ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "point",
    [
        {**KEPT_CALL},
        {**EXCHANGE},
        {"kind": "send", "like": "^DELETE"},
        {"kind": "recv", "after": "^send DELETE"},
        {**KEPT_OUTCOME, "after": "^send DELETE"},
        {"kind": "commit", "after": "^send GET"},
    ],
    ids=["in the claim", "claimed", "connected", "sent", "answered", "read back, not committed"],
)
def test_c25_killed_around_the_release_it_is_released_and_nothing_paid(after, point):
    row = after.die(after.rolling_back(), **point)
    assert row.state == "rolling_back"
    after.sweep(2)
    row = after.walk.fresh(row)
    assert row.state == "rolled_back", row.last_problem
    assert after.orders(row)["rollback"] >= 1
    assert after.orders(row)["commit"] == 0
    assert after.statuses(row) == ["failed"]
    sound(after)


# Everything down ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hold_end", ["lapse", "stay"])
def test_c26_every_process_dead_from_ten_minutes_before_to_twenty_after(after, hold_end):
    """Six rows, each left by a worker that was killed; nobody runs for half an hour around the end of theirs."""
    after.walk.sandbox.control("config", {"hold_end": hold_end})
    left = {
        "undecided": after.compared(),
        "approved": after.committing(),
        "ordered": after.die(after.committing(), kind="recv", after="^send PUT"),
        "ordered, unsent": after.die(after.committing(), kind="send", like="^PUT"),
        "rejected": after.die(after.rolling_back(), kind="send", like="^DELETE"),
        "asked": after.die(after.queued(), kind="recv", after="^send POST"),
    }
    after.exchange_later(minutes=50)
    after.exchange_later(minutes=30)
    after.sweep(4)
    ended = {name: after.walk.fresh(row) for name, row in left.items()}
    states = {name: row.state for name, row in ended.items()}
    open_still = "investigate" if hold_end == "stay" else "expired"
    assert states == {
        "undecided": "rolled_back",
        # The exchange was told nothing of it, so it is released like one that was called back.
        "approved": "rolled_back",
        "ordered": "settled",
        "ordered, unsent": open_still,
        "rejected": "rolled_back",
        "asked": "lapsed" if hold_end == "lapse" else "rolled_back",
    }
    paid = [name for name, row in ended.items() if "success" in after.statuses(row) or "pending" in after.statuses(row)]
    assert paid == ["ordered"]
    sound(after)


# Two at once, one late, one again -------------------------------------------------------------------------------------


@pytest.mark.parametrize("ready", ["queued", "committing", "rolling_back"])
def test_c2_workers_that_begin_together_make_one_call(after, ready):
    operation = {"queued": "create", "committing": "commit", "rolling_back": "rollback"}[ready]
    for _ in range(3):
        row = getattr(after, ready)()
        before = len(after.walk.calls(f"{operation}_withdrawal"))
        outcomes = after.nursery.at_once(*[("advance", {"withdrawal_id": row.pk})] * 4)
        assert not [one["raised"] for one in outcomes if "raised" in one]
        assert len(after.walk.calls(f"{operation}_withdrawal")) == before + 1
    sound(after)


def test_c2_sweeps_that_begin_together_over_many_rows(after):
    held = [after.queued() for _ in range(3)]
    paid = [after.committing() for _ in range(3)]
    gone = [after.rolling_back() for _ in range(3)]
    outcomes = after.nursery.at_once(("sweep", {}), ("sweep", {}), ("sweep", {}))
    assert not [one["raised"] for one in outcomes if "raised" in one]
    after.sweep()
    assert {after.walk.fresh(row).state for row in held} == {"held"}
    assert {after.walk.fresh(row).state for row in paid} <= {"committed", "sent"}
    assert {after.walk.fresh(row).state for row in gone} == {"rolled_back"}
    for row in held + paid + gone:
        assert len(after.heard(row)) == 1
    assert [after.orders(row) for row in paid] == [{"commit": 1}] * 3
    # A release may be repeated: where its answer took longer than its turn, the next sweep sends it again.
    assert [set(after.orders(row)) for row in gone] == [{"rollback"}] * 3
    sound(after)


def test_c13_a_paused_worker_comes_back_after_others_took_over_and_sends_nothing(after):
    row = after.queued()
    # Between its two transactions: it has claimed the call and not marked it as sent.
    after.nursery.pause("advance", {"kind": "begin", "nth": 2}, withdrawal_id=row.pk)
    after.sweep()
    assert after.walk.fresh(row).state == "hold_unknown"
    resumed = after.nursery.go_on()
    assert "raised" not in resumed, resumed
    assert after.walk.calls() == []
    assert ExternalCall.objects.get(withdrawal=row).outcome == "not_sent"
    assert after.walk.fresh(row).state == "hold_unknown"
    sound(after)


def test_c14_a_worker_that_sends_after_its_row_was_closed_leaves_an_orphan_that_is_released(after):
    row = after.queued()
    after.nursery.pause("advance", EXCHANGE, withdrawal_id=row.pk)
    after.sweep()
    after.exchange_later(minutes=62, seconds=5)
    after.sweep(2)
    assert after.walk.fresh(row).state == "lapsed"
    outcome = after.nursery.go_on()
    assert "raised" not in outcome, outcome
    assert after.statuses(row) == ["created"], "the late call did reserve money"
    after.walk.read_ledger()
    after.sweep(2)
    assert after.statuses(row) == ["failed"]
    assert after.walk.fresh(row).state == "lapsed"
    assert after.walk.calls("commit_withdrawal") == []
    sound(after)


def test_c27_old_wake_up_calls_replayed_change_nothing(after):
    paid, gone = after.committing(), after.rolling_back()
    after.pay_out()
    assert (after.walk.fresh(paid).state, after.walk.fresh(gone).state) == ("settled", "rolled_back")
    before = (len(after.walk.calls()), ExternalCall.objects.count(), Approval.objects.count())
    for row in (paid, gone) * 3:
        assert after.nursery.run("advance", withdrawal_id=row.pk)["result"] is False
    assert (len(after.walk.calls()), ExternalCall.objects.count(), Approval.objects.count()) == before
    sound(after)
