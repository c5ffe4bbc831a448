"""Margin over the trading socket: every method, its notifications and their places, and one world with REST."""

from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from sandbox.serving import InProcessSandbox
from sandbox.world.world import World
from tests.sandbox.conftest import Client
from tests.sandbox.margins import kept
from tests.sandbox.trading_sockets import COMBINED, ORDER, TRADING, Trader, offer, types
from tests.sandbox.worlds import dismiss_traders

OPEN = {"symbol": "ETHBTC", "marginBalance": "0.5"}
MARGIN_ORDER = ORDER
ACCOUNT = ("symbol", "leverage", "marginBalance", "marginBalanceOrders", "marginBalanceRequired")


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


@pytest.fixture(params=[TRADING, COMBINED])
def margin(request: pytest.FixtureRequest, open_trader: Callable[..., Trader]) -> Trader:
    """A socket with every right, subscribed to margin, on either address."""
    opened = open_trader("demo-full", request.param)
    assert opened.good("marginSubscribe") is True
    assert opened.before() == []
    assert opened.hear(2) == [("marginOrders", []), ("marginAccounts", [])]
    return opened


@pytest.fixture
def funded(margin: Trader) -> Trader:
    """The same with an account of 0.5 BTC for ETHBTC."""
    margin.good("marginAccountSet", **OPEN)
    margin.behind()
    return margin


def reasons(frames: list[tuple[str, Any]]) -> list[tuple[str, str]]:
    """What was told: of orders the report type, of accounts the reason."""
    return [(name, each.get("reportReason", each["reportType"])) for name, each in frames]


def opened_position(box: InProcessSandbox, trader: Trader, side: str = "buy", quantity: str = "1") -> dict[str, Any]:
    """The account's report after a position of so many ETH was opened at 0.05."""
    offer(box, "sell" if side == "buy" else "buy", 50_000, int(Decimal(quantity) * 10_000))
    trader.good("marginOrderNew", symbol="ETHBTC", side=side, quantity=quantity, price="0.05", clientOrderId=f"o{side}")
    frames: dict[str, Any] = trader.behind()[-1][1]
    return frames


# Accounts ------------------------------------------------------------------------------------------------------------


def test_an_account_is_opened_changed_and_closed(margin: Trader) -> None:
    said = []
    for balance in ("0.5", 1, 0.25, 0):
        result = margin.good("marginAccountSet", symbol="ethbtc", marginBalance=balance)
        assert margin.before() == []
        assert margin.behind() == [("marginAccountReport", result)]
        said.append((result["marginBalance"], result["reportType"], result["reportReason"]))
    assert said == [
        ("0.5", "created", "created"),
        ("1", "updated", "marginChanged"),
        ("0.25", "updated", "marginChanged"),
        ("0", "closed", "closed"),
    ]
    assert margin.good("marginAccountsGet") == []
    again = margin.good("marginAccountSet", **OPEN)
    assert (again["reportType"], again["reportReason"]) == ("created", "reopened")
    (record,) = margin.good("marginAccountsGet")
    assert record == again | {"reportType": "status", "reportReason": "status"}
    assert tuple(record) == (*ACCOUNT, "createdAt", "updatedAt", "reportType", "reportReason")


