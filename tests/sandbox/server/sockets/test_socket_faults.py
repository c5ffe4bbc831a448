"""Every fault of the control plane on every notification and every method of the sockets, one connection each."""

import time
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest
import websocket

from sandbox.server.sockets.sockets import METHOD_NAMES, NOTIFICATION_NAMES, PARTS
from sandbox.serving import InProcessSandbox
from tests.sandbox.conftest import Client
from tests.sandbox.server.sockets.test_sockets import Stream
from tests.sandbox.waiting import wait_until

TRADING, ACCOUNT, COMBINED, PUBLIC = "/api/2/ws/trading", "/api/2/ws/account", "/api/2/ws", "/api/2/ws/public"
ETHBTC: dict[str, object] = {"symbol": "ETHBTC"}
CLOSED = (websocket.WebSocketConnectionClosedException, ConnectionError)
ORDER = ETHBTC | {"side": "buy", "quantity": "0.1", "price": "0.01"}
TRANSFER = {"currency": "USD", "amount": "10", "type": "bankToExchange"}


class Provoker:
    """A client of one socket that makes the exchange tell something again and again; `end` closes what it sent."""

    def __init__(self, box: InProcessSandbox, path: str) -> None:
        self.box = box
        self.rest = Client(box.url)
        self.stream = Stream(box.ws_url, path)
        self.numbers = count(1)
        if path != PUBLIC:
            login = {"algo": "BASIC", "pKey": "demo-full", "sKey": "demo-full-secret"}
            assert self.stream.ask("login", login)["result"] is True

    def request(self, method: str, params: dict[str, object] | None = None) -> None:
        """Sends a request and waits for nothing."""
        self.stream.send({"method": method, "params": params, "id": f"sent {next(self.numbers)}"})

    def frames(self) -> list[dict[str, Any]]:
        """Everything that arrives before the answer to a last request."""
        self.stream.send({"method": "noSuchMethod", "id": "end"})
        return list(self._until_end())

    def _until_end(self) -> Iterator[dict[str, Any]]:
        while (frame := self.stream.receive()).get("id") != "end":
            yield frame


# Each notification that follows at once on something: its address, what is asked first, how it is provoked (which tells
# what the notification will show), and what it shows.
Provoke = Callable[[Provoker], object]


def again(method: str, **params: object) -> Provoke:
    """Subscribing once more, which is told every time."""
    return lambda each: each.request(method, params)


def order(method: str) -> Provoke:
    def place(each: Provoker) -> object:
        client_id = f"order-{next(each.numbers)}"
        each.request(method, ORDER | {"clientOrderId": client_id})
        return client_id

    return place


def balance(each: Provoker) -> object:
    amount = f"0.{next(each.numbers):02d}1"
    each.request("marginAccountSet", {"symbol": "ETHBTC", "marginBalance": amount})
    return amount


def transfer(each: Provoker) -> object:
    return each.rest.call("POST", "/account/transfer", data=TRANSFER).json()["id"]


def nothing(params: Any) -> object:
    return None


AT_ONCE: dict[str, tuple[str, tuple[tuple[str, dict[str, object]], ...], Provoke, Callable[[Any], object]]] = {
    "ticker": (PUBLIC, (), again("subscribeTicker", **ETHBTC), nothing),
    "snapshotOrderbook": (COMBINED, (), again("subscribeOrderbook", **ETHBTC), nothing),
    "snapshotTrades": (PUBLIC, (), again("subscribeTrades", **ETHBTC), nothing),
    "snapshotCandles": (COMBINED, (), again("subscribeCandles", **ETHBTC), nothing),
    "activeOrders": (TRADING, (), again("subscribeReports"), nothing),
    "report": (TRADING, (("subscribeReports", {}),), order("newOrder"), lambda topic: topic["clientOrderId"]),
    "marginOrders": (COMBINED, (), again("marginSubscribe"), nothing),
    "marginAccounts": (TRADING, (), again("marginSubscribe"), nothing),
    "marginOrderReport": (
        TRADING,
        (("marginAccountSet", {"symbol": "ETHBTC", "marginBalance": "0.5"}), ("marginSubscribe", {})),
        order("marginOrderNew"),
        lambda topic: topic["clientOrderId"],
    ),
    "marginAccountReport": (COMBINED, (("marginSubscribe", {}),), balance, lambda topic: topic["marginBalance"]),
    "balance": (ACCOUNT, (), again("subscribeBalance"), nothing),
    "updateTransaction": (ACCOUNT, (("subscribeTransactions", {}),), transfer, lambda topic: topic["id"]),
}
LATER = ("ticker", "updateOrderbook", "updateTrades", "updateCandles")


