"""What each address serves, every default and bound of market data and account queries, and the page that tells it."""

import json
import re
from collections.abc import Callable, Iterator
from html import unescape
from typing import Any

import pytest
import requests

from exchange_ops.wire import streams
from sandbox.exchange.trading import orders_house
from sandbox.server.sockets.sockets import PARTS
from sandbox.serving import InProcessSandbox
from tests.sandbox.conftest import Client
from tests.sandbox.trading_sockets import ORDER, Trader, offer
from tests.sandbox.worlds import DESK

PUBLIC, TRADING, COMBINED, ACCOUNT = (f"/api/2/ws{end}" for end in ("/public", "/trading", "", "/account"))

# Written from the specification and its supplement: methods and notifications by address.
MARKET = {
    *("getCurrencies", "getCurrency", "getSymbols", "getSymbol", "getTrades"),
    *("subscribeTicker", "subscribeOrderbook", "subscribeTrades", "subscribeCandles"),
    *("unsubscribeTicker", "unsubscribeOrderbook", "unsubscribeTrades", "unsubscribeCandles"),
}
MARKET_TELLS = {
    *("ticker", "snapshotOrderbook", "updateOrderbook", "snapshotTrades", "updateTrades"),
    *("snapshotCandles", "updateCandles"),
}
ORDERS = {
    *("login", "newOrder", "cancelOrder", "cancelReplaceOrder", "getOrders", "getTradingBalance", "subscribeReports"),
    *("marginAccountsGet", "marginAccountSet", "marginPositionClose", "marginOrdersGet", "marginOrdersCancel"),
    *("marginOrderNew", "marginOrderCancel", "marginOrderCancelReplace", "marginSubscribe"),
}
ORDERS_TELL = {
    *("activeOrders", "report", "marginOrders", "marginAccounts", "marginOrderReport", "marginAccountReport"),
}
MONEY = {
    *("login", "subscribeTransactions", "unsubscribeTransactions", "subscribeBalance", "unsubscribeBalance"),
    *("getBalance", "findTransactions", "loadTransactions"),
}
SERVED = {
    PUBLIC: (MARKET, MARKET_TELLS),
    TRADING: (ORDERS, ORDERS_TELL),
    COMBINED: (MARKET | ORDERS, MARKET_TELLS | ORDERS_TELL),
    ACCOUNT: (MONEY, {"updateTransaction", "balance"}),
}
EVERY = MARKET | ORDERS | MONEY


@pytest.fixture
def open_stream(box: InProcessSandbox) -> Iterator[Callable[..., Trader]]:
    """Opens sockets of any address, logged in unless the login is empty, and closes them."""
    opened: list[Trader] = []

    def open_one(path: str, login: str = "") -> Trader:
        opened.append(Trader(box.ws_url, login, path))
        return opened[-1]

    yield open_one
    for each in opened:
        each.close()


# What is served where ------------------------------------------------------------------------------------------------


def test_the_tables_are_those_of_the_specification() -> None:
    methods = {path: {name for part in parts for name in part.methods} for path, parts in PARTS.items()}
    tells = {path: {name for part in parts for name in part.notifications} for path, parts in PARTS.items()}
    assert {path: (methods[path], tells[path]) for path in PARTS} == SERVED
    assert {method.name for method in streams.METHODS} == EVERY
    assert {event.name for event in streams.EVENTS} == {name for _, members in SERVED.values() for name in members}


@pytest.mark.parametrize("path", SERVED)
def test_an_address_answers_its_own_methods_and_no_others(open_stream: Callable[..., Trader], path: str) -> None:
    stream = open_stream(path)
    for method in sorted(EVERY):
        answer = stream.say(method)
        code = answer.get("error", {}).get("code")
        if method not in SERVED[path][0]:
            assert code == -32601, method
        elif method in MARKET:
            assert code in (None, 10001), method
        else:
            assert code == (1002 if method == "login" else 1001), method


