"""The contract of margin trading over REST, written from the specification alone: literal addresses and members.

`--target URL` (with `--target-key LOGIN:SECRET`) asks another server the same. It needs margin trading in ETHBTC with a
two-sided book, and one BTC on the trading account of a customer without margin accounts; every account is closed again.
"""

import re
import uuid
from collections.abc import Iterator
from decimal import ROUND_CEILING, Decimal
from typing import Any

import pytest

from sandbox.serving import InProcessSandbox
from tests.sandbox.exchange.accounts.test_contract_account import DECIMAL, INSTANT, Target, error, good

ACCOUNT = "/api/2/margin/account/ETHBTC"
POSITION = "/api/2/margin/position/ETHBTC"
ORDERS = "/api/2/margin/order"
SIGNED = re.compile(r"-?[0-9]+(\.[0-9]+)?")


@pytest.fixture(scope="module")
def target(request: pytest.FixtureRequest) -> Iterator[Target]:
    """The server at --target, or a sandbox in process."""
    url = request.config.getoption("--target", default=None)
    if url:
        yield Target(url, request.config.getoption("--target-key"))
        return
    with InProcessSandbox(seed=1, still=True) as sandbox:
        yield Target(sandbox.url, "demo-full:demo-full-secret")


@pytest.fixture
def funded(target: Target) -> Iterator[dict[str, Any]]:
    """The record of a fresh account of half a BTC; it is closed after the test."""
    made: dict[str, Any] = good(target.ask("PUT", ACCOUNT, marginBalance="0.5"))
    yield made
    target.ask("DELETE", ACCOUNT)


def trading(target: Target) -> Decimal:
    rows = good(target.ask("GET", "/api/2/trading/balance"))
    return next(Decimal(row["available"]) for row in rows if row["currency"] == "BTC")


def is_account(record: dict[str, Any]) -> bool:
    """Whether the record has what every margin account has, each with its documented type."""
    amounts = ("leverage", "marginBalance", "marginBalanceOrders", "marginBalanceRequired")
    return (
        record["symbol"] == "ETHBTC"
        and all(DECIMAL.fullmatch(record[name]) is not None for name in amounts)
        and all(INSTANT.fullmatch(record[name]) is not None for name in ("createdAt", "updatedAt"))
    )


def is_position(record: dict[str, Any]) -> bool:
    """Whether the record has what every position has, each with its documented type."""
    amounts = ("quantity", "pnl", "priceEntry", "priceMarginCall", "priceLiquidation")
    return (
        isinstance(record["id"], int)
        and record["symbol"] == "ETHBTC"
        and all(SIGNED.fullmatch(record[name]) is not None for name in amounts)
        and all(INSTANT.fullmatch(record[name]) is not None for name in ("createdAt", "updatedAt"))
    )


def far_order(**more: str) -> dict[str, str]:
    """The form of an order that rests far below the market."""
    return {"symbol": "ETHBTC", "side": "buy", "quantity": "1", "price": "0.000100"} | more


def test_an_account_is_opened_changed_and_closed(target: Target) -> None:
    before = trading(target)
    made = good(target.ask("PUT", ACCOUNT, marginBalance="0.5"))
    assert is_account(made)
    assert (Decimal(made["marginBalance"]), Decimal(made["marginBalanceOrders"])) == (Decimal("0.5"), 0)
    assert trading(target) == before - Decimal("0.5")
    assert good(target.ask("GET", "/api/2/margin/account")) == [good(target.ask("GET", ACCOUNT))]
    assert error(target.ask("PUT", ACCOUNT, marginBalance="0.50")) == (400, 20033)
    assert Decimal(good(target.ask("PUT", ACCOUNT, marginBalance="0.25"))["marginBalance"]) == Decimal("0.25")
    assert is_account(good(target.ask("PUT", ACCOUNT, marginBalance="0")))
    assert good(target.ask("GET", "/api/2/margin/account")) == []
    assert trading(target) == before
    assert error(target.ask("GET", ACCOUNT)) == (400, 20032)


