"""A set of rules as a value: what is wrong with one, and how two differ, in words and in which direction."""

from dataclasses import replace
from decimal import Decimal

import pytest

from exchange_ops.policy import comparison, ruleset
from exchange_ops.policy.fee_margins import FeeMargin
from exchange_ops.policy.modes import APPROVE_THEN_HOLD, HOLD_THEN_APPROVE
from exchange_ops.policy.ruleset import NO_RULES, Limit, Tier
from tests.exchange_ops.policy_changes.keeping import FIRST

NAMES = {"person:1": "olga", "account:2": "Main desk"}


def said(new, old=FIRST):
    found = comparison.differences(old, new, names=NAMES)
    return [("looser" if each.is_looser else "tighter", each.sentence) for each in found]


def with_tiers(*tiers):
    return replace(FIRST, tiers=tiers)


def test_rules_come_back_from_what_was_kept_of_them():
    full = replace(FIRST, price_distance=Decimal("2.50"), limits=(Limit("order", Decimal("0.1"), 1, None),))
    assert ruleset.from_json(ruleset.as_json(full)) == full
    assert ruleset.as_json(replace(full, price_distance=Decimal("2.5"))) == ruleset.as_json(full)


def test_equal_rules_differ_in_nothing():
    assert said(FIRST) == []
    assert said(with_tiers(*FIRST.tiers[:1], Tier(Decimal(20_000), 2, HOLD_THEN_APPROVE), *FIRST.tiers[1:])) == []


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        (
            with_tiers(Tier(Decimal(10_000), 2, HOLD_THEN_APPROVE), *FIRST.tiers[1:]),
            [("tighter", "Up to 10,000 USD: 2 approvals (was 1).")],
        ),
        (
            with_tiers(Tier(Decimal(20_000), 1, HOLD_THEN_APPROVE), *FIRST.tiers[1:]),
            [("looser", "Above 10,000 to 20,000 USD: 1 approval (was 2).")],
        ),
        (with_tiers(*FIRST.tiers[:2]), [("tighter", "Above 250,000 USD: no payouts allowed.")]),
        (
            with_tiers(*FIRST.tiers[:2], Tier(None, 4, HOLD_THEN_APPROVE)),
            [
                ("tighter", "Above 250,000 USD: 4 approvals (was 3)."),
                ("looser", "Above 250,000 USD: funds are reserved before approval."),
            ],
        ),
        (
            replace(FIRST, value_max_age_s=600),
            [("looser", "Maximum price age: 600 s (was 300 s).")],
        ),
        (
            replace(FIRST, price_distance=Decimal("2.5")),
            [
                ("tighter", "Order price off market: at most 2.5 % (was 5 %)."),
                (
                    "tighter",
                    "Order price off market: anything above is rejected (was: explicit confirmation).",
                ),
            ],
        ),
        (
            replace(FIRST, price_distance=Decimal(8), price_beyond="approve"),
            [
                ("looser", "Order price off market: at most 8 % (was 5 %)."),
                (
                    "tighter",
                    "Order price off market: anything above needs approval (was: explicit confirmation).",
                ),
            ],
        ),
        (
            replace(FIRST, limits=(Limit("open", Decimal(20), 1, 2, "confirm"), Limit("open", Decimal(50)))),
            [
                (
                    "tighter",
                    "Open orders by olga in Main desk: at most 20 (above: needs explicit confirmation) (was no limit).",
                ),
                ("tighter", "Open orders by any user: at most 50 (was no limit)."),
            ],
        ),
        (
            replace(FIRST, limits=(Limit("transfer", Decimal(500), 1, 2),)),
            [("tighter", "Each transfer by olga in Main desk: at most 500 USD (was no limit).")],
        ),
    ],
)
def test_each_difference_is_said_with_its_direction(new, expected):
    assert said(new) == expected


