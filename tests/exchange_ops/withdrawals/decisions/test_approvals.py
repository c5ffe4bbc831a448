"""Who may decide, on what, when, and how often."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import IntegrityError, transaction

from desk import clock
from desk.models import AuditEvent
from desk.people import stepup, totp
from desk.people.signing import signed_fields
from desk.people.stepup import CannotConfirm
from desk.staff import deactivation
from exchange_ops.policy import modes
from exchange_ops.policy.models import PolicyVersion, QuorumTier
from exchange_ops.withdrawals import workflow
from exchange_ops.withdrawals.decisions import approvals, policy_evaluation, resolutions
from exchange_ops.withdrawals.models import Approval, Withdrawal
from tests import trail
from tests.desk.authenticator import SoftKey
from tests.desk.staff import keeping
from tests.exchange_ops.withdrawals.walks import SESSION

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.engine("votes counted under locks")]

TWO = Decimal("1")
THREE = Decimal("20")


def refused(match, call, *arguments, **more):
    """The call is refused with that sentence, and nothing of it stays."""
    before = (Approval.objects.count(), list(Withdrawal.objects.values_list("state", "version", "decision")))
    with pytest.raises((approvals.CannotApprove, CannotConfirm), match=match):
        call(*arguments, **more)
    assert (Approval.objects.count(), list(Withdrawal.objects.values_list("state", "version", "decision"))) == before


# Who -----------------------------------------------------------------------------------------------------------------


def test_nobody_approves_their_own_even_with_the_role(walk, make_person):
    from django.contrib.auth.models import Group

    row = walk.held()
    walk.operator.groups.add(Group.objects.get(name="treasury"))
    own = type(walk.operator).objects.get(pk=walk.operator.pk)
    refused("You requested this payout", walk.approve, row, own, answer={"kind": "totp", "code": "000000"})
    refused("You requested this payout", walk.reject, row, own)
    assert row not in approvals.waiting().for_person(own)


@pytest.mark.parametrize("role", ["operator", "admin", "auditor", None])
def test_only_treasury_decides(walk, make_person, role):
    row = walk.held()
    person = make_person(*([role] if role else []), username="somebody")
    for call in (walk.approve, walk.reject):
        more = {"answer": {}} if call == walk.approve else {}
        refused("Only treasury can decide", call, row, person, **more)
    with pytest.raises(approvals.CannotApprove, match="Only treasury can recall"):
        approvals.recall(withdrawal_id=row.pk, person=person, reason="No", now=clock.now())


def test_somebody_who_was_switched_off_decides_nothing(walk):
    row = walk.held()
    person = walk.approvers[0]
    type(person).objects.filter(pk=person.pk).update(is_active=False)
    refused("Only treasury can decide", walk.approve, row, type(person).objects.get(pk=person.pk), answer={})


# The database says no as well ----------------------------------------------------------------------------------------


def stored(row, person, **changes):
    """An approval written past the domain."""
    values = {
        "withdrawal": row,
        "initiator_id": row.initiator_id,
        "person": person,
        "digest": row.digest,
        "stage": "release",
        "verdict": "reject",
        "at": clock.now(),
    }
    with transaction.atomic():
        return Approval.objects.create(**(values | changes))


def test_the_database_refuses_an_own_approval_whatever_it_claims(walk):
    row = walk.held()
    with pytest.raises(IntegrityError):
        stored(row, walk.operator)
    with pytest.raises(IntegrityError, match="nobody decides on their own request"):
        stored(row, walk.operator, initiator_id=walk.approvers[2].pk)
    with pytest.raises(IntegrityError, match="nobody decides on their own request"):
        stored(row, walk.approvers[1], initiator_id=walk.approvers[2].pk)
    with pytest.raises(IntegrityError):
        stored(row, walk.approvers[0], verdict="approve", confirmation=None)
    kept = stored(row, walk.approvers[0])
    for change in (
        lambda: Approval.objects.filter(pk=kept.pk).update(verdict="approve"),
        lambda: Approval.objects.filter(pk=kept.pk).delete(),
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            change()


# What ----------------------------------------------------------------------------------------------------------------


def test_only_what_was_seen_can_be_approved(walk):
    row = walk.held()
    for digest in ("", "0" * 64, walk.held(amount=Decimal("0.06")).digest):
        refused("after you opened it", walk.approve, row, digest=digest)


@pytest.mark.parametrize(
    "change",
    [
        {"amount": Decimal("0.06")},
        {"address": "1BoatSLRHtKNngkdXEeobR76b53LETtpyT"},
        {"payment_id": "7"},
        {"include_fee": True},
        {"reason": "Something else"},
        {"currency": "ETH"},
    ],
)
def test_what_was_asked_for_is_never_edited_and_an_edit_would_show(walk, change):
    row = walk.held()
    with pytest.raises(IntegrityError, match="never edited"), transaction.atomic():
        Withdrawal.objects.filter(pk=row.pk).update(**change)
    for name, value in change.items():
        setattr(row, name, value)
    assert not policy_evaluation.still_holds(row)


def test_a_change_of_the_rules_makes_approvals_void_and_releases(walk):
    row = walk.held(amount=TWO)
    assert row.quorum_required == 2
    walk.approve(row)
    newer = PolicyVersion.objects.create(number=2, published_at=clock.now())
    QuorumTier.objects.create(policy=newer, up_to=None, approvals=3, mode="hold_then_approve")
    refused("after you opened it", walk.approve, row, walk.approvers[1])
    row = walk.step(row)
    assert (row.state, row.events.last().event) == ("rolling_back", "policy_changed")


# With what -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer", [{}, {"kind": "totp"}, {"kind": "totp", "code": "000000"}, {"kind": "sms"}, None, "123"]
)
def test_without_the_second_factor_nothing_is_approved(walk, answer):
    row = walk.held()
    with pytest.raises(CannotConfirm):
        walk.approve(row, answer=answer)
    assert Approval.objects.count() == 0
    assert walk.fresh(row).state == "held"


def test_one_code_confirms_one_decision(walk):
    first, second = walk.held(), walk.held(amount=Decimal("0.06"))
    code = walk.answer(walk.approvers[0])
    walk.approve(first, answer=code)
    refused("already been used", walk.approve, second, answer=code)


# How many ------------------------------------------------------------------------------------------------------------


def test_two_people_approve_a_larger_amount_and_one_of_them_twice_does_not(walk):
    row = walk.held(amount=TWO)
    assert walk.approve(row).state == "held"
    refused("Your decision is already recorded", walk.approve, row)
    assert list(approvals.waiting().for_person(walk.approvers[0])) == []
    assert list(approvals.waiting().for_person(walk.approvers[1])) == [row]
    after = walk.approve(row, walk.approvers[1])
    assert (after.state, after.decision, after.decided_by) == ("committing", "commit", walk.approvers[1])
    proof = after.events.last().evidence
    assert proof["approvals"] == proof["needed"] == 2
    assert proof["step_up"]


def test_an_approval_of_somebody_who_lost_the_role_does_not_count(walk):
    row = walk.held(amount=TWO)
    walk.approve(row)
    walk.approvers[0].groups.clear()
    assert walk.approve(row, walk.approvers[1]).state == "held"
    assert walk.approve(row, walk.approvers[2]).state == "committing"


def test_an_approval_from_before_somebody_was_switched_off_never_counts_again(walk, make_person):
    """Switched off between their approval and the second one, and on again: their word on this payout is void."""
    row = walk.held(amount=TWO)
    walk.approve(row)
    gone, admin = walk.approvers[0], make_person("admin", username="keeper")
    totp.enrol(admin, keeping.SECRET)
    assert [word.reference for word in deactivation.open_words(gone)] == [row.reference]
    keeping.deactivated(gone, admin, keeping.answer_at(0))
    gone.refresh_from_db()
    assert row.reference in AuditEvent.objects.get(action="person.deactivated").after["void"]
    assert walk.approve(row, walk.approvers[1]).state == "held"
    gone.is_active = True
    gone.save(update_fields=["is_active"])
    assert [vote.person for vote in approvals.current(walk.fresh(row))] == [walk.approvers[1]]
    assert walk.approve(row, walk.approvers[2]).state == "committing", "two who may decide now"


def test_the_largest_amounts_are_approved_before_they_are_held_and_released_by_one_more_word(walk):
    row = walk.until(walk.request(amount=THREE), "review")
    assert (row.quorum_required, row.mode) == (3, modes.APPROVE_THEN_HOLD)
    assert walk.calls() == []
    for person in walk.approvers[:2]:
        assert walk.approve(row, person).state == "review"
    assert walk.approve(row, walk.approvers[2]).state == "queued"
    row = walk.until(row, "held")
    row = walk.step(row)
    assert (row.echo_ok, row.decision) == (True, "none")
    assert walk.step(row).state == "held", "nothing is paid before the release"
    assert walk.approve(row, walk.approvers[0]).state == "committing"
    walk.until(row, "committed")
    assert trail.problems() == []


def test_the_stage_of_an_approval_is_signed(walk):
    """Somebody who reads the page before the hold approves a hold; nothing of it releases the payment later."""
    row, person, key = walk.until(walk.request(amount=THREE), "review"), walk.approvers[0], SoftKey()
    key.enrol(person)
    terms = {"purpose": approvals.purpose_of(row), "digest": row.digest, "session_key": SESSION, "now": clock.now()}
    assert terms["purpose"] == approvals.PURPOSE
    answer = key.answer(stepup.challenge(person=person, **terms))
    for other in walk.approvers:
        walk.approve(row, other)
    row = walk.step(walk.until(row, "held"))
    assert (row.digest, approvals.purpose_of(row)) == (terms["digest"], approvals.HELD_PURPOSE)
    with pytest.raises(approvals.CannotApprove, match="changed after you opened it"):
        walk.approve(row, person, purpose=approvals.PURPOSE)
    with pytest.raises(CannotConfirm, match="does not match the page"):
        walk.approve(row, person, answer=answer)
    assert (walk.fresh(row).decision, approvals.valid(row, Approval.RELEASE).count()) == ("none", 0)


def test_a_factor_for_before_the_hold_counts_for_no_release_whatever_its_row_says(walk):
    row = walk.until(walk.request(amount=THREE), "review")
    for person in walk.approvers:
        walk.approve(row, person)
    row, person = walk.step(walk.until(row, "held")), walk.approvers[0]
    with transaction.atomic():
        terms = {"purpose": approvals.PURPOSE, "digest": row.digest, "session_key": SESSION, "now": clock.now()}
        factor = stepup.verify(person=person, answer=walk.answer(person), **terms)
        word = {"stage": Approval.RELEASE, "verdict": Approval.APPROVE, "comment": "", "now": factor.at}
        approvals.BALLOT.keep(row, person, confirmation=factor, **word)
    assert approvals.valid(row, Approval.RELEASE).count() == 0
    assert not approvals.stand(row)


def test_a_release_needs_the_whole_quorum_where_the_first_one_lost_somebody(walk, make_person):
    """It had to be rejected and asked for again; the hold and its hour are kept, and no approval less is needed."""
    row = walk.until(walk.request(amount=THREE), "review")
    for person in walk.approvers:
        walk.approve(row, person)
    row = walk.step(walk.until(row, "held"))
    walk.approvers[2].groups.clear()
    assert walk.approve(row, walk.approvers[0]).state == "held"
    assert (approvals.tally_now(row).needed, approvals.valid(row, Approval.RELEASE).count()) == (3, 1)
    assert walk.step(row).state == "held"
    assert walk.calls("commit_withdrawal") == []


def test_rejected_before_the_hold_nothing_was_ever_sent(walk):
    row = walk.until(walk.request(amount=THREE), "review")
    walk.approve(row)
    after = walk.reject(row, walk.approvers[0])
    assert (after.state, after.decision) == ("cancelled", "none")
    assert walk.calls() == []


def test_an_unknown_value_takes_the_highest_quorum(walk):
    from exchange_ops.market.models import Ticker

    Ticker.objects.all().delete()
    row = walk.until(walk.request(), "review")
    assert (row.quorum_required, row.quote_value) == (3, None)
    assert any("no current price" in sentence for sentence in row.policy_trace)


# When ----------------------------------------------------------------------------------------------------------------


def test_approvals_close_seven_minutes_before_the_hour_ends(walk):
    row = walk.held()
    walk.later(minutes=53, seconds=5)
    refused("Approvals closed at", walk.approve, row)
    assert walk.reject(row).state == "rolling_back"


def test_a_second_decision_says_who_was_faster(walk):
    row = walk.held()
    walk.approve(row)
    for call in (walk.approve, walk.reject):
        more = {"answer": {}} if call == walk.approve else {}
        refused(r"Already decided by treasury at \d\d:\d\d:\d\d UTC: approved", call, row, walk.approvers[1], **more)


def test_a_rejection_needs_a_reason(walk):
    row = walk.held()
    for reason in ("", "   "):
        refused(
            "Enter a reason",
            approvals.reject,
            withdrawal_id=row.pk,
            person=walk.approvers[0],
            reason=reason,
            now=clock.now(),
        )


def test_there_is_no_such_request(walk):
    refused(
        "Request not found", approvals.reject, withdrawal_id=404, person=walk.approvers[0], reason="x", now=clock.now()
    )


# Recall and cancel ---------------------------------------------------------------------------------------------------


def test_an_approval_is_called_back_as_long_as_nothing_was_told(walk):
    row = walk.committing()
    after = approvals.recall(withdrawal_id=row.pk, person=walk.approvers[1], reason="Wrong invoice", now=clock.now())
    assert (after.state, after.decision, after.decided_by) == ("rolling_back", "rollback", walk.approvers[1])
    walk.until(row, "rolled_back")
    assert walk.calls("commit_withdrawal") == []
    assert trail.problems() == []


def test_the_database_keeps_a_decision_once_something_was_told(walk):
    row = walk.committing()
    walk.fault("commit_withdrawal", "drop_before")
    row = walk.step(row)
    with pytest.raises(approvals.CannotApprove, match="can no longer be recalled"):
        approvals.recall(withdrawal_id=row.pk, person=walk.approvers[1], reason="Stop", now=clock.now())
    from desk.machines import mover as machine_mover
    from exchange_ops.withdrawals import machine

    with pytest.raises(machine_mover.CannotMove, match="made once"):
        machine.move(row, event="recalled", to="rolling_back", now=clock.now(), decision="rollback")


@pytest.mark.parametrize("state", ["draft", "queued", "review", "held"])
def test_the_one_who_asked_takes_it_back(walk, state):
    row = walk.request(amount=THREE if state == "review" else Decimal("0.05"))
    row = walk.held() if state == "held" else walk.until(row, state)
    after = workflow.cancel(withdrawal_id=row.pk, person=walk.operator, reason="", now=clock.now())
    assert after.state == ("rolling_back" if state == "held" else "cancelled")
    assert after.decision == ("rollback" if state == "held" else "none")


def test_nobody_else_takes_it_back_and_not_after_a_decision(walk, make_person):
    row = walk.held()
    for person in (walk.approvers[0], make_person("operator", username="operator2"), make_person("auditor")):
        with pytest.raises(workflow.CannotCancel, match="Only the requester"):
            workflow.cancel(withdrawal_id=row.pk, person=person, reason="", now=clock.now())
    walk.approve(row)
    with pytest.raises(workflow.CannotCancel, match="can no longer be withdrawn"):
        workflow.cancel(withdrawal_id=row.pk, person=walk.operator, reason="", now=clock.now())


# Closing an unclear case ---------------------------------------------------------------------------------------------


def unclear(walk):
    row = walk.held()
    walk.sandbox.control(f"payouts/{row.exchange_id}", {"status": "pending"})
    return walk.until(row, "investigate")


def resolve(walk, row, person, verdict="paid", **changes):
    arguments = {
        "withdrawal_id": row.pk,
        "person": person,
        "verdict": verdict,
        "evidence": "Statement of today",
        "digest": resolutions.digest_of(walk.fresh(row)),
        "answer": walk.answer(person),
        "session_key": "session",
        "now": clock.now(),
    }
    return resolutions.resolve(**(arguments | changes))


def test_two_people_close_an_unclear_case_and_nothing_is_sent(walk):
    row = unclear(walk)
    sent = len(walk.calls())
    assert resolve(walk, row, walk.approvers[0]).state == "investigate"
    with pytest.raises(resolutions.CannotResolve, match="Your finding is already recorded"):
        resolve(walk, row, walk.approvers[0])
    assert resolve(walk, row, walk.approvers[1]).state == "resolved_paid"
    assert len(walk.calls()) == sent
    assert trail.problems() == []


def test_different_verdicts_do_not_close_it_and_a_last_word_counts(walk):
    row = unclear(walk)
    resolve(walk, row, walk.approvers[0], "paid")
    assert resolve(walk, row, walk.approvers[1], "not_paid").state == "investigate"
    assert resolve(walk, row, walk.approvers[0], "not_paid").state == "resolved_not_paid"


def test_a_verdict_is_for_two_people_of_treasury_with_a_reason_and_a_second_factor(walk, make_person):
    row = unclear(walk)
    with pytest.raises(resolutions.CannotResolve, match="Two treasurers"):
        resolve(walk, row, walk.operator, answer={})
    with pytest.raises(resolutions.CannotResolve, match="Enter what you checked"):
        resolve(walk, row, walk.approvers[0], evidence=" ")
    with pytest.raises(resolutions.CannotResolve, match="after you opened it"):
        resolve(walk, row, walk.approvers[0], digest="0" * 64)
    with pytest.raises(resolutions.CannotResolve, match="Choose a finding"):
        resolve(walk, row, walk.approvers[0], verdict="maybe")
    with pytest.raises(CannotConfirm):
        resolve(walk, row, walk.approvers[0], answer={"kind": "totp", "code": "000000"})
    with pytest.raises(resolutions.CannotResolve, match="Nothing to close"):
        resolve(walk, walk.request(amount=Decimal("0.07")), walk.approvers[0])
    assert Approval.objects.filter(stage="resolution").count() == 0


@pytest.mark.parametrize("changes", [{"verdict": "not_paid"}, {"evidence": "Another statement"}])
def test_a_verdict_and_its_evidence_are_signed(walk, changes):
    """What the passkey signed and what the form brings are the same, or nothing counts."""
    row, person, key = unclear(walk), walk.approvers[0], SoftKey()
    key.enrol(person)
    signed_digest = signed_fields.bind(
        resolutions.digest_of(walk.fresh(row)), {"verdict": "paid", "comment": "Statement\n of today"}
    )
    terms = {"purpose": resolutions.PURPOSE, "digest": signed_digest, "session_key": "session", "now": clock.now()}
    answer = key.answer(stepup.challenge(person=person, **terms))
    with pytest.raises(CannotConfirm, match="does not match the page"):
        resolve(walk, row, person, answer=answer, **changes)
    assert resolve(walk, row, person, answer=answer).state == "investigate"
    assert Approval.objects.filter(stage="resolution").count() == 1


def test_the_inbox_is_sorted_by_what_closes_first(walk):
    first = walk.held()
    Withdrawal.objects.filter(pk=first.pk).update(approve_until=first.approve_until + timedelta(minutes=3))
    second = walk.held(amount=Decimal("0.06"))
    before_hold = walk.until(walk.request(amount=THREE), "review")
    assert list(approvals.waiting().for_person(walk.approvers[0])) == [second, first, before_hold]
    assert list(approvals.waiting().for_person(walk.operator)) == []
