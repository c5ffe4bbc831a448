"""The highest network fee for an estimate, by the margin of the rules."""

from decimal import Decimal

import pytest

from exchange_ops.policy import fee_margins
from exchange_ops.policy.fee_margins import FeeMargin


@pytest.mark.parametrize(
    ("estimate", "price", "highest"),
    [
        ("0.001", "100000", "0.00150"),  # half more is worth more than the floor
        ("0.0001", "3000", "0.00177"),  # 5 USD more, rounded up
        ("0.00123456", None, "0.00186"),  # without a price the factor alone
        ("0", "100", "0.0500"),
        ("0", None, "0"),
        ("26.45", "0.5", "39.7"),
    ],
)
def test_the_highest_fee_is_the_larger_of_both_rounded_up(estimate, price, highest):
    limit = FeeMargin().highest(Decimal(estimate), price=None if price is None else Decimal(price))
    assert limit == Decimal(highest)
    assert limit >= Decimal(estimate)


def test_a_margin_comes_back_from_its_json_and_older_drafts_have_the_usual_one():
    margin = FeeMargin(Decimal("2.50"), Decimal("0.00"))
    assert fee_margins.as_json(margin) == ["2.5", "0"]
    assert fee_margins.from_json(["2.5", "0"]) == margin
    assert fee_margins.from_json(None) == fee_margins.USUAL
