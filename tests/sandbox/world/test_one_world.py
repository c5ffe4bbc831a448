"""REST and the sockets act on one world: what one does shows on all others at once, of spot, margin, sub-accounts."""

from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import pytest

from sandbox.serving import InProcessSandbox
from tests.sandbox.conftest import Client
from tests.sandbox.trading_sockets import COMBINED, ORDER, Trader

ACCOUNT, PUBLIC, TRADING = "/api/2/ws/account", "/api/2/ws/public", "/api/2/ws/trading"
SUB_ID = 7001
Open = Callable[..., Trader]


@pytest.fixture
def open_stream(box: InProcessSandbox) -> Iterator[Open]:
    """Opens sockets of any address, logged in unless the login is empty, and closes them."""
    opened: list[Trader] = []

    def open_one(path: str, login: str = "demo-full") -> Trader:
        opened.append(Trader(box.ws_url, login, path))
        return opened[-1]

    yield open_one
    for each in opened:
        each.close()


@pytest.fixture
def account(open_stream: Open) -> Trader:
    """The account's socket, subscribed to all there is."""
    return listening(open_stream(ACCOUNT))


def listening(stream: Trader) -> Trader:
    stream.good("subscribeTransactions")
    stream.good("subscribeBalance")
    assert [name for name, _ in stream.hear()] == ["balance"]
    return stream


def heard(stream: Trader) -> tuple[dict[str, Any], dict[str, dict[str, str]]]:
    """The transaction and the balances, by currency, that a change brought; in this order."""
    (first, transaction), (second, balances) = stream.hear(2)
    assert (first, second) == ("updateTransaction", "balance")
    return transaction, {row["currency"]: row for row in balances}


def bank(client: Client) -> dict[str, dict[str, str]]:
    """The bank account over REST, as the stream has it."""
    rows = client.call("GET", "/account/balance").json()
    return {row["currency"]: row for row in rows if Decimal(row["available"]) or Decimal(row["reserved"])}


def book(stream: Trader) -> dict[str, Any]:
    """The next change of the order book."""
    while True:
        for name, params in stream.hear():
            if name == "updateOrderbook":
                found: dict[str, Any] = params
                return found


# Spot ----------------------------------------------------------------------------------------------------------------


def test_an_order_of_a_socket_is_in_the_book_of_all_others(open_stream: Open, client: Client) -> None:
    trader, public, combined = open_stream(TRADING), open_stream(PUBLIC, ""), open_stream(COMBINED)
    for each in (public, combined):
        each.good("subscribeOrderbook", symbol="ETHBTC")
        ((_, whole),) = each.hear()
        assert whole["bid"] == []
    trader.good("newOrder", **ORDER, clientOrderId="shown")
    level = {"price": "0.010000", "size": "0.1000"}
    assert book(public)["bid"] == book(combined)["bid"] == [level]
    assert client.call("GET", "/public/orderbook/ETHBTC").json()["bid"] == [level]
    client.call("DELETE", "/order/shown")
    gone = {"price": "0.010000", "size": "0.0000"}
    assert book(public)["bid"] == book(combined)["bid"] == [gone]
    assert trader.good("getOrders") == []


def test_a_trade_between_rest_and_a_socket_is_told_to_both_and_to_everybody(open_stream: Open, client: Client) -> None:
    other, mine, public = open_stream(TRADING, "other-full"), open_stream(COMBINED), open_stream(PUBLIC, "")
    for each in (other, mine):
        each.good("subscribeReports")
        each.hear()
    public.good("subscribeTrades", symbol="ETHBTC", limit=1)
    public.hear()
    made = client.call("POST", "/order", data=ORDER | {"side": "sell", "clientOrderId": "maker"}).json()
    ((_, placed),) = mine.hear()
    assert placed["id"] == str(made["id"])
    other.good("newOrder", **ORDER, clientOrderId="taker")
    (_, taken), (_, sold) = other.behind()[-1], mine.hear()[-1]
    assert (taken["status"], sold["status"]) == ("filled", "filled")
    ((_, frames),) = public.hear()
    (trade,) = frames["data"]
    assert (trade["id"], trade["price"], trade["quantity"], trade["side"]) == (
        *(taken["tradeId"], taken["tradePrice"], taken["tradeQuantity"]),
        "buy",
    )
    (recorded,) = client.call("GET", f"/history/order/{made['id']}/trades").json()
    assert (recorded["id"], recorded["fee"], recorded["taker"]) == (
        sold["tradeId"],
        sold["tradeFee"],
        False,
    )
    for stream, caller in ((mine, client), (other, Client(client.url, "other-full"))):
        assert stream.good("getTradingBalance") == caller.call("GET", "/trading/balance").json()