@pytest.mark.parametrize("path", SERVED)
def test_an_address_is_the_same_with_a_slash_and_a_query(box: InProcessSandbox, path: str) -> None:
    for written in (f"{path}/", f"{path}?version=2"):
        stream = Trader(box.ws_url, "", written)
        assert stream.say("noSuchMethod")["error"]["code"] == -32601
        assert f" {sorted(SERVED[path][0])[0]}" in stream.say("noSuchMethod")["error"]["description"]
        stream.close()


def test_the_page_lists_every_address_method_and_notification(client: Client) -> None:
    page = requests.get(f"{client.url}/", timeout=10).text
    section = unescape(page[page.index("<h2>Sockets</h2>") : page.index("<h2>Control plane</h2>")])
    rows = [re.findall(r"<code>([^<]*)</code>", row) for row in section.split("<tr>")[1:]]
    by_name = {row[0]: {code for code in row[1:] if code.startswith("/api/2/ws")} for row in rows if row}
    for path, (methods, tells) in SERVED.items():
        assert {name for name, addresses in by_name.items() if path in addresses} == methods | tells
    assert set(by_name) == EVERY | {name for _, facts in SERVED.values() for name in facts}
    (new_order,) = [row for row in section.split("<tr>") if "<code>newOrder</code>" in row]
    assert "<code>clientOrderId</code> (required)" in new_order
    assert ">needed<" in new_order
    assert ">not needed<" in next(row for row in section.split("<tr>") if "<code>getSymbols</code>" in row)
    assert "market data and trading: their addresses take" not in page


# Market data ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"sort": "ASC", "limit": "7"},
        {"limit": 1000, "offset": 20},
        {"offset": "100000"},
        {"by": "timestamp", "from": "2020-01-01", "till": "2030-01-01T00:00:00.000Z", "sort": "ASC", "limit": 3},
        {"from": 1_500_000_000_000, "limit": 2},
        {"symbol": "ethbtc", "limit": 1, "unknown": {"a": 1}},
    ],
)
def test_trades_are_asked_for_as_over_rest(
    box: InProcessSandbox, open_stream: Callable[..., Trader], client: Client, params: dict[str, Any]
) -> None:
    box.control("clock", {"frozen": True})
    found = open_stream(PUBLIC).good("getTrades", **({"symbol": "ETHBTC"} | params))
    query = {name: value for name, value in params.items() if name not in ("symbol", "unknown")}
    assert found == {"data": client.call("GET", "/public/trades/ETHBTC", params=query).json(), "symbol": "ETHBTC"}
    assert list(found) == ["data", "symbol"]
    if not params:
        ids = [trade["id"] for trade in found["data"]]
        assert (len(ids), ids) == (100, sorted(ids, reverse=True))


def test_trades_between_two_numbers(open_stream: Callable[..., Trader]) -> None:
    stream = open_stream(COMBINED)
    every = [trade["id"] for trade in stream.good("getTrades", symbol="ETHBTC")["data"]]
    between = stream.good("getTrades", symbol="ETHBTC", by="id", **{"from": every[5], "till": str(every[2])})["data"]
    assert [trade["id"] for trade in between] == every[2:6]


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("getCurrency", {}, 10001),
        ("getCurrency", {"currency": "NOPE"}, 2002),
        ("getSymbol", {}, 10001),
        ("getSymbol", {"symbol": "NOPE"}, 2001),
        ("getTrades", {}, 10001),
        ("getTrades", {"symbol": "NOPE"}, 2001),
        ("unsubscribeTicker", {"symbol": "NOPE"}, 2001),
        ("unsubscribeCandles", {"symbol": "ETHBTC", "period": "M2"}, 10001),
        ("subscribeCandles", {"symbol": "ETHBTC", "period": 5}, 10001),
        ("subscribeTrades", {"symbol": "ETHBTC", "limit": 1001}, 10001),
        ("subscribeTrades", {"symbol": "ETHBTC", "limit": -1}, 10001),
        ("subscribeOrderbook", {"symbol": True}, 10001),
        ("subscribeOrderbook", {"symbol": ""}, 10001),
    ],
)
def test_odd_params_of_market_data(
    open_stream: Callable[..., Trader], method: str, params: dict[str, Any], code: int
) -> None:
    stream = open_stream(PUBLIC)
    assert stream.bad(method, **params)[0] == code
    assert stream.behind() == []


