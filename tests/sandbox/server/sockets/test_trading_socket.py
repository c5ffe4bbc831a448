"""Spot orders over the trading socket: login, every method, the order of messages, and one world with REST."""

import hashlib
import hmac
import json
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import websocket

from sandbox.serving import InProcessSandbox
from sandbox.world.world import World
from tests.sandbox.conftest import Client
from tests.sandbox.server.sockets.test_sockets import Stream
from tests.sandbox.trading_sockets import COMBINED, ORDER, TRADING, Trader, offer, types
from tests.sandbox.worlds import dismiss_traders, picture

METHODS = (
    *("newOrder", "cancelOrder", "cancelReplaceOrder", "getOrders", "getTradingBalance", "subscribeReports"),
    *("marginAccountsGet", "marginAccountSet", "marginPositionClose", "marginOrdersGet", "marginOrdersCancel"),
    *("marginOrderNew", "marginOrderCancel", "marginOrderCancelReplace", "marginSubscribe"),
)


@pytest.fixture(params=[TRADING, COMBINED])
def anonymous(request: pytest.FixtureRequest, box: InProcessSandbox) -> Iterator[Trader]:
    """A socket that has not logged in, on either address."""
    opened = Trader(box.ws_url, "", request.param)
    yield opened
    opened.close()


@pytest.fixture
def open_trader(box: InProcessSandbox) -> Iterator[Callable[..., Trader]]:
    """Opens sockets that have logged in, and closes them."""
    opened: list[Trader] = []

    def open_one(*keys: str) -> Trader:
        opened.append(Trader(box.ws_url, *keys))
        return opened[-1]

    yield open_one
    for each in opened:
        each.close()


@pytest.fixture
def trader(open_trader: Callable[..., Trader]) -> Trader:
    """A socket with every right, subscribed to reports."""
    opened = open_trader()
    opened.good("subscribeReports")
    assert opened.hear() == [("activeOrders", [])]
    return opened


# Login ---------------------------------------------------------------------------------------------------------------


def signed(nonce: str = "N1g287gL8YOwDZr", login: str = "demo-full", **more: object) -> dict[str, object]:
    signature = hmac.new(f"{login}-secret".encode(), nonce.encode(), hashlib.sha256).hexdigest()
    return {"algo": "HS256", "pKey": login, "nonce": nonce, "signature": signature} | more


BASIC: dict[str, object] = {"algo": "BASIC", "pKey": "demo-full", "sKey": "demo-full-secret"}


@pytest.mark.parametrize("params", [BASIC, signed(), signed("x" * 31), signed("demo-trade", "demo-trade")])
def test_a_login_of_either_kind(anonymous: Trader, params: dict[str, object]) -> None:
    assert anonymous.good("login", **params) is True
    assert anonymous.good("getOrders") == []


def test_a_login_without_id_is_answered_with_null(anonymous: Trader) -> None:
    anonymous.send({"method": "login", "params": BASIC})
    assert anonymous.socket.recv() == '{"jsonrpc":"2.0","result":true,"id":null}'


@pytest.mark.parametrize(
    ("params", "description"),
    [
        ({}, "algo must be BASIC or HS256"),
        (BASIC | {"algo": "HS512"}, "algo must be BASIC or HS256"),
        (BASIC | {"algo": 7}, "algo must be BASIC or HS256"),
        (BASIC | {"pKey": None}, "pKey is missing or no text"),
        (BASIC | {"sKey": ["demo-full-secret"]}, "sKey is missing or no text"),
        (BASIC | {"sKey": "demo-full-secret "}, ""),
        (BASIC | {"pKey": "nobody"}, ""),
        (signed(nonce="a", signature=""), "signature is missing or no text"),
        (signed() | {"nonce": ""}, "nonce is missing or no text"),
        (signed() | {"nonce": "another"}, ""),
        (signed() | {"pKey": "nobody"}, ""),
        (signed(signature="abc"), "invalid signature format"),
        (signed(signature=str(signed()["signature"]).upper()), "invalid signature format"),
        (signed(signature="0" * 64), ""),
        (BASIC | {"pKey": "x" * 5_000}, "pKey is missing or no text"),
    ],
)
def test_a_login_that_fails(anonymous: Trader, params: dict[str, object], description: str) -> None:
    code, message, said = anonymous.bad("login", **params)
    assert (code, message, said) == (1002, "Authorization required or has been failed", description)
    assert anonymous.bad("getOrders") == (1001, "Authorization required", "")
    assert anonymous.good("login", **BASIC) is True


