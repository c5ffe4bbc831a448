"""Holds that outlive their request: named until they are gone, and released when two people order it."""

from datetime import timedelta

import pytest
from django.db import DatabaseError, transaction

from desk import clock, health
from desk.models import StepUp
from exchange_ops.keys import store as keys
from exchange_ops.wire.catalogue import Right
from exchange_ops.withdrawals import workflow
from exchange_ops.withdrawals.decisions import open_holds, resolutions
from exchange_ops.withdrawals.evidence import reconciliation
from exchange_ops.withdrawals.models import HoldReleaseVote, Withdrawal
from exchange_ops.withdrawals.room import checks
from exchange_ops.withdrawals.steps import settlement
from tests import trail
from tests.exchange_ops.withdrawals.walks import SESSION

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.engine("money: two people")]


def resolve(walk, row, verdict, who):
    row = walk.fresh(row)
    return resolutions.resolve(
        withdrawal_id=row.pk,
        person=who,
        verdict=verdict,
        evidence="The statement of the exchange",
        digest=resolutions.digest_of(row),
        answer=walk.answer(who),
        session_key=SESSION,
        now=clock.now(),
    )


def order(walk, row, who, **changes):
    arguments = {
        "withdrawal_id": row.pk,
        "person": who,
        "reason": "The statement shows it as open",
        "digest": open_holds.digest_of(walk.fresh(row)),
        "answer": walk.answer(who),
        "session_key": SESSION,
        "now": clock.now(),
    }
    return open_holds.order_release(**(arguments | changes))


def unclear(walk):
    """A hold that stays open at the exchange long after its hour, with an order to pay that nobody heard."""
    walk.sandbox.control("config", {"hold_end": "stay"})
    row = walk.committing()
    walk.fault("commit_withdrawal", "drop_before", times=99)
    walk.step(row)
    walk.heal()
    walk.later(minutes=71)
    row = walk.until(row, "commit_unknown")
    Withdrawal.objects.filter(pk=row.pk).update(updated_at=clock.now() - timedelta(minutes=10))
    return walk.until(row, "investigate")


@pytest.fixture
def forgotten(walk):
    """Closed as not paid by two people, and still reserved."""
    row = unclear(walk)
    for person in walk.approvers[:2]:
        row = resolve(walk, row, "not_paid", person)
    assert row.state == "resolved_not_paid"
    walk.read_ledger()
    return row


def findings(walk):
    client = keys.client_for(walk.account, Right.PAYMENTS)
    try:
        found = reconciliation.reconcile(account=walk.account, client=client, now=clock.now())
    finally:
        client.close()
    return {finding.about: finding for finding in found}


def test_a_hold_that_outlives_its_closed_request_is_named_everywhere(walk, forgotten):
    assert [row.pk for row in open_holds.closed_requests()] == [forgotten.pk]
    check = checks.holds()
    assert not check.ok
    assert forgotten.reference in check.sentence
    assert "Two treasurers can release the hold." in check.sentence
    assert "holds" in health.states()
    finding = findings(walk)["holds of closed requests"]
    assert (finding.agrees, forgotten.reference in finding.sentence) == (False, True)
    assert open_holds.waiting_for(walk.approvers[2]) == [forgotten]
    assert open_holds.waiting_for(walk.operator) == []


def test_two_people_order_the_release_and_only_a_release_is_sent(walk, forgotten):
    paid = len(walk.calls("commit_withdrawal"))
    order(walk, forgotten, walk.approvers[0])
    assert workflow.sweep(now=clock.now(), client_for=walk.client_for) == 0
    assert walk.calls("rollback_withdrawal") == []
    order(walk, forgotten, walk.approvers[2])
    assert "The release is retried until the exchange's ledger confirms it" in checks.holds().sentence
    walk.sweep()
    assert [call["executed"] for call in walk.calls("rollback_withdrawal")] == [True]
    assert len(walk.calls("commit_withdrawal")) == paid
    walk.read_ledger()
    assert walk.entry(forgotten).status == "failed"
    assert not open_holds.closed_requests().exists()
    assert checks.holds().ok
    assert findings(walk)["holds of closed requests"].agrees
    assert walk.fresh(forgotten).state == "resolved_not_paid"
    assert walk.balanced()
    assert trail.problems() == []