@pytest.mark.parametrize(
    ("method", "params", "count"),
    [
        ("Trades", {}, 100),
        ("Trades", {"limit": "3"}, 3),
        ("Trades", {"limit": 1000}, 1000),
        ("Candles", {}, 100),
        ("Candles", {"limit": 2, "period": "M1"}, 2),
        ("Candles", {"limit": "1000", "period": "M3"}, 1000),
    ],
)
def test_how_much_a_snapshot_shows(
    open_stream: Callable[..., Trader], method: str, params: dict[str, Any], count: int
) -> None:
    stream = open_stream(PUBLIC)
    assert stream.good(f"subscribe{method}", symbol="ETHBTC", **params) is True
    assert stream.before() == []  # the answer comes first
    ((name, snapshot),) = stream.hear()
    assert (name, len(snapshot["data"])) == (f"snapshot{method}", count)
    order = [each.get("id") or each["timestamp"] for each in snapshot["data"]]
    assert order == sorted(order)
    assert list(snapshot) == (["data", "symbol"] if method == "Trades" else ["data", "symbol", "period"])
    assert snapshot.get("period", "M30") == params.get("period", "M30")


def test_what_is_ended_is_what_was_named(box: InProcessSandbox, open_stream: Callable[..., Trader]) -> None:
    stream = open_stream(PUBLIC)
    for params in ({}, {"period": "D1"}, {"period": "H1"}):
        stream.good("subscribeCandles", symbol="ETHBTC", limit=1, **params)
    stream.good("unsubscribeCandles", symbol="ETHBTC")  # M30, like the subscription without a period
    stream.good("unsubscribeCandles", symbol="ETHBTC", period="M5")
    stream.good("unsubscribeCandles", symbol="LTCBTC", period="D1")
    stream.hear(3)
    assert box.inside(box.followed_topics) == 2
    traded(box, 1)
    assert {params["period"] for _, params in stream.hear(2)} == {"D1", "H1"}


def traded(box: InProcessSandbox, count: int) -> None:
    """So many trades at once, before anybody can be told of any."""

    def trade() -> None:
        for _ in range(count):
            for side in ("buy", "sell"):
                box.world.perform("create_order", DESK, ORDER | {"side": side, "price": "0.5"})

    box.inside(trade)


def test_many_changes_between_two_beats_are_told_at_once(
    box: InProcessSandbox, open_stream: Callable[..., Trader]
) -> None:
    box.control("clock", {"frozen": True})
    stream = open_stream(PUBLIC)
    for channel in ("Ticker", "Orderbook", "Trades"):
        stream.good(f"subscribe{channel}", symbol="ETHBTC", limit=1)
    stream.good("subscribeCandles", symbol="ETHBTC", limit=1, period="D1")
    first = dict(stream.hear(4))

    def offers() -> None:
        for price in range(1_000, 1_030):
            orders_house.offer(box.world.exchange, "ETHBTC", "buy", price, 100)

    box.inside(offers)
    traded(box, 20)
    frames = stream.hear(4)
    while "updateOrderbook" not in [name for name, _ in frames]:  # it may show itself again first
        frames += stream.hear()
    assert sorted(name for name, _ in frames if name != "snapshotOrderbook") == [
        *("ticker", "updateCandles", "updateOrderbook", "updateTrades"),
    ]
    news = dict(frames)
    assert news["updateOrderbook"]["sequence"] == first["snapshotOrderbook"]["sequence"] + 1
    assert news["updateOrderbook"]["ask"] == []
    prices = [level["price"] for level in news["updateOrderbook"]["bid"]]
    assert prices == [f"0.00{ticks}" for ticks in range(1_029, 999, -1)]
    ids = [trade["id"] for trade in news["updateTrades"]["data"]]
    assert (len(ids), ids) == (20, sorted(set(ids)))
    assert news["ticker"]["last"] == news["updateCandles"]["data"][-1]["close"] == "0.500000"


