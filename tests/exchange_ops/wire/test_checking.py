"""What is found wrong with a call before it is sent, and by which field it is told."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exchange_ops.wire import checking
from exchange_ops.wire.new_orders import NewOrder
from wire.params import BadArgument, Problem

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
ETHBTC = SimpleNamespace(quantity_increment=Decimal("0.0001"), tick_size=Decimal("0.000001"))
LIMIT = NewOrder(client_order_id="desk-0001", symbol="ETHBTC", side="buy", quantity=Decimal("1"), price=Decimal("0.02"))
MARKET = replace(LIMIT, type="market", price=None)
STOP = replace(LIMIT, type="stopLimit", stop_price=Decimal("0.03"))


def pairs_of(problems: list[BadArgument]) -> list[tuple[str, Problem]]:
    return [(problem.param, problem.problem) for problem in problems]


@pytest.mark.parametrize(
    "order",
    [
        LIMIT,
        MARKET,
        STOP,
        replace(STOP, type="stopMarket", price=None),
        replace(LIMIT, quantity=Decimal("0.00010000000000000000000000"), price=Decimal("0.000001")),
        replace(LIMIT, quantity=Decimal(10) ** 50, price=Decimal("123456789012345678901234567890.000001")),
        replace(LIMIT, time_in_force="GTD", expire_time=NOW + timedelta(seconds=1)),
        replace(
            MARKET, time_in_force="FOK", take_liquidity_markup=Decimal("0"), provide_liquidity_markup=Decimal("0.9")
        ),
        replace(LIMIT, client_order_id="L-20200531154208159_M.00118"),
        replace(LIMIT, client_order_id="a" * 32, post_only=True),
    ],
)
def test_a_sound_order_has_no_problem(order):
    assert pairs_of(checking.order_problems(order, ETHBTC, now=NOW)) == []
    checking.refuse(checking.order_problems(order))


@pytest.mark.parametrize(
    ("order", "param", "problem"),
    [
        (replace(LIMIT, quantity=Decimal("0.00015")), "quantity", Problem.NOT_A_MULTIPLE),
        (replace(LIMIT, quantity=Decimal("0.00009")), "quantity", Problem.TOO_LOW),
        (replace(LIMIT, quantity=Decimal(0)), "quantity", Problem.TOO_LOW),
        (replace(LIMIT, quantity=Decimal(-1)), "quantity", Problem.TOO_LOW),
        (replace(LIMIT, quantity=Decimal("NaN")), "quantity", Problem.MALFORMED),
        (replace(LIMIT, quantity=Decimal("sNaN")), "quantity", Problem.MALFORMED),
        (replace(LIMIT, quantity=Decimal("Infinity")), "quantity", Problem.MALFORMED),
        (replace(LIMIT, quantity=Decimal("1E+999999")), "quantity", Problem.MALFORMED),
        (replace(LIMIT, quantity=Decimal("1E-999999")), "quantity", Problem.MALFORMED),
        (replace(LIMIT, quantity=1.5), "quantity", Problem.MALFORMED),
        (replace(LIMIT, quantity=True), "quantity", Problem.MALFORMED),
        (replace(LIMIT, quantity=None), "quantity", Problem.MISSING),
        (replace(LIMIT, price=Decimal("0.0200001")), "price", Problem.NOT_A_MULTIPLE),
        (replace(LIMIT, price=Decimal("0.0000001")), "price", Problem.TOO_LOW),
        (replace(LIMIT, price=Decimal(f"1{'0' * 40}.0000001")), "price", Problem.NOT_A_MULTIPLE),
        (replace(LIMIT, price=Decimal(0)), "price", Problem.TOO_LOW),
        (replace(LIMIT, price=None), "price", Problem.MISSING),
        (replace(MARKET, price=Decimal("0.02")), "price", Problem.NOT_TAKEN),
        (replace(STOP, stop_price=None), "stopPrice", Problem.MISSING),
        (replace(STOP, stop_price=Decimal("0.0000011")), "stopPrice", Problem.NOT_A_MULTIPLE),
        (replace(LIMIT, stop_price=Decimal("0.02")), "stopPrice", Problem.NOT_TAKEN),
        (replace(LIMIT, time_in_force="GTD"), "expireTime", Problem.MISSING),
        (replace(LIMIT, expire_time=NOW), "expireTime", Problem.NOT_TAKEN),
        (replace(LIMIT, time_in_force="GTD", expire_time=NOW), "expireTime", Problem.TOO_LOW),
        (replace(LIMIT, time_in_force="GTD", expire_time=NOW.replace(tzinfo=None)), "expireTime", Problem.MALFORMED),
        (replace(LIMIT, time_in_force="GTD", expire_time="tomorrow"), "expireTime", Problem.MALFORMED),
        (replace(LIMIT, time_in_force="forever"), "timeInForce", Problem.NOT_A_CHOICE),
        (replace(MARKET, time_in_force="Day"), "timeInForce", Problem.NOT_TAKEN),
        (replace(LIMIT, post_only=True, time_in_force="IOC"), "postOnly", Problem.NOT_TAKEN),
        (replace(MARKET, post_only=True), "postOnly", Problem.NOT_TAKEN),
        (replace(LIMIT, side="BUY"), "side", Problem.NOT_A_CHOICE),
        (replace(LIMIT, type=""), "type", Problem.EMPTY),
        (replace(LIMIT, symbol="ETH BTC"), "symbol", Problem.MALFORMED),
        (replace(LIMIT, take_liquidity_markup=Decimal("-0.1")), "takeLiquidityMarkup", Problem.TOO_LOW),
        (replace(LIMIT, provide_liquidity_markup=Decimal(1)), "provideLiquidityMarkup", Problem.TOO_HIGH),
    ],
)
def test_the_field_that_is_wrong_is_named(order, param, problem):
    problems = checking.order_problems(order, ETHBTC, now=NOW)
    assert (param, problem) in pairs_of(problems)
    with pytest.raises(BadArgument, match=problems[0].param):
        checking.refuse(problems)


def test_every_wrong_field_is_told_once():
    odd = replace(LIMIT, client_order_id="ü", quantity=Decimal(0), price=None, side="x", stop_price=Decimal(1))
    assert sorted(param for param, _ in pairs_of(checking.order_problems(odd, ETHBTC))) == [
        *("clientOrderId", "price", "quantity", "side", "stopPrice")
    ]


@pytest.mark.parametrize("name", ["", "a" * 33, "a b", "a/b", "é", "a\n", "..", ".", "1;DROP TABLE", "\u0661", None, 7])
def test_odd_ids_of_orders_are_named(name):
    assert [problem.param for problem in checking.client_order_id_problems(name, param="x")] == ["x"]


def test_a_replacement_names_its_own_id():
    found = checking.replacement_problems(
        new_client_order_id="", quantity=Decimal("0.00001"), price=Decimal("0.0000015"), rules=ETHBTC
    )
    assert pairs_of(found) == [
        ("requestClientId", Problem.EMPTY),
        ("quantity", Problem.TOO_LOW),
        ("price", Problem.NOT_A_MULTIPLE),
    ]


def test_a_step_of_zero_is_no_rule():
    rules = SimpleNamespace(quantity_increment=Decimal(0), tick_size=Decimal(0))
    assert checking.order_problems(LIMIT, rules) == []


@given(steps=st.integers(1, 10**30), off=st.integers(0, 9999), places=st.integers(0, 20))
def test_only_multiples_of_a_step_pass_whatever_their_size(steps, off, places):
    step = Decimal(1).scaleb(-places)
    value = Decimal(f"{steps}{off:04d}E{-places - 4}")
    rules = SimpleNamespace(quantity_increment=step, tick_size=step)
    assert bool(checking.quantity_problems(value, rules)) is (off != 0)


def currency(**facts):
    sound = {"precision_transfer": 4, "precision_payout": 2, "payout_minimal_amount": Decimal("0.5")}
    return SimpleNamespace(**{"transfer_enabled": True, "payout_enabled": True, **sound, **facts})


def test_amounts_fit_the_places_of_what_they_are_for():
    assert checking.transfer_problems(Decimal("1.23450000000000000000"), currency()) == []
    assert pairs_of(checking.transfer_problems(Decimal("1.23456"), currency())) == [("amount", Problem.TOO_PRECISE)]
    assert checking.transfer_problems(Decimal("1.23456"), currency(precision_transfer=None)) == []
    assert pairs_of(checking.transfer_problems(Decimal(0), currency())) == [("amount", Problem.TOO_LOW)]
    assert pairs_of(checking.transfer_problems(Decimal("Infinity"))) == [("amount", Problem.MALFORMED)]
    assert pairs_of(checking.payout_problems(Decimal("1.234"), currency())) == [("amount", Problem.TOO_PRECISE)]
    assert pairs_of(checking.payout_problems(Decimal("0.49"), currency())) == [("amount", Problem.TOO_LOW)]
    assert checking.payout_problems(Decimal("0.50"), currency()) == []
    assert checking.payout_problems(Decimal("0.01"), currency(payout_minimal_amount=None)) == []


def test_what_the_exchange_has_closed_is_told_of_the_currency():
    shut = currency(transfer_enabled=False, payout_enabled=False)
    assert pairs_of(checking.transfer_problems(Decimal(1), shut)) == [("currency", Problem.CLOSED)]
    assert pairs_of(checking.payout_problems(Decimal(1), shut)) == [("currency", Problem.CLOSED)]


def test_the_bounds_of_every_parameter_are_looked_at():
    found = checking.argument_problems("get_trade_history", {"limit": 1001, "offset": -1, "margin": "x", "asset": 1})
    assert pairs_of(found) == [
        ("asset", Problem.UNKNOWN),
        ("limit", Problem.TOO_HIGH),
        ("offset", Problem.TOO_LOW),
        ("margin", Problem.NOT_A_CHOICE),
    ]
    assert pairs_of(checking.argument_problems("transfer_funds", {})) == [
        ("currency", Problem.MISSING),
        ("amount", Problem.MISSING),
        ("type", Problem.MISSING),
    ]