def test_money_of_a_transfer_is_there_for_an_order_at_once(account: Trader, open_stream: Open, client: Client) -> None:
    trader = open_stream(TRADING)

    def free() -> Decimal:
        (row,) = [row for row in trader.good("getTradingBalance") if row["currency"] == "BTC"]
        return Decimal(row["available"])

    before = free()
    moved = client.call(
        "POST", "/account/transfer", data={"currency": "BTC", "amount": "0.5", "type": "bankToExchange"}
    ).json()
    transaction, balances = heard(account)
    assert (transaction["id"], transaction["type"], transaction["amount"]) == (
        moved["id"],
        "bankToExchange",
        "0.50000000",
    )
    assert not {"fee", "hash", "address"} & set(transaction)
    assert balances == bank(client)
    assert free() == before + Decimal("0.5")
    trader.good("newOrder", **(ORDER | {"quantity": "1", "price": "0.1"}), clientOrderId="spends")
    assert account.behind() == []  # the trading balance has no notification
    assert free() < before + Decimal("0.4")


# Margin --------------------------------------------------------------------------------------------------------------


def test_margin_goes_back_and_forth_between_rest_and_sockets(open_stream: Open, client: Client) -> None:
    trader, ears = open_stream(TRADING), open_stream(COMBINED, "demo-trade")
    ears.good("marginSubscribe")
    ears.hear(2)
    opened = trader.good("marginAccountSet", symbol="ETHBTC", marginBalance="0.5")
    assert ears.hear() == [("marginAccountReport", opened)]
    client.call("POST", "/margin/order", data=ORDER | {"clientOrderId": "rest"})
    names = [name for name, _ in ears.hear(2)]
    assert names == ["marginOrderReport", "marginAccountReport"]
    answer = trader.good("marginOrderCancelReplace", clientOrderId="rest", requestClientId="socket", quantity="0.2")
    assert answer["originalRequestClientOrderId"] == "rest"
    assert ears.hear(2)[0] == ("marginOrderReport", answer)
    (listed,) = client.call("GET", "/margin/order").json()
    assert listed == {name: answer[name] for name in listed}
    assert [each["clientOrderId"] for each in client.call("DELETE", "/margin/order").json()] == ["socket"]
    assert trader.good("marginOrdersGet") == []
    client.call("PUT", "/margin/account/ETHBTC", data={"marginBalance": "0.25"})
    (record,) = trader.good("marginAccountsGet")
    assert record["marginBalance"] == "0.25"
    assert trader.good("marginAccountSet", symbol="ETHBTC", marginBalance=0)["reportType"] == "closed"
    assert client.call("GET", "/margin/account").json() == []


# Money ---------------------------------------------------------------------------------------------------------------


def test_a_withdrawal_is_told_from_its_hold_to_its_end(account: Trader, client: Client) -> None:
    hold = {"currency": "BTC", "amount": "1", "address": "1BoatSLRHtKNngkdXEeobR76b53LETtpyT", "autoCommit": "false"}
    made = client.call("POST", "/account/crypto/withdraw", data=hold).json()["id"]
    held, balances = heard(account)
    assert (held["id"], held["status"]) == (made, "created")
    assert Decimal(balances["BTC"]["reserved"]) >= 1
    assert balances == bank(client)
    assert account.good("loadTransactions", **{"from": held["index"]}) == [held]
    client.call("DELETE", f"/account/crypto/withdraw/{made}")
    rolled_back, balances = heard(account)
    assert (rolled_back["id"], rolled_back["status"]) == (made, "failed")
    assert rolled_back["index"] > held["index"]
    assert Decimal(balances["BTC"]["reserved"]) == 0
    assert account.good("findTransactions", limit=1) == [rolled_back]