@pytest.mark.parametrize("method", METHODS)
def test_nothing_is_answered_before_a_login(anonymous: Trader, method: str) -> None:
    assert anonymous.bad(method) == (1001, "Authorization required", "")
    assert anonymous.bad(method, **ORDER, clientOrderId="early") == (1001, "Authorization required", "")


def test_login_and_requests_back_to_back(anonymous: Trader) -> None:
    for number, method in enumerate(("getOrders", "login", "subscribeReports", "newOrder", "cancelOrder", "getOrders")):
        params = BASIC if method == "login" else {**ORDER, "clientOrderId": "quick"}
        anonymous.send({"method": method, "params": params, "id": "same" if number else 0})
    frames = [anonymous.receive() for _ in range(9)]
    said = [frame.get("method") or ("error" if "error" in frame else "result") for frame in frames]
    assert said == ["error", "result", "result", "activeOrders", "report", "result", "report", "result", "result"]
    assert [frame["id"] for frame in frames if "id" in frame] == [0, *["same"] * 5]


def test_a_frozen_account_can_not_log_in(box: InProcessSandbox, client: Client, anonymous: Trader) -> None:
    (sub,) = [each for each in client.call("GET", "/sub-acc").json()["result"] if each["status"] == "active"][:1]
    before = Trader(box.ws_url, "sub-full")
    assert client.call("POST", "/sub-acc/freeze", data={"ids": sub["id"]}).json() == {"result": True}
    refusal = (403, "Action is forbidden for account", "")
    assert anonymous.bad("login", algo="BASIC", pKey="sub-full", sKey="sub-full-secret") == refusal
    assert before.bad("newOrder", **ORDER, clientOrderId="frozen") == refusal
    before.close()
    account = Trader(box.ws_url, "", "/api/2/ws/account")
    assert account.bad("login", algo="BASIC", pKey="sub-full", sKey="sub-full-secret") == refusal
    assert account.bad("getBalance")[0] == 1001
    account.close()


@pytest.mark.parametrize("login", ["demo-read", "demo-withdraw"])
def test_the_rights(open_trader: Callable[..., Trader], login: str) -> None:
    theirs = open_trader(login)
    for method in METHODS:
        if method != "getTradingBalance":
            assert theirs.bad(method)[0] == 1003
    if login == "demo-read":
        assert theirs.good("getTradingBalance")
    else:
        assert theirs.bad("getTradingBalance")[0] == 1003


@pytest.mark.usefixtures("one_second")
def test_the_rate_of_requests(box: InProcessSandbox, trader: Trader) -> None:
    box.control("config", {"rate_limits": {"trading": 2}})
    said = [trader.say("getOrders") for _ in range(20)]
    assert {"code": 429, "message": "Too many requests", "description": ""} in [each.get("error") for each in said]


def test_the_log_of_calls_hides_what_is_secret(box: InProcessSandbox, trader: Trader) -> None:
    (logged,) = box.control("calls?operation=login")["calls"]
    assert (logged["path"], logged["form"]["sKey"], logged["key"]) == (TRADING, "…", "demo-full")


# New orders ----------------------------------------------------------------------------------------------------------


def test_the_report_comes_first_and_the_answer_repeats_it(trader: Trader) -> None:
    result = trader.good("newOrder", **ORDER, clientOrderId="one")
    assert trader.before() == [("report", result)]
    assert list(result) == [
        *("id", "clientOrderId", "symbol", "side", "status", "type", "timeInForce", "quantity", "price"),
        *("cumQuantity", "postOnly", "createdAt", "updatedAt", "reportType"),
    ]
    assert isinstance(result["id"], str)
    assert int(result["id"]) > 0
    expected = ("new", "limit", "GTC", "0.1000", "0.010000", "0.0000", False, "new")
    assert tuple(result[name] for name in list(result)[4:] if name not in ("createdAt", "updatedAt")) == expected


