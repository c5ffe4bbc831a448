"""The arithmetic of margin: the published figures, and what holds for any position."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.exchange.accounts.ledger import UNIT, amount_of, units_of
from sandbox.exchange.listing.symbols import TABLE
from sandbox.exchange.orders.matching import Pair
from sandbox.exchange.positions.margin_formulas import Terms
from sandbox.exchange.positions.margin_records import CLOSED, FLIPPED, OPENED, REDUCED, MarginAccount

TEN = Terms(Decimal(10), Decimal("0.0025"))
BTCUSD = Pair(next(symbol for symbol in TABLE if symbol.id == "BTCUSD"))


def test_the_margin_of_the_published_order() -> None:
    value = units_of(Decimal("0.25") * Decimal("100.00"))
    assert amount_of(TEN.for_order(value)) == Decimal("2.63125")


def test_the_margin_of_the_published_position() -> None:
    cost = units_of(Decimal("0.00001") * Decimal("9064.86"))
    assert amount_of(TEN.for_position(cost)) == Decimal("0.00931414365")


@pytest.mark.parametrize(
    ("balance", "margin_call", "liquidation"),
    [
        # A balance of 3 less the fee of the entry gives the first pair; a little more was gone at the second.
        (Decimal(3) - Decimal("0.00001") * Decimal("9064.86") * Decimal("0.0025"), "284612.92", "293626.79"),
        (Decimal("2.99974088"), "284609.92", "293623.70"),
    ],
)
def test_the_edges_of_the_published_short_position(balance: Decimal, margin_call: str, liquidation: str) -> None:
    cost = units_of(Decimal("0.00001") * Decimal("9064.86"))
    edges = units_of(balance), cost, -BTCUSD.quote_unit
    assert BTCUSD.price_text(TEN.margin_call_price(*edges)) == margin_call
    assert BTCUSD.price_text(TEN.liquidation_price(*edges)) == liquidation


def test_the_edges_of_a_long_position_mirror_those_of_a_short_one() -> None:
    cost = units_of(Decimal(1000))  # ten at 100.00
    edges = units_of(Decimal(150)), cost, 1_000_000 * BTCUSD.quote_unit
    assert BTCUSD.price_text(TEN.liquidation_price(*edges)) == "89.70"  # 850 / (10 x 0.9475)
    assert BTCUSD.price_text(TEN.margin_call_price(*edges)) == "92.98"  # 850 / (10 x 0.91416...)


def test_a_long_position_that_its_balance_pays_for_has_no_edges() -> None:
    edges = units_of(Decimal(100)), units_of(Decimal(100)), BTCUSD.quote_unit
    assert (TEN.margin_call_price(*edges), TEN.liquidation_price(*edges)) == (0, 0)


@given(
    leverage=st.sampled_from(["3.00", "5.00", "10.00", "12.00"]),
    balance=st.integers(1, 10**6),
    cost=st.integers(1, 10**6),
    increments=st.integers(1, 10**7),
    short=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_the_margin_call_comes_before_the_liquidation(
    leverage: str, balance: int, cost: int, increments: int, short: bool
) -> None:
    terms, size = Terms(Decimal(leverage), Decimal("0.0025")), increments * BTCUSD.quote_unit
    edges = balance * UNIT, cost * UNIT, -size if short else size
    called, ended = terms.margin_call_price(*edges), terms.liquidation_price(*edges)
    assert called <= ended if short else called >= ended
    # At the liquidation price the balance and the result still cover half the margin and the fee of getting out.
    worth = Fraction(balance * UNIT + (cost * UNIT - ended * size if short else ended * size - cost * UNIT))
    least = ended * size * (1 / (2 * Fraction(leverage)) + Fraction("0.0025"))
    assert worth >= least - size * 2 or not ended


# Positions -----------------------------------------------------------------------------------------------------------


def account() -> MarginAccount:
    return MarginAccount("somebody", BTCUSD, 0)


def test_a_position_is_opened_reduced_flipped_and_closed() -> None:
    held, new = account(), iter(range(1, 10)).__next__
    assert held.traded(100, 5_000, new, 1).reason == OPENED
    assert held.traded(100, 6_000, new, 2) == (1, 0, OPENED)
    assert held.position is not None
    assert held.position.cost == (100 * 5_000 + 100 * 6_000) * BTCUSD.quote_unit
    assert held.traded(-50, 6_500, new, 3) == (1, 50 * 1_000 * BTCUSD.quote_unit, REDUCED)
    assert held.traded(-200, 4_500, new, 4) == (2, -150 * 1_000 * BTCUSD.quote_unit, FLIPPED)
    assert (held.quantity, held.position.created_ms) == (-50, 4)
    assert held.traded(50, 4_000, new, 5) == (2, 50 * 500 * BTCUSD.quote_unit, CLOSED)
    assert held.position is None
    assert held.quantity == 0


@given(st.lists(st.tuples(st.integers(-300, 300).filter(bool), st.integers(1, 10_000)), min_size=1, max_size=12))
@settings(max_examples=80, deadline=None)
def test_what_trades_gain_is_what_they_paid_and_got(trades: list[tuple[int, int]]) -> None:
    held, new, paid, gained = account(), iter(range(1, 100)).__next__, 0, 0
    for at_ms, (quantity, price) in enumerate(trades):
        paid += quantity * price * BTCUSD.quote_unit
        gained += held.traded(quantity, price, new, at_ms).gain
    assert held.quantity == sum(quantity for quantity, _ in trades)
    cost = 0 if held.position is None else held.position.cost * (1 if held.quantity > 0 else -1)
    assert gained == cost - paid
    assert (held.position is None) == (held.quantity == 0)
