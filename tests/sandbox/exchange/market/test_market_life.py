"""Customers in the moving market: their orders are filled and their stops wake as it passes, through leaps, frozen time
and restarts."""

from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from sandbox.engine.clock import DAY_MS
from sandbox.world.world import Event, World
from tests.sandbox.margins import account as margin_account
from tests.sandbox.margins import funded, is_sound
from tests.sandbox.trading import order
from tests.sandbox.worlds import DESK, HOUR_MS, MINUTE_MS, OTHER, START_MS, Ticking, call, opened, picture

LEAPS = {"hour": HOUR_MS, "day": DAY_MS, "forty days": 40 * DAY_MS}


def trades(world: World, symbol: str = "ETHBTC", **arguments: object) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = call(world, "get_symbol_trades", None, symbol=symbol, **arguments)
    return found


def status(world: World, client_id: str) -> dict[str, Any]:
    """The order as the history has it."""
    (found,) = call(world, "get_order_history", clientOrderId=client_id)
    return dict(found)


def quotes(world: World, symbol: str = "ETHBTC") -> tuple[Decimal, Decimal]:
    ticker = call(world, "get_ticker", None, symbol=symbol)
    return Decimal(ticker["bid"]), Decimal(ticker["ask"])


def beside(price: Decimal, part: str) -> Decimal:
    """A price so far away, in ticks of ETHBTC."""
    return (price * (1 + Decimal(part))).quantize(Decimal("0.000001"))


def is_settled(world: World) -> bool:
    """Whether the ledger balances, reservations are those of the active orders, and no book is crossed."""
    for pair in world.exchange.pairs.values():
        bid, ask = pair.book.best("buy"), pair.book.best("sell")
        assert bid is None or ask is None or bid < ask
    waiting = {each["side"] for each in call(world, "get_orders")}
    reserved = {row["currency"] for row in call(world, "get_trading_balances") if Decimal(row["reserved"])}
    assert reserved == {{"buy": "BTC", "sell": "ETH"}[side] for side in waiting}
    return is_sound(world)


# Fills ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", ["buy", "sell"])
def test_a_resting_order_is_filled_when_the_market_passes_its_price(side: str) -> None:
    clock, heard = Ticking(), list[Event]()
    world = opened(clock=clock)
    bid, ask = quotes(world)
    price = beside(bid, "-0.002") if side == "buy" else beside(ask, "0.002")
    made = order(world, side, "0.5", price, clientOrderId="waits")
    assert made["status"] == "new"
    world.listen(heard.append)
    first_ms = clock.at_ms
    while call(world, "get_orders"):
        assert clock.at_ms < first_ms + DAY_MS, "the market never came by"
        clock.at_ms += MINUTE_MS
        world.run_due()
    assert status(world, "waits")["status"] == "filled"
    own = call(world, "get_trade_history")
    assert sum(Decimal(trade["quantity"]) for trade in own) == Decimal("0.5")
    assert {trade["price"] for trade in own} == {made["price"]}
    assert {trade["taker"] for trade in own} == {False}
    # Nothing of the market passed the price before.
    before = trades(world, sort="ASC", limit=1000, from_=first_ms, by="timestamp")
    passed = [Decimal(t["price"]) for t in before if t["timestamp"] < own[-1]["timestamp"]]
    assert all(each >= price for each in passed) if side == "buy" else all(each <= price for each in passed)
    reports = [event.payload for event in heard if event.kind == "report"]
    assert [report["reportType"] for report in reports if isinstance(report, dict)] == ["trade"] * len(own)
    assert is_settled(world)