@pytest.mark.parametrize(
    ("params", "code", "description"),
    [
        ({"symbol": None}, 10001, "Param 'symbol' required"),
        ({"symbol": "NOSUCH"}, 2001, None),
        ({"symbol": "BCNBTC"}, 20040, ""),
        ({"marginBalance": None}, 10001, "Param 'marginBalance' required"),
        ({"marginBalance": "-1"}, 10001, None),
        ({"marginBalance": "x"}, 10001, None),
        ({"marginBalance": [1]}, 10001, None),
        ({"marginBalance": True}, 10001, None),
        ({"marginBalance": "1e-1", "strictValidate": True}, 10001, None),
        ({"marginBalance": "0.000000000000000000000000000001", "strictValidate": True}, 10001, None),
        ({"marginBalance": "1", "strictValidate": "perhaps"}, 10001, None),
        ({"marginBalance": "1000000000"}, 20001, "Check that the funds are sufficient, given commissions"),
        ({"marginBalance": 0}, 20032, ""),
        ({"symbol": {"a": "b"}}, 10001, None),
    ],
)
def test_an_odd_balance_is_refused(
    box: InProcessSandbox, margin: Trader, params: dict[str, object], code: int, description: str | None
) -> None:
    before = box.inside(lambda: kept(box.world))
    said = margin.bad("marginAccountSet", **(OPEN | params))
    assert said[0] == code
    assert description is None or said[2] == description
    assert margin.behind() == []
    assert box.inside(lambda: kept(box.world)) == before


def test_the_present_balance_is_no_change(funded: Trader) -> None:
    assert funded.bad("marginAccountSet", **OPEN) == (20033, "Position not changed", "")


def test_closing_an_account_cancels_its_orders_first(funded: Trader) -> None:
    funded.good("marginOrderNew", **MARGIN_ORDER, clientOrderId="rests")
    funded.behind()
    result = funded.good("marginAccountSet", symbol="ETHBTC", marginBalance=0)
    assert types(funded.before()) == [("marginOrderReport", "rests", "canceled")]
    assert funded.behind() == [("marginAccountReport", result)]


# Orders --------------------------------------------------------------------------------------------------------------


def test_an_order_is_told_answered_and_then_its_account_told(funded: Trader) -> None:
    result = funded.good("marginOrderNew", **MARGIN_ORDER, clientOrderId="one")
    assert funded.before() == [("marginOrderReport", result)]
    assert type(result["id"]) is int
    assert (result["status"], result["reportType"]) == ("new", "new")
    ((name, account),) = funded.behind()
    assert (name, account["reportType"], account["reportReason"]) == ("marginAccountReport", "updated", "updated")
    # price x quantity x ((1 + f)/L + 2f), with L = 10 and f = 0.0025
    assert Decimal(account["marginBalanceOrders"]) == Decimal("0.1") * Decimal("0.01") * Decimal("0.10525")
    assert funded.good("marginOrdersGet") == [result | {"reportType": "status"}]
    assert funded.good("getOrders") == []


def test_an_order_is_cancelled(funded: Trader) -> None:
    placed = funded.good("marginOrderNew", **MARGIN_ORDER, clientOrderId="gone")
    funded.behind()
    result = funded.good("marginOrderCancel", clientOrderId="gone")
    assert result == placed | {"status": "canceled", "reportType": "canceled", "updatedAt": result["updatedAt"]}
    assert funded.before() == [("marginOrderReport", result)]
    assert reasons(funded.behind()) == [("marginAccountReport", "updated")]
    assert funded.bad("marginOrderCancel", clientOrderId="gone") == (20002, "Order not found", "")
    assert funded.bad("marginOrderCancel") == (10001, "Validation error", "Param 'clientOrderId' required")


def test_all_orders_are_cancelled(funded: Trader) -> None:
    assert funded.good("marginOrdersCancel") == []
    for name in ("a", "b", "c"):
        funded.good("marginOrderNew", **MARGIN_ORDER, clientOrderId=name)
    funded.good("newOrder", **ORDER, clientOrderId="spot")
    funded.behind()
    cancelled = funded.good("marginOrdersCancel")
    assert [(each["clientOrderId"], each["status"]) for each in cancelled] == [(name, "canceled") for name in "abc"]
    assert funded.before() == [("marginOrderReport", each) for each in cancelled]
    assert reasons(funded.behind()) == [("marginAccountReport", "updated")]
    assert [each["clientOrderId"] for each in funded.good("getOrders")] == ["spot"]


