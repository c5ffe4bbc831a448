"""Every documented method of the sockets, called by its name against the sandbox; and what comes of what goes wrong."""

from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import pytest

from exchange_ops.client.sockets import CannotFollow
from exchange_ops.client.stream_calls import StreamClient
from exchange_ops.wire import streams
from exchange_ops.wire.streams import Address
from tests import houses
from wire import records
from wire.credentials import Credentials
from wire.errors import BadReply, OutcomeUnknown, Refused, Unreachable
from wire.values import Secret

SMALL, LOW = Decimal("0.1"), Decimal("0.01")
LIMIT = {"symbol": "ETHBTC", "side": "buy", "quantity": SMALL, "price": LOW}
MARGIN = {"symbol": "BTCUSD", "side": "buy", "quantity": Decimal("0.01")}
KEY = {"algo": "BASIC", "pKey": "demo-full", "sKey": "demo-full-secret"}
FOLLOWED = {"symbol": "ETHBTC"}
CALLS: dict[Address, list[tuple[str, dict[str, Any]]]] = {
    Address.PUBLIC: [
        ("getCurrencies", {}),
        ("getCurrency", {"currency": "BTC"}),
        ("getSymbols", {}),
        ("getSymbol", FOLLOWED),
        ("getTrades", {**FOLLOWED, "limit": 5, "sort": "ASC", "by": "id", "from": 1}),
        *((f"subscribe{channel}", FOLLOWED) for channel in ("Ticker", "Orderbook", "Trades", "Candles")),
        *((f"unsubscribe{channel}", FOLLOWED) for channel in ("Ticker", "Orderbook", "Trades", "Candles")),
    ],
    Address.TRADING: [
        ("login", KEY),
        ("subscribeReports", {}),
        ("marginSubscribe", {}),
        ("newOrder", {**LIMIT, "clientOrderId": "a"}),
        ("getOrders", {}),
        (
            "cancelReplaceOrder",
            {"clientOrderId": "a", "requestClientId": "b", "quantity": 2 * SMALL, "price": LOW, "strictValidate": True},
        ),
        ("cancelOrder", {"clientOrderId": "b"}),
        ("getTradingBalance", {}),
        ("marginAccountSet", {"symbol": "BTCUSD", "marginBalance": Decimal(1000)}),
        ("marginOrderNew", {**MARGIN, "clientOrderId": "m", "price": Decimal(1000)}),
        ("marginOrdersGet", {}),
        (
            "marginOrderCancelReplace",
            {"clientOrderId": "m", "requestClientId": "n", "quantity": MARGIN["quantity"], "price": Decimal(999)},
        ),
        ("marginOrderCancel", {"clientOrderId": "n"}),
        ("marginOrderNew", {**MARGIN, "clientOrderId": "o", "price": Decimal(998)}),
        ("marginOrdersCancel", {}),
        ("marginOrderNew", {**MARGIN, "clientOrderId": "p", "type": "market", "timeInForce": "IOC"}),
        ("marginAccountsGet", {}),
        ("marginPositionClose", {"symbol": "BTCUSD"}),
    ],
    Address.ACCOUNT: [
        ("login", KEY),
        ("subscribeTransactions", {}),
        ("subscribeBalance", {}),
        ("getBalance", {}),
        ("findTransactions", {"limit": 5, "order": "DESC", "showSenders": True}),
        ("loadTransactions", {"from": 0, "limit": 5, "order": "ASC"}),
        ("unsubscribeTransactions", {}),
        ("unsubscribeBalance", {}),
    ],
}


@pytest.fixture
def open_stream(sandbox: Any) -> Iterator[Callable[..., StreamClient]]:
    opened: list[StreamClient] = []

    def open_one(address: Address, login: str = "", **options: Any) -> StreamClient:
        key = Credentials(login, Secret(f"{login}-secret"), "hs256") if login else None
        opened.append(StreamClient(sandbox.ws_url, address, credentials=key, **options))
        return opened[-1]

    yield open_one
    for each in opened:
        each.close()


def test_every_documented_method_is_called_at_each_of_its_sockets() -> None:
    called = {(name, address) for address, calls in CALLS.items() for name, _ in calls}
    assert called == {(method.name, address) for method in streams.METHODS for address in method.addresses}