def test_public_trades_have_our_own_fills_among_them() -> None:
    clock = Ticking()
    world = opened(clock=clock)
    bid, _ = quotes(world)
    order(world, "buy", "1.5", beside(bid, "-0.001"), clientOrderId="maker")
    taken = order(world, "sell", "2", type="market", clientOrderId="taker")
    clock.at_ms += DAY_MS
    own = call(world, "get_trade_history", sort="ASC", limit=1000)
    assert {trade["clientOrderId"] for trade in own} == {"maker", "taker"}
    public = trades(world, by="id", sort="ASC", from_=own[0]["id"], till=own[-1]["id"], limit=1000)
    public += trades(world, by="id", sort="ASC", from_=own[-1]["id"], till=own[-1]["id"])
    members = {trade["id"]: trade for trade in public}
    for trade in own:
        assert members[trade["id"]]["price"] == trade["price"]
        assert members[trade["id"]]["quantity"] == trade["quantity"]
        assert members[trade["id"]]["timestamp"] == trade["timestamp"]
        assert members[trade["id"]]["side"] == "sell"  # the taker's: the maker bought
    assert [trade["id"] for trade in taken["tradesReport"]] == [t["id"] for t in own if t["taker"]]
    ids = [trade["id"] for trade in public]
    assert ids[:-1] == sorted(set(ids))


@pytest.mark.parametrize(("side", "part"), [("buy", "0.002"), ("sell", "-0.002")])
@pytest.mark.parametrize("kind", ["stopMarket", "stopLimit"])
def test_a_stop_wakes_when_the_market_reaches_it(side: str, part: str, kind: str) -> None:
    clock = Ticking()
    world = opened(clock=clock)
    bid, ask = quotes(world)
    stop = beside(ask if side == "buy" else bid, part)
    limit = {"price": beside(stop, "0.02" if side == "buy" else "-0.02")} if kind == "stopLimit" else {}
    made = order(world, side, "0.2", type=kind, stopPrice=stop, clientOrderId="stop", **limit)
    assert made["status"] == "suspended"
    first_ms = clock.at_ms
    while call(world, "get_orders"):
        assert clock.at_ms < first_ms + DAY_MS
        clock.at_ms += MINUTE_MS
        world.run_due()
    assert status(world, "stop")["status"] == "filled"
    (first, *_) = call(world, "get_trade_history", sort="ASC")
    assert first["taker"] is True
    assert abs(Decimal(first["price"]) / stop - 1) < Decimal("0.004")
    reached = [Decimal(t["price"]) for t in trades(world, from_=first_ms, till=first["timestamp"], limit=1000)]
    assert max(reached) >= stop if side == "buy" else min(reached) <= stop
    assert is_settled(world)


# Leaps ---------------------------------------------------------------------------------------------------------------


def waiting_orders(world: World) -> None:
    """Orders of every kind that wait, near the market and far from it."""
    bid, ask = quotes(world)
    order(world, "buy", "0.3", beside(bid, "-0.003"), clientOrderId="near-buy")
    order(world, "sell", "0.3", beside(ask, "0.003"), clientOrderId="near-sell")
    order(world, "buy", "0.3", "0.001000", clientOrderId="far-buy")
    order(world, "sell", "0.3", "0.900000", clientOrderId="far-sell")
    order(world, "sell", "0.2", type="stopMarket", stopPrice=beside(bid, "-0.004"), clientOrderId="near-stop")
    order(world, "buy", "0.2", type="stopMarket", stopPrice="0.5", clientOrderId="far-stop")
    order(world, "buy", "0.1", "0.001100", timeInForce="Day", clientOrderId="day")
    order(
        world, "buy", "0.1", "0.001200", timeInForce="GTD", expireTime=START_MS + 20 * HOUR_MS, clientOrderId="gtd"
    )  # fmt: skip


@pytest.mark.parametrize("leap", LEAPS)
def test_the_clock_leaps_with_waiting_orders(leap: str, tmp_path: Path) -> None:
    clock = Ticking()
    world = opened(tmp_path, clock)
    waiting_orders(world)
    world.clock.advance(LEAPS[leap])
    rows = {row["clientOrderId"]: row for row in call(world, "get_orders")}
    assert {"far-buy", "far-sell", "far-stop"} <= set(rows)
    assert rows["far-stop"]["status"] == "suspended"
    over = {"hour": set(), "day": {"day", "gtd"}, "forty days": {"day", "gtd"}}[leap]
    assert ({"day", "gtd"} & set(rows)) == {"day", "gtd"} - over
    if leap == "forty days":  # in forty days the market goes by three in a thousand more than once
        assert not {"near-buy", "near-sell", "near-stop"} & set(rows)
    if leap == "day":
        assert {status(world, each)["status"] for each in ("day", "gtd")} == {"expired"}
        assert status(world, "day")["updatedAt"] == "2026-11-19T00:00:00.000Z"
        assert status(world, "gtd")["updatedAt"] == "2026-11-19T07:06:40.000Z"
    own = call(world, "get_trade_history", sort="ASC", limit=1000)
    assert [trade["id"] for trade in own] == sorted(trade["id"] for trade in own)
    assert all(earlier["timestamp"] <= later["timestamp"] for earlier, later in pairwise(own))
    assert all("2026-11-18T11:06:40.000Z" <= trade["timestamp"] for trade in own)
    assert is_settled(world)
    before = call(world, "get_order_history"), picture(world)
    world.close()
    again = opened(tmp_path, clock)
    assert not again.warnings
    assert (call(again, "get_order_history"), picture(again)) == before
    again.close()


