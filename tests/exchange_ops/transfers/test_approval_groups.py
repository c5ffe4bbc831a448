"""A transfer to another user needs the approval groups that a payout of its value needs."""

from typing import Any

import pytest

from exchange_ops.policy.groups.needs import Tally
from exchange_ops.transfers import approvals, states
from tests.exchange_ops.policy import grouping

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.engine("needs in JSON, counted by a trigger")]


@pytest.fixture
def grouped(moving: Any) -> Any:
    """A desk where what leaves for others needs one of Finance and one of the Board."""
    first, second, third = moving.walk.approvers
    grouping.publish({"Finance": [first, second], "Board": [third]})
    return moving


def test_it_is_sent_once_each_group_has_approved(grouped: Any, with_token: Any) -> None:
    first, second, third = grouped.walk.approvers
    row = grouped.approve(grouped.request(states.TO_USER), first)
    assert grouped.step(row).state == "review"
    with pytest.raises(approvals.CannotApprove, match="would not count: this request waits for 1 of Board"):
        grouped.approve(row, second)
    assert [[*approvals.waiting().for_person(person)] for person in (first, second, third)] == [[], [], [row]]
    answer = with_token(grouped.walk.operator).get(f"/api/v1/transfers/{row.pk}/").json()
    needs = [{"group": "Board", "approvals": 1}, {"group": "Finance", "approvals": 1}]
    assert (answer["group_needs"], answer["missing_approvals"]) == (needs, "1 of Board")
    listed = with_token(grouped.walk.operator).get("/api/v1/transfers/").json()
    assert [each["missing_approvals"] for each in listed["items"]] == ["1 of Board"]
    assert grouped.approve(row, third).state == "approved"
    assert grouped.until(row, "done").state == "done"


def test_the_database_sends_nothing_without_each_group(grouped: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if the desk miscounted: two approvals, but both of Finance."""
    monkeypatch.setattr(Tally, "is_reached", property(lambda tally: len(tally.voters) >= tally.needed))
    monkeypatch.setattr(Tally, "refusal", lambda *_: "")
    row = grouped.request(states.TO_USER)
    for person in grouped.walk.approvers[:2]:
        row = grouped.approve(row, person)
    assert row.state == "approved"
    for _ in range(2):
        assert (grouped.step(row).state, grouped.calls(row)) == ("approved", [])
