"""An upgrade: what an earlier version of the desk signed goes back to people; nothing is frozen, released or paid."""

from decimal import Decimal

import pytest
from django.db import transaction

from desk import clock
from desk.people import stepup
from exchange_ops.policy import freezes
from exchange_ops.withdrawals import machine
from exchange_ops.withdrawals.decisions import approvals, digest, policy_evaluation
from exchange_ops.withdrawals.models import Approval, Withdrawal
from tests import trail

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.engine("money: what is approved")]

FIRST_FORM = [
    *("account_id", "initiator_id", "currency", "amount", "include_fee", "address", "payment_id", "reason"),
    *("fee_estimate", "policy_version", "quorum_required", "mode"),
]


def as_before(walk, row):
    """The row as version 0.7.0 left it: signed by the first form, without a highest fee."""
    row = walk.fresh(row)
    texts = {name: getattr(row, name) for name in FIRST_FORM}
    texts = {name: f"{value.normalize():f}" if isinstance(value, Decimal) else value for name, value in texts.items()}
    facts = {"form": "countersign-withdrawal-1", "id": row.pk, "freeze": freezes.latest_number(row.movement)}
    columns = {"fee_limit": None, "digest": digest.digests(texts | facts)[0]}
    Withdrawal.objects.filter(pk=row.pk).update(**columns)
    return walk.fresh(row)


def approved_before(walk, row, *people, to, **decision):
    """Approvals of what the earlier version signed, and the move that the last of them led to."""
    now = clock.now()
    for person in people:
        with transaction.atomic():
            proof = {"purpose": approvals.PURPOSE, "digest": row.digest, "answer": walk.answer(person)}
            confirmation = stepup.verify(person=person, session_key="s", now=now, **proof)
            word = {"stage": approvals.stage_of(row), "verdict": Approval.APPROVE, "comment": ""}
            approvals.BALLOT.keep(row, person, now=now, confirmation=confirmation, **word)
    event = "approval_recorded" if to == row.state else "quorum_reached"
    counted = {"approvals": len(people), "needed": len(people), "digest": row.digest, **confirmation.evidence()}
    move = {"now": now, "next_action_at": now, "actor": people[-1], "evidence": counted}
    return machine.move(row, event=event, to=to, **move, **decision)


def committing_before(walk):
    """A hold that the earlier version had approved, and that was not ordered to be paid."""
    row, now = as_before(walk, walk.held()), clock.now()
    decision = {"decision": "commit", "decided_by": walk.approvers[0], "decided_at": now}
    return approved_before(walk, row, walk.approvers[0], to="committing", **decision)


def before_stages(walk, row):
    """The row as a version left it that signed the same content, and approvals without their stage."""
    row, content = walk.fresh(row), digest._content
    facts = content(row, freezes.latest_number(row.movement)) | {"form": "countersign-withdrawal-2"}
    Withdrawal.objects.filter(pk=row.pk).update(digest=digest.digests(facts)[0])
    return walk.fresh(row)


def is_approved_anew(walk, row):
    """The hold was kept, no earlier vote counts, and with new ones it is paid once."""
    assert (row.state, row.decision, row.put_count) == ("held", "none", 0)
    assert policy_evaluation.still_holds(row)
    assert not approvals.stand(row)
    assert freezes.active(walk.account) is None
    if row.echo_ok is None:
        row = walk.step(row)
    for person in walk.approvers[: approvals.tally_now(row).needed]:
        walk.approve(row, person)
    walk.until(row, "committed")
    assert len(walk.calls("create_withdrawal")) == len(walk.calls("commit_withdrawal")) == 1
    assert walk.calls("rollback_withdrawal") == []


@pytest.mark.parametrize("state", ["held, record unread", "one approval", "committing"])
def test_a_hold_is_kept_and_approved_anew(walk, state):
    if state == "committing":
        row = committing_before(walk)
    elif state == "one approval":
        row = approved_before(walk, as_before(walk, walk.held(amount=Decimal(1))), walk.approvers[0], to="held")
    else:
        row = as_before(walk, walk.until(walk.request(), "held"))
    hour, exchange_id = row.rollback_at, row.exchange_id
    row = walk.step(row)
    event = row.events.filter(event="judged_again").first()
    assert (event.to_state, row.rollback_at, row.exchange_id) == ("held", hour, exchange_id)
    is_approved_anew(walk, row)


def test_an_approval_that_did_not_name_its_stage_is_given_again_and_freezes_nothing(walk):
    row, now = before_stages(walk, walk.held()), clock.now()
    decision = {"decision": "commit", "decided_by": walk.approvers[0], "decided_at": now}
    row = walk.step(approved_before(walk, row, walk.approvers[0], to="committing", **decision))
    assert row.events.filter(event="judged_again").exists()
    is_approved_anew(walk, row)
    assert trail.problems() == []


def test_a_request_without_a_hold_needs_its_approvals_again(walk):
    row = as_before(walk, walk.until(walk.request(amount=Decimal(20)), "review"))
    row = walk.step(approved_before(walk, row, *walk.approvers, to="queued"))
    assert (row.state, approvals.valid(row, "review").count(), freezes.active(walk.account)) == ("review", 0, None)
    assert walk.calls() == []


def test_an_order_to_pay_that_left_is_carried_through(walk):
    row = walk.committing()
    walk.fault("commit_withdrawal", "status", status=503)
    row = as_before(walk, walk.step(row))
    assert (row.state, row.put_count) == ("committing", 1)
    row = walk.until(row, "committed")
    assert freezes.active(walk.account) is None


def test_what_no_version_signed_is_frozen_as_before(walk):
    row = walk.committing()
    Withdrawal.objects.filter(pk=row.pk).update(digest="0" * 64)
    walk.step(row)
    assert freezes.active(walk.account) is not None
    assert walk.calls("commit_withdrawal") == []
