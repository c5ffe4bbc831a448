"""An upgrade: votes of versions before 0.8.0, which signed no reason and no verdict.

Where only the reason was left out the vote counts; where the verdict was left out its person gives it again. Nothing is
frozen, released or closed by fewer people than before.
"""

from decimal import Decimal

import pytest
from django.db import transaction

from desk import clock
from desk.audit import trail as audit
from desk.models import StepUp
from desk.people import stepup
from exchange_ops.policy import freezes
from exchange_ops.policy.models import ThawVote
from exchange_ops.transfers import approvals as transfer_approvals
from exchange_ops.transfers import endings
from exchange_ops.transfers import machine as transfers
from exchange_ops.transfers.models import TransferApproval
from exchange_ops.transfers.states import TO_USER
from exchange_ops.withdrawals import machine as withdrawals
from exchange_ops.withdrawals.decisions import approvals, open_holds, resolutions
from exchange_ops.withdrawals.models import Approval, HoldReleaseVote
from exchange_ops.withdrawals.room import ROOM as PAYOUTS
from tests import trail
from tests.exchange_ops.earlier_signatures import earlier_version
from tests.exchange_ops.withdrawals.decisions.test_open_holds import forgotten, order, resolve, unclear
from tests.exchange_ops.withdrawals.steps.test_drafting import thaw

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.engine("money: two people")]
__all__ = ["forgotten"]


def confirmed_before(walk, person, purpose, digest):
    """A second factor as the earlier version took it: for the digest alone."""
    return stepup.verify(
        person=person, purpose=purpose, digest=digest, answer=walk.answer(person), session_key="s", now=clock.now()
    )


def thaw_voted_before(walk, frozen, person):
    with transaction.atomic():
        row = confirmed_before(walk, person, freezes.PURPOSE, freezes.digest_of(frozen))
        ThawVote.objects.create(freeze=frozen, person=person, reason="Checked", confirmation=row, at=row.at)
        after = {"account": frozen.account_id, "active": True, "reason": "Checked", "votes": 1, **row.evidence()}
        subject = f"freeze:{frozen.pk}"
        audit.record(actor=person, action="freeze.thaw_agreed", subject=subject, before={}, after=after, now=row.at)


def release_ordered_before(walk, row, person, people):
    row = walk.fresh(row)
    with transaction.atomic():
        factor = confirmed_before(walk, person, open_holds.PURPOSE, open_holds.digest_of(row))
        terms = {"digest": factor.digest, "at": factor.at, "confirmation": factor}
        HoldReleaseVote.objects.create(withdrawal=row, person=person, reason="The statement", **terms)
        after = {"exchange_id": row.exchange_id, "ordered": people > 1, "reason": "The statement", "people": people}
        audit.record(
            actor=person,
            action="withdrawal.release_ordered",
            subject=row.subject,
            before={},
            after=after | factor.evidence(),
            now=factor.at,
        )


def judged_before(walk, row, person, *, purpose, digest, ballot, machine, verdict):
    """A finding as the earlier version stored it: with the digest of the row, and a signature without the verdict."""
    with transaction.atomic():
        factor = confirmed_before(walk, person, purpose, digest)
        word = {"stage": "resolution", "verdict": verdict, "comment": "The statement", "now": factor.at}
        ballot.keep(row, person, confirmation=factor, **word)
        evidence = {"verdict": verdict, "reason": "The statement", "people": 1, **factor.evidence()}
        at = {"now": factor.at, "actor": person, "next_action_at": row.next_action_at}
        return machine.move(row, event="resolution_recorded", to=row.state, evidence=evidence, **at)


def payout_judged_before(walk, row, person, verdict):
    parts = {"ballot": resolutions.BALLOT, "machine": withdrawals, "verdict": verdict}
    digest = resolutions.digest_of(row)
    return judged_before(walk, row, person, purpose=resolutions.PURPOSE, digest=digest, **parts)


def transfer_judged_before(moving, row, person, verdict):
    parts = {"ballot": transfer_approvals.BALLOT, "machine": transfers, "verdict": verdict}
    digest = endings.digest_of(row)
    return judged_before(moving.walk, row, person, purpose=endings.RESOLVE_PURPOSE, digest=digest, **parts)


def test_an_earlier_vote_to_thaw_counts_as_one_of_two(walk):
    frozen = freezes.freeze(person=None, reason="A drill", account=walk.account, now=clock.now())
    thaw_voted_before(walk, frozen, walk.approvers[0])
    assert freezes.active(walk.account) == frozen
    with pytest.raises(freezes.CannotThaw, match="You already approved lifting this freeze"):
        thaw(walk, frozen, walk.approvers[0])
    assert freezes.active(walk.account) == frozen
    assert thaw(walk, frozen, walk.approvers[1]).thawed_at is not None
    assert trail.problems() == []


