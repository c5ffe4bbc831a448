"""Odd input to orders and histories: the documented refusal, and nothing changed."""

from collections.abc import Iterator
from typing import Any

import pytest

from sandbox.world.world import World
from tests.sandbox.trading import bare, offered, order
from tests.sandbox.worlds import DESK, START_MS, call, refused

LIMIT = {"symbol": "ETHBTC", "side": "buy", "quantity": "1", "price": "0.05"}
STOP = LIMIT | {"type": "stopLimit", "stopPrice": "0.05"}
NO_NUMBERS = ("", "abc", "NaN", "Infinity", "-1", "1e400", "0x1", "1,5", " 1", "\u0661", "9" * 25, "1." + "1" * 25)
WRONG_TYPES: tuple[object, ...] = (True, [], {}, ["1"])


@pytest.fixture(scope="module")
def shared() -> World:
    """A world with open orders that no refusal may touch."""
    world = bare()
    offered(world, "sell", 60_000, 10_000)
    order(world, "sell", "1", "0.055", clientOrderId="open")
    order(world, "buy", "1", "0.05", clientOrderId="bid")
    order(world, "sell", "1", "0.04", type="stopLimit", stopPrice="0.045", clientOrderId="stop")
    call(world, "cancel_order", clientOrderId="bid")
    return world


@pytest.fixture
def world(shared: World) -> Iterator[World]:
    book = shared.exchange.pair("ETHBTC").book
    before = book.levels("buy"), book.levels("sell")
    yield shared
    assert (book.levels("buy"), book.levels("sell")) == before


def placing_refused(world: World, code: int, usual: dict[str, Any], **odd: object) -> str:
    """The description of the refusal of an order in which some members are odd; None leaves one out."""
    arguments = {name: value for name, value in (usual | odd).items() if value is not None}
    put = refused(world, "put_order", code, DESK, **({"clientOrderId": "fresh"} | arguments))
    assert refused(world, "create_order", code, DESK, **arguments).description == put.description
    return put.description


@pytest.mark.parametrize("odd", [None, *NO_NUMBERS, *WRONG_TYPES])
def test_a_quantity_that_is_no_number(world: World, odd: object) -> None:
    assert placing_refused(world, 2010, LIMIT, quantity=odd) == "Quantity not a valid number or not set"


@pytest.mark.parametrize("odd", ["0", "0.00009999", "0.0", 0, "0.000000000000000000000001"])
def test_a_quantity_below_the_increment(world: World, odd: object) -> None:
    assert placing_refused(world, 2011, LIMIT, quantity=odd) == "Minimum quantity 0.0001"
    assert placing_refused(world, 2011, LIMIT, quantity="9.99", symbol="DOGEBTC") == "Minimum quantity 10"


def test_a_quantity_or_price_between_the_steps(world: World) -> None:
    strict = LIMIT | {"strictValidate": True}
    assert placing_refused(world, 2012, strict, quantity="1.00005") == "Quantity must be a multiple of 0.0001"
    assert placing_refused(world, 2022, strict, price="0.0500005") == "Price must be a multiple of 0.000001"
    assert placing_refused(world, 2022, STOP | {"strictValidate": True}, stopPrice="0.0500005") == ""
    arguments = {"clientOrderId": "open", "quantity": "1.00005", "requestClientId": "n", "strictValidate": True}
    refused(world, "replace_order", 2012, **arguments)


@pytest.mark.parametrize("odd", [None, *NO_NUMBERS, *WRONG_TYPES, "0", "0.000", 0])
def test_a_price_that_is_no_number(world: World, odd: object) -> None:
    placing_refused(world, 2020, LIMIT, price=odd)
    placing_refused(world, 2020, STOP, price=odd)


def test_a_price_below_the_tick(world: World) -> None:
    assert placing_refused(world, 2021, LIMIT, price="0.0000009") == "Minimum price 0.000001"


@pytest.mark.parametrize("odd", [*NO_NUMBERS[1:], *WRONG_TYPES, "0", "0.0000009"])
def test_a_stop_price_that_is_not_right(world: World, odd: object) -> None:
    assert placing_refused(world, 2022, STOP, stopPrice=odd) == ""


