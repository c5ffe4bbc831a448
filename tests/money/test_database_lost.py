"""The database goes away between a commit and what follows it: no call leaves without a row that is known to stand."""

import pytest

from exchange_ops.withdrawals.models import ExternalCall
from tests.money.test_kills import ends_paid, sound

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.engine("what a killed process leaves"),
    pytest.mark.timeout(240),
]

CLAIMED = "^sql INSERT INTO .exchange_ops_externalcall"
MARKED = "^sql UPDATE .exchange_ops_externalcall. SET .outcome"


def test_c28_a_claim_that_was_not_kept_sends_nothing_and_is_made_again(after):
    points = [
        {"kind": "sql", "like": 'UPDATE "exchange_ops_withdrawal"'},
        {"kind": "commit", "after": CLAIMED},
    ]
    for point in points:
        row = after.queued()
        before = len(after.walk.calls("create_withdrawal"))
        after.nursery.lose("advance", point, withdrawal_id=row.pk)
        assert not ExternalCall.objects.filter(withdrawal=row).exists()
        assert after.walk.fresh(row).state == "queued"
        assert len(after.walk.calls("create_withdrawal")) == before
        after.sweep(2)
        ends_paid(after, row)


@pytest.mark.parametrize(
    "point",
    [
        {"kind": "committed", "after": CLAIMED},
        {"kind": "commit", "after": MARKED},
        {"kind": "committed", "after": MARKED},
    ],
    ids=["claim kept, nobody told", "mark not kept", "mark kept, nobody told"],
)
def test_c28_a_claim_of_which_its_worker_never_heard_sends_nothing_and_lapses(after, point):
    row = after.queued()
    after.nursery.lose("advance", point, withdrawal_id=row.pk)
    assert after.walk.fresh(row).state == "holding"
    assert after.walk.calls() == []
    after.sweep()
    assert after.walk.fresh(row).state == "hold_unknown"
    after.exchange_later(minutes=62, seconds=5)
    after.sweep(2)
    assert after.walk.fresh(row).state == "lapsed"
    assert after.walk.calls() == [], "an unknown hold is never asked for again"
    sound(after)


@pytest.mark.parametrize("kind", ["commit", "committed"])
def test_c28_an_answer_that_could_not_be_kept_is_found_in_the_ledger(after, kind):
    row = after.queued()
    after.nursery.lose("advance", {"kind": kind, "after": "^recv"}, withdrawal_id=row.pk)
    after.sweep(2)
    assert len(after.heard(row)) == 1
    ends_paid(after, row)


@pytest.mark.parametrize("kind", ["commit", "committed"])
def test_c28_a_decision_stands_or_does_not_whatever_the_person_was_told(after, kind):
    row = after.compared()
    person = after.walk.approvers[0]
    outcome = after.nursery.lose(
        "approve",
        {"kind": kind, "after": "^sql INSERT INTO .exchange_ops_approval"},
        withdrawal_id=row.pk,
        username=person.username,
        code=after.walk.answer(person)["code"],
    )
    assert "OperationalError" in outcome["raised"]
    stands = kind == "committed"
    assert after.walk.fresh(row).decision == ("commit" if stands else "none")
    after.sweep()
    assert after.orders(row) == ({"commit": 1} if stands else {})
    if not stands:
        after.walk.approve(row)
    after.pay_out()
    assert after.walk.fresh(row).state == "settled"
    assert after.orders(row) == {"commit": 1}
    sound(after)


def test_c28_an_order_to_pay_is_not_sent_before_it_is_known_to_be_counted(after):
    counted = "^sql UPDATE .exchange_ops_withdrawal"
    for kind, count in (("commit", 0), ("committed", 1)):
        row = after.committing()
        after.nursery.lose("advance", {"kind": kind, "after": counted}, withdrawal_id=row.pk)
        assert after.walk.fresh(row).put_count == count
        assert after.orders(row) == {}
        after.pay_out()
        assert after.walk.fresh(row).state == "settled"
        assert after.statuses(row) == ["success"]
    sound(after)