def test_a_level_that_came_and_went_between_two_beats_is_not_told(
    box: InProcessSandbox, open_stream: Callable[..., Trader], client: Client
) -> None:
    stream = open_stream(PUBLIC)
    stream.good("subscribeOrderbook", symbol="ETHBTC")
    ((_, whole),) = stream.hear()

    def come_and_go() -> None:
        box.world.perform("create_order", DESK, ORDER | {"clientOrderId": "brief"})
        box.world.perform("cancel_order", DESK, {"clientOrderId": "brief"})

    box.inside(come_and_go)
    client.call("POST", "/order", data=ORDER | {"price": "0.002"})
    frames = [params for name, params in stream.hear() if name == "updateOrderbook"]
    while not frames:
        frames = [params for name, params in stream.hear() if name == "updateOrderbook"]
    assert frames[0]["sequence"] == whole["sequence"] + 1
    assert frames[0]["bid"] == [{"price": "0.002000", "size": "0.1000"}]


def test_a_book_goes_on_with_its_sequence_and_shows_itself_again_to_who_still_follows(
    open_stream: Callable[..., Trader], client: Client
) -> None:
    brief, lasting = open_stream(PUBLIC), open_stream(COMBINED)
    for each in (brief, lasting):
        each.good("subscribeOrderbook", symbol="ETHBTC")
    brief.good("unsubscribeOrderbook", symbol="ETHBTC")
    ((_, first),) = lasting.hear()
    client.call("POST", "/order", data=ORDER)
    assert [(name, params["sequence"]) for name, params in lasting.hear(2)] == [
        ("updateOrderbook", first["sequence"] + 1),
        ("snapshotOrderbook", first["sequence"] + 1),
    ]
    assert [name for name, _ in brief.behind()] == ["snapshotOrderbook"]
    lasting.good("unsubscribeOrderbook", symbol="ETHBTC")
    client.call("POST", "/order", data=ORDER | {"price": "0.02"})
    brief.good("subscribeOrderbook", symbol="ETHBTC")
    ((_, again),) = brief.hear()
    assert again["sequence"] == first["sequence"] + 1
    assert [level["price"] for level in again["bid"]] == ["0.020000", "0.010000"]


def test_a_leap_of_the_clock_tells_every_trade_once_up_to_a_thousand() -> None:
    with InProcessSandbox(seed=1) as box:
        box.control("clock", {"frozen": True})
        client, stream = Client(box.url), Trader(box.ws_url, "", PUBLIC)
        stream.good("subscribeTrades", symbol="ETHBTC", limit=1)
        stream.good("subscribeCandles", symbol="ETHBTC", period="M1", limit=1)
        snapshots = dict(stream.hear(2))
        latest = snapshots["snapshotTrades"]["data"][-1]["id"]
        for leap_ms in (60_000, 600_000, 86_400_000):
            box.control("clock", {"advance_ms": leap_ms})
            frames = dict(stream.hear(2))
            query = {"by": "id", "from": latest + 1, "sort": "DESC", "limit": 1000}
            trades = client.call("GET", "/public/trades/ETHBTC", params=query).json()[::-1]
            assert frames["updateTrades"]["data"] == trades
            candles = client.call(
                "GET", "/public/candles/ETHBTC", params={"period": "M1", "limit": 1000, "sort": "DESC"}
            )
            news = frames["updateCandles"]["data"]
            assert news == candles.json()[: len(news)][::-1]
            latest = trades[-1]["id"]
        assert len(trades) == len(news) == 1_000
        assert stream.behind() == []
        stream.close()