def test_odd_accounts(target: Target) -> None:
    assert error(target.ask("PUT", ACCOUNT)) == (400, 10001)
    assert error(target.ask("PUT", ACCOUNT, marginBalance="-1")) == (400, 10001)
    assert error(target.ask("PUT", ACCOUNT, marginBalance="NaN")) == (400, 10001)
    assert error(target.ask("PUT", ACCOUNT, marginBalance="99999999")) == (400, 20001)
    assert error(target.ask("PUT", "/api/2/margin/account/NOSUCH", marginBalance="1")) == (400, 2001)
    assert error(target.ask("GET", ACCOUNT, anonymous=True)) == (401, 1001)
    assert error(target.ask("DELETE", ACCOUNT)) == (400, 20032)
    assert good(target.ask("DELETE", "/api/2/margin/account")) == []
    assert good(target.ask("DELETE", "/api/2/margin/position")) == []


def test_orders_need_an_account(target: Target) -> None:
    assert error(target.ask("POST", ORDERS, **far_order())) == (400, 20032)
    assert error(target.ask("PUT", f"{ORDERS}/{uuid.uuid4().hex}", timeInForce="GTC", **far_order())) == (400, 20032)


def test_an_order_rests_and_is_cancelled(target: Target, funded: dict[str, Any]) -> None:
    client_id = uuid.uuid4().hex
    made = good(target.ask("POST", ORDERS, clientOrderId=client_id, **far_order()))
    assert isinstance(made["id"], int)
    assert (made["clientOrderId"], made["status"], made["side"], made["type"]) == (client_id, "new", "buy", "limit")
    assert Decimal(made["cumQuantity"]) == 0
    held = good(target.ask("GET", ACCOUNT))
    # price x quantity x ((1 + f)/L + 2f)
    leverage, rate = Decimal(held["leverage"]), Decimal("0.0025")
    assert Decimal(held["marginBalanceOrders"]) == Decimal("0.0001") * ((1 + rate) / leverage + 2 * rate)
    assert good(target.ask("GET", f"{ORDERS}/{client_id}")) == made
    assert good(target.ask("GET", ORDERS)) == [made]
    assert good(target.ask("GET", f"{ORDERS}?symbol=LTCBTC")) == []
    assert error(target.ask("POST", ORDERS, clientOrderId=client_id, **far_order())) == (400, 20008)
    ended = good(target.ask("DELETE", f"{ORDERS}/{client_id}"))
    assert (ended["id"], ended["status"]) == (made["id"], "canceled")
    assert error(target.ask("DELETE", f"{ORDERS}/{client_id}")) == (400, 20002)
    assert error(target.ask("GET", f"{ORDERS}/{client_id}")) == (400, 20002)


def test_put_creates_and_all_are_cancelled(target: Target, funded: dict[str, Any]) -> None:
    ids = [uuid.uuid4().hex, uuid.uuid4().hex]
    for client_id in ids:
        made = good(target.ask("PUT", f"{ORDERS}/{client_id}", timeInForce="GTC", **far_order()))
        assert (made["clientOrderId"], made["status"]) == (client_id, "new")
    assert good(target.ask("DELETE", ORDERS, symbol="LTCBTC")) == []
    assert {each["clientOrderId"] for each in good(target.ask("DELETE", ORDERS, symbol="ETHBTC"))} == set(ids)
    assert good(target.ask("GET", ORDERS)) == []


def test_odd_orders(target: Target, funded: dict[str, Any]) -> None:
    def of(**more: str) -> tuple[int, int]:
        return error(target.ask("POST", ORDERS, **far_order(**more)))

    assert of(quantity="0.00001") == (400, 2011)
    assert of(quantity="x") == (400, 2010)
    assert of(quantity="1.00005", strictValidate="true") == (400, 2012)
    assert of(price="0") == (400, 2020)
    assert of(price="0.0000001") == (400, 2021)
    assert of(price="0.0001005", strictValidate="true") == (400, 2022)
    assert of(quantity="100000000") == (400, 20001)
    assert of(symbol="NOSUCH") == (400, 2001)
    assert of(side="hold") == (400, 10001)
    assert of(symbol="LTCBTC") == (400, 20032)


