"""Payouts under rules over time: what counts, in every order of requests, and what an approval meets."""

import random
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from itertools import permutations

import pytest

from desk import clock
from exchange_ops.policy import quorum, ruleset
from exchange_ops.policy.models import PolicyPayoutRule, PolicyVersion, QuorumTier
from exchange_ops.policy.payout_rules import PayoutRule
from exchange_ops.shared.models import Account
from exchange_ops.transfers import policy_evaluation as transfer_evaluation
from exchange_ops.transfers.request_checks import CannotTransfer
from exchange_ops.withdrawals import deadlines, machine
from exchange_ops.withdrawals.decisions import approvals, policy_evaluation
from exchange_ops.withdrawals.models import Withdrawal
from tests.exchange_ops import rows
from tests.exchange_ops.withdrawals.test_recipients import paid

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("payable")]
OTHER = "bchreg:qpm2qsznhks23z7629mms6s4cwef74vcwv6ycwvz78"


def publish(*payout_rules):
    """A version with one tier, one approval, and these rules."""
    version = PolicyVersion.objects.create(
        number=quorum.current().number + 1, published_at=clock.now(), value_max_age_s=300
    )
    QuorumTier.objects.create(policy=version, up_to=None, approvals=1, mode="hold_then_approve")
    for place, rule in enumerate(payout_rules, 1):
        PolicyPayoutRule.of(rule, policy=version, place=place).save()
    assert ruleset.rules_of(version).payouts == payout_rules
    return version


def verdict(row):
    return policy_evaluation.evaluate(row, now=clock.now())[0]


def test_the_strictest_of_all_rules_decides_and_each_names_its_figures(operator):
    publish(
        PayoutRule("total", Decimal(10_000), 24, approvals=2),
        PayoutRule("count", Decimal(0), 1, approvals=4),
        PayoutRule("value", Decimal(1), approvals=3, account=rows.account().pk),
        PayoutRule("value", Decimal(1), account=rows.account().pk, currency="BTC"),
        PayoutRule("first", approvals=2, role="operator"),
        PayoutRule("balance_share", Decimal(1), approvals=2, person=operator.pk),
    )
    row = rows.requested(operator, now=clock.now(), amount=Decimal(25))
    version = quorum.current().number
    assert verdict(row).approvals == 4
    assert [line for line in verdict(row).trace if "rule" in line] == [
        f"4 approvals required: number of payouts in 1 hour 1, limit 0 (policy v{version}, rule 2).",
        f"3 approvals required: value 12,500 USD, limit 1 USD (policy v{version}, rule 3).",
        f"2 approvals required: total value in 24 hours 12,500 USD, limit 10,000 USD (policy v{version}, rule 1).",
        f"2 approvals required: first payout to this recipient (policy v{version}, rule 5).",
        f"2 approvals required: share of the balance 5 %, limit 1 % (policy v{version}, rule 6).",
    ]


def test_whatever_the_order_of_requests_and_checks_a_limit_is_never_exceeded(operator):
    publish(PayoutRule("total", Decimal(10_000), 24))
    steps = [(name, each) for each in (0, 1) for name in ("request", "judge")]
    for order in sorted(permutations(steps)):
        if any(order.index(("request", n)) > order.index(("judge", n)) for n in (0, 1)):
            continue
        pieces, allowed = {}, []
        for name, each in order:
            if name == "request":
                pieces[each] = rows.requested(operator, now=clock.now(), amount=Decimal("16.6"))
            elif not verdict(pieces[each]).blocked:
                allowed.append(each)
        assert len(allowed) <= 1, order
        for row in pieces.values():
            machine.move(row, event="checks_failed", to="cancelled", now=clock.now())


