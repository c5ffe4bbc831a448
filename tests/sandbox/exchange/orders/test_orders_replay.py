"""Orders across restarts: the simulated traders are gone, and everything customers have is as it was."""

import json
from pathlib import Path

import pytest

from sandbox.exchange.state import RecordedFills
from sandbox.exchange.trading import orders_house
from sandbox.world.world import World
from tests.sandbox.trading import bare, offered, order
from tests.sandbox.worlds import HOUR_MS, OTHER, Ticking, call, picture, refused


@pytest.fixture
def clock() -> Ticking:
    return Ticking()


def reopened(world: World, folder: Path, clock: Ticking) -> World:
    """The world after a restart, equal to what it was."""
    world.run_due()
    before = picture(world)
    world.close()
    again = bare(folder, clock)
    again.run_due()
    assert again.warnings == []
    assert picture(again) == before
    return again


def actions(folder: Path) -> list[str]:
    """What the journal's inputs are called."""
    lines = (folder / "journal.jsonl").read_text().splitlines()[1:]
    return [json.loads(line)["do"] for line in lines]


def test_what_traders_filled_stays_filled_without_them(tmp_path: Path, clock: Ticking) -> None:
    world = bare(tmp_path, clock)
    offered(world, "sell", 50_000, 5_000)
    order(world, "buy", "0.8", "0.05", clientOrderId="partly")
    order(world, "buy", "0.1", type="market")
    offered(world, "sell", 50_000, 1_000)
    order(world, "sell", "1", "0.06", OTHER)
    order(world, "buy", "0.4", "0.06")
    assert actions(tmp_path).count(orders_house.TRADES) == 1
    again = reopened(world, tmp_path, clock)
    book = again.exchange.pair("ETHBTC").book
    assert (book.levels("buy"), book.levels("sell")) == ([(50_000, 2_000)], [(60_000, 6_000)])
    assert call(again, "get_order", clientOrderId="partly")["cumQuantity"] == "0.6000"
    assert order(again, "buy", "0.6", "0.06")["status"] == "filled"


def test_stops_that_traders_woke_stay_awake(tmp_path: Path, clock: Ticking) -> None:
    world = bare(tmp_path, clock)
    order(world, "buy", "1", "0.052", type="stopLimit", stopPrice="0.051", clientOrderId="awake")
    order(world, "buy", "1", "0.053", type="stopLimit", stopPrice="0.0525", clientOrderId="asleep")
    order(world, "sell", "1", type="stopMarket", stopPrice="0.04", clientOrderId="gone")
    offered(world, "sell", 51_000, 7_000)
    offered(world, "buy", 51_000, 1_000)
    offered(world, "buy", 39_000, 2_000)
    offered(world, "sell", 39_000, 1_000)
    again = reopened(world, tmp_path, clock)
    statuses = {each["clientOrderId"]: each["status"] for each in call(again, "get_order_history")}
    assert statuses == {"awake": "partiallyFilled", "asleep": "suspended", "gone": "suspended"}
    assert len(again.exchange.pair("ETHBTC").stops) == 2


def test_a_woken_order_without_money_is_lived_again_as_such(tmp_path: Path, clock: Ticking) -> None:
    world = bare(tmp_path, clock)
    call(world, "transfer_funds", OTHER, currency="BTC", amount="4.94", type="exchangeToBank")
    order(world, "buy", "1", None, OTHER, type="stopMarket", stopPrice="0.05", clientOrderId="s")
    offered(world, "sell", 50_000, 1)
    offered(world, "sell", 90_000, 20_000)
    offered(world, "buy", 50_000, 1)
    assert call(world, "get_order_history", OTHER)[0]["status"] == "expired"
    reopened(world, tmp_path, clock)


def test_trades_among_traders_leave_no_trace(tmp_path: Path, clock: Ticking) -> None:
    world = bare(tmp_path, clock)
    before = picture(world)
    number = offered(world, "sell", 50_000, 5_000)
    offered(world, "buy", 50_000, 1_000)
    assert world.exchange.pair("ETHBTC").book.cancel(number) == 4_000
    assert picture(world) == before
    assert actions(tmp_path) == []
    world.close()


def test_orders_go_on_to_end_after_a_restart(tmp_path: Path, clock: Ticking) -> None:
    world = bare(tmp_path, clock)
    order(world, "sell", "1", "0.05", timeInForce="GTD", expireTime=clock.at_ms + HOUR_MS, clientOrderId="g")
    call(world, "replace_order", clientOrderId="g", requestClientId="h", quantity="2")
    again = reopened(world, tmp_path, clock)
    clock.at_ms += HOUR_MS
    assert call(again, "get_order_history", clientOrderId="h")[0]["status"] == "expired"
    reopened(again, tmp_path, clock)


