"""A payout that needs an approval of each of two groups is released by nobody else, whatever happens on the way."""

from decimal import Decimal
from typing import Any

import pytest
from django.db import IntegrityError

from desk.models import AuditEvent
from exchange_ops.policy.groups.needs import Tally
from exchange_ops.withdrawals import machine
from exchange_ops.withdrawals.decisions import approvals
from exchange_ops.withdrawals.models import Withdrawal
from exchange_ops.withdrawals.room import REPLAY
from exchange_ops.withdrawals.views import decisions
from tests.exchange_ops.policy import grouping

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.engine("needs in JSON, counted by a trigger")]


@pytest.fixture
def grouped(walk: Any) -> Any:
    """A desk where a payout needs one of Finance (the first two people) and one of the Board (the last two)."""
    first, second, third = walk.approvers
    grouping.publish({"Finance": [first, second], "Board": [second, third]})
    return walk


def test_two_of_one_group_release_nothing_and_the_other_group_does(grouped: Any) -> None:
    first, second, third = grouped.approvers
    row = grouped.held()
    assert (row.quorum_required, [need[:2] for need in row.group_needs]) == (2, [["Board", 1], ["Finance", 1]])
    choices = decisions.choices(row, first, now=row.updated_at)
    assert (choices.approve, choices.counts_for) == (True, "Finance")
    row = grouped.approve(row, first)
    row = grouped.fresh(row)
    choices = decisions.choices(row, third, now=row.updated_at)
    assert choices.waits_for == "Waits for 1 of Board. It can come from treasury2 or treasury3."
    assert (choices.counts_for, choices.progress) == ("Board", "1 of 2 approvals")
    assert grouped.approve(row, second).state == "committing", "the second person is of the Board as well"
    assert not [*REPLAY.check(AuditEvent.objects.filter(subject=row.subject).order_by("seq").iterator())]


def test_a_person_who_can_not_help_is_told_so(grouped: Any, make_person: Any) -> None:
    """Also where somebody left the desk: nobody stands in for a group."""
    grouping.publish({"Finance": [grouped.approvers[0], grouped.approvers[1]], "Board": [grouped.approvers[2]]})
    row = grouped.held()
    grouped.approve(row, grouped.approvers[0])
    with pytest.raises(approvals.CannotApprove, match="would not count: this request waits for 1 of Board"):
        grouped.approve(row, grouped.approvers[1])
    assert [row.pk for row in approvals.waiting().for_person(grouped.approvers[1])] == []
    assert dict(approvals.waiting().for_each(grouped.approvers)) == {grouped.approvers[2]: [row]}
    grouped.approvers[2].groups.clear()
    row = grouped.fresh(row)
    choices = decisions.choices(row, grouped.approvers[1], now=row.updated_at)
    assert "Nobody can give it now" in choices.waits_for


def test_the_database_counts_every_group_once_more(grouped: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    row = grouped.held()
    monkeypatch.setattr(Tally, "is_reached", property(lambda tally: bool(tally.voters)))
    with pytest.raises(approvals.CannotApprove) as refusal:
        grouped.approve(row, grouped.approvers[0])
    moved = refusal.value.__context__
    assert moved is not None
    assert isinstance(moved.__context__, IntegrityError)
    assert machine.GROUPS_MISSING in str(moved.__context__)
    assert (grouped.fresh(row).decision, grouped.calls("commit_withdrawal")) == ("none", [])


def test_an_edited_need_pays_nothing(grouped: Any) -> None:
    """Neither that of the request, before or after the decision, nor a group in the rules."""
    row = grouped.held()
    grouped.approve(row, grouped.approvers[0])
    Withdrawal.objects.filter(pk=row.pk).update(group_needs=None, quorum_required=1)
    with pytest.raises(approvals.CannotApprove, match="changed after you opened it"):
        grouped.approve(row, grouped.approvers[2])
    assert not approvals.stand(grouped.fresh(row))


def test_new_members_make_every_approval_given_before_void(grouped: Any) -> None:
    """As with a changed quorum: the hold is released, and nobody counts for a group that they joined after voting."""
    row = grouped.held()
    grouped.approve(row, grouped.approvers[0])
    grouping.publish({"Finance": grouped.approvers[1:], "Board": [grouped.approvers[0]]})
    with pytest.raises(approvals.CannotApprove, match="changed after you opened it"):
        grouped.approve(row, grouped.approvers[1])
    row = grouped.until(row, "rolling_back", "rolled_back")
    assert (row.decision, grouped.calls("commit_withdrawal")) == ("rollback", [])


def test_the_final_release_is_by_anybody_once_the_groups_have_approved(walk: Any) -> None:
    first, second, third = walk.approvers
    grouping.publish({"Finance": [first], "Board": [second]}, mode="approve_then_hold")
    row = walk.until(walk.request(amount=Decimal(1)), "review")
    walk.approve(row, second)
    row = walk.approve(row, first)
    row = walk.step(walk.until(row, "held"))
    assert walk.approve(row, third).state == "committing"
    assert approvals.stand(walk.fresh(row))


def test_the_replay_counts_the_groups_from_the_trail(grouped: Any) -> None:
    """As if the trail said that others were needed than those who approved."""
    row = grouped.held()
    needs = [["Board", 1, [grouped.approvers[1].pk]], ["Finance", 1, [grouped.approvers[2].pk]]]
    votes = REPLAY.votes() if REPLAY.votes else None
    assert votes is not None
    for person in grouped.approvers[:2]:
        row = grouped.approve(row, person)
    sentences: list[str] = []
    for event in AuditEvent.objects.filter(subject=row.subject).order_by("seq"):
        after = event.after | ({"group_needs": needs} if event.after.get("group_needs") else {})
        sentences += votes.note(event, event.action.removeprefix("withdrawal."), row.pk, after)
    assert [sentence.partition(": ")[2] for sentence in sentences] == [f"W-{row.pk} was approved without 1 of Finance."]