def test_what_counts_is_pending_or_left_within_the_window_and_is_covered(operator, treasury, make_person):
    publish(PayoutRule("total", Decimal(1_000), 24))
    rows.currency("BSV", now=clock.now())
    row = rows.requested(operator, now=clock.now(), amount=Decimal("1.5"))
    assert not verdict(row).blocked
    rows.ended(operator, now=clock.now(), amount=Decimal(1))
    assert not verdict(row).blocked, "what was released does not count"
    before = paid(operator, treasury, amount=Decimal(1), address=OTHER)
    assert verdict(row).blocked.startswith("Not paid: total value in 24 hours 1,250 USD, limit 1,000 USD (policy v")
    Withdrawal.objects.filter(pk=before.pk).update(decided_at=clock.now() - timedelta(hours=25))
    assert not verdict(row).blocked
    elsewhere = {"type": "payout", "address": OTHER, "amount": Decimal(1), "now": clock.now()}
    rows.entry(1, status="failed", **elsewhere)
    assert not verdict(row).blocked
    rows.entry(2, status="success", **elsewhere)
    assert verdict(row).blocked, "what was paid elsewhere counts"
    publish(PayoutRule("total", Decimal(1_000), 24, person=operator.pk))
    assert not verdict(row).blocked, "nobody here requested it"
    rows.currency(now=clock.now(), transfer_enabled=True)
    rows.transfer(operator, kind="to_user", now=clock.now(), amount=Decimal("0.4"))
    assert not verdict(row).blocked
    with pytest.raises(CannotTransfer, match="total value in 24 hours 1,050 USD, limit 1,000 USD"):
        rows.transfer(operator, kind="to_user", now=clock.now(), amount=Decimal("0.2"))
    publish(PayoutRule("count", Decimal(1), 24, person=operator.pk))
    assert verdict(row).blocked, "a transfer to another user leaves as well"
    publish(PayoutRule("total", Decimal(10_000), 24))
    assert not verdict(row).blocked
    rows.requested(operator, now=clock.now(), amount=Decimal(1), currency="BSV")
    assert "total value in 24 hours unknown, limit 10,000 USD" in verdict(row).blocked


def test_a_total_to_one_recipient_and_a_first_payout_know_the_spellings_of_an_address(operator, treasury):
    publish(PayoutRule("recipient_count", Decimal(1), 720, approvals=2), PayoutRule("first", approvals=3))
    row = rows.requested(operator, now=clock.now())
    assert verdict(row).approvals == 3
    rows.entry(1, type="payout", status="success", address=rows.ADDRESS.partition(":")[2], now=clock.now())
    assert verdict(row).approvals == 2, "paid before, elsewhere, in another spelling: no first payout, and the second"


def test_a_transfer_to_another_user_is_judged_and_one_within_the_company_is_not(operator):
    publish(PayoutRule("value", Decimal(1), approvals=3), PayoutRule("fee_share", Decimal(0)))
    rows.currency(now=clock.now(), transfer_enabled=True)
    leaving = rows.transfer(operator, kind="to_user", now=clock.now())
    blocked, columns = transfer_evaluation.evaluate(leaving, now=clock.now())
    assert (blocked, columns["quorum_required"]) == ("", 3)
    assert "limit 1 USD" in columns["policy_trace"][0]
    within = rows.transfer(operator, now=clock.now())
    assert transfer_evaluation.evaluate(within, now=clock.now())[1]["quorum_required"] == 0


def test_an_approval_is_refused_once_payouts_elsewhere_have_used_the_limit(operator, treasury):
    publish(PayoutRule("total", Decimal(1_000), 24))
    row = rows.held(operator, now=clock.now(), amount=Decimal("1.5"))
    rows.entry(1, type="payout", status="success", address=OTHER, amount=Decimal(1), now=clock.now())
    act = {"digest": row.digest, "answer": {}, "comment": "", "session_key": "s", "now": clock.now()}
    with pytest.raises(approvals.CannotApprove, match=r"Not approved\. Not paid: total value in 24 hours 1,250 USD"):
        approvals.approve(withdrawal_id=row.pk, person=treasury, **act)
    assert not row.approvals.exists()