def test_an_order_is_replaced(funded: Trader) -> None:
    old = funded.good("marginOrderNew", **MARGIN_ORDER, clientOrderId="old")
    funded.behind()
    params = {"clientOrderId": "old", "requestClientId": "new", "quantity": "0.2", "price": 0.011}
    result = funded.good("marginOrderCancelReplace", **params)
    assert funded.before() == [("marginOrderReport", result)]
    assert reasons(funded.behind()) == [("marginAccountReport", "updated")]
    assert (result["reportType"], result["originalRequestClientOrderId"], result["clientOrderId"]) == (
        *("replaced", "old", "new"),
    )
    assert (result["status"], result["createdAt"], type(result["id"])) == ("new", old["createdAt"], int)
    assert [each["clientOrderId"] for each in funded.good("marginOrdersGet")] == ["new"]


def test_a_replacement_that_the_account_can_not_carry_answers_with_the_cancelled_order(funded: Trader) -> None:
    funded.good("marginOrderNew", **MARGIN_ORDER, clientOrderId="old")
    funded.behind()
    params = {"clientOrderId": "old", "requestClientId": "new", "quantity": "100000"}
    result = funded.good("marginOrderCancelReplace", **params)
    assert (result["clientOrderId"], result["status"], result["reportType"]) == ("old", "canceled", "canceled")
    assert funded.before() == [("marginOrderReport", result)]
    assert funded.good("marginOrdersGet") == []


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"quantity": "0.1", "price": "0.01"}, 20009),
        ({"price": "0.02"}, 2010),
        ({"quantity": "0.2", "price": "x"}, 2020),
        ({"quantity": "0.2", "requestClientId": "old"}, 20008),
        ({"quantity": "0.2", "requestClientId": None}, 10001),
        ({"quantity": "0.2", "clientOrderId": "spot"}, 20002),
        ({"quantity": "0.20001", "strictValidate": True}, 2012),
        ({"quantity": "0.2", "price": "0.0100001", "strictValidate": True}, 2022),
    ],
)
def test_an_odd_replacement_leaves_the_order(funded: Trader, params: dict[str, object], code: int) -> None:
    funded.good("newOrder", **ORDER, clientOrderId="spot")
    funded.good("marginOrderNew", **MARGIN_ORDER, clientOrderId="old")
    funded.behind()
    (before,) = funded.good("marginOrdersGet")
    request = {"clientOrderId": "old", "requestClientId": "new"} | params
    assert funded.bad("marginOrderCancelReplace", **request)[0] == code
    assert funded.behind() == []
    assert funded.good("marginOrdersGet") == [before]


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"clientOrderId": None}, 10001),
        ({"symbol": "LTCBTC"}, 20032),
        ({"symbol": "BCNBTC", "quantity": "100"}, 20040),
        ({"symbol": "NOSUCH"}, 2001),
        ({"quantity": None}, 2010),
        ({"quantity": "0.00001"}, 2011),
        ({"quantity": "0.10005", "strictValidate": True}, 2012),
        ({"price": None}, 2020),
        ({"price": "0.0000001"}, 2021),
        ({"price": "0.0100005", "strictValidate": True}, 2022),
        ({"quantity": "100000"}, 20001),
        ({"takeLiquidityMarkup": "-0.1"}, 10001),
        ({"provideLiquidityMarkup": 1}, 10001),
        ({"takeLiquidityMarkup": "x"}, 10001),
        ({"side": ["buy"]}, 10001),
        ({"clientOrderId": "taken"}, 20008),
    ],
)
def test_an_odd_order_is_refused(box: InProcessSandbox, funded: Trader, params: dict[str, object], code: int) -> None:
    funded.good("newOrder", **ORDER, clientOrderId="taken")
    funded.behind()
    before = box.inside(lambda: kept(box.world))
    request = MARGIN_ORDER | {"clientOrderId": "odd"} | params
    assert funded.bad("marginOrderNew", **request)[0] == code
    assert funded.behind() == []
    assert box.inside(lambda: kept(box.world)) == before


