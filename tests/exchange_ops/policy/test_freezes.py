"""One person stops everything, two start it again, and nothing that was approved before comes back by itself."""

from decimal import Decimal

import pytest
from django.db import IntegrityError, transaction

from desk import clock
from desk.people.stepup import CannotConfirm
from exchange_ops.policy import freezes
from exchange_ops.policy.models import Freeze, ThawVote
from exchange_ops.withdrawals.decisions import approvals
from tests import trail
from tests.exchange_ops.withdrawals.steps.test_drafting import thaw

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.engine("a freeze beside approvals under locks")]


def freeze(walk, person, reason="Something is odd"):
    return freezes.freeze(person=person, reason=reason, account=walk.account, now=clock.now())


def test_a_freeze_releases_what_is_undecided_and_calls_back_what_was_not_told(walk):
    undecided, approved = walk.held(), walk.committing(amount=Decimal("0.006"))
    ordered = walk.committing(amount=Decimal("0.007"))
    walk.fault("commit_withdrawal", "drop_after")
    ordered = walk.step(ordered)
    assert ordered.put_count == 1
    freeze(walk, walk.approvers[0])
    for row in map(walk.fresh, (undecided, approved)):
        assert (row.state, row.decision, row.decided_by) == ("rolling_back", "rollback", walk.approvers[0])
        assert row.last_problem == "Frozen: Something is odd"
        walk.until(row, "rolled_back")
    assert walk.fresh(ordered).state == "committing"
    walk.sandbox.control("clock", {"advance_ms": 60_000})
    assert walk.step(ordered).state == "committed"
    assert len(walk.calls("commit_withdrawal")) == 1
    assert trail.problems() == []


def test_a_hold_that_arrives_during_a_freeze_is_released(walk):
    walk.fault("create_withdrawal", "drop_after")
    row = walk.until(walk.request(), "hold_unknown")
    freeze(walk, walk.approvers[0])
    row = walk.until(row, "rolling_back")
    assert row.events.last().event == "frozen"
    walk.until(row, "rolled_back")


def test_while_frozen_nothing_is_approved(walk):
    row = walk.until(walk.request(amount=Decimal(20)), "review")
    freeze(walk, walk.approvers[0])
    with pytest.raises(approvals.CannotApprove, match="The account is frozen"):
        walk.approve(row, walk.approvers[1])


@pytest.mark.parametrize(
    ("role", "may"), [("treasury", True), ("admin", True), ("operator", False), ("auditor", False)]
)
def test_who_may_freeze(walk, make_person, role, may):
    person = make_person(role, username=f"one-{role}")
    if may:
        assert freeze(walk, person).frozen_by == person
    else:
        with pytest.raises(freezes.CannotFreeze, match="Only treasury and administrators"):
            freeze(walk, person)
        assert freezes.active(walk.account) is None


def test_a_freeze_needs_a_reason_and_a_second_one_changes_nothing(walk):
    with pytest.raises(freezes.CannotFreeze, match="Enter a reason"):
        freeze(walk, walk.approvers[0], " ")
    first = freeze(walk, walk.approvers[0])
    assert freeze(walk, walk.approvers[1], "Me too").pk == first.pk
    with pytest.raises(IntegrityError), transaction.atomic():
        Freeze.objects.create(account=walk.account, reason="x", frozen_at=clock.now())


def test_two_different_people_of_treasury_thaw_it(walk, make_person):
    frozen = freeze(walk, walk.approvers[0])
    assert thaw(walk, frozen, walk.approvers[0]).thawed_at is None
    with pytest.raises(freezes.CannotThaw, match="You already approved"):
        thaw(walk, frozen, walk.approvers[0])
    with pytest.raises(freezes.CannotThaw, match="Only treasury"):
        thaw(walk, frozen, make_person("admin"))
    assert freezes.active(walk.account) is not None
    assert thaw(walk, frozen, walk.approvers[1]).thawed_at is not None
    assert freezes.active(walk.account) is None
    with pytest.raises(freezes.CannotThaw, match="already lifted"):
        thaw(walk, frozen, walk.approvers[2])
    assert ThawVote.objects.count() == 2
    assert trail.problems() == []


def test_a_thaw_takes_a_second_factor_each_time(walk):
    frozen = freeze(walk, walk.approvers[0])
    with pytest.raises(CannotConfirm):
        freezes.thaw(
            freeze_id=frozen.pk,
            person=walk.approvers[0],
            answer={"kind": "totp", "code": "000000"},
            reason="Over",
            session_key="session",
            now=clock.now(),
        )
    assert ThawVote.objects.count() == 0


def test_what_was_released_by_a_freeze_stays_released(walk):
    row = walk.committing()
    frozen = freeze(walk, walk.approvers[0])
    for person in walk.approvers[:2]:
        thaw(walk, frozen, person)
    walk.until(row, "rolled_back")
    assert walk.calls("commit_withdrawal") == []
    again = walk.committing(amount=Decimal("0.06"))
    walk.until(again, "committed")
