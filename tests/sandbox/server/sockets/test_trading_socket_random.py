"""Whoever only listens to reports knows the same orders as who asks, whatever was done by socket, REST and market."""

import random
from collections.abc import Iterator
from typing import Any

import pytest

from sandbox.serving import InProcessSandbox
from tests.sandbox.conftest import Client
from tests.sandbox.trading_sockets import Trader, offer

STEPS = 120
ENDED = {"filled", "canceled", "expired"}
OF_REPORTS = {"reportType", "originalRequestClientOrderId"}


class Listener:
    """The active orders by their reports alone. Fails on a report that contradicts the ones before it."""

    def __init__(self, orders: list[dict[str, Any]]) -> None:
        self.orders = {each["clientOrderId"]: each for each in orders}

    def take(self, frames: list[tuple[str, Any]]) -> None:
        for name, report in frames:
            assert name in ("report", "marginOrderReport")
            client_id, kind = report["clientOrderId"], report["reportType"]
            if kind == "replaced":
                del self.orders[report["originalRequestClientOrderId"]]
            known = self.orders.get(client_id)
            if known is None:
                assert kind in ("new", "suspended", "replaced"), report
            else:
                assert kind not in ("suspended", "replaced"), report
                assert float(known["cumQuantity"]) <= float(report["cumQuantity"])
                assert known["updatedAt"] <= report["updatedAt"]
            self.orders[client_id] = report
            if report["status"] in ENDED:
                del self.orders[client_id]

    def known_orders(self) -> dict[str, dict[str, Any]]:
        return {name: plain(order) for name, order in self.orders.items()}


def plain(report: dict[str, Any]) -> dict[str, Any]:
    """The order without what only its last report says."""
    return {name: value for name, value in report.items() if name not in OF_REPORTS and not name.startswith("trade")}


@pytest.fixture
def sockets(box: InProcessSandbox) -> Iterator[tuple[Trader, Trader]]:
    """One that trades without listening, and one that listens without trading."""
    both = Trader(box.ws_url), Trader(box.ws_url, "demo-trade")
    yield both
    for each in both:
        each.close()


def random_order(draw: random.Random) -> dict[str, object]:
    """An order near 0.05, of any kind."""
    kind = draw.choice(["limit"] * 4 + ["market", "stopLimit", "stopMarket"])
    order: dict[str, object] = {"symbol": "ETHBTC", "side": draw.choice(["buy", "sell"]), "type": kind}
    order["quantity"] = draw.choice(["0.01", 0.02, "0.5", 0])
    order["timeInForce"] = draw.choice(["GTC", "GTC", "IOC", "FOK", "Day"])
    price = draw.randrange(49_900, 50_100)
    if kind in ("limit", "stopLimit"):
        order["price"] = f"{price / 1e6:.6f}"
    if kind.startswith("stop"):
        order["stopPrice"] = f"{draw.randrange(49_900, 50_100) / 1e6:.6f}"
    return order | {"postOnly": draw.random() < 0.2}


def step(draw: random.Random, box: InProcessSandbox, trader: Trader, client: Client, name: str) -> None:
    """One thing that somebody does; refusals are as welcome as successes."""
    new, cancel, replace, listed, path = (
        ("marginOrderNew", "marginOrderCancel", "marginOrderCancelReplace", "marginOrdersGet", "/margin/order")
        if name.startswith("margin")
        else ("newOrder", "cancelOrder", "cancelReplaceOrder", "getOrders", "/order")
    )
    active = [each["clientOrderId"] for each in trader.say(listed)["result"]] or ["none"]
    match draw.randrange(6):
        case 0:
            offer(box, draw.choice(["buy", "sell"]), draw.randrange(49_900, 50_100), draw.choice([50, 300, 6_000]))
        case 1:
            client.call("POST", path, data=random_order(draw) | {"clientOrderId": name})
        case 2:
            trader.say(cancel, {"clientOrderId": draw.choice(active)})
        case 3:
            change = {"quantity": draw.choice([0.03, "0.4"]), "price": f"{draw.randrange(49_900, 50_100) / 1e6:.6f}"}
            trader.say(replace, {"clientOrderId": draw.choice(active), "requestClientId": name} | change)
        case _:
            trader.say(new, random_order(draw) | {"clientOrderId": name})


@pytest.mark.parametrize("prefix", ["", "margin"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_listening_is_as_good_as_asking(
    box: InProcessSandbox, sockets: tuple[Trader, Trader], client: Client, prefix: str, seed: int
) -> None:
    draw, (trader, ears) = random.Random(seed), sockets
    trader.good("marginAccountSet", symbol="ETHBTC", marginBalance="1")
    ears.good("marginSubscribe" if prefix else "subscribeReports")
    assert [params for name, params in ears.behind() if name.endswith("rders")] == [[]]
    listener, heard = Listener([]), 0
    for number in range(STEPS):
        step(draw, box, trader, client, f"{prefix}{seed}-{number}")
        frames = [each for each in ears.behind() if each[0] != "marginAccountReport"]
        heard += len(frames)
        listener.take(frames)
    active = ears.good("marginOrdersGet" if prefix else "getOrders")
    assert listener.known_orders() == {each["clientOrderId"]: plain(each) for each in active}
    assert heard > STEPS // 2
    assert trader.frames == []
    assert box.inside(lambda: box.world.ledger()["balanced"])
