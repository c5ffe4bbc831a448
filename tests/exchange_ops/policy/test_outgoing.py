"""What a rule over time adds up: the judged payout, and of all others those that it covers in its window."""

from decimal import Decimal

import pytest

from exchange_ops.policy.outgoing import Group, Totals
from exchange_ops.policy.payout_judging import Total
from exchange_ops.policy.payout_rules import PayoutRule

JUDGED = Group(account=1, currency="BTC", person=7, is_same=True, window_h=1, payouts=1, amount=Decimal(2))
COVERED = JUDGED._replace(window_h=24, payouts=3, amount=Decimal(5))


def total(rule, other):
    roles = {7: ("operator",), 8: ("treasury",)}
    return Totals(JUDGED, [other], rates=lambda codes: dict.fromkeys(codes, Decimal(10)), roles=lambda: roles)(rule)


@pytest.mark.parametrize(
    ("measure", "scope", "outside"),
    [
        ("total", {}, {"window_h": 168}),
        ("total", {}, {"window_h": 0}),
        ("total", {"account": 1}, {"account": 2}),
        ("total", {"currency": "BTC"}, {"currency": "BCH"}),
        ("total", {"person": 7}, {"person": 8}),
        ("total", {"role": "operator"}, {"person": 8}),
        ("recipient_total", {}, {"is_same": False}),
    ],
)
def test_a_rule_counts_what_it_covers_to_the_end_of_its_window_and_nothing_else(measure, scope, outside):
    rule = PayoutRule(measure, Decimal(100), 24, **scope)
    assert total(rule, COVERED) == Total(4, Decimal(70))
    assert total(rule, COVERED._replace(**outside)) == Total(1, Decimal(20))