def test_a_leap_and_small_steps_fill_the_same_orders_at_the_same_price() -> None:
    leaping, stepping = Ticking(), Ticking()
    worlds = [opened(clock=leaping), opened(clock=stepping)]
    for world in worlds:
        waiting_orders(world)
    leaping.at_ms += 12 * HOUR_MS
    worlds[0].run_due()
    for _ in range(72):
        stepping.at_ms += 10 * MINUTE_MS
        worlds[1].run_due()
    left, right = (
        {(trade["clientOrderId"], trade["side"]) for trade in call(world, "get_trade_history", limit=1000)}
        for world in worlds
    )
    assert left == right
    assert {name for name, _ in left} & {"near-buy", "near-sell"}
    made = [
        {t["clientOrderId"]: t["price"] for t in call(w, "get_trade_history", limit=1000) if not t["taker"]}
        for w in worlds
    ]
    assert made[0] == made[1]


def test_orders_that_wait_outlive_a_leap_of_forty_days() -> None:
    clock = Ticking()
    world = opened(clock=clock, symbols=200)
    call(world, "get_orderbooks", None, limit=1)  # books in which nobody waits cost nothing
    for symbol in ("ETHBTC", "BTCUSD", "EOSETH"):
        bid = Decimal(call(world, "get_ticker", None, symbol=symbol)["bid"])
        for _ in range(10):
            call(world, "create_order", symbol=symbol, side="buy", quantity="0.01", price=bid * Decimal("0.6"))
    clock.at_ms += 40 * DAY_MS
    world.run_due()
    assert len(call(world, "get_orders")) == 30
    assert world.exchange.moment_ms == clock.at_ms


# Frozen --------------------------------------------------------------------------------------------------------------


def test_nothing_moves_while_the_clock_is_frozen() -> None:
    clock = Ticking()
    world = opened(clock=clock)
    world.clock.freeze(True)
    waiting_orders(world)
    before = picture(world), call(world, "get_tickers", None), call(world, "get_orderbooks", None, limit=0)
    newest = trades(world, limit=10)
    clock.at_ms += 3 * DAY_MS
    world.run_due()
    assert (picture(world), call(world, "get_tickers", None), call(world, "get_orderbooks", None, limit=0)) == before
    assert trades(world, limit=10) == newest
    taken = order(world, "buy", "0.1", type="market")  # trading itself goes on
    assert taken["status"] == "filled"
    assert trades(world, limit=1)[0]["id"] == taken["tradesReport"][-1]["id"]
    world.clock.advance(HOUR_MS)  # and frozen time can be moved
    assert len(trades(world, limit=1000)) == 1000
    assert trades(world, limit=1)[0]["id"] > taken["tradesReport"][-1]["id"]
    assert is_settled(world)


# Restarts ------------------------------------------------------------------------------------------------------------