def test_markups_come_on_top_of_the_rate(box: InProcessSandbox, funded: Trader) -> None:
    offer(box, "sell", 50_000, 10_000)
    params = {"symbol": "ETHBTC", "side": "buy", "quantity": 1, "price": "0.05", "clientOrderId": "marked"}
    funded.good("marginOrderNew", **params, takeLiquidityMarkup=0.0015)
    trade = next(each for _, each in funded.behind() if each["reportType"] == "trade")
    assert Decimal(trade["tradeFee"]) == Decimal("0.05") * Decimal("0.004")


# Positions -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("side", "sign"), [("buy", 1), ("sell", -1)])
def test_a_position_is_opened_and_closed(box: InProcessSandbox, funded: Trader, side: str, sign: int) -> None:
    account = opened_position(box, funded, side)
    assert Decimal(account["position"]["quantity"]) == sign
    (record,) = funded.good("marginAccountsGet")
    assert record["position"] == account["position"]
    # |quantity| x priceEntry x ((1 + f)/L + f)
    assert Decimal(record["marginBalanceRequired"]) == Decimal("0.05") * Decimal("0.10275")
    offer(box, "buy" if side == "buy" else "sell", 50_000, 10_000)
    funded.good("marginOrderNew", **(MARGIN_ORDER | {"price": "0.01"}), clientOrderId="rests")
    funded.behind()
    result = funded.good("marginPositionClose", symbol="ETHBTC")
    assert reasons(funded.before()) == [
        ("marginOrderReport", "canceled"),
        ("marginOrderReport", "new"),
        ("marginOrderReport", "trade"),
        ("marginAccountReport", "closed"),
    ]
    assert (result["symbol"], result["reportType"], result["reportReason"]) == ("ETHBTC", "updated", "updated")
    assert "position" not in result
    assert Decimal(result["marginBalance"]) == Decimal("0.5") - 2 * Decimal("0.05") * Decimal("0.0025")
    assert funded.behind() == [("marginAccountReport", result)]
    assert funded.bad("marginPositionClose", symbol="ETHBTC") == (20032, "Margin account or position not found", "")


def test_trades_name_their_position(box: InProcessSandbox, funded: Trader) -> None:
    offer(box, "sell", 50_000, 10_000)
    result = funded.good("marginOrderNew", symbol="ETHBTC", side="buy", quantity=2, price="0.05", clientOrderId="half")
    assert (result["status"], result["cumQuantity"]) == ("new", "0.0000")
    funded.before()
    frames = funded.behind()
    assert reasons(frames) == [
        ("marginOrderReport", "trade"),
        ("marginAccountReport", "openTrade"),
        ("marginAccountReport", "updated"),
    ]
    assert frames[0][1]["tradePositionId"] == frames[1][1]["position"]["id"]
    assert (frames[0][1]["status"], frames[0][1]["cumQuantity"]) == ("partiallyFilled", "1.0000")
    assert type(frames[0][1]["tradePositionId"]) is int


def test_a_position_is_reduced_and_flipped(box: InProcessSandbox, funded: Trader) -> None:
    opened_position(box, funded)
    said = []
    for number, quantity in enumerate(("0.4", "1")):
        offer(box, "buy", 50_000, int(Decimal(quantity) * 10_000))
        order = {"symbol": "ETHBTC", "side": "sell", "quantity": quantity, "price": "0.05"}
        funded.good("marginOrderNew", **order, clientOrderId=f"s{number}")
        said += [reason for _, reason in reasons(funded.behind()) if reason.endswith("Trade")]
    assert said == ["closeTrade", "flipTrade"]
    assert funded.good("marginAccountsGet")[0]["position"]["quantity"] == "-0.4000"