@pytest.mark.parametrize("kind", ["stopLimit", "stopMarket"])
@pytest.mark.parametrize("absent", [None, ""])
def test_a_stop_order_without_its_price(world: World, kind: str, absent: object) -> None:
    assert placing_refused(world, 10001, STOP, type=kind, stopPrice=absent) == "Param 'stopPrice' required"


@pytest.mark.parametrize("odd", ["NONE", "ETH-BTC", "ethbtc ", "ETHBTC'--", "\u0415THBTC", "x" * 999, "../ETHBTC"])
def test_a_symbol_that_is_not_there(world: World, odd: str) -> None:
    description = "Try get /api/2/public/symbol, to get list of all available symbols."
    assert placing_refused(world, 2001, LIMIT, symbol=odd) == description


@pytest.mark.parametrize(
    ("name", "odd"),
    [
        *(("symbol", odd) for odd in (None, "", 7, [], "x" * 1_001, "ETH\0BTC")),
        *(("side", odd) for odd in (None, "", "BUY", "both", 1, "buy;drop table orders")),
        *(("type", odd) for odd in ("Limit", "stop", 1, ["limit"])),
        *(("timeInForce", odd) for odd in ("gtc", "DAY", 1, "GTX")),
        *(("strictValidate", odd) for odd in ("yes", 1, "true")),
        *(("postOnly", odd) for odd in ("no", 0, [])),
        *(("takeLiquidityMarkup", odd) for odd in ("-0.1", "1", "NaN", "x", True, "1e-3")),
        *(("provideLiquidityMarkup", odd) for odd in ("-0.000000001", "2", "Infinity", [])),
        *(("clientOrderId", odd) for odd in ("x" * 33, "a b", "a/b", "\u0430bc", "a;b", "<b>", "a\n", 5, [])),
        *(("expireTime", odd) for odd in ("yesterday", "2026-13-01", [], True, 10**18)),
    ],
)
def test_a_parameter_that_is_not_right(world: World, name: str, odd: object) -> None:
    arguments = {key: value for key, value in (LIMIT | {name: odd}).items() if value is not None}
    assert name in refused(world, "create_order", 10001, **arguments).description


def test_what_only_some_orders_take(world: World) -> None:
    gtd = LIMIT | {"timeInForce": "GTD"}
    assert placing_refused(world, 10001, gtd) == "Param 'expireTime' required"
    for past in (START_MS, START_MS - 1, "2020-01-01T00:00:00Z", 0):
        assert "must be in the future" in placing_refused(world, 10001, gtd, expireTime=past)
    for force in ("Day", "GTD"):
        assert "IOC or FOK" in placing_refused(world, 10001, LIMIT, type="market", timeInForce=force)


def test_nobody_orders_without_an_account(world: World) -> None:
    for operation in ("create_order", "get_orders", "cancel_orders", "get_order_history", "get_trade_history"):
        refused(world, operation, 1001, None, **LIMIT)


@pytest.mark.parametrize("absent", [None, ""])
def test_what_a_replacement_needs(world: World, absent: object) -> None:
    usual = {"clientOrderId": "open", "quantity": "2", "requestClientId": "new"}
    for name, code in (("quantity", 2010), ("requestClientId", 10001), ("clientOrderId", 10001)):
        arguments = {key: value for key, value in (usual | {name: absent}).items() if value is not None}
        refused(world, "replace_order", code, **arguments)


@pytest.mark.parametrize(
    ("name", "odd", "code"),
    [
        ("quantity", "0", 2011),
        ("quantity", "-3", 2010),
        ("quantity", True, 2010),
        ("price", "0", 2020),
        ("price", "NaN", 2020),
        ("price", "0.0000001", 2021),
        ("price", [], 2020),
        ("strictValidate", "yes", 10001),
        ("requestClientId", "x" * 33, 10001),
        ("requestClientId", "a b", 10001),
        ("requestClientId", "open", 20008),
        ("requestClientId", "bid", 20008),
        ("clientOrderId", "bid", 20002),
        ("clientOrderId", "' or 1=1", 20002),
        ("clientOrderId", "\u0430", 20002),
    ],
)
def test_an_odd_replacement(world: World, name: str, odd: object, code: int) -> None:
    arguments = {"clientOrderId": "open", "quantity": "2", "price": "0.056", "requestClientId": "new"}
    refused(world, "replace_order", code, **(arguments | {name: odd}))


