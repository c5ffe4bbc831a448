"""Liquidation: when the mark reaches its price, by a trade or by the clock, once, and lived again from the journal."""

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from sandbox.engine.journal import Journal, read_lines
from sandbox.exchange import schedule
from sandbox.exchange.margin import margin_liquidation
from sandbox.world.world import Event, World
from tests.sandbox.margins import account, funded, is_sound, kept, margin_order, traded
from tests.sandbox.trading import offered
from tests.sandbox.worlds import DESK, OTHER, START_MS, Ticking, call, opened, picture


@pytest.fixture
def world() -> World:
    return opened(still=True)


def marked(world: World, price: int) -> None:
    """A trade between simulated traders at a price, and what it brings about."""
    offered(world, "buy", price, 1)
    offered(world, "sell", price, 1)
    world.run_due()


def liquidated(world: World) -> list[bool]:
    """Whether each margin trade of the desk was a liquidation, oldest first."""
    return [trade["liquidation"] for trade in call(world, "get_trade_history", margin="only", sort="ASC")]


def test_a_long_position_is_sold_when_the_mark_reaches_its_price(world: World) -> None:
    heard: list[Event] = []
    funded(world, "0.06")
    traded(world, "buy", 10)
    margin_order(world, "sell", "2", "0.09")
    edge = int(Decimal(account(world)["position"]["priceLiquidation"]).scaleb(6))
    world.listen(heard.append)
    offered(world, "buy", edge - 40, 200_000)
    marked(world, edge + 1)
    assert account(world)["position"]["quantity"] == "10.0000"
    marked(world, edge)
    record = account(world)
    assert "position" not in record
    assert call(world, "get_margin_orders") == []
    assert liquidated(world) == [False, True]
    sold = Decimal(edge - 40).scaleb(-6) * 10
    left = Decimal("0.06") - Decimal("0.00125") + sold - Decimal("0.5") - sold * Decimal("0.0025")
    assert Decimal(record["marginBalance"]) == left
    frames = [event.payload for event in heard if event.kind == "marginAccount"]
    assert [each["reportReason"] for each in frames if isinstance(each, dict)][-2:] == ["liquidated", "updated"]
    assert is_sound(world)


def test_a_short_position_is_bought_back(world: World) -> None:
    funded(world, "0.06")
    traded(world, "sell", 10)
    edge = int(Decimal(account(world)["position"]["priceLiquidation"]).scaleb(6))
    offered(world, "sell", edge + 20, 200_000)
    marked(world, edge)
    # It is cut off to the tick: the mark is past the exact price only one tick later, but the shown one counts.
    assert "position" not in account(world)
    assert liquidated(world) == [False, True]
    assert is_sound(world)


def test_what_the_book_does_not_take_the_exchange_takes_over_at_the_mark(world: World) -> None:
    funded(world, "0.06")
    traded(world, "buy", 10)
    marked(world, 46_500)
    record = account(world)
    assert "position" not in record
    assert liquidated(world) == [False, True]
    taken = call(world, "get_trade_history", margin="only", limit=1)[0]
    assert {name: taken[name] for name in ("symbol", "side", "quantity", "price", "fee", "taker", "liquidation")} == {
        "symbol": "ETHBTC",
        "side": "sell",
        "quantity": "10.0000",
        "price": "0.046500",
        "fee": "0",
        "taker": True,
        "liquidation": True,
    }
    order = call(world, "get_order_history", clientOrderId=taken["clientOrderId"])[0]
    assert (order["status"], order["type"], order["cumQuantity"]) == ("filled", "market", "10.0000")
    assert call(world, "get_order_trades", orderId=taken["orderId"]) == [taken]
    public = call(world, "get_symbol_trades", None, symbol="ETHBTC", limit=1)[0]
    assert (public["id"], public["price"], public["quantity"]) == (taken["id"], "0.046500", "10.0000")
    assert Decimal(record["marginBalance"]) == Decimal("0.06") - Decimal("0.00125") - Decimal("0.035")
    assert is_sound(world)
    assert funded(world, "0")["marginBalance"] == "0"


def test_part_of_it_may_find_takers(world: World) -> None:
    funded(world, "0.06")
    traded(world, "buy", 10)
    offered(world, "buy", 46_000, 40_000)
    marked(world, 46_500)
    assert liquidated(world) == [False, True, True]
    # 4 at 0.046 with their fee, 6 at the mark of 0.046500: the sale itself becomes the latest trade later
    left = Decimal("0.05875") - 4 * Decimal("0.004") - Decimal("0.184") * Decimal("0.0025") - 6 * Decimal("0.0035")
    assert Decimal(account(world)["marginBalance"]) == left
    assert is_sound(world)


def test_a_position_with_nothing_left_ends_with_an_empty_account(world: World) -> None:
    funded(world, "0.06")
    traded(world, "buy", 10)
    marked(world, 20_000)
    assert account(world)["marginBalance"] == "0"
    assert is_sound(world)


def test_only_the_accounts_whose_time_has_come_are_touched(world: World) -> None:
    funded(world, "0.06")
    funded(world, "0.5", "ETHBTC", OTHER)
    traded(world, "buy", 10)
    traded(world, "buy", 10, caller=OTHER)
    marked(world, 46_000)
    assert "position" not in account(world)
    assert account(world, "ETHBTC", OTHER)["position"]["quantity"] == "10.0000"


def test_a_liquidation_may_bring_about_the_next(world: World) -> None:
    funded(world, "0.06")
    funded(world, "0.1", "ETHBTC", OTHER)
    traded(world, "buy", 10)
    traded(world, "buy", 10, caller=OTHER)
    offered(world, "buy", 41_000, 300_000)
    marked(world, 46_500)
    world.run_due()
    assert call(world, "get_margin_positions") == []
    assert call(world, "get_margin_positions", OTHER) == []
    assert is_sound(world)