def test_trades_are_told_behind_the_answer(box: InProcessSandbox, trader: Trader) -> None:
    offer(box, "sell", 9_000, 400)
    offer(box, "sell", 9_500, 400)
    result = trader.good("newOrder", **ORDER, clientOrderId="meets")
    assert (result["status"], result["cumQuantity"], result["reportType"]) == ("new", "0.0000", "new")
    assert types(trader.before()) == [("report", "meets", "new")]
    frames = [params for _, params in trader.behind()]
    assert [(each["status"], each["cumQuantity"], each["tradePrice"]) for each in frames] == [
        ("partiallyFilled", "0.0400", "0.009000"),
        ("partiallyFilled", "0.0800", "0.009500"),
    ]
    assert [each["tradeFee"] for each in frames] == ["0.0000009", "0.00000095"]
    assert all(type(each["tradeId"]) is int and each["id"] == result["id"] for each in frames)


@pytest.mark.parametrize(
    ("params", "reports"),
    [
        ({"timeInForce": "IOC"}, ["new", "trade", "expired"]),
        ({"timeInForce": "FOK"}, ["new", "expired"]),
        ({"type": "market", "price": None}, ["new", "trade", "expired"]),
        ({"postOnly": True}, ["new", "canceled"]),
        ({"postOnly": "true", "timeInForce": "Day"}, ["new", "canceled"]),
        ({"type": "stopLimit", "stopPrice": 0.02}, ["suspended"]),
        ({"type": "stopMarket", "stopPrice": "0.02", "price": None}, ["suspended"]),
        ({"quantity": "0.04"}, ["new", "trade"]),
    ],
)
def test_every_report_of_a_new_order(
    box: InProcessSandbox, trader: Trader, params: dict[str, object], reports: list[str]
) -> None:
    offer(box, "sell", 9_000, 400)
    result = trader.good("newOrder", **(ORDER | {"clientOrderId": "kind"} | params))
    assert result["status"] == result["reportType"] == reports[0]
    assert [params["reportType"] for _, params in trader.behind()] == reports


def test_numbers_as_numbers_and_symbols_in_lower_case(trader: Trader) -> None:
    trader.send(
        '{"method":"newOrder","params":{"clientOrderId":1626318404.23,"symbol":"ethbtc","side":"buy",'
        '"quantity":5.077559999999999,"price":0.01000049},"id":"é"}'
    )
    assert trader.receive()["method"] == "report"
    answer = trader.receive()
    assert (answer["id"], answer["result"]["clientOrderId"]) == ("é", "1626318404.23")
    assert (answer["result"]["quantity"], answer["result"]["price"]) == ("5.0776", "0.010000")


BAD: list[tuple[dict[str, object], tuple[int, str, str]]] = [
    ({"clientOrderId": None}, (10001, "Validation error", "Param 'clientOrderId' required")),
    ({"symbol": None}, (10001, "Validation error", "Param 'symbol' required")),
    ({"side": None}, (10001, "Validation error", "Param 'side' required")),
    ({"symbol": "NOSUCH"}, (2001, "Symbol not found", "")),
    ({"quantity": None}, (2010, "Quantity not a valid number", "Quantity not a valid number or not set")),
    ({"quantity": "x"}, (2010, "Quantity not a valid number", "Quantity not a valid number or not set")),
    ({"quantity": -1}, (2010, "Quantity not a valid number", "Quantity not a valid number or not set")),
    ({"quantity": []}, (2010, "Quantity not a valid number", "Quantity not a valid number or not set")),
    ({"quantity": {"a": 1}}, (2010, "Quantity not a valid number", "Quantity not a valid number or not set")),
    ({"quantity": "0.00001"}, (2011, "Quantity too low", "Minimum quantity 0.0001")),
    ({"quantity": "0.10005", "strictValidate": True}, (2012, "Bad quantity", "Quantity must be a multiple of 0.0001")),
    ({"price": None}, (2020, "Price not a valid number", "")),
    ({"price": 0}, (2020, "Price not a valid number", "")),
    ({"price": "0.0000001"}, (2021, "Price too low", "Minimum price 0.000001")),
    ({"price": "0.0100005", "strictValidate": "true"}, (2022, "Bad price", "Price must be a multiple of 0.000001")),
    ({"type": "stopLimit", "stopPrice": "x"}, (2022, "Bad price", "")),
    ({"type": "stopLimit"}, (10001, "Validation error", "Param 'stopPrice' required")),
    ({"timeInForce": "GTD"}, (10001, "Validation error", "Param 'expireTime' required")),
    (
        {"timeInForce": "GTD", "expireTime": "2001-01-01"},
        (10001, "Validation error", "Param 'expireTime' must be in the future"),
    ),
    ({"quantity": "1e9"}, (20001, "Insufficient funds", "Check that the funds are sufficient, given commissions")),
    (
        {"quantity": "1000000000"},
        (20001, "Insufficient funds", "Check that the funds are sufficient, given commissions"),
    ),
]