@pytest.mark.usefixtures("one_second")
def test_the_rate_of_market_data_counts_by_socket(box: InProcessSandbox, open_stream: Callable[..., Trader]) -> None:
    one, other = open_stream(PUBLIC), open_stream(COMBINED)
    box.control("config", {"rate_limits": {"market": 2}})
    for number in range(20):
        one.send({"method": "subscribeTicker", "params": {"symbol": "ETHBTC"}, "id": number})
    said: list[dict[str, Any]] = []
    while len(said) < 20:
        said += [frame for frame in (one.receive(),) if "id" in frame]
    refused = {"code": 429, "message": "Too many requests", "description": ""}
    assert "error" not in said[0]
    assert refused in [each.get("error") for each in said]
    assert [each["error"] for each in said if "error" in each and each["error"] != refused] == []
    assert other.good("getSymbol", symbol="ETHBTC")["id"] == "ETHBTC"
    box.control("config", {"rate_limits": None})
    assert one.good("subscribeTicker", symbol="ETHBTC") is True


def test_a_later_login_is_the_one_that_counts(open_stream: Callable[..., Trader], client: Client) -> None:
    stream = open_stream(COMBINED, "demo-full")
    stream.good("subscribeReports")
    stream.hear()
    assert stream.bad("login", algo="BASIC", pKey="other-full", sKey="wrong")[0] == 1002
    client.call("POST", "/order", data=ORDER | {"clientOrderId": "mine"})
    assert [params["clientOrderId"] for _, params in stream.hear()] == ["mine"]
    assert stream.good("login", algo="BASIC", pKey="other-full", sKey="other-full-secret") is True
    assert stream.good("getOrders") == []
    client.call("DELETE", "/order/mine")
    Client(client.url, "other-full").call("POST", "/order", data=ORDER | {"clientOrderId": "theirs"})
    assert [params["clientOrderId"] for _, params in stream.hear()] == ["theirs"]
    assert stream.behind() == []


# Transactions --------------------------------------------------------------------------------------------------------


@pytest.fixture
def account(box: InProcessSandbox, open_stream: Callable[..., Trader]) -> Trader:
    """The account's socket, with a hundred and five transactions more than at the beginning."""

    def deposits() -> None:
        for _ in range(105):
            box.world.control("deposit", {"currency": "USD", "amount": "1"})

    box.inside(deposits)
    return open_stream(ACCOUNT, "demo-full")


def test_the_defaults_of_the_two_queries(account: Trader) -> None:
    every = account.good("loadTransactions", limit=1000)
    indexes = [record["index"] for record in every]
    assert len(every) > 105
    assert indexes == sorted(set(indexes))
    assert account.good("loadTransactions") == every[:100]
    assert account.good("findTransactions") == every[:-101:-1]
    assert account.good("findTransactions", offset=len(every) - 1) == every[:1]
    assert account.good("loadTransactions", offset=str(len(every)), limit="5") == []


@pytest.mark.parametrize("form", [lambda at: at, lambda at: at.replace("Z", ""), lambda at: at.replace("Z", "+00:00")])
def test_transactions_between_two_instants(account: Trader, form: Callable[[str], str]) -> None:
    every = account.good("loadTransactions", limit=1000)
    begin, end = every[-40]["createdAt"], every[-3]["createdAt"]
    found = account.good("findTransactions", order="ASC", limit=1000, **{"from": form(begin), "till": form(end)})
    assert found == [record for record in every if begin <= record["createdAt"] <= end]
    assert account.good("findTransactions", till="2001-01-01") == []
    assert account.good("findTransactions", **{"from": 32_000_000_000_000}) == []


