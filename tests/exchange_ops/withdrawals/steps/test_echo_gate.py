"""Between hold and commit: the exchange's own record is what people approve, and nobody else may have paid it."""

from decimal import Decimal

import pytest

from desk.machines import table as machine_table
from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.policy import freezes
from exchange_ops.withdrawals.decisions import approvals
from tests import trail
from tests.exchange_ops.withdrawals.walks import OTHER_ADDRESS

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.engine("money: what is approved"),
]

DIFFERENCES = [
    ("amount", "0.06"),
    ("amount", "0.04"),
    ("address", OTHER_ADDRESS),
    ("currency", "ETH"),
    ("paymentId", "12345"),
    ("publicComment", "somebody else's words"),
    ("type", "withdraw"),
]
ITEM_OF = {"paymentId": "payment_id", "publicComment": "tag"}


@pytest.mark.parametrize(("field", "value"), DIFFERENCES)
def test_a_difference_in_any_field_releases_the_hold_and_freezes(walk, field, value):
    row = walk.until(walk.request(), "held")
    walk.fault("get_transaction", "echo_differs", field=field, value=value)
    row = walk.step(row)
    assert (row.state, row.decision, row.echo_ok) == ("rolling_back", "rollback", False)
    assert row.decided_by is None
    odd = [item["field"] for item in row.echo if not item["agrees"]]
    assert ITEM_OF.get(field, field) in odd
    frozen = freezes.active(walk.account)
    assert frozen.frozen_by is None
    assert row.reference in frozen.reason
    walk.heal()
    row = walk.until(row, "rolled_back")
    assert walk.calls("commit_withdrawal") == []
    assert trail.problems() == []


def test_one_changed_character_in_the_middle_of_the_address_is_a_difference(walk):
    row = walk.until(walk.request(), "held")
    changed = row.address[:16] + ("x" if row.address[16] != "x" else "y") + row.address[17:]
    walk.fault("get_transaction", "echo_differs", field="address", value=changed)
    assert walk.step(row).state == "rolling_back"


def test_a_record_without_our_tag_is_compared_by_its_content(walk):
    walk.sandbox.control("config", {"echo_comment": False})
    row = walk.held()
    tag = next(item for item in row.echo if item["field"] == "tag")
    assert tag == {"field": "tag", "ours": row.tag, "theirs": "not shown", "agrees": True}


def test_with_the_fee_taken_out_the_parts_add_up(walk):
    row = walk.held(include_fee=True)
    assert row.arrives == row.amount - row.fee
    assert walk.payouts()[0].amount == row.arrives
    walk.approve(row)
    assert walk.until(row, "committed").leaves == Decimal("0.05")


def test_nothing_can_be_approved_before_the_record_was_read(walk):
    row = walk.until(walk.request(), "held")
    walk.fault("get_transaction", "status", status=503, times=99)
    row = walk.step(row)
    assert row.echo_ok is None
    with pytest.raises(approvals.CannotApprove, match="still being checked"):
        walk.approve(row)
    walk.heal()
    assert walk.step(row).echo_ok is True


@pytest.mark.parametrize("status", ["pending", "success"])
def test_a_payout_executed_without_us_freezes_and_calls_two_people(walk, status):
    row = walk.held()
    walk.sandbox.control(f"payouts/{row.exchange_id}", {"status": status})
    row = walk.step(row)
    assert (row.state, row.decision) == ("investigate", machine_table.NONE)
    assert row.last_problem.startswith(
        f"The exchange shows this payout as {status} although no payment was ordered in Countersign"
    )
    assert freezes.active(walk.account) is not None
    assert walk.calls("commit_withdrawal", "rollback_withdrawal") == []
    assert walk.sweep() == 0


def test_the_record_is_compared_once_more_before_the_first_order(walk):
    row = walk.committing()
    walk.fault("get_transaction", "echo_differs", field="address", value=OTHER_ADDRESS)
    row = walk.step(row)
    assert (row.state, row.decision, row.put_count) == ("rolling_back", "rollback", 0)
    assert freezes.active(walk.account) is not None
    walk.until(row, "rolled_back")
    assert walk.calls("commit_withdrawal") == []
    assert trail.problems() == []


def test_executed_after_the_approval_but_before_our_order(walk):
    row = walk.committing()
    walk.sandbox.control(f"payouts/{row.exchange_id}", {"status": "pending"})
    row = walk.step(row)
    assert (row.state, row.put_count) == ("investigate", 0)
    assert freezes.active(walk.account) is not None
    assert walk.calls("commit_withdrawal") == []


def test_a_hold_that_somebody_else_ended_is_closed(walk):
    row = walk.held()
    walk.sandbox.control(f"payouts/{row.exchange_id}", {"status": "failed"})
    row = walk.step(row)
    assert (row.state, row.events.last().event) == ("rolling_back", "ended_at_exchange")
    row = walk.until(row, "rolled_back")
    assert freezes.active(walk.account) is None


@pytest.mark.parametrize("body", ["status", "amount"])
def test_a_record_that_makes_no_sense_changes_nothing(walk, body):
    row = walk.until(walk.request(), "held")
    odd = {"status": {"field": "createdAt", "value": "yesterday"}, "amount": {"field": "amount", "value": "NaN"}}[body]
    walk.fault("get_transaction", "echo_differs", **odd)
    row = walk.step(row)
    assert (row.state, row.echo_ok) == ("held", None)
    assert row.last_problem
    assert walk.step(row).echo_ok is True


def test_an_unknown_status_is_not_taken_for_a_hold(walk):
    row = walk.until(walk.request(), "held")
    walk.fault("get_transaction", "echo_differs", field="status", value="on-the-moon")
    row = walk.step(row)
    assert row.state == "investigate"
    assert "on-the-moon" in row.last_problem


def test_a_payout_made_elsewhere_is_flagged_and_ours_is_not(walk):
    row = walk.held()
    walk.sandbox.control("foreign-withdrawal", {"currency": "BTC", "amount": "0.5", "address": OTHER_ADDRESS})
    walk.read_ledger()
    flagged = list(LedgerEntry.objects.filter(foreign=True).values_list("address", flat=True))
    assert flagged == [OTHER_ADDRESS]
    assert LedgerEntry.objects.get(exchange_id=row.exchange_id).withdrawal_id == row.pk
