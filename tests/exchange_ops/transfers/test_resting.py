"""Whose second factors changed within a day decides on no money: in the rule, and where approvals are counted."""

from datetime import timedelta
from decimal import Decimal

import pytest
from allauth.mfa.models import Authenticator
from django.db import transaction

from desk import clock
from desk.models import FactorChange
from desk.people import factors, totp
from exchange_ops.policy import freezes
from exchange_ops.policy.models import ThawVote
from exchange_ops.transfers import approvals as transfer_approvals
from exchange_ops.transfers import states
from exchange_ops.withdrawals.decisions import approvals
from exchange_ops.withdrawals.models import Approval
from tests.exchange_ops.withdrawals.steps.test_drafting import thaw
from tests.exchange_ops.withdrawals.walks import TOTP_SECRET

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.engine("votes counted by SQL and under guards")]
DAY = timedelta(hours=24)
TWO = Decimal("1")


def changed(person, *, ago=timedelta(0), rests=DAY):
    """A change of this person's factors, so long ago."""
    at = clock.now() - ago
    return FactorChange.objects.create(person=person, action="renewed", factor="totp", at=at, rests_until=at + rests)


def test_whoever_changed_a_factor_approves_nothing_for_a_day_and_still_rejects(walk):
    row, person = walk.held(), walk.approvers[0]
    change = changed(person, ago=timedelta(hours=23, minutes=59))
    with pytest.raises(approvals.CannotApprove, match=f"You can approve from {change.rests_until:%d %b %H:%M} UTC"):
        walk.approve(row, person)
    assert not Approval.objects.exists()
    walk.reject(row, person)
    assert walk.fresh(row).decision == "rollback"


def test_after_the_day_it_counts_and_in_the_demo_at_once(walk):
    changed(walk.approvers[0], ago=DAY)
    changed(walk.approvers[0], rests=timedelta(0))
    walk.approve(walk.held(), walk.approvers[0])
    assert Approval.objects.count() == 1


def test_exactly_a_day_after_the_change_the_approval_is_the_one_that_was_missing_and_the_money_is_paid(
    walk, settings, monkeypatch
):
    """The whole of it on the desk's clock: a new factor, a refusal a moment too early, and the payout at the moment."""
    settings.FACTOR_REST_SECONDS = 86_400
    person, began = walk.approvers[1], clock.now()
    put = lambda moment: monkeypatch.setattr(clock, "now", lambda: moment)  # noqa: E731
    with transaction.atomic():
        before = factors.by_number(person)
        Authenticator.objects.filter(user=person).delete()
        totp.enrol(person, TOTP_SECRET)
        factors.note(person=person, before=before, device="Firefox", session_key="", now=began - DAY)
    put(began - timedelta(microseconds=1))
    row = walk.held(amount=TWO)
    walk.approve(row, walk.approvers[0])
    with pytest.raises(approvals.CannotApprove) as refusal:
        walk.approve(row, person)
    assert str(refusal.value) == (
        f"Decision not recorded. You can approve from {began:%d %b %H:%M} UTC, 24 hours after you set up this factor. "
        "A colleague can approve before then, and you can still reject."
    )
    paid = lambda: len(walk.calls("commit_withdrawal"))  # noqa: E731
    assert (walk.step(row).decision, approvals.current(row).count(), paid()) == ("none", 1, 0)
    put(began)
    walk.approve(row, person)
    assert (walk.fresh(row).decision, approvals.current(row).count()) == ("commit", 2)
    walk.until(row, "committed", "sent", "settled")
    assert (paid(), len(walk.payouts())) == (1, 1)


def test_an_approval_that_was_given_at_rest_is_never_counted(walk):
    row = walk.held(amount=TWO)
    walk.approve(row, walk.approvers[0])
    assert approvals.current(row).count() == 1
    change = changed(walk.approvers[0], ago=timedelta(hours=1))
    assert approvals.current(row).count() == 0
    walk.approve(row, walk.approvers[1])
    assert walk.fresh(row).decision == "none", "one that counts, where two are needed"
    FactorChange.objects.filter(pk=change.pk).update(at=clock.now())
    assert approvals.current(row).count() == 2, "an approval from before the change stays"


def test_the_second_of_two_at_rest_pays_nothing(walk):
    """As an attacker would: the factor of somebody was replaced, and their approval was to be the last one."""
    row = walk.held(amount=TWO)
    walk.approve(row, walk.approvers[0])
    changed(walk.approvers[1])
    with pytest.raises(approvals.CannotApprove, match="24 hours after you set up this factor"):
        walk.approve(row, walk.approvers[1])
    walk.step(row)
    assert (walk.fresh(row).decision, walk.calls("commit_withdrawal")) == ("none", [])


def test_a_freeze_is_not_ended_by_somebody_at_rest(walk):
    frozen = freezes.freeze(person=walk.approvers[2], reason="Odd", account=walk.account, now=clock.now())
    assert thaw(walk, frozen, walk.approvers[0]).thawed_at is None
    changed(walk.approvers[1])
    with pytest.raises(freezes.CannotThaw, match="24 hours after you set up this factor"):
        thaw(walk, frozen, walk.approvers[1])
    assert ThawVote.objects.count() == 1
    changed(walk.approvers[0], ago=timedelta(hours=1))
    assert thaw(walk, frozen, walk.approvers[2]).thawed_at is None, "the first word was given at rest"


def test_a_transfer_to_others_is_not_approved_or_sent_by_somebody_at_rest(moving):
    row = moving.request(states.TO_USER)
    person = moving.walk.approvers[0]
    change = changed(person, ago=timedelta(hours=1))
    with pytest.raises(transfer_approvals.CannotApprove, match="24 hours after you set up this factor"):
        moving.approve(row, person)
    FactorChange.objects.filter(pk=change.pk).update(rests_until=clock.now())
    moving.approve(row, person)
    assert transfer_approvals.stands(row)
    FactorChange.objects.filter(pk=change.pk).update(rests_until=clock.now() + DAY)
    assert not transfer_approvals.stands(row), "asked again when it begins to be sent"
