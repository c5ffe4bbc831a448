"""The trading history: orders and trades by time, number, symbol and kind, and how long orders are remembered."""

from typing import Any

import pytest

from sandbox.engine.clock import DAY_MS
from sandbox.world.world import World
from tests.sandbox.trading import bare, offered, order
from tests.sandbox.worlds import MINUTE_MS, OTHER, START_MS, Ticking, call


@pytest.fixture
def clock() -> Ticking:
    return Ticking()


@pytest.fixture
def world(clock: Ticking) -> World:
    """Five trades of the desk, a minute apart, in two symbols; the third is a filled order of two trades."""
    world = bare(clock=clock)
    offered(world, "sell", 50_000, 1_000)
    order(world, "buy", "0.1", "0.05", clientOrderId="o1")
    clock.at_ms += MINUTE_MS
    offered(world, "buy", 1_000, 1_000, "EOSETH")
    order(world, "sell", "1", "0.0001", symbol="EOSETH", clientOrderId="o2")
    clock.at_ms += MINUTE_MS
    order(world, "sell", "0.3", "0.06", clientOrderId="o3")
    clock.at_ms += MINUTE_MS
    order(world, "buy", "0.1", "0.06", OTHER)
    offered(world, "sell", 59_000, 1)
    offered(world, "buy", 60_000, 2_000)
    clock.at_ms += MINUTE_MS
    offered(world, "sell", 55_000, 2_000)
    order(world, "buy", "0.1", "0.06", clientOrderId="o4")
    return world


def ids(found: Any) -> list[str]:
    return [each["clientOrderId"] for each in found]


def numbers(found: Any) -> list[int]:
    return [each["id"] for each in found]


def test_a_past_order_is_told_with_its_average_price(world: World) -> None:
    (found,) = call(world, "get_order_history", clientOrderId="o3")
    assert found == {
        "id": found["id"],
        "clientOrderId": "o3",
        "symbol": "ETHBTC",
        "side": "sell",
        "status": "partiallyFilled",
        "type": "limit",
        "timeInForce": "GTC",
        "quantity": "0.3000",
        "price": "0.060000",
        "avgPrice": "0.060000",
        "cumQuantity": "0.2999",
        "createdAt": "2026-11-18T11:08:40.000Z",
        "updatedAt": "2026-11-18T11:09:40.000Z",
    }


def test_orders_are_listed_newest_first_and_paged(world: World) -> None:
    assert ids(call(world, "get_order_history")) == ["o4", "o3", "o2", "o1"]
    assert ids(call(world, "get_order_history", limit=2, offset=1)) == ["o3", "o2"]
    assert ids(call(world, "get_order_history", symbol="eoseth")) == ["o2"]
    assert call(world, "get_order_history", limit=0) == call(world, "get_order_history", offset=4) == []
    middle = {"from_": "2026-11-18T11:07:40Z", "till": "2026-11-18T11:08:40.000Z"}
    assert ids(call(world, "get_order_history", **middle)) == ["o3", "o2"]
    assert ids(call(world, "get_order_history", from_="2026-11-18T11:07")) == ["o4", "o3", "o2"]
    assert ids(call(world, "get_order_history", till=START_MS)) == ["o1"]


def test_the_traders_id_overrides_everything_else(world: World) -> None:
    odd = {"symbol": "NONE", "limit": 10**6, "offset": -1, "from_": "yesterday"}
    assert ids(call(world, "get_order_history", clientOrderId="o1", **odd)) == ["o1"]
    assert call(world, "get_order_history", clientOrderId="unknown", **odd) == []
    assert call(world, "get_order_history", OTHER, clientOrderId="o1") == []


def test_of_two_orders_of_one_id_the_latest_is_found(world: World, clock: Ticking) -> None:
    clock.at_ms += DAY_MS
    order(world, "sell", "1", "0.07", clientOrderId="o1")
    (found,) = call(world, "get_order_history", clientOrderId="o1")
    assert found["side"] == "sell"
    assert ids(call(world, "get_order_history")).count("o1") == 2