@pytest.mark.parametrize(("params", "error"), BAD)
def test_an_odd_order_is_refused_and_changes_nothing(
    box: InProcessSandbox, trader: Trader, params: dict[str, object], error: tuple[int, str, str]
) -> None:
    before = box.inside(lambda: picture(box.world)[5])
    said = trader.bad("newOrder", **(ORDER | {"clientOrderId": "odd"} | params))
    if params == {"quantity": "1e9"}:  # exponents are no numbers here
        error = BAD[5][1]
    assert said[:2] == error[:2]
    assert error[0] == 2001 or said[2] == error[2]
    assert trader.behind() == []
    assert box.inside(lambda: picture(box.world)[5]) == before


@pytest.mark.parametrize(
    "params",
    [
        *({"side": side} for side in ("hold", 1, True, ["buy"], "BUY\x00")),
        *({"type": kind} for kind in ("limits", 3, {})),
        *({"timeInForce": force} for force in ("GTX", False)),
        *({"clientOrderId": name} for name in ("x" * 33, "a b", "é", "../..", "\u0000", {}, ["a"], "x" * 50_000)),
        *({"expireTime": at, "timeInForce": "GTD"} for at in ("yesterday", {}, True)),
        *({"postOnly": flag} for flag in ("maybe", 7, [1])),
        {"strictValidate": "perhaps"},
        {"symbol": ["ETHBTC"]},
        {"symbol": "x" * 1_000},
    ],
)
def test_hostile_values_are_refused(trader: Trader, params: dict[str, object]) -> None:
    code, _, description = trader.bad("newOrder", **(ORDER | {"clientOrderId": "bad"} | params))
    assert code in (10001, 2001)
    assert len(description) < 500
    assert trader.behind() == []
    assert trader.good("getOrders") == []


def test_an_id_is_free_once_a_day(trader: Trader) -> None:
    taken = (20008, "Duplicate clientOrderId", "ClientOrderId must be unique during trading session")
    trader.good("newOrder", **ORDER, clientOrderId="once")
    assert trader.bad("newOrder", **ORDER, clientOrderId="once") == taken
    trader.good("cancelOrder", clientOrderId="once")
    assert trader.bad("newOrder", **ORDER, clientOrderId="once") == taken
    trader.good("newOrder", **ORDER, clientOrderId="two")
    again = {"clientOrderId": "two", "requestClientId": "once", "quantity": "0.2", "price": "0.01"}
    assert trader.bad("cancelReplaceOrder", **again) == taken


# Cancelled and replaced ----------------------------------------------------------------------------------------------


def test_an_order_is_cancelled_once(trader: Trader) -> None:
    placed = trader.good("newOrder", **ORDER, clientOrderId="gone")
    trader.before()
    result = trader.good("cancelOrder", clientOrderId="gone")
    assert trader.before() == [("report", result)]
    assert result == placed | {"status": "canceled", "reportType": "canceled", "updatedAt": result["updatedAt"]}
    for client_id in ("gone", "never", "GONE"):
        assert trader.bad("cancelOrder", clientOrderId=client_id) == (20002, "Order not found", "")
    assert trader.bad("cancelOrder") == (10001, "Validation error", "Param 'clientOrderId' required")
    assert trader.behind() == []


def test_a_replacement_inherits_what_was_filled(box: InProcessSandbox, trader: Trader) -> None:
    old = trader.good("newOrder", **ORDER, clientOrderId="old")
    offer(box, "sell", 10_000, 300)
    trader.behind()
    result = trader.good("cancelReplaceOrder", clientOrderId="old", requestClientId="new", quantity=0.2, price="0.009")
    assert trader.before() == [("report", result)]
    assert (result["reportType"], result["originalRequestClientOrderId"]) == ("replaced", "old")
    assert (result["status"], result["clientOrderId"], result["cumQuantity"]) == ("new", "new", "0.0300")
    assert (result["quantity"], result["price"], result["createdAt"]) == ("0.2000", "0.009000", old["createdAt"])
    assert result["id"] != old["id"]
    assert [each["clientOrderId"] for each in trader.good("getOrders")] == ["new"]
    assert trader.behind() == []