def test_a_wider_margin_for_fees_is_looser_and_a_narrower_one_tighter():
    wide = replace(FIRST, fee_margin=FeeMargin(factor=Decimal("2.5"), floor=Decimal(8)))
    assert said(wide) == [
        ("looser", "Network fee limit: 2.5 times the estimate (was 1.5 times)."),
        ("looser", "Fixed network fee margin: 8 USD above the estimate (was 5 USD)."),
    ]
    assert [direction for direction, _ in said(FIRST, wide)] == ["tighter", "tighter"]


def test_a_limit_that_goes_or_grows_is_looser():
    limited = replace(FIRST, limits=(Limit("order", Decimal(100)),))
    assert said(FIRST, limited) == [("looser", "Each order by any user: no limit (was 100 USD).")]
    grown = replace(FIRST, limits=(Limit("order", Decimal(101)),))
    assert said(grown, limited)[0][0] == "looser"
    assert said(limited, grown)[0][0] == "tighter"


def test_what_becomes_of_more_has_a_direction_and_drafts_of_before_refuse_it():
    refused = replace(FIRST, limits=(Limit("order", Decimal(100)),))
    approved = replace(FIRST, limits=(Limit("order", Decimal(100), beyond="approve"),))
    sentence = "Each order by any user: anything above needs approval (was: rejected)."
    assert said(approved, refused) == [("looser", sentence)]
    assert said(refused, approved)[0][0] == "tighter"
    before = ruleset.as_json(refused)
    before = {name: value for name, value in before.items() if name != "price_beyond"}
    before["limits"] = [limit[:4] for limit in before["limits"]]
    assert ruleset.from_json(before) == refused


def test_the_first_rules_of_all_allow_what_nothing_allowed():
    assert {direction for direction, _ in said(FIRST, NO_RULES)} == {"looser"}


@pytest.mark.parametrize(
    ("odd", "sentence"),
    [
        (with_tiers(), "at least one tier"),
        (with_tiers(FIRST.tiers[0], FIRST.tiers[0]), "have the same upper limit"),
        (with_tiers(FIRST.tiers[2], FIRST.tiers[2]), "have the same upper limit"),
        (with_tiers(Tier(Decimal(0), 1, HOLD_THEN_APPROVE)), "greater than zero"),
        (with_tiers(Tier(Decimal("1e40"), 1, HOLD_THEN_APPROVE)), "36 digits"),
        (with_tiers(Tier(None, 0, HOLD_THEN_APPROVE)), "A tier must require 1 to"),
        (with_tiers(Tier(None, 10, APPROVE_THEN_HOLD)), "1 to 9 approvals"),
        (with_tiers(Tier(None, 1, "pay_at_once")), "before or after funds are reserved"),
        (replace(FIRST, value_max_age_s=5), "between 10 and 3600 seconds"),
        (replace(FIRST, price_distance=Decimal(101)), "percent"),
        (replace(FIRST, limits=(Limit("order", Decimal(1)),) * 2), "the same person and account"),
        (replace(FIRST, limits=(Limit("gift", Decimal(1)),)), "orders, transfers or open orders"),
        (replace(FIRST, limits=(Limit("order", Decimal(1), beyond="shrug"),)), "what happens above the limit"),
        (replace(FIRST, price_beyond=""), "what happens above the limit"),
        (replace(FIRST, fee_margin=FeeMargin(factor=Decimal("0.9"))), "between 1 and 10 times the estimate"),
        (replace(FIRST, fee_margin=FeeMargin(floor=Decimal(-1))), "must be between 0 and 1,000"),
        (replace(FIRST, limits=(Limit("transfer", Decimal(1), beyond="approve"),)), "can only be rejected"),
        (replace(FIRST, limits=(Limit("open", Decimal("1.5")),)), "a whole number"),
        (with_tiers(*(Tier(Decimal(n), 1, HOLD_THEN_APPROVE) for n in range(1, 11))), "at most 8 tiers"),
    ],
)
def test_odd_rules_are_refused_in_words(odd, sentence):
    assert any(sentence in found for found in ruleset.problems(odd))
    assert list(ruleset.problems(FIRST)) == []
