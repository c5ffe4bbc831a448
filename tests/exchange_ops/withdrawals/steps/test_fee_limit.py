"""A network fee moves: inside what was approved nothing stops, above it the approvers decide again on the same hold."""

from decimal import Decimal

import pytest
from django.db import IntegrityError, transaction

from desk import clock
from desk.machines import mover
from exchange_ops.policy import freezes, modes
from exchange_ops.withdrawals.decisions import approvals, policy_evaluation
from exchange_ops.withdrawals.evidence import ledger_lookup
from exchange_ops.withdrawals.models import Approval, Withdrawal, WithdrawalEvent
from exchange_ops.withdrawals.steps import reapproval
from tests import trail

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.engine("money: what is approved")]

TWO, THREE = Decimal(1), Decimal(20)


def drift(walk, share):
    """The exchange's fee is off its estimate by this share from the next hold on."""
    walk.sandbox.control("config", {"fee_drift": str(share)})


def told_fee(walk, row, fee):
    """The exchange's record shows this fee whenever it is read."""
    walk.fault("get_transaction", "echo_differs", times=99, field="fee", value=str(fee))
    return walk.step(row)


@pytest.mark.parametrize(("include_fee", "share"), [(False, "0.0001"), (True, "0.4")])
def test_a_fee_within_what_is_approved_stops_nothing(walk, include_fee, share):
    drift(walk, share)
    row = walk.held(include_fee=include_fee)
    assert (row.earlier_fee_limit, row.events.filter(event="fee_rose").count()) == (None, 0)
    assert row.fee_estimate < row.fee <= row.fee_limit
    assert row.arrives == (row.amount - row.fee if include_fee else row.amount)
    walk.approve(row)
    assert walk.until(row, "committed").state == "committed"
    assert freezes.active(walk.account) is None
    assert trail.problems() == []


@pytest.mark.parametrize("include_fee", [False, True])
def test_a_fee_above_it_keeps_the_hold_and_goes_back_with_both_figures(walk, include_fee):
    drift(walk, 4)
    row = walk.until(walk.request(include_fee=include_fee), "held")
    before = (row.exchange_id, row.fee_limit, row.digest)
    row = walk.step(row)
    assert (row.state, row.decision, row.echo_ok) == ("held", "none", True)
    assert (row.exchange_id, row.earlier_fee_limit) == before[:2]
    assert row.digest != before[2]
    assert row.earlier_fee_limit < row.fee <= row.fee_limit
    event = row.events.get(event="fee_rose")
    assert Decimal(event.evidence["approved_at_most"]) == row.earlier_fee_limit
    assert freezes.active(walk.account) is None
    walk.approve(row)
    row = walk.until(row, "committed")
    assert walk.calls("rollback_withdrawal") == []
    assert walk.payouts()[0].fee == row.fee
    assert trail.problems() == []


def test_votes_for_the_lower_fee_do_not_count_for_the_higher_one(walk):
    row = walk.held(amount=TWO)
    walk.approve(row, walk.approvers[0])
    old = walk.fresh(row).digest
    row = told_fee(walk, row, row.fee_limit * 2)
    assert (row.state, approvals.valid(row, Approval.RELEASE).count()) == ("held", 0)
    with pytest.raises(approvals.CannotApprove, match="after you opened it"):
        walk.approve(row, walk.approvers[1], digest=old)
    assert walk.approve(row, walk.approvers[1]).state == "held"
    assert walk.approve(row, walk.approvers[0]).state == "committing"
    assert walk.until(row, "committed").state == "committed"
    assert trail.problems() == []


def test_a_decision_falls_with_a_fee_that_rose_before_the_order_to_pay(walk):
    row = walk.committing()
    hour = row.rollback_at
    row = told_fee(walk, row, row.fee_limit + 1)
    assert (row.state, row.decision, row.decided_by, row.put_count) == ("held", "none", None, 0)
    assert (row.rollback_at, freezes.active(walk.account)) == (hour, None)
    assert walk.calls("commit_withdrawal", "rollback_withdrawal") == []
    walk.approve(row)
    walk.until(row, "committed")
    assert len(walk.calls("commit_withdrawal")) == 1
    assert trail.problems() == []


def test_with_approvals_before_the_hold_the_whole_quorum_decides_again_on_the_higher_fee(walk):
    row = walk.until(walk.request(amount=THREE), "review")
    assert row.mode == modes.APPROVE_THEN_HOLD
    for person in walk.approvers:
        walk.approve(row, person)
    drift(walk, 4)
    row = walk.step(walk.until(row, "held"))
    assert (row.events.last().event, approvals.tally_now(row).needed) == ("fee_rose", 3)
    for person in walk.approvers[:2]:
        assert walk.approve(row, person).state == "held"
    assert walk.approve(row, walk.approvers[2]).state == "committing"
    walk.until(row, "committed")
    assert trail.problems() == []


def test_a_highest_fee_written_around_the_desk_is_signed_by_nobody(walk):
    row = walk.held()
    Withdrawal.objects.filter(pk=row.pk).update(fee_limit=Decimal(1))
    assert not policy_evaluation.is_signed(walk.fresh(row))


def test_the_database_takes_a_decision_back_only_with_its_content_and_before_an_order(walk):
    row = walk.committing()

    def take_back(**changes):
        with transaction.atomic():
            number = row.version + 1
            facts = {"version": number, "event": "fee_rose", "from_state": "committing", "to_state": "held"}
            WithdrawalEvent.objects.create(
                withdrawal=row, **facts, decision="none", audit_number=1, at=clock.now(), evidence={}
            )
            columns = {"state": "held", "decision": "none", "decided_at": None, "version": number, **changes}
            Withdrawal.objects.filter(pk=row.pk).update(**columns)

    with pytest.raises(IntegrityError, match="the decision on a withdrawal is made once"):
        take_back()
    with pytest.raises(IntegrityError, match=r"made once|never both"):
        take_back(digest="0" * 64, put_count=1)


def test_an_order_to_pay_that_was_faster_is_not_taken_back(walk):
    row = walk.committing()
    other, record = walk.fresh(row), _record(walk, row)
    walk.until(row, "committed")
    with pytest.raises(mover.CannotMove):
        reapproval.for_fee(other, record, now=clock.now())
    assert walk.fresh(row).decision == "commit"


def test_out_of_the_amount_no_fee_is_covered_that_leaves_less_than_the_minimum(walk):
    row = walk.held(include_fee=True, amount=Decimal("0.0016"))
    assert row.fee_limit == Decimal("0.0006") < row.fee_estimate * Decimal("1.5")
    assert row.least_arrives == Decimal("0.001")


def _record(walk, row):
    return ledger_lookup.read(row, client_for=walk.client_for).version