def test_every_notification_is_here() -> None:
    assert {*AT_ONCE, *LATER} == set(NOTIFICATION_NAMES)


@pytest.fixture
def open_provoker(box: InProcessSandbox) -> Iterator[Callable[[str], Provoker]]:
    opened: list[Provoker] = []

    def open_one(path: str) -> Provoker:
        opened.append(Provoker(box, path))
        return opened[-1]

    yield open_one
    for each in opened:
        each.stream.close()


@pytest.fixture(params=list(AT_ONCE))
def topic(
    request: pytest.FixtureRequest, open_provoker: Callable[[str], Provoker]
) -> tuple[str, Provoker, Provoke, Callable[[list[dict[str, Any]]], list[object]]]:
    """A notification, who provokes it and how, and what is shown of it by frames."""
    path, first, provoke, value = AT_ONCE[request.param]
    each = open_provoker(path)
    for method, params in first:
        each.request(method, params)
    each.frames()
    return (
        request.param,
        each,
        provoke,
        lambda frames: [value(frame["params"]) for frame in frames if frame.get("method") == request.param],
    )


def arm(box: InProcessSandbox, operation: str, kind: str, **members: object) -> None:
    box.control("faults", {"operation": operation, "kind": kind, **members})


Topic = tuple[str, Provoker, Provoke, Callable[[list[dict[str, Any]]], list[object]]]


def provoked(each: Provoker, provoke: Provoke) -> tuple[list[object], list[dict[str, Any]]]:
    """What three of them show, and all that came of them."""
    return [provoke(each) for _ in range(3)], each.frames()


def methods(frames: list[dict[str, Any]]) -> list[str]:
    return [frame["method"] for frame in frames if "method" in frame]


def test_messages_are_lost_doubled_held_and_told_in_another_order(box: InProcessSandbox, topic: Topic) -> None:
    name, each, provoke, values_of = topic
    arm(box, name, "gap", times=2)
    (_, _, kept), frames = provoked(each, provoke)
    assert values_of(frames) == [kept]
    assert box.control("faults") == {"faults": []}
    arm(box, name, "duplicate")
    first, second = provoke(each), provoke(each)
    assert values_of(each.frames()) == [first, first, second]
    usual = methods(provoked(each, provoke)[1])
    at = usual.index(name)
    arm(box, name, "reorder")
    (first, second, third), frames = provoked(each, provoke)
    assert methods(frames) == [*usual[:at], usual[at + 1], name, *usual[at + 2 :]]
    assert values_of(frames) == ([second, first, third] if usual[at + 1] == name else [first, second, third])
    arm(box, name, "slow", ms=80)
    began = time.monotonic()
    first, second = provoke(each), provoke(each)
    assert values_of(each.frames()) == [first, second]
    assert time.monotonic() - began >= 0.08


def test_nothing_at_all_is_heard_in_silence(box: InProcessSandbox, topic: Topic) -> None:
    name, each, provoke, _ = topic
    arm(box, name, "silence")
    provoke(each)
    wait_until(lambda: box.control("faults") == {"faults": []})
    for _ in range(3):  # what was said before the silence is written by then
        box.inside(lambda: None)
    while each.stream.hears_nothing(0) is False:
        assert each.stream.receive().get("method") != name  # answers from before the silence
    provoke(each)
    each.stream.send({"method": "noSuchMethod", "id": "end"})
    each.stream.socket.ping("there?")
    assert each.stream.hears_nothing(0.1)
    assert box.inside(box.open_sockets) >= 1


@pytest.mark.parametrize("how", ["close", "reset"])
def test_the_socket_breaks_instead_of_telling(box: InProcessSandbox, topic: Topic, how: str) -> None:
    name, each, provoke, values_of = topic
    arm(box, name, "drop", how=how)
    provoke(each)
    frames: list[dict[str, Any]] = []
    with pytest.raises(CLOSED):
        frames.extend(iter(each.stream.receive, None))
    assert values_of(frames) == []
    assert box.control("faults") == {"faults": []}
    wait_until(lambda: box.inside(box.open_sockets) == 0)


