"""Between the request and the hold: the exchange's reads decide whether it goes on, waits or ends."""

from datetime import timedelta
from decimal import Decimal

import pytest

from desk import clock
from exchange_ops.keys import store as keys
from exchange_ops.keys.models import ApiKey
from exchange_ops.market.models import Currency
from exchange_ops.policy import freezes
from exchange_ops.policy.models import PolicyVersion, QuorumTier
from exchange_ops.wire.catalogue import Right
from exchange_ops.withdrawals.decisions import policy_evaluation
from exchange_ops.withdrawals.decisions.intent import Intent
from exchange_ops.withdrawals.models import Withdrawal
from exchange_ops.withdrawals.steps import holding
from tests import trail

pytestmark = [pytest.mark.django_db(transaction=True)]


def own_address(walk, currency="BTC"):
    client = keys.client_for(walk.account, Right.PAYMENTS)
    try:
        return client.call("get_deposit_address", currency=currency).address
    finally:
        client.close()


def test_an_address_of_our_own_ends_it_before_anything_is_sent(walk):
    row = walk.until(walk.request(address=own_address(walk)), "cancelled")
    assert row.last_problem == "The address belongs to this account: use a transfer instead."
    assert row.events.last().event == "checks_failed"
    assert walk.calls() == []


@pytest.mark.parametrize("operation", ["is_own_address", "estimate_withdrawal"])
@pytest.mark.parametrize(
    "fault",
    [{"kind": "drop_before"}, {"kind": "html"}, {"kind": "status", "status": 503}, {"kind": "refuse", "code": 1003}],
)
def test_checks_that_can_not_be_made_are_made_later(walk, operation, fault):
    walk.fault(operation, **fault, times=99)
    row = walk.step(walk.request())
    assert row.state == "draft"
    assert row.last_problem.startswith("Checks not completed")
    assert row.next_action_at > clock.now()
    walk.heal()
    walk.until(row, "queued")


def test_a_refused_check_ends_it(walk):
    walk.fault("estimate_withdrawal", "refuse", code=600)
    row = walk.step(walk.request())
    assert (row.state, row.next_action_at) == ("cancelled", None)
    assert "600" in row.last_problem


@pytest.mark.parametrize("fee", ["-1", "NaN", "many"])
def test_a_fee_that_makes_no_sense_does_not_go_on(walk, fee):
    walk.fault("estimate_withdrawal", "echo_differs", field="fee", value=fee)
    assert walk.step(walk.request()).state in {"draft", "cancelled"}
    assert walk.calls() == []


def test_a_currency_that_was_closed_meanwhile(walk):
    row = walk.request()
    Currency.objects.filter(code="BTC").update(payout_enabled=False)
    assert walk.step(row).last_problem == "The exchange has suspended BTC payouts."


def test_a_currency_closed_while_it_waits_keeps_it_waiting(walk):
    row = walk.until(walk.request(), "queued")
    Currency.objects.filter(code="BTC").update(payout_enabled=False)
    row = walk.step(row)
    assert (row.state, walk.calls()) == ("queued", [])
    Currency.objects.filter(code="BTC").update(payout_enabled=True)
    walk.until(row, "held")


def test_without_a_key_it_waits_and_says_so(walk):
    ApiKey.objects.update(active=False)
    row = walk.step(walk.request())
    assert row.state == "draft"
    assert "no active key" in row.last_problem


def test_every_attempt_of_every_payout_has_a_tag_of_its_own():
    pairs = [(number, attempt) for number in (1, 11, 111) for attempt in (1, 11, 111)]
    assert len({holding.tag(withdrawal_id=number, attempt=attempt) for number, attempt in pairs}) == len(pairs)