@pytest.mark.parametrize("side", ["buy", "sell"])
def test_a_position_is_opened_and_closed_at_the_market(target: Target, funded: dict[str, Any], side: str) -> None:
    assert error(target.ask("GET", POSITION)) == (400, 20032)
    made = good(target.ask("POST", ORDERS, symbol="ETHBTC", side=side, type="market", quantity="0.1"))
    assert made["status"] == "filled"
    paid = sum(Decimal(trade["quantity"]) * Decimal(trade["price"]) for trade in made["tradesReport"])
    fees = sum(Decimal(trade["fee"]) for trade in made["tradesReport"])
    account = good(target.ask("GET", ACCOUNT))
    position = good(target.ask("GET", POSITION))
    assert is_account(account)
    assert is_position(position)
    assert position["id"] == account["position"]["id"]
    assert [each["id"] for each in good(target.ask("GET", "/api/2/margin/position"))] == [position["id"]]
    assert Decimal(position["quantity"]) == Decimal("0.1") * (1 if side == "buy" else -1)
    # |quantity| x priceEntry x ((1 + f)/L + f), to twelve digits upwards; the fee leaves the balance at once
    leverage, rate = Decimal(account["leverage"]), Decimal("0.0025")
    required = paid * ((1 + rate) / leverage + rate)
    assert Decimal(account["marginBalanceRequired"]) == required.quantize(Decimal("1E-12"), ROUND_CEILING)
    assert Decimal(account["marginBalance"]) == Decimal("0.5") - fees
    assert error(target.ask("PUT", ACCOUNT, marginBalance="0")) == (400, 20001)
    closed = good(target.ask("DELETE", POSITION))
    assert [each["id"] for each in closed] == [position["id"]]
    assert all(is_position(each) for each in closed)
    assert good(target.ask("GET", "/api/2/margin/position")) == []
    assert "position" not in good(target.ask("GET", ACCOUNT))
    trades = good(target.ask("GET", "/api/2/history/trades?margin=only&symbol=ETHBTC"))
    assert all(trade["liquidation"] is False for trade in trades)


def test_a_position_is_closed_at_a_limit(target: Target, funded: dict[str, Any]) -> None:
    good(target.ask("POST", ORDERS, symbol="ETHBTC", side="buy", type="market", quantity="0.1"))
    assert error(target.ask("DELETE", POSITION, price="0")) == (400, 2020)
    assert good(target.ask("DELETE", POSITION, price="90")) == []
    (resting,) = good(target.ask("GET", ORDERS))
    assert (resting["side"], Decimal(resting["quantity"])) == ("sell", Decimal("0.1"))
    assert len(good(target.ask("DELETE", POSITION, price="0.0001"))) == 1
    assert good(target.ask("GET", ORDERS)) == []


def test_an_account_is_closed_with_its_position(target: Target) -> None:
    before = trading(target)
    good(target.ask("PUT", ACCOUNT, marginBalance="0.5"))
    good(target.ask("POST", ORDERS, symbol="ETHBTC", side="buy", type="market", quantity="0.1"))
    closed = good(target.ask("DELETE", "/api/2/margin/account"))
    assert [each["symbol"] for each in closed] == ["ETHBTC"]
    assert is_account(closed[0])
    assert before - Decimal("0.01") < trading(target) < before
    assert good(target.ask("GET", "/api/2/margin/account")) == []


# The sandbox's own keys -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("login", ["demo-read", "demo-withdraw"])
@pytest.mark.parametrize("path", ["account", "account/ETHBTC", "position", "position/ETHBTC", "order", "order/x"])
def test_the_right(request: pytest.FixtureRequest, target: Target, login: str, path: str) -> None:
    if request.config.getoption("--target", default=None):
        pytest.skip("needs keys with fewer rights")
    theirs = Target(target.url, f"{login}:{login}-secret")
    assert error(theirs.ask("GET", f"/api/2/margin/{path}")) == (403, 1003)
    assert error(theirs.ask("DELETE", f"/api/2/margin/{path}")) == (403, 1003)