def test_a_replacement_that_can_not_be_paid_answers_with_the_cancelled_order(trader: Trader) -> None:
    old = trader.good("newOrder", **ORDER, clientOrderId="old")
    trader.before()
    params = {"clientOrderId": "old", "requestClientId": "new", "quantity": "10000000", "price": "0.01"}
    result = trader.good("cancelReplaceOrder", **params)
    assert trader.before() == [("report", result)]
    assert (result["id"], result["status"], result["reportType"]) == (old["id"], "canceled", "canceled")
    assert trader.good("getOrders") == []


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"quantity": "0.1", "price": "0.01"}, 20009),
        ({"quantity": "0.1"}, 20009),
        ({"price": "0.02"}, 2010),
        ({"quantity": "x", "price": "0.02"}, 2010),
        ({"quantity": "0.2", "price": "0"}, 2020),
        ({"quantity": "0.2", "price": "0.0000001"}, 2021),
        ({"quantity": "0.10001", "price": "0.02", "strictValidate": True}, 2012),
        ({"quantity": "0.2", "price": "0.01", "requestClientId": None}, 10001),
        ({"quantity": "0.2", "price": "0.01", "requestClientId": "old"}, 20008),
        ({"quantity": "0.2", "price": "0.01", "clientOrderId": "other"}, 20002),
        ({"quantity": "0.2", "price": "0.01", "clientOrderId": None}, 10001),
    ],
)
def test_an_odd_replacement_leaves_the_order(trader: Trader, params: dict[str, object], code: int) -> None:
    trader.good("newOrder", **ORDER, clientOrderId="old")
    trader.before()
    (kept,) = trader.good("getOrders")
    assert trader.bad("cancelReplaceOrder", **({"clientOrderId": "old", "requestClientId": "new"} | params))[0] == code
    assert trader.behind() == []
    assert trader.good("getOrders") == [kept]


# Reports -------------------------------------------------------------------------------------------------------------


def test_nothing_is_told_without_a_subscription(open_trader: Callable[..., Trader]) -> None:
    quiet = open_trader()
    quiet.good("newOrder", **ORDER, clientOrderId="quiet")
    quiet.good("cancelOrder", clientOrderId="quiet")
    assert quiet.behind() == []


def test_the_active_orders_follow_every_subscription(trader: Trader) -> None:
    first = trader.good("newOrder", **ORDER, clientOrderId="first")
    second = trader.good("newOrder", **(ORDER | {"type": "stopLimit", "stopPrice": "0.02"}), clientOrderId="second")
    trader.before()
    assert trader.good("subscribeReports") is True
    assert trader.before() == []
    expected = [each | {"reportType": "status"} for each in (first, second)]
    assert trader.behind() == [("activeOrders", expected)]
    assert trader.good("getOrders") == expected


def test_every_socket_of_the_account_hears_and_no_other(
    open_trader: Callable[..., Trader], trader: Trader, box: InProcessSandbox
) -> None:
    mine, other, combined = open_trader("demo-trade"), open_trader("other-full"), open_trader("demo-trade", COMBINED)
    for each in (mine, other, combined):
        each.good("subscribeReports")
        each.behind()
    result = trader.good("newOrder", **ORDER, clientOrderId="shared")
    assert mine.hear() == combined.hear() == [("report", result)]
    assert other.behind() == []
    assert other.good("getOrders") == []
    assert other.bad("cancelOrder", clientOrderId="shared")[0] == 20002


def test_what_the_market_does_is_told(box: InProcessSandbox, trader: Trader) -> None:
    trader.good("newOrder", **ORDER, clientOrderId="rests")
    trader.before()
    for quantity in (400, 600):
        offer(box, "sell", 10_000, quantity)
    frames = [params for _, params in trader.hear(2)]
    assert [(each["reportType"], each["status"], each["cumQuantity"], each["tradeQuantity"]) for each in frames] == [
        ("trade", "partiallyFilled", "0.0400", "0.0400"),
        ("trade", "filled", "0.1000", "0.0600"),
    ]
    assert trader.behind() == []


