"""A withdrawal from the request to the end: paid, rejected, cancelled, and nobody decided."""

import pytest

from exchange_ops.withdrawals.decisions import approvals
from tests import trail

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.engine("money: the walk of a payout")]


def test_a_request_is_held_approved_paid_and_settled(walk):
    row = walk.held()
    assert walk.payouts()[0].status == "created"
    assert [item["agrees"] for item in row.echo] == [True] * len(row.echo)
    walk.approve(row)
    assert walk.until(row, "committed").decision == "commit"
    walk.sandbox.control("clock", {"advance_ms": 60_000})
    row = walk.until(row, "settled")
    assert row.hash
    assert row.hash == walk.payouts()[0].hash
    assert len(walk.payouts()) == 1
    assert [call["operation"] for call in walk.calls(executed=True)] == ["create_withdrawal", "commit_withdrawal"]
    assert walk.calls("create_withdrawal")[0]["form"]["autoCommit"] == "false"
    assert row.sentence.startswith("Paid, confirmed by the exchange")
    assert walk.balanced()
    assert trail.problems() == []


def test_a_rejected_hold_is_released(walk):
    row = walk.held()
    walk.reject(row)
    row = walk.until(row, "rolled_back")
    assert walk.payouts()[0].status == "failed"
    assert [call["operation"] for call in walk.calls(executed=True)] == ["create_withdrawal", "rollback_withdrawal"]
    with pytest.raises(approvals.CannotApprove, match=r"Already decided by treasury at \d\d:\d\d:\d\d UTC"):
        walk.approve(row, walk.approvers[1])
    assert trail.problems() == []


def test_nobody_decided_so_the_hold_is_released_five_minutes_early(walk):
    row = walk.held()
    walk.later(minutes=52, seconds=50)
    walk.sweep()
    assert walk.fresh(row).state == "held"
    walk.later(minutes=2, seconds=15)
    walk.sweep()
    row = walk.fresh(row)
    assert row.state == "rolled_back"
    assert row.decided_by is None
    assert walk.payouts()[0].status == "failed"
    assert walk.calls("commit_withdrawal") == []