def test_more_balance_saves_a_position(world: World) -> None:
    funded(world, "0.06")
    traded(world, "buy", 10)
    funded(world, "0.4")
    marked(world, 46_000)
    assert account(world)["position"]["quantity"] == "10.0000"


def test_a_minute_after_the_latest_trade_the_quotes_are_the_mark() -> None:
    clock = Ticking()
    world = opened(clock=clock, still=True)
    bid, ask = world.exchange.market.quotes(world.exchange.symbols["ETHBTC"], START_MS)
    far = (bid + ask) * 3 // 4  # half as much again as is quoted
    funded(world, "1")
    traded(world, "buy", 10, far)
    funded(world, str(Decimal(far).scaleb(-6) * Decimal("1.03")))  # little more than a tenth of what it cost
    clock.at_ms += 59_999
    world.run_due()
    assert account(world)["position"]["pnl"] == "0"
    clock.at_ms += 1
    world.run_due()
    assert "position" not in account(world)
    assert is_sound(world)


def test_the_watch_ends_with_the_last_position() -> None:
    clock = Ticking()
    world = opened(clock=clock, still=True)
    funded(world, "1")
    timers = len(world.exchange.timers)
    traded(world, "buy", 1)
    traded(world, "sell", 1)
    traded(world, "buy", 1)
    world.run_due()
    assert len(world.exchange.timers) == timers + 1
    traded(world, "sell", 1)
    clock.at_ms += 180_000
    world.run_due()
    assert world.exchange.margins.watched == set()
    assert len(world.exchange.timers) <= timers


@pytest.mark.parametrize("taken", [0, 40_000, 200_000])
def test_a_liquidation_is_lived_again(tmp_path: Path, taken: int) -> None:
    world = opened(tmp_path, still=True)
    funded(world, "0.06")
    traded(world, "buy", 10)
    margin_order(world, "sell", "2", "0.09", timeInForce="Day")
    funded(world, "0.2", "ETHBTC", OTHER)
    traded(world, "sell", 10, caller=OTHER)
    if taken:
        offered(world, "buy", 46_000, taken)
    marked(world, 46_500)
    margin_order(world, "buy", "1", "0.03")
    before = (picture(world), kept(world))
    world.close()
    again = opened(tmp_path, still=True)
    assert again.warnings == []
    assert (picture(again), kept(again)) == before
    assert is_sound(again)
    again.close()


def test_a_journal_that_tells_of_no_trade_of_the_exchange_is_lived_again_without_it(tmp_path: Path) -> None:
    """As they were written before what the exchange takes over was a trade."""
    world = opened(tmp_path, still=True)
    funded(world, "0.06")
    traded(world, "buy", 10)
    marked(world, 46_500)
    world.close()
    path, old = tmp_path / "journal.jsonl", Journal.begin(world.journal.header, tmp_path / "old.jsonl")
    for entry in read_lines(path.read_bytes()).entries:
        left = [outcome for outcome in entry.outcomes if outcome[0] != "taken over"]  # type: ignore[index]
        old.append(replace(entry, outcomes=left))
    old.close()
    (tmp_path / "old.jsonl").replace(path)
    again = opened(tmp_path, still=True)
    assert again.warnings == []
    assert liquidated(again) == [False]
    assert "position" not in account(again)
    assert account(again)["marginBalance"] == account(world)["marginBalance"]
    again.close()


def test_the_news_of_what_the_exchange_takes_over(world: World) -> None:
    heard: list[Event] = []
    funded(world, "0.06")
    traded(world, "buy", 10)
    world.listen(heard.append)
    marked(world, 46_500)
    frames = [each.payload for each in heard if each.kind == "marginReport" and isinstance(each.payload, dict)]
    assert [(each["reportType"], each["status"]) for each in frames[-2:]] == [("new", "new"), ("trade", "filled")]
    assert (frames[-1]["tradePrice"], frames[-1]["tradeQuantity"], frames[-1]["tradeFee"]) == (
        "0.046500",
        "10.0000",
        "0",
    )


def test_a_position_past_its_price_at_the_end_of_a_replay_is_found_later(tmp_path: Path) -> None:
    clock = Ticking()
    world = opened(tmp_path, clock=clock, still=True)
    bid, ask = world.exchange.market.quotes(world.exchange.symbols["ETHBTC"], START_MS)
    far = (bid + ask) * 3 // 4
    funded(world, "1")
    traded(world, "buy", 10, far)
    funded(world, str(Decimal(far).scaleb(-6) * Decimal("1.03")))
    world.close()
    clock.at_ms += 300_000
    again = opened(tmp_path, clock=clock, still=True)
    again.run_due()
    again.run_due()
    assert call(again, "get_margin_positions") == []
    assert is_sound(again)
    again.close()


@pytest.mark.parametrize(
    "odd",
    [
        {},
        {"account": DESK.account, "symbol": "ETHBTC"},
        {"account": DESK.account, "symbol": "ETHBTC", "mark": "46000"},
        {"account": DESK.account, "symbol": "LTCBTC", "mark": 1},
        {"account": "nobody", "symbol": "ETHBTC", "mark": 1},
    ],
)
def test_an_odd_record_of_a_liquidation_is_no_liquidation(world: World, odd: dict[str, object]) -> None:
    funded(world)
    with pytest.raises(ValueError, match="liquidat"):
        schedule.JOURNALED_EVENTS[margin_liquidation.ACTION](world.exchange, odd)