def test_trades_are_listed_by_their_numbers(world: World) -> None:
    every = call(world, "get_trade_history")
    assert [each["clientOrderId"] for each in every] == ["o4", "o3", "o3", "o2", "o1"]
    assert numbers(every) == sorted(numbers(every), reverse=True)
    upwards = call(world, "get_trade_history", sort="ASC")
    assert upwards == every[::-1]
    second, fourth = upwards[1]["id"], upwards[3]["id"]
    assert call(world, "get_trade_history", sort="ASC", from_=second, till=fourth) == upwards[1:4]
    assert call(world, "get_trade_history", from_=second + 1, by="id", sort="ASC", limit=1) == upwards[2:3]
    assert call(world, "get_trade_history", limit=2, offset=1) == every[1:3]
    assert ids(call(world, "get_trade_history", symbol="EOSETH")) == ["o2"]
    assert call(world, "get_trade_history", OTHER)[0]["taker"] is True


def test_trades_are_listed_by_their_time(world: World) -> None:
    bounds = {"by": "timestamp", "from_": "2026-11-18T11:07:40", "till": START_MS + 3 * MINUTE_MS}
    assert ids(call(world, "get_trade_history", **bounds)) == ["o3", "o3", "o2"]
    assert ids(call(world, "get_trade_history", sort="ASC", **bounds)) == ["o2", "o3", "o3"]


def test_a_trade_is_told_as_documented(world: World) -> None:
    (found,) = call(world, "get_trade_history", symbol="EOSETH")
    (placed,) = call(world, "get_order_history", clientOrderId="o2")
    assert found == {
        "id": (START_MS + MINUTE_MS) * 1_000,
        "orderId": placed["id"],
        "clientOrderId": "o2",
        "symbol": "EOSETH",
        "side": "sell",
        "quantity": "1.00",
        "price": "0.0001000",
        "fee": "0.00000025",
        "timestamp": "2026-11-18T11:07:40.000Z",
        "taker": True,
    }


def test_the_margin_filter_knows_no_margin_trades_here(world: World) -> None:
    assert call(world, "get_trade_history", margin="include") == call(world, "get_trade_history", margin="ignore")
    assert call(world, "get_trade_history", margin="only") == []


def test_the_trades_of_one_order(world: World) -> None:
    (placed,) = call(world, "get_order_history", clientOrderId="o3")
    made = call(world, "get_order_trades", orderId=placed["id"])
    assert [each["quantity"] for each in made] == ["0.1000", "0.1999"]
    assert all(each["orderId"] == placed["id"] for each in made)
    assert call(world, "get_order_trades", orderId=str(placed["id"])) == made
    assert call(world, "get_order_trades", OTHER, orderId=placed["id"]) == []
    assert call(world, "get_order_trades", orderId=1) == []


def test_an_order_without_trades_is_forgotten_a_day_after_its_end(world: World, clock: Ticking) -> None:
    order(world, "sell", "1", "0.07", clientOrderId="idle")
    order(world, "sell", "1", "0.07", clientOrderId="resting")
    clock.at_ms += DAY_MS
    call(world, "cancel_order", clientOrderId="idle")
    clock.at_ms += DAY_MS
    assert len(call(world, "get_order_history", clientOrderId="idle")) == 1
    clock.at_ms += 1
    assert call(world, "get_order_history", clientOrderId="idle") == []
    assert ids(call(world, "get_order_history")) == ["resting", "o4", "o3", "o2", "o1"]
    assert len(call(world, "get_trade_history")) == 5
    assert order(world, "sell", "1", "0.07", clientOrderId="idle")["status"] == "new"


def test_a_history_that_lags_says_nothing_of_what_is_new(world: World, clock: Ticking) -> None:
    world.control("config", {"history_delay_ms": 2_000})
    placed = order(world, "buy", "0.1", "0.06", clientOrderId="late")
    clock.at_ms += 1_999
    assert call(world, "get_order_history", clientOrderId="late") == []
    assert "late" not in ids(call(world, "get_order_history"))
    assert call(world, "get_order_trades", orderId=placed["id"]) == []
    assert "late" not in ids(call(world, "get_trade_history"))
    clock.at_ms += 1
    assert len(call(world, "get_order_history", clientOrderId="late")) == 1
    assert len(call(world, "get_order_trades", orderId=placed["id"])) == 1
    assert ids(call(world, "get_trade_history"))[0] == "late"
