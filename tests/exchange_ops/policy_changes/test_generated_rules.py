"""Generated rules: a back-test says what judging said, and a hundred rules cost no more queries than a few.

A back-test does not know the balance of the time, so no rule that is tested here asks for it. That their order never
matters and that none widens another is in policy/test_payout_rules.py.
"""

import re
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from random import Random

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from desk import clock
from exchange_ops.policy import payout_rules, quorum, ruleset
from exchange_ops.policy.groups import needs as group_needs
from exchange_ops.policy.models import PolicyPayoutRule, PolicyVersion, QuorumTier
from exchange_ops.policy.payout_rules import PayoutRule
from exchange_ops.policy_changes import back_test
from exchange_ops.withdrawals.decisions import policy_evaluation
from exchange_ops.withdrawals.decisions.intent import Intent
from tests.exchange_ops import rows
from tests.exchange_ops.policy_changes.keeping import FIRST
from tests.exchange_ops.withdrawals.test_recipients import paid

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("payable")]
MEASURES = sorted(payout_rules.MEASURES.keys() - {payout_rules.BALANCE_SHARE})
NOTHING_IS_PAID = replace(FIRST, tiers=())
PAYOUTS, RULES, FEE = 10, 12, Decimal("0.001")


def generated(dice, people, account):
    """A rule of any measure; figures are near what the payouts have."""
    measure = dice.choice(MEASURES)
    figures = {payout_rules.AMOUNT: (1, 4), payout_rules.FEE_SHARE: (0, 1)} | dict.fromkeys(payout_rules.COUNTS, (1, 4))
    hours, most = dice.sample(range(24), 2), Decimal(dice.randint(*figures.get(measure, (400, 6_000))))
    return PayoutRule(
        measure,
        most=None if measure in payout_rules.WITHOUT_FIGURE else most,
        window_h=dice.choice([*payout_rules.WINDOWS_H]) if measure in payout_rules.OVER_TIME else 0,
        hours=(hours[0], hours[1]) if measure == payout_rules.HOURS else None,
        approvals=dice.randint(0, 5),
        account=dice.choice([None, account.pk]),
        currency="BCH" if measure == payout_rules.AMOUNT else dice.choice(["", "BCH", "BTC"]),
        person=dice.choice([None, *(person.pk for person in people)]),
    )


def publish(rules, number):
    policy = PolicyVersion.objects.create(number=number, note="Generated.", published_at=clock.now())
    for tier in rules.tiers:
        QuorumTier.objects.create(policy=policy, up_to=tier.up_to, approvals=tier.approvals, mode=tier.mode)
    for place, rule in enumerate(rules.payouts, 1):
        PolicyPayoutRule.of(rule, policy=policy, place=place).save(force_insert=True)
    assert ruleset.rules_of(quorum.current()).payouts == rules.payouts


def said(sentence):
    """The sentence without the number of the version and how a rejection begins."""
    return re.sub(r"policy v\d+", "policy", sentence.removeprefix("Not paid: "))


@pytest.mark.parametrize("seed", [3, 6, 7])
def test_a_back_test_says_what_judging_said(operator, treasury, make_person, monkeypatch, seed):
    dice, now, account = Random(seed), clock.now(), rows.account()
    people = [operator, make_person("operator", username="other")]
    rules = replace(FIRST, payouts=tuple(dict.fromkeys(generated(dice, people, account) for _ in range(RULES))))
    publish(rules, quorum.current().number + 1)
    verdicts = {}
    for ago in sorted((dice.choice([0.5, 3, 20, 80]) * dice.random() + 0.01 for _ in range(PAYOUTS)), reverse=True):
        at = now - timedelta(days=ago)
        monkeypatch.setattr(clock, "now", lambda at=at: at)
        rows.price(now=at)
        person = dice.choice(people)
        what = {"amount": Decimal(dice.randint(1, 6)), "payment_id": str(dice.randrange(3))}
        intent = Intent(account=account, currency="BCH", address=rows.ADDRESS, fee=FEE, requester=person, **what)
        verdict, _ = policy_evaluation.verdict_on(intent, now=at)
        verdicts[paid(person, treasury, **what).reference] = verdict
    monkeypatch.setattr(clock, "now", lambda: now)
    rows.price(now=now)
    tested = back_test.run(rules, in_force=NOTHING_IS_PAID, person=treasury, now=now)
    assert (tested.count, tested.rejected, tested.more) == (PAYOUTS, [], [])
    allowed = {case.past.reference: case for case in tested.fewer}
    assert {reference for reference, verdict in verdicts.items() if not verdict.blocked} == allowed.keys()
    for reference, case in allowed.items():
        verdict = verdicts[reference]
        assert case.after == group_needs.approvals_in_words(verdict.approvals, {})
        assert said(case.sentence) == said(verdict.trace[0])


def test_a_hundred_rules_are_judged_by_as_many_queries_as_one_of_each_measure(operator, make_person):
    dice, account, each = Random(1), rows.account(), {}
    intent = Intent(account=account, currency="BCH", address=rows.ADDRESS, amount=Decimal(1), payment_id="", fee=FEE)
    while len(each) < len(MEASURES):
        rule = generated(dice, [], account)
        each.setdefault(rule.measure, rule)
    many = dict.fromkeys(each.values())
    while len(many) < payout_rules.MOST_RULES:
        many[generated(dice, [operator], account)] = None

    def queries(some, number):
        publish(replace(FIRST, payouts=tuple(replace(rule, approvals=rule.approvals or 1) for rule in some)), number)
        with CaptureQueriesContext(connection) as seen:
            policy_evaluation.verdict_on(intent, now=clock.now())
        return len(seen)

    queries(each.values(), 2)  # what is read once in a process is read now
    assert queries(each.values(), 3) == queries(many, 4) <= 25