def test_an_order_that_got_lost_is_sent_again_until_the_ledger_shows_the_end(walk, forgotten):
    for person in walk.approvers[:2]:
        order(walk, forgotten, person)
    walk.fault("rollback_withdrawal", "drop_before", times=1)
    walk.sweep()
    assert open_holds.closed_requests().exists()
    workflow.sweep(now=clock.now() + timedelta(minutes=1), client_for=walk.client_for)
    assert not open_holds.closed_requests().exists()
    assert walk.outcomes(forgotten, "orphan") == ["unknown", "accepted"]


def test_a_hold_of_a_request_closed_as_paid_is_named_and_can_be_released_too(walk):
    row = unclear(walk)
    for person in walk.approvers[:2]:
        row = resolve(walk, row, "paid", person)
    walk.read_ledger()
    assert not checks.holds().ok
    for person in walk.approvers[:2]:
        order(walk, row, person)
    walk.sweep()
    assert checks.holds().ok


def test_the_same_person_the_initiator_another_content_and_an_empty_reason_do_not_count(walk, forgotten):
    first = walk.approvers[0]
    order(walk, forgotten, first)
    with pytest.raises(open_holds.CannotOrderRelease, match="Your release is already recorded"):
        order(walk, forgotten, first)
    with pytest.raises(open_holds.CannotOrderRelease, match="requester can't be one of them"):
        order(walk, forgotten, walk.operator, answer={})
    with pytest.raises(open_holds.CannotOrderRelease, match="after you opened it"):
        order(walk, forgotten, walk.approvers[1], digest="0" * 64)
    with pytest.raises(open_holds.CannotOrderRelease, match="Explain why"):
        order(walk, forgotten, walk.approvers[1], reason=" ")
    assert HoldReleaseVote.objects.count() == 1
    assert not open_holds.is_ordered(forgotten)


def test_who_lost_the_role_no_longer_counts(walk, forgotten):
    for person in walk.approvers[:2]:
        order(walk, forgotten, person)
    assert open_holds.is_ordered(forgotten)
    walk.approvers[1].groups.clear()
    assert not open_holds.is_ordered(forgotten)
    walk.sweep()
    assert walk.calls("rollback_withdrawal") == []


def test_a_request_that_is_open_or_released_has_nothing_to_order(walk):
    row = walk.held()
    with pytest.raises(open_holds.CannotOrderRelease, match="Nothing to release"):
        order(walk, row, walk.approvers[0], answer={})
    walk.reject(row)
    row = walk.until(row, "rolled_back")
    with pytest.raises(open_holds.CannotOrderRelease, match="Nothing to release"):
        order(walk, row, walk.approvers[0], answer={})


def test_the_database_takes_no_order_without_its_own_second_factor(walk, forgotten):
    """A second factor that somebody else gave, or that was given for something else, is no order."""
    order(walk, forgotten, walk.approvers[0])
    borrowed = StepUp.objects.order_by("pk").first()
    for person in (walk.approvers[1], walk.operator):
        with pytest.raises(DatabaseError), transaction.atomic():
            HoldReleaseVote.objects.create(
                withdrawal=forgotten,
                person=person,
                digest=open_holds.digest_of(forgotten),
                reason="x",
                confirmation=borrowed,
                at=clock.now(),
            )
    for change in (HoldReleaseVote.objects.all().delete, lambda: HoldReleaseVote.objects.update(reason="y")):
        with pytest.raises(DatabaseError), transaction.atomic():
            change()


# What was never told, and what is never carried out -------------------------------------------------------------------


def test_an_order_to_pay_that_was_never_told_is_released_as_a_recall_would(walk):
    row = walk.committing()
    assert row.put_count == 0
    walk.later(minutes=59, seconds=31)
    row = walk.step(row)
    assert (row.state, row.decision, row.put_count) == ("rolling_back", "rollback", 0)
    assert "before it was sent" in row.last_problem
    row = walk.until(row, "rolled_back")
    assert walk.calls("commit_withdrawal") == []
    assert trail.problems() == []


@pytest.mark.parametrize(("minutes", "well"), [(59, True), (61, False)])
def test_what_the_exchange_took_and_does_not_carry_out_is_an_alarm_after_an_hour(walk, minutes, well):
    walk.sandbox.control("config", {"payout_seconds": 86_400})
    row = walk.until(walk.committing(), "committed")
    Withdrawal.objects.filter(pk=row.pk).update(updated_at=clock.now() - timedelta(minutes=minutes))
    check = checks.unfinished()
    assert (check.ok, row.reference in check.sentence) == (well, not well)
    walk.sandbox.control(f"payouts/{row.exchange_id}", {"status": "success"})
    walk.until(row, "settled")
    assert checks.unfinished().ok
    assert not settlement.overdue(now=clock.now()).exists()