def test_two_equal_requests_are_held_one_after_the_other(walk):
    first, second = walk.until(walk.request(), "queued"), walk.until(walk.request(), "queued")
    walk.fault("create_withdrawal", "drop_before")
    assert walk.step(first).state == "hold_unknown"
    second = walk.step(second)
    assert (second.state, len(walk.calls())) == ("queued", 1)
    assert f"{first.reference} is an identical request in progress" in second.last_problem
    walk.later(minutes=63)
    walk.until(first, "lapsed")
    walk.until(second, "held")


@pytest.mark.parametrize(("code", "says"), [(20001, "20001"), (10001, "10001"), (403, "403"), (600, "600")])
def test_a_hold_refused_by_the_exchange_is_an_end_with_its_code(walk, code, says):
    row = walk.until(walk.request(), "queued")
    walk.fault("create_withdrawal", "refuse", code=code)
    row = walk.step(row)
    assert (row.state, row.decision) == ("refused", "none")
    assert says in row.last_problem
    assert walk.payouts() == []
    assert trail.problems() == []


def test_new_rules_are_applied_before_the_hold(walk):
    row = walk.until(walk.request(), "queued")
    digest = row.digest
    newer = PolicyVersion.objects.create(number=2, published_at=clock.now())
    QuorumTier.objects.create(policy=newer, up_to=None, approvals=2, mode="approve_then_hold")
    row = walk.step(row)
    assert (row.state, row.quorum_required, row.policy_version) == ("review", 2, 2)
    assert row.digest != digest
    walk.approve(row)
    third = PolicyVersion.objects.create(number=3, published_at=clock.now())
    QuorumTier.objects.create(policy=third, up_to=None, approvals=1, mode="hold_then_approve")
    row = walk.step(row)
    assert (row.state, row.quorum_required) == ("review", 1), "who waits for approvals goes on waiting for them"
    assert walk.calls() == []


def test_rules_that_want_fresher_prices_take_an_older_one_for_unknown(walk):
    strict = PolicyVersion.objects.create(number=2, published_at=clock.now(), value_max_age_s=60)
    QuorumTier.objects.create(policy=strict, up_to=Decimal(10_000), approvals=1, mode="hold_then_approve")
    QuorumTier.objects.create(policy=strict, up_to=None, approvals=3, mode="hold_then_approve")
    payment = Intent(account=walk.account, currency="BTC", amount=Decimal("0.05"))
    fresh, _ = policy_evaluation.verdict_on(payment, now=clock.now())
    older, kept = policy_evaluation.verdict_on(payment, now=clock.now() + timedelta(seconds=90))
    assert (fresh.approvals, older.approvals, kept["quote_value"]) == (1, 3, None)
    assert kept["policy_trace"][-1] == "The last price is older than 60 seconds."


def test_while_frozen_nothing_is_held_and_after_the_thaw_it_goes_on(walk):
    row = walk.until(walk.request(), "queued")
    frozen = freezes.freeze(person=None, reason="A drill", account=walk.account, now=clock.now())
    row = walk.step(row)
    assert (row.state, walk.calls()) == ("queued", [])
    for person in walk.approvers[:2]:
        thaw(walk, frozen, person)
    assert walk.fresh(row).next_action_at <= clock.now()
    walk.until(row, "held")


def thaw(walk, frozen, person):
    return freezes.thaw(
        freeze_id=frozen.pk,
        person=person,
        answer=walk.answer(person),
        reason="The drill is over",
        session_key="session",
        now=clock.now(),
    )


def test_approvals_given_before_a_freeze_are_void_after_it(walk):
    row = walk.until(walk.request(amount=Decimal(20)), "review")
    walk.approve(row)
    frozen = freezes.freeze(person=None, reason="A drill", account=walk.account, now=clock.now())
    for person in walk.approvers[:2]:
        thaw(walk, frozen, person)
    before = Withdrawal.objects.get(pk=row.pk).digest
    row = walk.step(row)
    assert row.digest != before
    from exchange_ops.withdrawals.decisions import approvals

    assert approvals.current(row).count() == 0
