"""Two at once on a sub-account: one request is recorded, one call is sent, and whoever is late hears why."""

from datetime import timedelta

import pytest

from desk.people import totp
from exchange_ops.keys import store as keys
from exchange_ops.subaccounts import account_status, workflow
from exchange_ops.subaccounts.models import SubAccountAction
from tests import trail
from tests.exchange_ops.subaccounts.subaccount_desk import opened
from tests.exchange_ops.withdrawals.test_concurrency import at_once
from tests.exchange_ops.withdrawals.walks import TOTP_SECRET

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.engine("two transactions at once")]


@pytest.fixture
def desk(transactional_db, account, demo_keys, sandbox, make_person):
    return opened(account, sandbox, make_person("admin"))


def asking(desk, step, **changes):
    """A freeze ready to be asked for: its code is made beforehand. A refusal is given back as its sentence."""
    now = desk.now
    arguments = {
        "kind": "freeze",
        "account": desk.account,
        "exchange_ids": [7001, 7002],
        "person": desk.admin,
        "reason": "Its trader left",
        "digest": account_status.digest_of("freeze", [desk.sub(7001), desk.sub(7002)]),
        "answer": {"kind": "totp", "code": totp.code_at(TOTP_SECRET, totp.step_at(now) + step)},
        "request_key": "one-key-of-a-test",
        "session_key": "session-of-a-test",
        "now": now,
    }

    def ask():
        try:
            return [row.pk for row in workflow.ask_status(**(arguments | changes))]
        except workflow.CannotAsk as problem:
            return str(problem)

    return ask


def test_the_same_form_sent_twice_at_once_is_one_request(desk):
    first, second = at_once(asking(desk, 0), asking(desk, 1))
    assert first == second
    assert SubAccountAction.objects.count() == 2
    assert not trail.problems()


def test_of_two_admins_who_freeze_at_once_one_is_told_that_it_is_under_way(desk, make_person):
    other = make_person("admin", username="admin2")
    totp.enrol(other, TOTP_SECRET)
    answers = at_once(asking(desk, 0), asking(desk, 0, person=other, request_key="another-key-of-a-test"))
    (rows,) = [answer for answer in answers if isinstance(answer, str)]
    assert "in progress" in rows or "another person" in rows
    assert SubAccountAction.objects.count() == 2
    assert SubAccountAction.objects.values("requested_by").distinct().count() == 1


def test_two_sweeps_send_one_call_for_each(desk):
    asking(desk, 0)()
    later = desk.now + timedelta(seconds=1)

    def sweep():
        return workflow.sweep(now=later, client_for=keys.client_for)

    at_once(sweep, sweep)
    assert desk.calls() == [("freeze_subaccounts", True)] * 2
    assert set(SubAccountAction.objects.values_list("attempt", flat=True)) == {1}


def test_taken_back_while_a_worker_claims_it_is_either_sent_or_not(desk):
    for _ in range(3):
        (action,) = desk.ask("freeze")
        now = desk.now + timedelta(seconds=1)

        def take_back(number=action.pk, moment=now):
            try:
                return workflow.take_back(action_id=number, person=desk.admin, now=moment).state
            except workflow.CannotAsk:
                return "too late"

        def advance(number=action.pk, moment=now):
            return workflow.advance(number, now=moment, client_for=keys.client_for)

        before = len(desk.calls())
        ended, _ = at_once(take_back, advance)
        action.refresh_from_db()
        assert (ended, len(desk.calls()) - before) in {("cancelled", 0), ("too late", 1)}
        assert (action.state == "cancelled") == (ended == "cancelled")
        if ended == "too late":
            desk.until(action, "done")
            desk.until(desk.ask("activate")[0], "done")