def test_approvals_are_bound_to_the_rules_of_the_account_and_to_no_order_of_them(operator):
    one, two = PayoutRule("first", approvals=1), PayoutRule("value", Decimal(9_000), approvals=2)
    publish(one, two)
    row = rows.held(operator, now=clock.now())
    publish(two, one)
    assert policy_evaluation.still_holds(row), "the same rules in another order"
    second = Account.objects.create(name="Second", quote_currency="USD")
    publish(one, two, replace(one, account=second.pk))
    assert policy_evaluation.still_holds(row), "a rule about another account"
    publish(one, replace(two, most=Decimal(9_001)))
    assert not policy_evaluation.still_holds(row)


@pytest.mark.every(3, "the order of two requests and their checks comes with every commit")
@pytest.mark.parametrize("seed", range(8))
def test_no_sequence_of_requests_decisions_and_hours_pays_more_than_the_limit(operator, treasury, monkeypatch, seed):
    """Requests, checks, payments, rejections and hours in random order; in no 24 hours more than the limit was paid."""
    chance, now = random.Random(seed), clock.now()
    limit, price, day = Decimal(10_000), Decimal(500), timedelta(hours=24)
    publish(PayoutRule("total", limit, 24))
    waiting, allowed, payments = [], [], []
    for _ in range(90):
        now += timedelta(minutes=chance.choice([0, 0, 1, 90, 400]))
        monkeypatch.setattr(clock, "now", lambda now=now: now)
        rows.price(now=now)
        step = chance.choice(["request", "judge", "judge", "pay", "pay", "end"])
        if step == "request":
            waiting.append(rows.requested(operator, now=now, amount=Decimal(chance.randint(1, 9))))
        elif step == "judge" and waiting:
            row = waiting.pop(chance.randrange(len(waiting)))
            if verdict(row).blocked:
                machine.move(row, event="checks_failed", to="cancelled", now=now)
            else:
                allowed.append(submit(row, now))
        elif step == "pay" and allowed:
            row = allowed.pop(chance.randrange(len(allowed)))
            pay(row, treasury, now)
            payments.append((now, row.amount * price))
        elif step == "end" and allowed:
            row = allowed.pop(chance.randrange(len(allowed)))
            machine.move(row, event="cancelled", to="cancelled", now=now)
    assert len(payments) > 2
    for until, _ in payments:
        assert sum(value for at, value in payments if until - day < at <= until) <= limit


def submit(row, now):
    _, columns = policy_evaluation.evaluate(row, now=now, fee_estimate=Decimal("0.001"), fee_estimated_at=now)
    return machine.move(row, event="submitted", to="queued", now=now, **columns)


def pay(row, treasury, now):
    machine.move(row, event="hold_claimed", to="holding", now=now, attempt=1, tag=f"tx-{row.pk}")
    machine.move(row, event="hold_accepted", to="held", now=now, exchange_id=f"ex-{row.pk}", **deadlines.deadlines(now))
    echo = {"echo": rows.ECHO, "echo_ok": True, "fee": Decimal("0.001"), "exchange_status": "created"}
    machine.move(row, event="echo_agrees", to="held", now=now, **echo)
    decision = {"decision": "commit", "decided_by": treasury, "decided_at": now}
    machine.move(row, event="quorum_reached", to="committing", now=now, actor=treasury, **decision)
    machine.move(row, event="commit_claimed", to="committing", now=now, put_count=1)
    machine.move(row, event="commit_confirmed", to="committed", now=now)


def test_rules_written_past_the_desk_stop_payouts(operator):
    publish()
    row = rows.requested(operator, now=clock.now())
    assert not verdict(row).blocked
    PolicyPayoutRule.objects.bulk_create([PolicyPayoutRule.of(PayoutRule("first"), policy=quorum.current(), place=1)])
    assert verdict(row).blocked
