"""Rules for payouts as values: the strictest decides in any order, none widens another, and what loosens is marked."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exchange_ops.policy import outgoing, payout_comparison, payout_judging, payout_rules
from exchange_ops.policy.outgoing import Group
from exchange_ops.policy.payout_judging import Payout, Total
from exchange_ops.policy.payout_rules import PayoutRule

NOON = datetime(2026, 3, 4, 12, 30, tzinfo=UTC)
RATES = {"BTC": Decimal(50_000), "USD": Decimal(1), "DOGE": None}
ROLES = {1: {"operator"}, 2: {"operator", "treasury"}}

accounts, people, currencies = st.sampled_from([1, 2]), st.sampled_from([1, 2]), st.sampled_from(sorted(RATES))
figures = st.integers(0, 6).map(lambda power: Decimal(10) ** power)


@st.composite
def rules(draw):
    measure = draw(st.sampled_from(sorted(payout_rules.MEASURES)))
    hours = draw(st.tuples(st.integers(0, 23), st.integers(0, 23)).filter(lambda pair: pair[0] != pair[1]))
    most = draw(figures)
    role = draw(st.sampled_from(["", "operator", "treasury"]))
    needs_currency = measure == payout_rules.AMOUNT
    return PayoutRule(
        measure,
        most=None
        if measure in payout_rules.WITHOUT_FIGURE
        else min(most, Decimal(100))
        if measure in payout_rules.SHARES
        else most,
        window_h=draw(st.sampled_from([*payout_rules.WINDOWS_H])) if measure in payout_rules.OVER_TIME else 0,
        hours=hours if measure == payout_rules.HOURS else None,
        approvals=draw(st.integers(0, 3)),
        account=draw(st.none() | accounts),
        currency=draw(currencies if needs_currency else st.just("") | currencies),
        person=None if role else draw(st.none() | people),
        role=role,
    )


groups = st.builds(
    Group,
    account=accounts,
    currency=currencies,
    person=st.none() | people,
    is_same=st.booleans(),
    window_h=st.sampled_from([0, *payout_rules.WINDOWS_H]),
    payouts=st.integers(1, 3),
    amount=figures,
)


@st.composite
def payouts(draw):
    others, person, account, currency, amount = (
        draw(each) for each in (st.lists(groups, max_size=6), people, accounts, currencies, figures)
    )
    own = Group(account, currency, person, True, 1, 1, amount)
    return Payout(
        account=account,
        currency=currency,
        amount=amount,
        value=None if RATES[currency] is None else amount * RATES[currency],
        at=NOON + timedelta(hours=draw(st.integers(0, 23))),
        is_first=draw(st.booleans()),
        total=outgoing.Totals(own, others, rates=lambda codes: RATES, roles=lambda: ROLES),
        person=person,
        roles=frozenset(ROLES[person]),
        fee_share=draw(st.none() | figures),
        balance_share=draw(st.none() | figures),
    )


def strictness(some, payout):
    found = payout_judging.matches(some, payout, currency="USD")
    return found[0].rule.strictness if found else 0


@given(st.lists(rules(), max_size=4), payouts())
def test_the_order_of_rules_never_matters(some, payout):
    assert len({strictness(each, payout) for each in permutations(some)}) == 1


@given(st.lists(rules(), max_size=4), rules(), payouts())
def test_no_rule_widens_what_others_allow(some, another, payout):
    assert strictness([*some, another], payout) >= strictness(some, payout)


@given(rules(), rules(), payouts())
def test_a_rule_that_is_said_to_be_stricter_is(wide, narrow, payout):
    if payout_comparison.implies(wide, narrow):
        assert strictness([wide], payout) >= strictness([narrow], payout)


@given(st.lists(rules(), max_size=4), st.lists(rules(), max_size=4), payouts())
def test_what_allows_more_is_called_looser(old, new, payout):
    differences = payout_comparison.differences(old, new, currency="USD", names={})
    if strictness(new, payout) < strictness(old, payout):
        assert any(is_looser for _, is_looser in differences)


@given(rules())
def test_a_valid_rule_has_one_text_and_comes_back_from_it(rule):
    assert list(payout_rules.problems([rule])) == []
    assert payout_rules.from_json(payout_rules.as_json(rule)) == rule
    assert payout_rules.as_json(payout_rules.from_json(payout_rules.as_json(rule))) == payout_rules.as_json(rule)
    assert payout_rules.in_words(rule, currency="USD", names={}).endswith(".")


def payout(**changes):
    usual = {
        "account": 1,
        "currency": "BTC",
        "amount": Decimal(1),
        "value": Decimal(50_000),
        "at": NOON,
        "is_first": False,
        "total": lambda rule: Total(3, Decimal("62000.001")),
        "person": 1,
        "roles": frozenset({"operator"}),
        "fee_share": Decimal("0.5"),
        "balance_share": Decimal(40),
    }
    return Payout(**usual | changes)


@pytest.mark.parametrize(
    ("rule", "changes", "sentence"),
    [
        (
            PayoutRule("total", Decimal(50_000), 24, approvals=3),
            {},
            "3 approvals required: total value in 24 hours 62,000.01 USD, limit 50,000 USD (policy v2, rule 1).",
        ),
        (
            PayoutRule("count", Decimal(2), 1),
            {},
            "number of payouts in 1 hour 3, limit 2 (policy v2, rule 1).",
        ),
        (
            PayoutRule("value", Decimal(1), approvals=2),
            {"value": None},
            "2 approvals required: value unknown, limit 1 USD (policy v2, rule 1).",
        ),
        (PayoutRule("amount", Decimal("0.5"), currency="BTC"), {}, "amount 1 BTC, limit 0.5 BTC (policy v2, rule 1)."),
        (
            PayoutRule("first", approvals=2),
            {"is_first": True},
            "2 approvals required: first payout to this recipient (policy v2, rule 1).",
        ),
        (
            PayoutRule("hours", hours=(6, 12)),
            {},
            "requested at 12:30 UTC, outside 06:00 to 12:00 UTC (policy v2, rule 1).",
        ),
        (PayoutRule("fee_share", Decimal("0.4")), {}, "network fee 0.5 %, limit 0.4 % (policy v2, rule 1)."),
        (PayoutRule("balance_share", Decimal(25)), {}, "share of the balance 40 %, limit 25 % (policy v2, rule 1)."),
    ],
)
def test_a_rule_names_the_figures_that_it_saw(rule, changes, sentence):
    (found,) = payout_judging.matches([rule], payout(**changes), currency="USD")
    assert found.sentence(2) == sentence
    assert payout_judging.matches([rule], payout(**changes), currency="USD") == [found]


@pytest.mark.parametrize(
    "rule",
    [
        PayoutRule("total", Decimal(62_001), 24),
        PayoutRule("count", Decimal(3), 24),
        PayoutRule("value", Decimal(50_000)),
        PayoutRule("first"),
        PayoutRule("hours", hours=(12, 13)),
        PayoutRule("hours", hours=(22, 13)),
        PayoutRule("value", Decimal(0), account=2),
        PayoutRule("value", Decimal(0), currency="ETH"),
        PayoutRule("value", Decimal(0), person=2),
        PayoutRule("value", Decimal(0), role="treasury"),
    ],
)
def test_what_is_not_exceeded_or_not_covered_passes(rule):
    assert payout_judging.matches([rule], payout(), currency="USD") == []


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        (PayoutRule("price", Decimal(1)), "choose what it measures."),
        (PayoutRule("value", Decimal(1), approvals=10), "require 1 to 9 approvals, or reject."),
        (PayoutRule("total", Decimal(1)), "choose 1 hour, 24 hours, 7 days or 30 days."),
        (PayoutRule("value", Decimal(1), 24), "only totals and numbers of payouts have a window."),
        (PayoutRule("hours"), "enter the hours from and until which requests pass."),
        (PayoutRule("hours", hours=(8, 24)), "enter full hours between 0 and 23."),
        (PayoutRule("hours", hours=(8, 8)), "the hours must begin and end at different times."),
        (PayoutRule("value"), "enter a limit."),
        (PayoutRule("first", Decimal(1)), "this kind of rule has no limit."),
        (PayoutRule("amount", Decimal(1)), "choose the currency of the amount."),
        (PayoutRule("value", Decimal(1), person=1, role="operator"), "choose a person or a role, not both."),
        (PayoutRule("count", Decimal("1.5"), 24), "enter a whole number of payouts."),
        (PayoutRule("fee_share", Decimal(101)), "enter at most 100 percent."),
        (
            PayoutRule("value", Decimal(-1)),
            "enter a limit of zero or more, with at most 36 digits before the decimal point and 24 after it.",
        ),
    ],
)
def test_what_is_wrong_with_a_rule_is_named(rule, sentence):
    assert list(payout_rules.problems([rule])) == [f"Payout rule 1: {sentence}"]


def test_a_rule_twice_is_named():
    rule = PayoutRule("first", approvals=2)
    assert list(payout_rules.problems([rule, rule])) == ["Payout rule 2 is the same as rule 1."]


def test_what_changed_is_said_in_words_and_what_loosens_is_marked():
    old = [PayoutRule("total", Decimal(50_000), 24, approvals=3), PayoutRule("first", approvals=2, account=1)]
    new = [PayoutRule("total", Decimal(60_000), 24, approvals=3), PayoutRule("count", Decimal(5), 1, person=7)]
    names = {"account:1": "Main", "person:7": "olga"}
    assert list(payout_comparison.differences(old, new, currency="USD", names=names)) == [
        (
            "Payouts: total value in 24 hours above 60,000 USD: 3 approvals required "
            "(was: total value in 24 hours above 50,000 USD: 3 approvals required).",
            True,
        ),
        ("Removed: Payouts from Main: first payout to a recipient: 2 approvals required.", True),
        ("New: Payouts requested by olga: number of payouts in 1 hour above 5: rejected.", False),
    ]
    assert not any(is_looser for _, is_looser in payout_comparison.differences(new, [*new], currency="USD", names={}))


def test_rules_that_change_nothing_or_that_nobody_can_meet_are_named():
    some = [
        PayoutRule("total", Decimal(10), 720),
        PayoutRule("total", Decimal(50), 24, approvals=2),
        PayoutRule("first", approvals=1),
        PayoutRule("value", Decimal(5), approvals=4),
    ]
    warnings = payout_comparison.lint(some, fewest=1, approvers={None: 3})
    assert list(warnings) == [
        "Rule 2 makes no difference: rule 1 is at least as strict.",
        "Rule 3 makes no difference: every tier requires 1 approval or more.",
        "Rule 4 requires 4 approvals, but only 3 people can approve.",
    ]
