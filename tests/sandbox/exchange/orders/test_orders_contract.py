"""The contract of spot orders and the trading history, written from the specification alone.

Literal addresses and members, as in `test_contract_account`, and `--target URL` asks another server. It needs a tenth
of an ETH and dust of BTC on the trading account; every order that is placed is far from the market and is cancelled.
"""

import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from tests.sandbox.exchange.accounts.test_contract_account import DECIMAL, INSTANT, Target, error, good, target

__all__ = ["target"]  # the fixture

ORDER = "/api/2/order"
SALE = {"symbol": "ETHBTC", "side": "sell", "quantity": "0.01", "price": "0.9"}


def fresh() -> str:
    """An id that no order has had."""
    return uuid.uuid4().hex


def is_order(record: dict[str, Any]) -> bool:
    """Whether the record has what every order has, each with its documented type."""
    return (
        isinstance(record["id"], int)
        and isinstance(record["clientOrderId"], str)
        and isinstance(record["symbol"], str)
        and record["side"] in {"sell", "buy"}
        and record["status"] in {"new", "suspended", "partiallyFilled", "filled", "canceled", "expired"}
        and record["type"] in {"limit", "market", "stopLimit", "stopMarket"}
        and record["timeInForce"] in {"GTC", "IOC", "FOK", "Day", "GTD"}
        and DECIMAL.fullmatch(record["quantity"]) is not None
        and DECIMAL.fullmatch(record["cumQuantity"]) is not None
        and INSTANT.fullmatch(record["createdAt"]) is not None
        and INSTANT.fullmatch(record["updatedAt"]) is not None
    )


@pytest.fixture
def placed(target: Target) -> Iterator[dict[str, Any]]:
    """An open order, cancelled after the test."""
    made: dict[str, Any] = good(target.ask("POST", ORDER, clientOrderId=fresh(), **SALE))
    yield made
    target.ask("DELETE", f"{ORDER}/{made['clientOrderId']}")


def test_an_order_is_placed_found_and_cancelled(target: Target, placed: dict[str, Any]) -> None:
    assert is_order(placed)
    assert (placed["status"], placed["timeInForce"], placed["type"]) == ("new", "GTC", "limit")
    assert placed["postOnly"] is False
    path = f"{ORDER}/{placed['clientOrderId']}"
    assert good(target.ask("GET", path)) == placed
    assert placed in good(target.ask("GET", ORDER))
    assert placed in good(target.ask("GET", f"{ORDER}?symbol=ETHBTC"))
    assert placed not in good(target.ask("GET", f"{ORDER}?symbol=BTCUSD"))
    assert good(target.ask("GET", f"{path}?wait=50"))["status"] == "new"
    assert good(target.ask("DELETE", path))["status"] == "canceled"
    assert error(target.ask("DELETE", path)) == (400, 20002)
    (past,) = good(target.ask("GET", f"/api/2/history/order?clientOrderId={placed['clientOrderId']}"))
    assert is_order(past)
    assert ("avgPrice" in past, "postOnly" in past, past["status"]) == (True, False, "canceled")
    assert good(target.ask("GET", f"/api/2/history/order/{placed['id']}/trades")) == []


def test_an_order_is_placed_under_the_id_of_its_address(target: Target) -> None:
    path = f"{ORDER}/{fresh()}"
    made = good(target.ask("PUT", path, timeInForce="GTC", **SALE))
    assert path.endswith(made["clientOrderId"])
    assert error(target.ask("PUT", path, timeInForce="GTC", **SALE)) == (400, 20008)
    assert good(target.ask("DELETE", path))["status"] == "canceled"


def test_an_order_is_replaced_by_another(target: Target, placed: dict[str, Any]) -> None:
    path, new_id = f"{ORDER}/{placed['clientOrderId']}", fresh()
    unchanged = {"quantity": SALE["quantity"], "price": SALE["price"], "requestClientId": new_id}
    assert error(target.ask("PATCH", path, **unchanged)) == (400, 20009)
    new = good(target.ask("PATCH", path, **(unchanged | {"price": "0.91"})))
    assert (new["clientOrderId"], new["status"], new["createdAt"]) == (new_id, "new", placed["createdAt"])
    assert new["id"] != placed["id"]
    assert error(target.ask("GET", path)) == (400, 20002)
    assert good(target.ask("DELETE", f"{ORDER}/{new_id}"))["status"] == "canceled"


def test_all_orders_of_a_symbol_are_cancelled(target: Target, placed: dict[str, Any]) -> None:
    cancelled = good(target.ask("DELETE", ORDER, symbol="ETHBTC"))
    assert placed["id"] in {each["id"] for each in cancelled}
    assert {each["status"] for each in cancelled} == {"canceled"}
    assert good(target.ask("DELETE", ORDER, symbol="ETHBTC")) == []


def test_what_never_rests_and_what_never_takes(target: Target) -> None:
    at_once = good(target.ask("POST", ORDER, **(SALE | {"timeInForce": "IOC"})))
    assert (at_once["status"], at_once["cumQuantity"].strip("0.")) == ("expired", "")
    lowest = SALE | {"price": "0.000001"}
    bid = good(target.ask("POST", ORDER, **(lowest | {"side": "buy"})))
    taking = good(target.ask("POST", ORDER, **(lowest | {"postOnly": "true"})))
    assert taking["status"] == "canceled"
    assert good(target.ask("DELETE", f"{ORDER}/{bid['clientOrderId']}"))["status"] == "canceled"


def test_a_stop_order_is_suspended(target: Target) -> None:
    stop = good(target.ask("POST", ORDER, **(SALE | {"type": "stopLimit", "stopPrice": "0.000001"})))
    assert stop["status"] == "suspended"
    assert DECIMAL.fullmatch(stop["stopPrice"])
    assert good(target.ask("DELETE", f"{ORDER}/{stop['clientOrderId']}"))["status"] == "canceled"


@pytest.mark.parametrize(
    ("odd", "code"),
    [
        ({"symbol": "NOSUCHSYMBOL"}, 2001),
        ({"quantity": "abc"}, 2010),
        ({"quantity": "0.00000001"}, 2011),
        ({"quantity": "0.010000001", "strictValidate": "true"}, 2012),
        ({"price": "abc"}, 2020),
        ({"price": "0.000000000001"}, 2021),
        ({"price": "0.9000000001", "strictValidate": "true"}, 2022),
        ({"side": "both"}, 10001),
        ({"quantity": "100000000"}, 20001),
    ],
)
def test_odd_orders_are_refused(target: Target, odd: dict[str, str], code: int) -> None:
    assert error(target.ask("POST", ORDER, **(SALE | odd))) == (400, code)


def test_histories_rates_and_rights_to_them(target: Target) -> None:
    for path in ("/api/2/history/order?limit=1", "/api/2/history/trades?limit=1&sort=ASC&by=id&from=1"):
        assert isinstance(good(target.ask("GET", path)), list)
        assert error(target.ask("GET", path, anonymous=True)) == (401, 1001)
    assert good(target.ask("GET", f"/api/2/history/order?clientOrderId={fresh()}")) == []
    rates = good(target.ask("GET", "/api/2/trading/fee/ETHBTC"))
    assert DECIMAL.fullmatch(rates["takeLiquidityRate"])
    assert DECIMAL.fullmatch(rates["provideLiquidityRate"])
    assert error(target.ask("POST", ORDER, anonymous=True, **SALE)) == (401, 1001)