def test_a_stop_that_the_market_reaches_is_told(box: InProcessSandbox, trader: Trader) -> None:
    trader.good("newOrder", **(ORDER | {"type": "stopMarket", "stopPrice": "0.03"}), clientOrderId="waits")
    trader.good("newOrder", **(ORDER | {"type": "stopLimit", "stopPrice": "0.04"}), clientOrderId="still")
    assert types(trader.before()) == [("report", "waits", "suspended"), ("report", "still", "suspended")]
    for side, price, quantity in (("sell", 31_000, 2_000), ("sell", 30_000, 500), ("buy", 30_000, 500)):
        offer(box, side, price, quantity)
    frames = [params for _, params in trader.hear(2)]
    assert [(each["clientOrderId"], each["reportType"], each["status"]) for each in frames] == [
        ("waits", "new", "new"),
        ("waits", "trade", "filled"),
    ]
    assert [each["status"] for each in trader.good("getOrders")] == ["suspended"]


def test_a_rebate_is_a_negative_fee(box: InProcessSandbox, trader: Trader) -> None:
    box.control("config", {"provide_liquidity_rate": "-0.0001"})
    trader.good("newOrder", **ORDER, clientOrderId="maker")
    trader.before()
    offer(box, "sell", 10_000, 1_000)
    ((_, frames),) = trader.hear()
    assert (frames["reportType"], frames["status"], frames["tradeFee"]) == ("trade", "filled", "-0.0000001")