def test_transactions_between_two_indexes(account: Trader) -> None:
    every = account.good("loadTransactions", limit=1000)
    first, last = every[10]["index"], every[20]["index"]
    assert account.good("loadTransactions", **{"from": first, "till": last}) == every[10:20]
    assert account.good("loadTransactions", **{"from": str(last), "limit": 3}) == every[20:23]
    assert account.good("loadTransactions", sort="DESC", till=first) == every[9::-1]
    assert account.good("loadTransactions", **{"from": every[-1]["index"] + 1}) == []
    assert account.good("loadTransactions", currency="usd", limit=1000) == [
        record for record in every if record["currency"] == "USD"
    ]


@pytest.mark.parametrize("switch", [True, "true", False, "false", None])
def test_senders_are_shown_on_demand(
    box: InProcessSandbox, account: Trader, client: Client, switch: bool | str | None
) -> None:
    box.control("deposit", {"currency": "BTC", "amount": "1", "sender": "1BoatSLRHtKNngkdXEeobR76b53LETtpyT"})
    query = {"limit": 1} if switch is None else {"limit": 1, "showSenders": switch}
    found = account.good("findTransactions", **query)
    assert found == client.call("GET", "/account/transactions", params=query).json()
    assert ("senders" in found[0]) is (str(switch).lower() == "true")


# Numbers and texts ---------------------------------------------------------------------------------------------------


def test_amounts_are_texts_and_come_back_as_they_are(box: InProcessSandbox, open_stream: Callable[..., Trader]) -> None:
    stream = open_stream(TRADING, "demo-full")
    for number, (quantity, price) in enumerate([(0.1, "0.01"), ("0.1", 0.01), ("0.10000", 0.0100000)]):
        order = stream.good(
            "newOrder", symbol="ETHBTC", side="buy", quantity=quantity, price=price, clientOrderId=f"{number}"
        )
        assert (order["quantity"], order["price"]) == ("0.1000", "0.010000")
    offer(box, "sell", 10_000, 3_000)
    trades = [params for _, params in stream.behind()]
    assert trades == []  # nobody subscribed
    assert stream.good("getOrders") == []


ODD_VALUES = (
    *("1e999999999", "-1e999999999", "1e-999999999", "1" * 60_000, "-1", "0", "1.5", "true", "null", '""', '"\\u0000"'),
    *('"1e999999999"', '"NaN"', '"-Infinity"', '"٣"', "[]", "{}", "[[[[1]]]]", '{"a":{"b":[1]}}', f'"{"x" * 60_000}"'),
    *('"2026-02-30"', '"9999-12-31T23:59:59.999Z"', '"../.."', '"é\U0001f600"', "18446744073709551616"),
)


@pytest.mark.parametrize("method", sorted(EVERY))
def test_no_value_of_any_param_breaks_a_socket(
    box: InProcessSandbox, open_stream: Callable[..., Trader], method: str
) -> None:
    path = ACCOUNT if method in MONEY else COMBINED
    stream = open_stream(path, "demo-full")
    usual: dict[str, Any] = {"currency": "BTC", "algo": "BASIC", "marginBalance": "0.5", "requestClientId": "other"}
    usual |= ORDER | {"clientOrderId": "odd"}
    row = streams.by_name[method]
    for param in row.params:
        usual_params = {each.name: usual[each.name] for each in row.params if each.name in usual and each is not param}
        for value in ODD_VALUES:
            head = json.dumps(usual_params)[:-1] + (", " if usual_params else "")
            stream.send(f'{{"method":"{method}","params":{head}"{param.name}":{value}}},"id":"odd"}}')
            while (frame := stream.receive()).get("id") != "odd":
                continue
            error = frame.get("error", {"code": 0, "message": "", "description": ""})
            assert list(error) == ["code", "message", "description"]
            assert error["code"] != 500, (param.name, value)
            assert len(error["description"]) < 500
    assert box.inside(lambda: box.world.ledger()["balanced"])
    assert stream.say("noSuchMethod")["error"]["code"] == -32601