def test_what_the_market_did_before_a_refusal_is_journaled(tmp_path: Path, clock: Ticking) -> None:
    """Looking at a book lets the traders act, whatever becomes of the call that looked."""
    world = bare(tmp_path, clock)
    order(world, "buy", "1", "0.05", clientOrderId="met")
    waiting = [("sell", 50_000, 4_000)]

    def act(symbol: str) -> None:
        for side, price, quantity in waiting:
            orders_house.offer(world.exchange, symbol, side, price, quantity)
        waiting.clear()

    world.exchange.refresh_book = act
    with pytest.raises(Exception, match="20001"):
        order(world, "buy", "99999", "0.05")
    assert actions(tmp_path)[-1] == orders_house.TRADES
    assert call(world, "get_order", clientOrderId="met")["cumQuantity"] == "0.4000"
    waiting.append(("sell", 50_000, 6_000))
    refused_id = {"clientOrderId": "met", "quantity": "2", "requestClientId": "new"}
    with pytest.raises(Exception, match="20002"):  # the market was faster
        call(world, "replace_order", **refused_id)
    refused(world, "get_order", 20002, clientOrderId="met")
    reopened(world, tmp_path, clock)


def test_the_market_acts_before_the_order_that_looked_and_in_the_journal_too(tmp_path: Path, clock: Ticking) -> None:
    world = bare(tmp_path, clock)
    order(world, "sell", "1", "0.05")
    world.exchange.refresh_book = lambda symbol: orders_house.offer(world.exchange, symbol, "buy", 50_000, 3_000)
    bought = order(world, "buy", "1", "0.05", OTHER)
    assert bought["cumQuantity"] == "0.7000"
    assert actions(tmp_path) == ["create_order", orders_house.TRADES, "create_order"]
    world.exchange.refresh_book = None
    reopened(world, tmp_path, clock)


@pytest.mark.parametrize(
    "change",
    [
        lambda line: line.pop("met"),
        lambda line: line["met"].append([""]),
        lambda line: line["met"][0].append([1, 340_000_000_001, 50_000, 99_999_999]),
        lambda line: line["met"].__setitem__(0, ["", [1, 12345, 50_000, 1]]),
        lambda line: line["met"].__setitem__(0, "filled"),
        lambda line: line["met"].__setitem__(0, ["", ["1", 0, 50_000, 1]]),
    ],
    ids=["none", "too many", "more than there was", "an unknown maker", "no outcome", "no trade"],
)
def test_outcomes_that_make_no_sense_end_what_is_taken_for_true(tmp_path: Path, clock: Ticking, change) -> None:  # type: ignore[no-untyped-def]
    from sandbox.engine.journal import sealed

    world = bare(tmp_path, clock)
    order(world, "sell", "1", "0.05")
    order(world, "buy", "1", "0.05", OTHER)
    world.close()
    path = tmp_path / "journal.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    change(lines[-1])
    raw, checksum = b"", ""
    for line in lines:
        line.pop("sum")
        written, checksum = sealed(json.dumps(line, separators=(",", ":")), checksum)
        raw += written
    path.write_bytes(raw)
    again = bare(tmp_path, clock)
    assert len(again.warnings) == 1
    assert "line 3" in again.warnings[0]
    assert [each["status"] for each in call(again, "get_orders")] == ["new"]
    assert again.ledger()["balanced"] is True
    assert order(again, "buy", "1", "0.05", OTHER)["status"] == "filled"
    again.close()


def test_outcomes_know_when_they_are_asked_for_too_much() -> None:
    outcomes = RecordedFills()
    outcomes.give([["", [7, 0, 5, 1]]])
    assert outcomes.next_met().trades == ((7, 0, 5, 1),)
    outcomes.must_be_used_up()
    with pytest.raises(ValueError, match="fewer outcomes"):
        outcomes.next_met()
    outcomes.give([[""]])
    with pytest.raises(ValueError, match="more outcomes"):
        outcomes.must_be_used_up()


def test_numbers_of_trades_grow_across_restarts_and_within_an_instant(tmp_path: Path, clock: Ticking) -> None:
    world = bare(tmp_path, clock)
    for _ in range(3):
        offered(world, "sell", 50_000, 1)
        order(world, "buy", "0.0001", "0.05")
    before = [each["id"] for each in call(world, "get_trade_history", sort="ASC")]
    assert before == [clock.at_ms * 1_000 + number for number in range(3)]
    again = reopened(world, tmp_path, clock)
    offered(again, "sell", 50_000, 1)
    assert order(again, "buy", "0.0001", "0.05")["tradesReport"][0]["id"] == before[-1] + 1
    again.close()