# What follows in a beat of the market's stream ---------------------------------------------------------------------


class Market:
    """A client of market data, and what makes the market move by exactly one notification."""

    def __init__(self, name: str, each: Provoker) -> None:
        self.name = name
        self.each = each
        self._prices = count(1_000)
        channel, params = {
            "ticker": ("Ticker", ETHBTC),
            "updateOrderbook": ("Orderbook", ETHBTC),
            "updateTrades": ("Trades", ETHBTC | {"limit": 1}),
            "updateCandles": ("Candles", ETHBTC | {"period": "D1", "limit": 1}),
        }[name]
        each.box.control("clock", {"frozen": True})
        assert each.stream.ask(f"subscribe{channel}", params)["result"] is True
        each.stream.receive()

    def move(self) -> None:
        if self.name == "ticker":
            self.each.box.control("clock", {"advance_ms": 60_000})
            return
        order = ORDER | {"price": f"0.{next(self._prices):06d}", "timeInForce": "GTC"}
        assert self.each.rest.call("POST", "/order", data=order).status_code == 200
        if self.name != "updateOrderbook":
            assert self.each.rest.call("POST", "/order", data=order | {"side": "sell"}).status_code == 200

    def lose(self) -> None:
        """Moves the market, and waits until a fault has taken what was told of it."""
        self.move()
        wait_until(lambda: self.each.box.control("faults") == {"faults": []})

    def next(self) -> Any:
        while (frame := self.each.stream.receive()).get("method") != self.name:
            assert frame["method"] == "snapshotOrderbook"  # comes again by itself
        return frame["params"]


@pytest.fixture(params=LATER)
def market(request: pytest.FixtureRequest, open_provoker: Callable[[str], Provoker]) -> Market:
    return Market(request.param, open_provoker(PUBLIC))


def test_changes_of_the_market_are_lost_doubled_held_and_told_in_another_order(
    box: InProcessSandbox, market: Market
) -> None:
    arm(box, market.name, "duplicate")
    market.move()
    first = market.next()
    assert market.next() == first
    arm(box, market.name, "gap")
    market.lose()
    arm(box, market.name, "reorder")
    market.lose()
    market.move()
    later, earlier = market.next(), market.next()
    key = "sequence" if market.name == "updateOrderbook" else "timestamp"
    steps = [_at(topic, key) for topic in (first, earlier, later)]
    if market.name == "updateOrderbook":  # one was lost in between
        assert steps == [steps[0], steps[0] + 2, steps[0] + 3]
    elif market.name == "ticker":
        assert steps == sorted(set(steps))
    else:
        assert first["data"] != earlier["data"] != later["data"]
    arm(box, market.name, "slow", ms=200)
    began = time.monotonic()
    market.move()
    market.next()
    assert time.monotonic() - began >= 0.2


def _at(topic: Any, key: str) -> Any:
    return topic[key] if key in topic else topic["data"][-1][key]


def test_the_market_falls_silent_and_the_socket_breaks(
    box: InProcessSandbox, market: Market, open_provoker: Callable[[str], Provoker]
) -> None:
    other = Market(market.name, open_provoker(COMBINED))
    arm(box, market.name, "silence")
    arm(box, market.name, "drop")
    market.lose()  # the first of the two that follow meets the first fault
    market.each.stream.send({"method": "noSuchMethod", "id": "end"})
    assert market.each.stream.hears_nothing(0.1)
    with pytest.raises(CLOSED):
        other.next()


def test_a_lost_change_of_a_book_leaves_a_hole_that_a_new_subscription_closes(
    box: InProcessSandbox, open_provoker: Callable[[str], Provoker]
) -> None:
    market = Market("updateOrderbook", open_provoker(PUBLIC))
    market.move()
    before = market.next()
    arm(box, "updateOrderbook", "gap")
    market.lose()
    market.move()
    assert market.next()["sequence"] == before["sequence"] + 2
    assert market.each.stream.ask("subscribeOrderbook", dict(ETHBTC))["result"] is True
    whole = market.each.stream.receive()["params"]
    assert whole["sequence"] == before["sequence"] + 2
    assert [level["price"] for level in whole["bid"]] == ["0.001002", "0.001001", "0.001000"]