@pytest.mark.parametrize(
    ("params", "code"),
    [({}, 10001), ({"symbol": "NOSUCH"}, 2001), ({"symbol": "ETHBTC"}, 20032), ({"symbol": "LTCBTC"}, 20032)],
)
def test_a_position_that_is_not_there(funded: Trader, params: dict[str, object], code: int) -> None:
    assert funded.bad("marginPositionClose", **params)[0] == code


def test_a_position_that_nobody_takes_stays(box: InProcessSandbox, funded: Trader) -> None:
    opened_position(box, funded)
    assert funded.bad("marginPositionClose", symbol="ETHBTC")[0] == 20010
    assert funded.behind() == []
    assert funded.bad("marginAccountSet", symbol="ETHBTC", marginBalance=0)[0] == 20001
    assert funded.good("marginAccountsGet")[0]["position"]["quantity"] == "1.0000"


def test_a_liquidation_is_told(box: InProcessSandbox, margin: Trader) -> None:
    margin.good("marginAccountSet", symbol="ETHBTC", marginBalance="0.006")
    account = opened_position(box, margin)
    edge = int(Decimal(account["position"]["priceLiquidation"]).scaleb(6))
    margin.before()
    for side in ("buy", "sell"):
        offer(box, side, edge - 100, 20_000)
    frames = margin.hear(4)
    while ("marginAccountReport", "liquidated") not in reasons(frames):
        frames += margin.hear()
    liquidated = next(params for _, params in frames if params.get("reportReason") == "liquidated")
    assert (liquidated["reportType"], "position" in liquidated) == ("closed", False)
    assert "position" not in margin.good("marginAccountsGet")[0]


# Subscriptions and REST ----------------------------------------------------------------------------------------------


def test_nothing_is_told_without_a_subscription(open_trader: Callable[..., Trader]) -> None:
    quiet = open_trader()
    quiet.good("subscribeReports")  # of spot orders
    quiet.behind()
    quiet.good("marginAccountSet", **OPEN)
    quiet.good("marginOrderNew", **MARGIN_ORDER, clientOrderId="quiet")
    assert quiet.behind() == []


def test_orders_and_accounts_follow_every_subscription(funded: Trader) -> None:
    placed = funded.good("marginOrderNew", **MARGIN_ORDER, clientOrderId="one")
    ((_, account),) = funded.behind()[1:]
    assert funded.say("marginSubscribe", None)["result"] is True
    assert funded.before() == []
    status = {"reportType": "status", "reportReason": "status"}
    assert funded.behind() == [
        ("marginOrders", [placed | {"reportType": "status"}]),
        ("marginAccounts", [account | status]),
    ]


def test_other_accounts_hear_nothing(open_trader: Callable[..., Trader], margin: Trader) -> None:
    other, mine = open_trader("other-full"), open_trader("demo-trade")
    for each in (other, mine):
        each.good("marginSubscribe")
        each.behind()
    result = margin.good("marginAccountSet", **OPEN)
    assert mine.hear() == [("marginAccountReport", result)]
    assert other.behind() == []
    assert other.good("marginAccountsGet") == []


def test_what_is_done_by_rest_is_told(margin: Trader, client: Client) -> None:
    account = client.call("PUT", "/margin/account/ETHBTC", data={"marginBalance": "0.5"}).json()
    created = {"reportType": "created", "reportReason": "created"}
    assert margin.hear() == [("marginAccountReport", account | created)]
    order = client.call("POST", "/margin/order", data=MARGIN_ORDER | {"clientOrderId": "rest"}).json()
    frames = margin.hear(2)
    assert frames[0] == ("marginOrderReport", order | {"reportType": "new"})
    assert reasons(frames)[1] == ("marginAccountReport", "updated")
    client.call("DELETE", "/margin/order/rest")
    assert reasons(margin.hear(2)) == [("marginOrderReport", "canceled"), ("marginAccountReport", "updated")]
    client.call("DELETE", "/margin/account/ETHBTC")
    assert reasons(margin.hear()) == [("marginAccountReport", "closed")]