@pytest.mark.parametrize("address", CALLS)
def test_every_method_is_answered_with_the_record_of_its_row(
    open_stream: Callable[..., StreamClient], address: Address
) -> None:
    stream = open_stream(address)
    records.unknown.clear()
    for name, params in CALLS[address]:
        found, kind = stream.call(name, **params), streams.by_name[name].result
        assert type(found) is getattr(kind, "__origin__", kind), name
        if kind is bool:
            assert found is True, name
        elif isinstance(found, list):
            assert found, name
            assert {type(each) for each in found} == set(kind.__args__), name  # type: ignore[attr-defined]
    assert records.unknown.counts() == {}


def test_an_order_that_was_placed_is_the_exchange_s_and_told(
    open_stream: Callable[..., StreamClient], client_as: Callable[..., Any]
) -> None:
    stream = open_stream(Address.TRADING, "demo-trade")
    assert stream.call("subscribeReports") is True
    made = stream.call("newOrder", **LIMIT, clientOrderId="s-1")
    assert (made.client_order_id, made.status, made.quantity) == ("s-1", "new", SMALL)
    assert str(client_as("demo-trade").get_order(client_order_id="s-1").id) == made.id
    notified = stream.notified(seconds=5)
    assert {each.name for each in notified} <= {"activeOrders", "report"}
    assert ("report", made.id) in [(each.name, each.record.id) for each in notified if each.name == "report"]
    assert stream.notified() == []


def test_a_subscription_is_told_without_another_call(open_stream: Callable[..., StreamClient]) -> None:
    stream = open_stream(Address.PUBLIC)
    stream.call("subscribeTicker", **FOLLOWED)
    (first, *_) = stream.notified(seconds=5)
    assert (first.name, first.record.symbol) == ("ticker", "ETHBTC")


def test_a_refusal_is_told_by_its_code_and_the_socket_goes_on(open_stream: Callable[..., StreamClient]) -> None:
    stream = open_stream(Address.TRADING, "demo-trade")
    with pytest.raises(Refused) as caught:
        stream.call("newOrder", **(LIMIT | {"symbol": "NOPE"}), clientOrderId="s-2")
    assert caught.value.code == 2001
    assert stream.call("getOrders") == []


def test_a_key_that_is_not_taken_opens_nothing(open_stream: Callable[..., StreamClient]) -> None:
    with pytest.raises(Refused) as caught:
        open_stream(Address.ACCOUNT, "nobody")
    assert caught.value.code in (1001, 1002)


@pytest.mark.parametrize(("name", "problem"), [("newOrder", OutcomeUnknown), ("getOrders", Unreachable)])
def test_a_lost_answer_is_an_unknown_outcome_only_of_what_acts(
    open_stream: Callable[..., StreamClient], sandbox: Any, name: str, problem: type[Exception]
) -> None:
    stream = open_stream(Address.TRADING, "demo-trade")
    params = {**LIMIT, "clientOrderId": "s-3"} if name == "newOrder" else {}
    sandbox.control("faults", {"operation": name, "kind": "drop", "times": 1})
    with pytest.raises(problem):
        stream.call(name, **params)
    with pytest.raises(Unreachable, match="open a new one"):
        stream.call(name, **params)


def test_a_call_is_sent_once_also_when_its_answer_can_not_be_read(
    open_stream: Callable[..., StreamClient], sandbox: Any
) -> None:
    stream = open_stream(Address.TRADING, "demo-trade")
    broken = {"kind": "echo_differs", "value": "none", "times": 1}
    sandbox.control("faults", {"operation": "newOrder", "field": "price", **broken})
    with pytest.raises(OutcomeUnknown):
        stream.call("newOrder", **LIMIT, clientOrderId="s-4")
    (order,) = stream.call("getOrders")
    assert order.client_order_id == "s-4"
    sandbox.control("faults", {"operation": "getSymbol", "field": "tickSize", **broken})
    public = open_stream(Address.PUBLIC)
    with pytest.raises(BadReply):
        public.call("getSymbol", **FOLLOWED)


@pytest.mark.parametrize("url", ["ws://exchange.example", "http://127.0.0.1", "wss://"])
def test_an_address_that_is_not_safe_is_not_used(url: str) -> None:
    with pytest.raises(CannotFollow):
        StreamClient(url, Address.PUBLIC)


def test_a_socket_that_does_not_open_is_unreachable() -> None:
    with pytest.raises(Unreachable):
        StreamClient(f"ws://127.0.0.1:{houses.free_port()}", Address.PUBLIC)