def test_a_lost_transaction_is_found_by_its_index(
    box: InProcessSandbox, open_provoker: Callable[[str], Provoker]
) -> None:
    each = open_provoker(ACCOUNT)
    each.stream.ask("subscribeTransactions")
    made = [transfer(each)]
    known = each.stream.receive()["params"]["index"]
    arm(box, "updateTransaction", "gap", times=2)
    made += [transfer(each), transfer(each), transfer(each)]
    assert each.stream.receive()["params"]["id"] == made[3]
    missed = each.stream.ask("loadTransactions", {"from": known + 1})["result"]
    assert [record["id"] for record in missed] == made[1:]


# Which fault meets what ----------------------------------------------------------------------------------------------


def test_the_star_means_every_notification_and_no_answer(
    box: InProcessSandbox, open_provoker: Callable[[str], Provoker]
) -> None:
    each = open_provoker(COMBINED)
    arm(box, "*", "gap", times=3)
    for method in ("subscribeTicker", "subscribeReports", "subscribeTrades", "subscribeCandles", "marginSubscribe"):
        each.request(method, dict(ETHBTC))
    frames = each.frames()
    assert [frame["id"] for frame in frames if "id" in frame] == [f"sent {number}" for number in range(1, 6)]
    assert methods(frames) == ["snapshotCandles", "marginOrders", "marginAccounts"]


def test_a_fault_of_one_key_meets_market_data_where_that_key_logged_in(
    box: InProcessSandbox, open_provoker: Callable[[str], Provoker]
) -> None:
    arm(box, "ticker", "gap", key="demo-full")
    for path, expected in ((PUBLIC, ["ticker"]), (COMBINED, []), (COMBINED, ["ticker"])):
        each = open_provoker(path)
        each.request("subscribeTicker", dict(ETHBTC))
        assert methods(each.frames()) == expected


def test_every_method_is_refused_once(box: InProcessSandbox, open_provoker: Callable[[str], Provoker]) -> None:
    for path in (COMBINED, ACCOUNT):
        each = open_provoker(path)
        for name in [method for part in PARTS[path] for method in part.methods]:
            arm(box, name, "refuse", code=504, description="late")
            answers = []
            for number in (1, 2):
                each.stream.send({"method": name, "params": {}, "id": number})
                while (frame := each.stream.receive()).get("id") != number:
                    continue
                answers.append(frame.get("error", {}))
            assert answers[0] == {"code": 504, "message": "Gateway Timeout", "description": "late"}, name
            assert answers[1].get("code") != 504, name


@pytest.mark.parametrize(("kind", "members"), [("gap", {}), ("duplicate", {}), ("slow", {"ms": 2})])
def test_the_answer_of_every_method_is_lost_doubled_or_held(
    box: InProcessSandbox, open_provoker: Callable[[str], Provoker], kind: str, members: dict[str, int]
) -> None:
    names = set()
    for path in (COMBINED, ACCOUNT):
        each = open_provoker(path)
        for name in [method for part in PARTS[path] for method in part.methods]:
            arm(box, name, kind, **members)
            each.stream.send({"method": name, "params": {}, "id": name})
            answers = [frame["id"] for frame in each.frames() if "id" in frame]
            assert answers == [name] * {"gap": 0, "duplicate": 2, "slow": 1}[kind]
            names.add(name)
    assert names == set(METHOD_NAMES)


@pytest.mark.parametrize("kind", ["drop", "silence"])
@pytest.mark.parametrize(
    ("path", "method"),
    [(PUBLIC, "getSymbols"), (TRADING, "getOrders"), (COMBINED, "login"), (ACCOUNT, "loadTransactions")],
)
def test_an_answer_breaks_or_silences_the_socket(
    box: InProcessSandbox, open_provoker: Callable[[str], Provoker], path: str, method: str, kind: str
) -> None:
    each = open_provoker(path)
    arm(box, method, kind)
    each.request(method)
    each.request(method)
    if kind == "silence":
        wait_until(lambda: box.control("faults") == {"faults": []})
        assert each.stream.hears_nothing(0.1)
    else:
        with pytest.raises(CLOSED):
            each.stream.receive()


def test_an_answer_can_not_be_told_in_another_order(box: InProcessSandbox) -> None:
    with pytest.raises(ValueError, match="is for a socket notification"):
        arm(box, "getOrders", "reorder")