def test_a_restart_keeps_orders_fills_and_positions(tmp_path: Path) -> None:
    clock = Ticking()
    world = opened(tmp_path, clock)
    waiting_orders(world)
    call(world, "create_order", OTHER, symbol="EOSETH", side="buy", quantity="5", type="market")
    funded(world, "0.5")
    call(world, "create_margin_order", symbol="ETHBTC", side="buy", quantity="1", type="market")
    for _ in range(6):
        clock.at_ms += HOUR_MS
        call(world, "get_orderbook", None, symbol="ETHBTC")
    before, position = picture(world), margin_account(world)["position"]["id"]
    own, public = call(world, "get_trade_history", limit=1000), trades(world, limit=1000)
    assert own
    for _ in range(2):
        world.close()
        world = opened(tmp_path, clock)
        assert not world.warnings
        assert picture(world) == before
        assert call(world, "get_trade_history", limit=1000) == own
        assert trades(world, limit=1000) == public
        assert margin_account(world)["position"]["id"] == position
    clock.at_ms += 3 * DAY_MS  # and what waits is still watched
    assert {"far-buy", "far-sell", "far-stop"} <= {each["clientOrderId"] for each in call(world, "get_orders")}
    assert "near-buy" not in {each["clientOrderId"] for each in call(world, "get_orders")}
    assert is_sound(world)
    world.close()


def test_time_that_passed_while_it_was_down_is_lived_at_the_start(tmp_path: Path) -> None:
    clock = Ticking()
    world = opened(tmp_path, clock)
    waiting_orders(world)
    world.close()
    clock.at_ms += 20 * DAY_MS
    again = opened(tmp_path, clock)
    again.run_due()
    left = {each["clientOrderId"] for each in call(again, "get_orders", DESK)}
    assert {"far-buy", "far-sell", "far-stop"} <= left
    assert not {"day", "gtd"} & left
    assert is_settled(again)
    again.close()


def test_a_journal_goes_on_still_and_moving_again(tmp_path: Path) -> None:
    clock = Ticking()
    world = opened(tmp_path, clock)
    waiting_orders(world)
    clock.at_ms += 3 * HOUR_MS
    before = call(world, "get_orders"), call(world, "get_trade_history"), world.ledger()
    world.close()
    for still in (True, False):
        world = opened(tmp_path, clock, still=still, traders=True)
        assert not world.warnings
        assert (call(world, "get_orders"), call(world, "get_trade_history"), world.ledger()) == before
        taken = order(world, "buy", "0.01", type="market")
        assert taken["status"] == "filled"
        before = call(world, "get_orders"), call(world, "get_trade_history"), world.ledger()
        assert is_settled(world)
        world.close()


# Margin --------------------------------------------------------------------------------------------------------------


def test_the_moving_market_liquidates_what_it_endangers(tmp_path: Path) -> None:
    clock = Ticking()
    world = opened(tmp_path, clock, seed=7)  # in its second week ether falls by eight in a hundred
    for caller, side in ((DESK, "buy"), (OTHER, "sell")):
        call(world, "set_margin_account", caller, symbol="ETHBTC", marginBalance="0.04")
        made = call(
            world, "create_margin_order", caller, symbol="ETHBTC", side=side, quantity="10", type="market"
        )  # fmt: skip
        assert made["status"] == "filled"
    edges = {
        caller.login: Decimal(margin_account(world, "ETHBTC", caller)["position"]["priceLiquidation"])
        for caller in (DESK, OTHER)
    }
    bid, ask = quotes(world)
    assert edges["demo-full"] < bid < ask < edges["other-full"]
    seen: list[Decimal] = []
    for _ in range(10 * 24):
        clock.at_ms += HOUR_MS
        seen += quotes(world)
        if len(call(world, "get_margin_positions", DESK)) + len(call(world, "get_margin_positions", OTHER)) < 2:
            break
    assert call(world, "get_margin_positions", DESK) == []
    (short,) = call(world, "get_margin_positions", OTHER)
    assert Decimal(short["pnl"]) > 0
    newest = call(world, "get_trade_history", margin="only", limit=1)[0]
    assert newest["liquidation"] is True
    assert Decimal(newest["price"]) <= edges["demo-full"]
    assert min(seen) <= edges["demo-full"] * Decimal("1.005")
    assert 0 < Decimal(margin_account(world)["marginBalance"]) < Decimal("0.04")
    assert is_sound(world)
    before = picture(world)
    world.close()
    again = opened(tmp_path, clock, seed=7)
    assert not again.warnings
    assert picture(again) == before
    again.close()
