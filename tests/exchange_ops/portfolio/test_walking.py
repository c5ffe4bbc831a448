"""Walking back from what is held now, by hand and for any history."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from exchange_ops.portfolio import walking
from exchange_ops.portfolio.walking import Change

START = datetime(2026, 1, 1, tzinfo=UTC)


def at(day):
    return START + timedelta(days=day)


def change(day, amount, *, currency="BTC", wallet="bank"):
    return Change(at(day), wallet, currency, None if amount is None else Decimal(amount))


def test_each_moment_is_the_instant_before_what_happens_then():
    changes = [change(3, "2"), change(1, "1")]
    found = list(walking.back(held={("bank", "BTC"): Decimal(3)}, changes=changes, moments=[at(4), at(3), at(1)]))
    assert [holding.amounts.get(("bank", "BTC")) for holding in found] == [3, 1, None]


def test_an_amount_below_zero_makes_the_currency_unknown_from_there_back():
    changes = [change(3, "5"), change(1, "-9")]
    held = {("bank", "BTC"): Decimal(3), ("bank", "ETH"): Decimal(7)}
    found = list(walking.back(held=held, changes=changes, moments=[at(4), at(2), at(0)]))
    assert [sorted(holding.unknown) for holding in found] == [[], ["BTC"], ["BTC"]]
    assert [holding.amounts.get(("bank", "ETH")) for holding in found] == [7, 7, 7]
    assert ("bank", "BTC") not in found[-1].amounts


def test_a_change_of_unknown_size_makes_the_currency_unknown_in_every_wallet():
    held = {("bank", "BTC"): Decimal(3), ("trading", "BTC"): Decimal(1)}
    after, before = walking.back(held=held, changes=[change(2, None)], moments=[at(3), at(1)])
    assert after.amounts == held
    assert (before.amounts, before.unknown) == ({}, frozenset({"BTC"}))


@given(st.lists(st.tuples(st.integers(0, 30), st.decimals("0", "1000", places=8)), max_size=20))
def test_walking_back_undoes_what_walking_forward_did(deposits):
    ordered = [change(day, amount) for day, amount in sorted(deposits)]
    moments = [at(day) for day in range(31, -1, -1)]
    total = sum((each.amount for each in ordered), Decimal(0))
    found = walking.back(held={("bank", "BTC"): total}, changes=reversed(ordered), moments=moments)
    for holding in found:
        there = sum((each.amount for each in ordered if each.at < holding.at), Decimal(0))
        assert holding.amounts.get(("bank", "BTC"), Decimal(0)) == there
        assert not holding.unknown