def test_a_sub_account_and_its_master_hear_each_their_own_side(
    account: Trader, open_stream: Open, client: Client
) -> None:
    sub, of_sub = listening(open_stream(ACCOUNT, "sub-full")), Client(client.url, "sub-full")
    stranger = listening(open_stream(ACCOUNT, "other-full"))
    for kind, amount in (("deposit", "0.2"), ("withdraw", "0.1")):
        arguments = {"subAccountId": SUB_ID, "amount": amount, "currency": "BTC", "type": kind}
        made = client.call("POST", "/sub-acc/transfer", data=arguments).json()["result"]
        (mine, my_balances), (theirs, their_balances) = heard(account), heard(sub)
        assert mine["id"] == made != theirs["id"]
        types = ("withdraw", "deposit") if kind == "deposit" else ("deposit", "withdraw")
        assert (mine["type"], theirs["type"]) == types
        assert (mine["subType"], theirs["subType"]) == ("offchain", "offchain")
        assert Decimal(mine["amount"]) == Decimal(theirs["amount"]) == Decimal(amount)
        assert (my_balances, their_balances) == (bank(client), bank(of_sub))
        assert sub.good("findTransactions", limit=1) == [theirs]
    assert account.behind() == sub.behind() == stranger.behind() == []


def test_orders_of_a_sub_account_are_its_own(open_stream: Open, client: Client) -> None:
    arguments = {"subAccountId": SUB_ID, "amount": "0.2", "currency": "BTC", "type": "deposit"}
    assert "result" in client.call("POST", "/sub-acc/transfer", data=arguments).json()
    of_sub = Client(client.url, "sub-full")
    moved = {"currency": "BTC", "amount": "0.2", "type": "bankToExchange"}
    assert of_sub.call("POST", "/account/transfer", data=moved).status_code == 200
    master, sub, public = open_stream(TRADING), open_stream(COMBINED, "sub-full"), open_stream(PUBLIC, "")
    for each in (master, sub):
        each.good("subscribeReports")
        each.hear()
    public.good("subscribeOrderbook", symbol="ETHBTC")
    public.hear()
    order = sub.good("newOrder", **ORDER, clientOrderId="of-sub")
    assert sub.before() == [("report", order)]
    assert book(public)["bid"] == [{"price": "0.010000", "size": "0.1000"}]
    assert [each["clientOrderId"] for each in of_sub.call("GET", "/order").json()] == ["of-sub"]
    assert client.call("GET", "/order").json() == master.good("getOrders") == []
    assert master.bad("cancelOrder", clientOrderId="of-sub")[0] == 20002
    of_sub.call("DELETE", "/order/of-sub")
    assert [each["status"] for _, each in sub.hear()] == ["canceled"]
    assert master.behind() == []


def test_who_is_frozen_is_refused_on_the_sockets_that_are_open(open_stream: Open, client: Client) -> None:
    streams = [open_stream(path, "sub-full") for path in (ACCOUNT, TRADING, COMBINED)]
    assert client.call("POST", "/sub-acc/freeze", data={"ids": SUB_ID}).json() == {"result": True}
    refusal = (403, "Action is forbidden for account", "")
    for stream, methods in zip(
        streams,
        (("subscribeTransactions", "unsubscribeBalance", "getBalance"), ("subscribeReports",), ("marginOrdersCancel",)),
        strict=True,
    ):
        for method in methods:
            assert stream.bad(method) == refusal
    assert streams[2].good("getSymbol", symbol="ETHBTC")["id"] == "ETHBTC"
    client.call("POST", "/sub-acc/activate", data={"ids": SUB_ID})
    assert streams[0].good("subscribeTransactions") is True


def test_a_transfer_to_a_user_is_told_to_both(account: Trader, open_stream: Open, client: Client) -> None:
    other = listening(open_stream(ACCOUNT, "other-full"))
    arguments = {"currency": "USD", "amount": "5", "by": "email", "identifier": "other@demo.test"}
    made = client.call("POST", "/account/transfer/internal", data=arguments).json()["result"]
    (mine, my_balances), (theirs, their_balances) = heard(account), heard(other)
    assert (mine["id"], mine["type"], theirs["type"]) == (made, "withdraw", "deposit")
    assert my_balances == bank(client)
    assert their_balances == bank(Client(client.url, "other-full"))