def test_expiry_is_told(box: InProcessSandbox, trader: Trader) -> None:
    box.control("clock", {"frozen": True})
    day_ms = 86_400_000  # an order for the day would end with the other one in the last minute before midnight
    box.control("clock", {"advance_ms": 3 * day_ms // 2 - box.world.clock.now_ms() % day_ms})
    now_ms = box.world.clock.now_ms()
    trader.good("newOrder", **ORDER, clientOrderId="today", timeInForce="Day")
    gtd = trader.good("newOrder", **ORDER, clientOrderId="soon", timeInForce="GTD", expireTime=now_ms + 60_000)
    assert gtd["expireTime"].endswith("Z")
    trader.before()
    box.control("clock", {"advance_ms": 60_000})
    assert types(trader.hear()) == [("report", "soon", "expired")]
    box.control("clock", {"advance_ms": day_ms})
    assert types(trader.hear()) == [("report", "today", "expired")]


# One world with REST -------------------------------------------------------------------------------------------------


def test_orders_by_rest_are_told(trader: Trader, client: Client) -> None:
    made = client.call("POST", "/order", data=ORDER | {"clientOrderId": "rest"}).json()
    ((name, frames),) = trader.hear()
    assert name == "report"
    assert frames == made | {"id": str(made["id"]), "reportType": "new"}
    change = {"requestClientId": "rest2", "quantity": "0.2", "price": "0.01"}
    client.call("PATCH", "/order/rest", data=change)
    assert types(trader.hear()) == [("report", "rest2", "replaced")]
    assert trader.good("getOrders")[0]["clientOrderId"] == "rest2"
    client.call("DELETE", "/order/rest2")
    assert types(trader.hear()) == [("report", "rest2", "canceled")]
    assert trader.bad("cancelOrder", clientOrderId="rest2")[0] == 20002


def test_orders_by_socket_are_found_by_rest(box: InProcessSandbox, trader: Trader, client: Client) -> None:
    placed = trader.good("newOrder", **ORDER, clientOrderId="sock")
    found = client.call("GET", "/order/sock").json()
    assert found == {name: placed[name] for name in placed if name != "reportType"} | {"id": int(placed["id"])}
    assert client.call("POST", "/order", data=ORDER | {"clientOrderId": "sock"}).json()["error"]["code"] == 20008
    held = {each["currency"]: each for each in trader.good("getTradingBalance")}["BTC"]
    cost = Decimal("0.1") * Decimal("0.01") * Decimal("1.0025")
    assert cost <= Decimal(held["reserved"]) < cost + Decimal("0.00000001")
    trader.good("cancelOrder", clientOrderId="sock")
    assert client.call("GET", "/order/sock").json()["error"]["code"] == 20002
    (past,) = client.call("GET", "/history/order?clientOrderId=sock").json()
    assert past["status"] == "canceled"
    offer(box, "sell", 9_000, 1_000)
    done = trader.good("newOrder", **ORDER, clientOrderId="trades")
    (trade,) = client.call("GET", f"/history/order/{done['id']}/trades").json()
    (_, frames) = trader.behind()[-1]
    assert (trade["id"], trade["fee"], trade["price"]) == (frames["tradeId"], frames["tradeFee"], frames["tradePrice"])


def test_the_trading_balance_is_that_of_rest_with_zeros(trader: Trader, client: Client) -> None:
    balances = trader.say("getTradingBalance")["result"]
    assert balances == client.call("GET", "/trading/balance").json()
    assert [each for each in balances if Decimal(each["available"]) == Decimal(each["reserved"]) == 0]


def test_orders_by_socket_are_in_the_journal(tmp_path: Path) -> None:
    with InProcessSandbox(seed=1, still=True, data_dir=tmp_path) as box:
        box.inside(lambda: dismiss_traders(box.world))
        mine = Trader(box.ws_url)
        offer(box, "sell", 9_000, 400)
        mine.good("newOrder", **ORDER, clientOrderId="a")
        mine.good("newOrder", **(ORDER | {"quantity": 0.3}), clientOrderId="b")
        mine.good("cancelReplaceOrder", clientOrderId="b", requestClientId="c", quantity="0.2", price="0.009")
        mine.bad("newOrder", **(ORDER | {"quantity": "1000000000"}), clientOrderId="d")
        mine.good("newOrder", **ORDER, clientOrderId="e")
        mine.good("cancelOrder", clientOrderId="e")
        active = mine.good("getOrders")
        box.control("clock", {"frozen": True})
        before = box.inside(lambda: picture(box.world))
        mine.close()
    world = World.open(tmp_path, seed=1, still=True, now_ms=lambda: 0)
    dismiss_traders(world)
    assert world.warnings == []
    assert picture(world) == before
    world.close()
    with InProcessSandbox(seed=1, still=True, data_dir=tmp_path) as again:
        mine = Trader(again.ws_url)
        assert mine.good("getOrders") == active
        assert [each["clientOrderId"] for each in active] == ["a", "c"]
        mine.close()


# Frames, faults, many at once ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["getOrders", "getTradingBalance", "subscribeReports"])
def test_params_may_be_null_absent_or_empty(trader: Trader, method: str) -> None:
    expected = trader.say(method, {})["result"]
    assert trader.say(method, None)["result"] == expected
    trader.send(json.dumps({"method": method, "id": "absent"}))
    frame = trader.receive()
    while "id" not in frame:
        frame = trader.receive()
    assert frame == {"jsonrpc": "2.0", "result": expected, "id": "absent"}


def test_a_refusal_that_was_armed_places_nothing(box: InProcessSandbox, trader: Trader) -> None:
    box.control("faults", {"operation": "newOrder", "kind": "refuse", "code": 504})
    assert trader.bad("newOrder", **ORDER, clientOrderId="late") == (504, "Gateway Timeout", "")
    assert trader.good("getOrders") == []
    trader.good("newOrder", **ORDER, clientOrderId="late")


def test_faults_of_reports(box: InProcessSandbox, trader: Trader) -> None:
    box.control("faults", {"operation": "report", "kind": "duplicate"})
    trader.good("newOrder", **ORDER, clientOrderId="twice")
    assert types(trader.before()) == [("report", "twice", "new")] * 2
    box.control("faults", {"operation": "newOrder", "kind": "drop"})
    trader.send({"method": "newOrder", "params": {**ORDER, "clientOrderId": "unheard"}, "id": 9})
    assert trader.receive()["params"]["clientOrderId"] == "unheard"
    with pytest.raises((websocket.WebSocketConnectionClosedException, ConnectionError)):
        trader.receive()
    back = Trader(box.ws_url)
    assert [each["clientOrderId"] for each in back.good("getOrders")] == ["twice", "unheard"]
    back.close()


def test_many_sockets_at_once(open_trader: Callable[..., Trader]) -> None:
    sockets: list[Stream] = [open_trader() for _ in range(6)]
    for number in range(30):
        for which, each in enumerate(sockets):
            params: dict[str, Any] = {**ORDER, "clientOrderId": f"{which}-{number % 25}"}
            each.send({"method": "newOrder", "params": params, "id": number})
    numbers: set[str] = set()
    for each in sockets:
        answers = [each.receive() for _ in range(30)]
        assert [answer["id"] for answer in answers] == list(range(30))
        assert [answer["error"]["code"] for answer in answers[25:]] == [20008] * 5
        numbers |= {answer["result"]["id"] for answer in answers[:25]}
    assert len(numbers) == 150