def test_an_earlier_vote_to_thaw_another_freeze_counts_for_nothing(walk):
    first = freezes.freeze(person=None, reason="A drill", account=walk.account, now=clock.now())
    with transaction.atomic():
        row = confirmed_before(walk, walk.approvers[0], freezes.PURPOSE, freezes.digest_of(first))
    for person in walk.approvers[:2]:
        thaw(walk, first, person)
    frozen = freezes.freeze(person=None, reason="Another", account=walk.account, now=clock.now())
    ThawVote.objects.create(
        freeze=frozen, person=walk.approvers[0], reason="Checked", confirmation=StepUp.objects.get(pk=row.pk), at=row.at
    )
    assert thaw(walk, frozen, walk.approvers[1]).thawed_at is None


@pytest.mark.parametrize("before", [1, 2])
def test_earlier_orders_to_release_a_hold_count(walk, forgotten, before):
    for number, person in enumerate(walk.approvers[:before], start=1):
        release_ordered_before(walk, forgotten, person, number)
    assert open_holds.is_ordered(walk.fresh(forgotten)) is (before == 2)
    if before == 1:
        with pytest.raises(open_holds.CannotOrderRelease, match="Your release is already recorded"):
            order(walk, forgotten, walk.approvers[0])
        order(walk, forgotten, walk.approvers[1])
    walk.sweep()
    assert [call["executed"] for call in walk.calls("rollback_withdrawal")] == [True]
    assert freezes.active(walk.account) is None
    assert trail.problems() == []


def test_an_earlier_finding_on_a_payout_is_given_again_and_never_counts_by_itself(walk):
    row = unclear(walk)
    one, two, _ = walk.approvers
    row, sent = payout_judged_before(walk, row, one, "not_paid"), len(walk.calls())
    assert resolutions.finding_of(row, one) == ""
    assert resolve(walk, row, "not_paid", two).state == "investigate"
    assert resolve(walk, row, "not_paid", one).state == "resolved_not_paid"
    assert Approval.objects.filter(stage="resolution", person=one, verdict="not_paid").count() == 2
    assert (len(walk.calls()), freezes.active(walk.account)) == (sent, None)
    assert trail.problems() == []


def test_a_case_with_an_earlier_finding_waits_for_its_person_again(walk):
    row, one = unclear(walk), walk.approvers[0]
    row = payout_judged_before(walk, row, one, "paid")
    votes = next(kind.votes for kind in PAYOUTS.incidents if kind.name == "payout-disputed")
    assert list(votes([row.subject])) == []
    resolve(walk, row, "paid", one)
    assert [(cause, person) for cause, person, _ in votes([row.subject])] == [(row.subject, one.pk)]


def test_an_earlier_finding_on_a_transfer_is_given_again_and_never_counts_by_itself(moving):
    row = moving.not_seen()
    row = transfers.move(row, event="appeared_late", to="investigate", now=clock.now(), next_action_at=None)
    one, two, _ = moving.walk.approvers
    row = transfer_judged_before(moving, row, one, "moved")
    assert endings.finding_of(row, one) == ""
    assert moving.end("resolve", row, two).state == "investigate"
    assert moving.end("resolve", row, one).state == "resolved_moved"
    assert TransferApproval.objects.filter(stage="resolution", person=one, verdict="moved").count() == 2
    assert trail.problems() == []


def test_an_earlier_approval_of_a_payout_counts_with_its_unsigned_comment(walk):
    row, (one, two, _) = walk.held(amount=Decimal(1)), walk.approvers
    with earlier_version():
        walk.approve(row, one, comment="Matches the invoice")
    row = walk.fresh(row)
    assert (row.state, row.quorum_required, approvals.valid(row, Approval.RELEASE).count()) == ("held", 2, 1)
    assert StepUp.objects.get().signed_with is None
    row = walk.approve(row, two, comment="Called the supplier")
    assert (row.state, approvals.stand(row)) == ("committing", True)
    assert trail.problems() == []


def test_an_earlier_approval_of_a_transfer_counts_with_its_unsigned_comment(moving):
    row, person = moving.request(TO_USER), moving.walk.approvers[0]
    with earlier_version():
        moving.approve(row, person, comment="Matches the invoice")
    row = moving.fresh(row)
    assert [vote.comment for vote in transfer_approvals.current(row)] == ["Matches the invoice"]
    assert StepUp.objects.get().signed_with is None
    for other in moving.walk.approvers[1:]:
        if moving.fresh(row).state == "review":
            moving.approve(row, other, comment="Called the client")
    assert (transfer_approvals.stands(moving.fresh(row)), moving.until(row, "done").attempt) == (True, 1)
    assert trail.problems() == []