def test_what_is_done_by_socket_is_found_by_rest(funded: Trader, client: Client) -> None:
    placed = funded.good("marginOrderNew", **MARGIN_ORDER, clientOrderId="sock")
    found = client.call("GET", "/margin/order/sock").json()
    assert found == {name: placed[name] for name in placed if name != "reportType"}
    (account,) = funded.good("marginAccountsGet")
    record = client.call("GET", "/margin/account/ETHBTC").json()
    assert record == {name: account[name] for name in account if not name.startswith("report")}
    changed = {"clientOrderId": "sock", "requestClientId": "sock2", "quantity": "0.3", "price": "0.01"}
    funded.good("marginOrderCancelReplace", **changed)
    assert client.call("GET", "/margin/order/sock").json()["error"]["code"] == 20002
    assert client.call("GET", "/margin/order/sock2").json()["quantity"] == "0.3000"
    funded.good("marginOrdersCancel")
    assert client.call("GET", "/margin/order").json() == []


def test_margin_by_socket_is_in_the_journal(tmp_path: Path) -> None:
    with InProcessSandbox(seed=1, still=True, data_dir=tmp_path) as box:
        box.inside(lambda: dismiss_traders(box.world))
        mine = Trader(box.ws_url)
        mine.good("marginSubscribe")
        mine.good("marginAccountSet", **OPEN)
        opened_position(box, mine)
        mine.good("marginOrderNew", **MARGIN_ORDER, clientOrderId="a")
        mine.good("marginOrderCancelReplace", clientOrderId="a", requestClientId="b", quantity=0.2, price=0.011)
        mine.good("marginOrderNew", **MARGIN_ORDER, clientOrderId="c")
        refused = mine.good("marginOrderCancelReplace", clientOrderId="c", requestClientId="d", quantity=100_000)
        assert refused["status"] == "canceled"
        mine.good("marginOrderNew", **MARGIN_ORDER, clientOrderId="e")
        mine.good("marginOrderCancel", clientOrderId="e")
        box.control("clock", {"frozen": True})
        orders, (account,) = mine.good("marginOrdersGet"), mine.good("marginAccountsGet")
        before = box.inside(lambda: kept(box.world))
        mine.close()
    world = World.open(tmp_path, seed=1, still=True, now_ms=lambda: 0)
    dismiss_traders(world)
    assert world.warnings == []
    assert kept(world)[1:] == before[1:]
    assert [each["clientOrderId"] for each in orders] == ["b"]
    world.close()
    with InProcessSandbox(seed=1, still=True, data_dir=tmp_path) as again:
        mine = Trader(again.ws_url)
        assert mine.good("marginOrdersGet") == orders
        (again_there,) = mine.good("marginAccountsGet")
        for name in ("marginBalance", "marginBalanceOrders", "marginBalanceRequired", "createdAt", "updatedAt"):
            assert again_there[name] == account[name]
        assert again_there["position"]["quantity"] == "1.0000"
        mine.close()


@pytest.mark.parametrize("method", ["marginAccountsGet", "marginOrdersGet", "marginOrdersCancel", "marginSubscribe"])
def test_params_may_be_null_or_empty(funded: Trader, method: str) -> None:
    assert funded.say(method, None)["result"] == funded.say(method, {})["result"]


def test_a_refusal_that_was_armed_changes_nothing(box: InProcessSandbox, funded: Trader) -> None:
    box.control("faults", {"operation": "marginOrderNew", "kind": "refuse", "code": 20080})
    said = funded.bad("marginOrderNew", **MARGIN_ORDER, clientOrderId="late")
    assert said[:2] == (20080, "Internal order execution deadline exceeded")
    assert funded.behind() == []
    box.control("faults", {"operation": "marginOrderReport", "kind": "duplicate"})
    funded.good("marginOrderNew", **MARGIN_ORDER, clientOrderId="late")
    assert types(funded.before()) == [("marginOrderReport", "late", "new")] * 2