@pytest.mark.parametrize("odd", ["nobody's", "' or 1=1", "\u0430", "../../order", "x" * 900])
def test_an_order_that_is_not_there(world: World, odd: str) -> None:
    refused(world, "cancel_order", 20002, clientOrderId=odd)
    refused(world, "get_order", 20002, clientOrderId=odd)
    refused(world, "get_order", 20002, clientOrderId=odd, wait=10)


@pytest.mark.parametrize("odd", [-1, 60_001, "soon", "1.5", True, [], 10**30])
def test_a_wait_that_is_not_right(world: World, odd: object) -> None:
    refused(world, "get_order", 10001, clientOrderId="unknown", wait=odd)


@pytest.mark.parametrize(
    ("operation", "name", "odd", "code"),
    [
        *(("get_order_history", "symbol", odd, code) for odd, code in (("NONE", 2001), (7, 10001))),
        *(("get_order_history", name, odd, 10001) for name in ("from", "till") for odd in ("yesterday", True, [], -5)),
        *(("get_order_history", "limit", odd, 10001) for odd in (-1, 1_001, "many", True, 1.5)),
        *(("get_order_history", "offset", odd, 10001) for odd in (-1, 100_001, "x")),
        ("get_order_history", "clientOrderId", 5, 10001),
        *(("get_trade_history", "symbol", odd, code) for odd, code in (("NONE", 2001), ([], 10001))),
        *(("get_trade_history", "sort", odd, 10001) for odd in ("asc", "up", 1)),
        *(("get_trade_history", "by", odd, 10001) for odd in ("time", 1)),
        *(("get_trade_history", "margin", odd, 10001) for odd in ("yes", True)),
        *(("get_trade_history", name, odd, 10001) for name in ("from", "till") for odd in ("2026-11-18", -1, 2**63)),
        *(("get_trade_history", "limit", odd, 10001) for odd in (-1, 1_001)),
        *(("get_order_trades", "orderId", odd, 10001) for odd in (None, "", "abc", -1, 2**63, [], "1.0")),
    ],
)
def test_an_odd_question_about_the_history(world: World, operation: str, name: str, odd: object, code: int) -> None:
    name = "from_" if name == "from" else name
    refused(world, operation, code, **({} if odd is None else {name: odd}))


def test_prices_and_quantities_are_rounded_half_down(world: World) -> None:
    rounded = [
        ("1.00005", "0.0500005", "1.0000", "0.050000"),
        ("1.000051", "0.05000051", "1.0001", "0.050001"),
        ("1.00015", "0.0499995", "1.0001", "0.049999"),
        ("0.00014999", "0.000001499", "0.0001", "0.000001"),
    ]
    fresh = bare()
    for quantity, price, placed_quantity, placed_price in rounded:
        made = order(fresh, "buy", quantity, price)
        assert (made["quantity"], made["price"]) == (placed_quantity, placed_price)
    made = order(fresh, "buy", 2, 1, symbol="bchusd", type="stopLimit", stopPrice="1.0005")
    assert (made["quantity"], made["price"], made["stopPrice"]) == ("2.0000", "1.000", "1.000")


def test_numbers_of_any_spelling_that_are_exact_are_taken(world: World) -> None:
    fresh = bare()
    for quantity, price in (("1", "0.05"), (1, "00.050"), ("1.0000000000000000000000", "0.05")):
        assert order(fresh, "sell", quantity, price, strictValidate=True)["quantity"] == "1.0000"


def test_enormous_numbers_are_too_much_money_and_nothing_worse(world: World) -> None:
    huge = "9" * 24
    refused(world, "create_order", 20001, **(LIMIT | {"quantity": huge}))
    refused(world, "create_order", 20001, **(LIMIT | {"price": huge}))
    refused(world, "create_order", 20001, **(LIMIT | {"quantity": huge, "price": huge, "side": "sell"}))
    refused(world, "create_order", 20001, **(LIMIT | {"type": "stopMarket", "stopPrice": huge, "quantity": huge}))
