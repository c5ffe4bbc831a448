"""What a payment buys in a crowdsale: worked examples, and the same computed anew with exact fractions."""

from fractions import Fraction
from math import floor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.chain.tokens.properties_sales import WEEK_S, bonus, purchase
from sandbox.chain.tokens.properties_state import Sale

UNIT = 10**8
END_S = 1_800_000_000


def sale(**more: int) -> Sale:
    usual = {"property_id": 3, "desired_id": 1, "price": 2 * UNIT, "early_bonus": 0, "starts_s": 0}
    return Sale(**{**usual, "deadline_s": END_S, "total": 1_000, "precision": 0, **more})


@pytest.mark.parametrize(
    ("terms", "amount", "left_s", "expected"),
    [
        ({}, 10 * UNIT, 0, (10 * UNIT, 20, False)),
        ({}, 7 * UNIT // 10, 0, (UNIT // 2, 1, False)),  # 1.4 tokens: the price of 0.4 is given back
        ({}, 3 * UNIT // 10, 0, (0, 0, False)),
        ({}, 500 * UNIT, 0, (500 * UNIT, 1_000, True)),
        ({}, 600 * UNIT, 0, (500 * UNIT, 1_000, True)),
        ({"sold": 999}, 10 * UNIT, 0, (UNIT // 2, 1, True)),
        ({"early_bonus": 10}, 10 * UNIT, WEEK_S, (10 * UNIT, 22, False)),
        ({"early_bonus": 10}, 10 * UNIT, WEEK_S // 2, (10 * UNIT, 21, False)),
        ({"early_bonus": 10}, 10 * UNIT, -5, (10 * UNIT, 20, False)),
        ({"early_bonus": 255}, 10 * UNIT, 4 * WEEK_S, (10 * UNIT, 224, False)),
        ({"precision": 8, "total": 10**15, "price": 1}, 10 * UNIT, 0, (10 * UNIT, 10, False)),
        ({"precision": 3, "total": 10**9, "price": 3 * UNIT // 2}, 12345, 0, (0, 0, False)),
        ({"precision": 3, "total": 10**9, "price": 3 * UNIT // 2}, 123_456_789, 0, (123_400_000, 1_851, False)),
        # One base unit would buy a million tokens, and ten remain.
        ({"price": 10**16, "precision": 6, "total": 10}, 5, 0, (0, 0, True)),
        # One base unit buys exactly what remains.
        ({"price": 10**16, "precision": 1, "total": 10}, 5, 0, (1, 10, True)),
    ],
)
def test_worked_examples(terms, amount, left_s, expected):
    assert tuple(purchase(sale(**terms), amount, END_S - left_s)) == expected


def test_the_bonus_grows_with_every_second_before_the_deadline():
    early = sale(early_bonus=1)
    seen = [bonus(early, END_S - left_s) for left_s in (0, 1, 2, 60, WEEK_S - 1, WEEK_S, 52 * WEEK_S)]
    assert seen == sorted(set(seen))
    assert (seen[0], seen[5], seen[6]) == (10**12, 101 * 10**10, 152 * 10**10)
    assert bonus(early, END_S + 1) == 10**12


def computed_anew(each: Sale, amount: int, time_s: int) -> tuple[int, int, bool]:
    """The rule of the supplement with exact fractions, rounded down only where it is."""
    parts, share, left_s = 10**each.precision, 10**12, max(0, each.deadline_s - time_s)
    weeks = floor(Fraction(left_s * share, 604_800))
    grown = floor(share + Fraction(weeks * each.early_bonus, 100))
    rate = Fraction(each.price, UNIT)

    def worth(paid: int) -> int:
        return floor(parts * paid * grown * rate)

    remaining = each.total - each.sold
    if floor(Fraction(worth(1), share * UNIT)) > remaining:
        return 0, 0, True
    units = floor(Fraction(worth(amount), share * UNIT))
    if units < remaining:
        excess = worth(amount) - units * share * UNIT
        return amount - floor(excess / (grown * rate * parts)), units, False
    return floor(Fraction(amount * share, floor(Fraction(units * share, remaining)))), remaining, True


SALES = st.builds(
    lambda sold, **terms: sale(**terms, sold=min(int(terms["total"] * sold), terms["total"] - 1)),
    precision=st.integers(0, 8),
    price=st.one_of(st.integers(1, 10**16), st.integers(1, 10**9)),
    early_bonus=st.integers(0, 255),
    total=st.one_of(st.integers(1, 2**63 - 1), st.integers(1, 10**6)),
    sold=st.fractions(0, 1),
)


@given(SALES, st.one_of(st.integers(1, 2**63 - 1), st.integers(1, 10**12)), st.integers(-1_000, 10**9))
def test_every_purchase_agrees_with_exact_fractions(each, amount, left_s):
    bought = purchase(each, amount, END_S - left_s)
    assert tuple(bought) == computed_anew(each, amount, END_S - left_s)
    assert 0 <= bought.spent <= amount
    assert 0 <= bought.units <= each.total - each.sold
    assert bought.ends or bought.units < each.total - each.sold
