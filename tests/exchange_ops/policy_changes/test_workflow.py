"""The rules change by two people alone, at once where nothing gets looser and a day later otherwise."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import IntegrityError, transaction

from desk import clock
from desk.models import AuditEvent, FactorChange
from desk.people import totp
from desk.people.stepup import CannotConfirm
from exchange_ops.policy import quorum, ruleset
from exchange_ops.policy_changes import open_requests, workflow
from exchange_ops.policy_changes.models import PolicyChange
from exchange_ops.policy_changes.workflow import CannotChange
from exchange_ops.withdrawals.models import Withdrawal
from tests.exchange_ops import rows
from tests.exchange_ops.policy_changes.keeping import (
    DAY,
    FIRST,
    LOOSER,
    SECRET,
    TIGHTER,
    Codes,
    Limit,
    agree,
    propose,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def codes():
    quorum.ensure_first(now=clock.now())
    return Codes()


@pytest.fixture
def keeper(make_person):
    """Somebody with this role and an authenticator app that does not rest any more."""

    def make(role, name=""):
        person = make_person(role, username=name or f"a-{role}")
        totp.enrol(person, SECRET)
        return person

    return make


def in_force():
    return ruleset.rules_of(quorum.current())


def test_what_tightens_is_in_force_with_the_second_word(codes, keeper):
    ada, ben = keeper("treasury", "ada"), keeper("treasury", "ben")
    row = propose(codes, ada, TIGHTER, now=codes.now)
    assert (row.state, row.is_looser, in_force()) == ("proposed", False, FIRST)
    row = agree(codes, ben, row, now=codes.now)
    assert (row.state, row.version_number, in_force()) == ("published", 2, TIGHTER)
    version = quorum.current()
    assert (version.note, version.published_by) == ("We grew", ben)
    actions = list(AuditEvent.objects.filter(subject=row.subject).values_list("action", "actor__username"))
    assert actions == [("policychange.proposed", "ada"), ("policychange.published", "ben")]


def test_what_loosens_waits_for_a_day_and_is_then_in_force(codes, keeper):
    row = propose(codes, keeper("treasury", "ada"), LOOSER, now=codes.now)
    row = agree(codes, keeper("admin"), row, now=codes.now)
    assert (row.state, row.in_force_at, in_force()) == ("agreed", codes.now + DAY, FIRST)
    assert workflow.review(now=codes.now + DAY - timedelta(seconds=1)) == 0
    assert in_force() == FIRST
    assert workflow.review(now=codes.now + DAY) == 1
    assert in_force() == LOOSER
    assert workflow.review(now=codes.now + DAY) == 0


def test_rules_that_tighten_one_thing_and_loosen_another_wait(codes, keeper):
    mixed = replace(TIGHTER, value_max_age_s=301)
    row = propose(codes, keeper("treasury", "ada"), mixed, now=codes.now)
    assert agree(codes, keeper("treasury", "ben"), row, now=codes.now).state == "agreed"


@pytest.mark.parametrize("role", ["operator", "auditor"])
def test_nobody_else_proposes_agrees_or_stops(codes, keeper, role):
    other = keeper(role)
    with pytest.raises(CannotChange, match="Only treasury and administrators"):
        propose(codes, other, TIGHTER, now=codes.now)
    row = propose(codes, keeper("treasury"), TIGHTER, now=codes.now)
    with pytest.raises(CannotChange, match="Only treasury and administrators"):
        agree(codes, other, row, now=codes.now)
    with pytest.raises(CannotChange, match="Only treasury and administrators"):
        workflow.withdraw_or_reject(change_id=row.pk, actor=other, comment="No", session_key="s", now=codes.now)


def test_nobody_agrees_to_their_own_and_two_admins_are_not_enough(codes, keeper):
    ada, root = keeper("treasury"), keeper("admin", "root")
    row = propose(codes, ada, TIGHTER, now=codes.now)
    with pytest.raises(CannotChange, match="a second person must approve"):
        agree(codes, ada, row, now=codes.now)
    other = propose(codes, root, TIGHTER, now=codes.now, reason="Again")
    with pytest.raises(CannotChange, match="must be a treasurer"):
        agree(codes, keeper("admin", "root2"), other, now=codes.now)
    assert agree(codes, ada, other, now=codes.now + timedelta(minutes=1)).state == "published"


def test_a_wrong_code_or_other_rules_than_those_on_screen_change_nothing(codes, keeper):
    ada, ben = keeper("treasury", "ada"), keeper("treasury", "ben")
    with pytest.raises(CannotChange, match="changed after you opened the page"):
        propose(codes, ada, TIGHTER, now=codes.now, digest="0" * 64)
    row = propose(codes, ada, TIGHTER, now=codes.now)
    with pytest.raises(CannotChange, match="after you opened it"):
        agree(codes, ben, row, now=codes.now, digest="0" * 64)
    wrong = {"kind": "totp", "code": "000000"}
    with pytest.raises(CannotConfirm):
        workflow.agree(change_id=row.pk, actor=ben, digest=row.digest, answer=wrong, session_key="s", now=codes.now)
    assert in_force() == FIRST


@pytest.mark.parametrize(
    "wanted", [FIRST, replace(FIRST, tiers=()), replace(FIRST, limits=(Limit("order", Decimal(1), 99),))]
)
def test_rules_that_say_nothing_new_or_nothing_sensible_are_not_proposed(codes, keeper, wanted):
    with pytest.raises(CannotChange):
        propose(codes, keeper("treasury"), wanted, now=codes.now)
    assert not PolicyChange.objects.exists()


def test_a_change_is_overtaken_by_another_version(codes, keeper):
    ada, ben = keeper("treasury", "ada"), keeper("treasury", "ben")
    first = propose(codes, ada, TIGHTER, now=codes.now)
    second = propose(codes, ada, replace(FIRST, value_max_age_s=60), now=codes.now)
    agree(codes, ben, first, now=codes.now)
    with pytest.raises(CannotChange, match="another rule change was published first"):
        agree(codes, ben, second, now=codes.now)
    assert workflow.review(now=codes.now) == 1
    second.refresh_from_db()
    assert second.state == "overtaken"


def test_nobody_agreed_in_time(codes, keeper):
    row = propose(codes, keeper("treasury", "ada"), TIGHTER, now=codes.now)
    later = codes.now + timedelta(days=3)
    with pytest.raises(CannotChange, match="expired"):
        agree(codes, keeper("treasury", "ben"), row, now=later)
    workflow.review(now=later)
    row.refresh_from_db()
    assert row.state == "expired"


def test_a_new_factor_proposes_and_tightens_at_once_and_loosens_a_day_later(codes, keeper):
    ada, ben = keeper("treasury", "ada"), keeper("treasury", "ben")
    for person in (ada, ben):
        fresh = {"action": "added", "factor": "totp", "at": codes.now, "rests_until": codes.now + DAY}
        FactorChange.objects.create(person=person, **fresh)
    assert agree(codes, ben, propose(codes, ada, TIGHTER, now=codes.now), now=codes.now).state == "published"
    row = propose(codes, ada, LOOSER, now=codes.now)
    with pytest.raises(CannotChange, match="24 hours after you set up this factor"):
        agree(codes, ben, row, now=codes.now)


@pytest.mark.parametrize("who", ["author", "other"])
def test_what_waits_for_its_day_can_be_stopped(codes, keeper, who):
    ada, ben = keeper("treasury", "ada"), keeper("treasury", "ben")
    row = agree(codes, ben, propose(codes, ada, LOOSER, now=codes.now), now=codes.now)
    with pytest.raises(CannotChange, match="Enter a reason"):
        workflow.withdraw_or_reject(change_id=row.pk, actor=ben, comment=" ", session_key="s", now=codes.now)
    actor = ada if who == "author" else ben
    row = workflow.withdraw_or_reject(change_id=row.pk, actor=actor, comment="Not now", session_key="s", now=codes.now)
    assert row.state == ("withdrawn" if who == "author" else "rejected")
    workflow.review(now=codes.now + 2 * DAY)
    assert in_force() == FIRST


def test_somebody_who_lost_the_role_meanwhile_loosens_nothing(codes, keeper):
    ada, ben = keeper("treasury", "ada"), keeper("treasury", "ben")
    row = agree(codes, ben, propose(codes, ada, LOOSER, now=codes.now), now=codes.now)
    ben.groups.clear()
    workflow.review(now=codes.now + DAY)
    row.refresh_from_db()
    assert (row.state, in_force()) == ("overtaken", FIRST)
    assert "no longer has the required role" in row.last_problem


def test_words_from_before_a_lost_role_loosen_nothing(codes, keeper):
    ada, ben = keeper("treasury", "ada"), keeper("treasury", "ben")
    agree(codes, ben, propose(codes, ada, LOOSER, now=codes.now), now=codes.now)
    type(ada).objects.filter(pk=ada.pk).update(words_from=codes.now + timedelta(hours=1))
    workflow.review(now=codes.now + DAY)
    assert in_force() == FIRST


def test_the_database_takes_no_publication_by_one_person(codes, keeper):
    row = propose(codes, keeper("treasury", "ada"), TIGHTER, now=codes.now)
    for columns in ({"state": "published"}, {"content": ruleset.as_json(LOOSER)}):
        with pytest.raises(IntegrityError), transaction.atomic():
            PolicyChange.objects.filter(pk=row.pk).update(**columns)


def test_open_requests_are_named_before_and_judged_again_after(codes, keeper, operator):
    now = codes.now
    held, waiting = rows.held(operator, now=now), rows.submitted(operator, to="review", now=now)
    Withdrawal.objects.update(next_action_at=now + timedelta(hours=1), quote_value=Decimal(5))
    found = {each.reference: each.sentence for each in open_requests.requests_touched_by(TIGHTER)}
    assert found[held.reference] == "the funds will be released; the payout can be requested again"
    assert found[waiting.reference] == "approvals will start again: 2 approvals required"
    ada, ben = keeper("treasury", "ada"), keeper("treasury", "ben")
    agree(codes, ben, propose(codes, ada, TIGHTER, now=now), now=now)
    assert set(Withdrawal.objects.values_list("next_action_at", flat=True)) == {now}
