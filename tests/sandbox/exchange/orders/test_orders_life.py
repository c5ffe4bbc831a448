"""The life of an order: times in force, post-only, stops, expiry, cancelling, replacing, and what is told of it."""

from decimal import Decimal
from typing import Any

import pytest

from sandbox.engine.clock import DAY_MS
from sandbox.world.world import Event, World
from tests.sandbox.trading import bare, offered, order, trading
from tests.sandbox.worlds import HOUR_MS, OTHER, START_MS, Ticking, call, refused

NEXT_DAY_MS = (START_MS // DAY_MS + 1) * DAY_MS


@pytest.fixture
def clock() -> Ticking:
    return Ticking()


@pytest.fixture
def world(clock: Ticking) -> World:
    return bare(clock=clock)


@pytest.fixture
def heard(world: World) -> list[Event]:
    """Every event from now on."""
    events: list[Event] = []
    world.listen(events.append)
    return events


def reports(heard: list[Event]) -> list[tuple[str, str, str]]:
    """Id, report type and status of every report, in their order."""
    payloads: list[Any] = [event.payload for event in heard if event.kind == "report"]
    return [(each["clientOrderId"], each["reportType"], each["status"]) for each in payloads]


def last(world: World, client_id: str) -> Any:
    """The order as its history has it."""
    (found,) = call(world, "get_order_history", clientOrderId=client_id)
    return found


# Times in force ------------------------------------------------------------------------------------------------------


def test_a_market_order_is_filled_or_expires(world: World) -> None:
    offered(world, "sell", 50_000, 5_000)
    offered(world, "sell", 51_000, 5_000)
    bought = order(world, "buy", "0.8", type="market")
    assert (bought["status"], bought["timeInForce"], bought["cumQuantity"]) == ("filled", "IOC", "0.8000")
    assert [(each["price"], each["quantity"]) for each in bought["tradesReport"]] == [
        ("0.050000", "0.5000"),
        ("0.051000", "0.3000"),
    ]
    assert "price" not in bought
    partly = order(world, "buy", "0.8", type="market")
    assert (partly["status"], partly["cumQuantity"]) == ("expired", "0.2000")
    nothing = order(world, "buy", "0.8", type="market")
    assert (nothing["status"], nothing["cumQuantity"], "tradesReport" in nothing) == ("expired", "0.0000", False)
    assert order(world, "sell", "0.8", type="market")["status"] == "expired"
    assert trading(world, "BTC")[1] == trading(world, "ETH")[1] == 0


@pytest.mark.parametrize("kind", ["limit", "market"])
def test_fill_or_kill_is_filled_whole_or_expires_untouched(world: World, kind: str) -> None:
    offered(world, "sell", 50_000, 5_000)
    price = {"price": "0.05"} if kind == "limit" else {}
    killed = order(world, "buy", "0.5001", type=kind, timeInForce="FOK", **price)
    assert (killed["status"], killed["cumQuantity"]) == ("expired", "0.0000")
    assert trading(world, "BTC") == (Decimal(100), Decimal(0))
    assert order(world, "buy", "0.5", type=kind, timeInForce="FOK", **price)["status"] == "filled"


def test_what_immediate_or_cancel_leaves_expires(world: World) -> None:
    offered(world, "buy", 50_000, 5_000)
    sold = order(world, "sell", "1", "0.05", timeInForce="IOC")
    assert (sold["status"], sold["cumQuantity"], len(sold["tradesReport"])) == ("expired", "0.5000", 1)
    assert trading(world, "ETH") == (Decimal("999.5"), Decimal(0))
    assert call(world, "get_orders") == []


def test_a_post_only_order_never_takes(world: World, heard: list[Event]) -> None:
    offered(world, "sell", 50_000, 5_000)
    taking = order(world, "buy", "1", "0.05", postOnly=True, clientOrderId="p")
    assert (taking["status"], taking["postOnly"], taking["cumQuantity"]) == ("canceled", True, "0.0000")
    assert reports(heard) == [("p", "new", "new"), ("p", "canceled", "canceled")]
    assert trading(world, "BTC") == (Decimal(100), Decimal(0))
    assert order(world, "buy", "1", "0.049999", postOnly=True)["status"] == "new"
    assert order(world, "buy", "1", type="market", postOnly=True)["status"] == "canceled"


def test_a_day_order_ends_with_the_day(world: World, clock: Ticking, heard: list[Event]) -> None:
    made = order(world, "buy", "1", "0.05", timeInForce="Day", clientOrderId="d")
    assert (made["timeInForce"], "expireTime" in made) == ("Day", False)
    clock.at_ms = NEXT_DAY_MS - 1
    assert call(world, "get_order", clientOrderId="d")["status"] == "new"
    clock.at_ms = NEXT_DAY_MS
    world.run_due()
    assert last(world, "d")["status"] == "expired"
    assert last(world, "d")["updatedAt"] == "2026-11-19T00:00:00.000Z"
    assert reports(heard)[-1] == ("d", "expired", "expired")
    assert trading(world, "BTC") == (Decimal(100), Decimal(0))


def test_a_good_till_date_order_ends_then(world: World, clock: Ticking) -> None:
    made = order(world, "sell", "1", "0.05", timeInForce="GTD", expireTime="2026-11-18T12:00", clientOrderId="g")
    assert made["expireTime"] == "2026-11-18T12:00:00.000Z"
    clock.at_ms += HOUR_MS
    refused(world, "cancel_order", 20002, clientOrderId="g")
    assert (last(world, "g")["status"], last(world, "g")["updatedAt"]) == ("expired", "2026-11-18T12:00:00.000Z")


def test_an_order_that_ended_before_is_left_alone_by_its_date(world: World, clock: Ticking) -> None:
    order(world, "sell", "1", "0.05", timeInForce="Day", clientOrderId="d")
    order(world, "buy", "1", "0.05")
    clock.at_ms = NEXT_DAY_MS
    assert last(world, "d")["status"] == "filled"


# Stops ---------------------------------------------------------------------------------------------------------------


def test_a_stop_limit_waits_reserved_and_then_rests(world: World, heard: list[Event]) -> None:
    made = order(world, "buy", "1", "0.052", type="stopLimit", stopPrice="0.051", clientOrderId="s")
    assert (made["status"], made["stopPrice"], made["price"]) == ("suspended", "0.051000", "0.052000")
    reserved = Decimal("0.052") * Decimal("1.0025") + 10_000 * Decimal("1E-12")
    assert trading(world, "BTC")[1] == reserved
    assert world.exchange.pair("ETHBTC").book.best("buy") is None
    traded_at(world, 50_999)
    assert call(world, "get_order", clientOrderId="s")["status"] == "suspended"
    traded_at(world, 51_000)
    assert call(world, "get_order", clientOrderId="s")["status"] == "new"
    assert world.exchange.pair("ETHBTC").book.best("buy") == 52_000
    assert trading(world, "BTC")[1] == reserved
    assert reports(heard) == [("s", "suspended", "suspended"), ("s", "new", "new")]


def traded_at(world: World, ticks: int) -> None:
    """A trade between two simulated traders."""
    offered(world, "sell", ticks, 1)
    offered(world, "buy", ticks, 1)


def test_a_sell_stop_wakes_at_or_below_its_price(world: World) -> None:
    order(world, "sell", "1", type="stopMarket", stopPrice="0.049", clientOrderId="s")
    assert trading(world, "ETH") == (Decimal(999), Decimal(1))
    traded_at(world, 49_001)
    assert call(world, "get_order", clientOrderId="s")["status"] == "suspended"
    offered(world, "buy", 48_000, 4_000)
    traded_at(world, 49_000)
    found = last(world, "s")
    assert (found["status"], found["cumQuantity"], found["avgPrice"]) == ("expired", "0.4000", "0.048000")
    assert trading(world, "ETH") == (Decimal("999.6"), Decimal(0))


def test_a_purchase_at_the_market_reserves_a_tenth_above_its_stop_price(world: World) -> None:
    order(world, "buy", "1", type="stopMarket", stopPrice="0.05", clientOrderId="s")
    assert trading(world, "BTC")[1] == Decimal("0.055") * Decimal("1.0025") + 10_000 * Decimal("1E-12")
    offered(world, "sell", 50_500, 20_000)
    traded_at(world, 50_000)
    assert last(world, "s")["status"] == "filled"
    assert trading(world, "BTC") == (100 - Decimal("0.0505") * Decimal("1.0025"), Decimal(0))


def test_a_woken_purchase_that_can_not_be_paid_for_expires(world: World) -> None:
    call(world, "transfer_funds", OTHER, currency="BTC", amount="4.94", type="exchangeToBank")
    order(world, "buy", "1", None, OTHER, type="stopMarket", stopPrice="0.05", clientOrderId="s")
    offered(world, "sell", 90_000, 10_000)
    traded_at(world, 50_000)
    assert call(world, "get_order_history", OTHER, clientOrderId="s")[0]["status"] == "expired"
    assert trading(world, "BTC", OTHER) == (Decimal("0.06"), Decimal(0))


def test_one_stop_wakes_the_next(world: World) -> None:
    offered(world, "sell", 50_000, 10_000)
    offered(world, "sell", 51_000, 10_000)
    offered(world, "sell", 52_000, 10_000)
    order(world, "buy", "1", type="stopMarket", stopPrice="0.051", clientOrderId="second")
    order(world, "buy", "1", type="stopMarket", stopPrice="0.05", clientOrderId="first")
    waiting = order(world, "buy", "1", type="stopMarket", stopPrice="0.053", clientOrderId="third")
    order(world, "buy", "1", "0.05")
    assert last(world, "first")["avgPrice"] == "0.051000"
    assert last(world, "second")["avgPrice"] == "0.052000"
    assert call(world, "get_orders") == [waiting]


def test_a_waiting_stop_can_be_cancelled_and_sleeps_on(world: World) -> None:
    order(world, "buy", "1", "0.052", type="stopLimit", stopPrice="0.051", clientOrderId="s")
    cancelled = call(world, "cancel_order", clientOrderId="s")
    assert cancelled["status"] == "canceled"
    traded_at(world, 60_000)
    assert last(world, "s")["status"] == "canceled"
    assert trading(world, "BTC") == (Decimal(100), Decimal(0))


# Cancelling ----------------------------------------------------------------------------------------------------------


def test_a_cancelled_order_frees_what_is_left_of_it(world: World, heard: list[Event]) -> None:
    order(world, "sell", "2", "0.05", clientOrderId="a")
    offered(world, "buy", 50_000, 5_000)
    cancelled = call(world, "cancel_order", clientOrderId="a")
    assert (cancelled["status"], cancelled["quantity"], cancelled["cumQuantity"]) == ("canceled", "2.0000", "0.5000")
    assert trading(world, "ETH") == (Decimal("999.5"), Decimal(0))
    assert reports(heard)[1:] == [("a", "trade", "partiallyFilled"), ("a", "canceled", "canceled")]
    refused(world, "cancel_order", 20002, clientOrderId="a")
    refused(world, "get_order", 20002, clientOrderId="a")


def test_only_ones_own_orders_are_found(world: World) -> None:
    order(world, "sell", "2", "0.05", clientOrderId="a")
    for operation in ("get_order", "cancel_order"):
        refused(world, operation, 20002, OTHER, clientOrderId="a")
    refused(world, "replace_order", 20002, OTHER, clientOrderId="a", quantity="1", requestClientId="b")
    assert call(world, "cancel_orders", OTHER) == []
    assert order(world, "sell", "2", "0.06", OTHER, clientOrderId="a")["status"] == "new"


def test_all_orders_are_cancelled_or_those_of_one_symbol(world: World) -> None:
    first = order(world, "sell", "1", "0.05")
    order(world, "buy", "10", "0.001", symbol="EOSETH")
    third = order(world, "sell", "1", "0.052", type="stopLimit", stopPrice="0.05")
    assert [each["id"] for each in call(world, "get_orders", symbol="ethbtc")] == [first["id"], third["id"]]
    cancelled = call(world, "cancel_orders", symbol="ethbtc")
    assert [(each["id"], each["status"]) for each in cancelled] == [
        (first["id"], "canceled"),
        (third["id"], "canceled"),
    ]
    assert [each["symbol"] for each in call(world, "cancel_orders")] == ["EOSETH"]
    assert call(world, "cancel_orders") == []
    assert trading(world, "ETH") == (Decimal(1000), Decimal(0))
    refused(world, "cancel_orders", 2001, symbol="NONE")
    refused(world, "get_orders", 2001, symbol="NONE")


# Replacing -----------------------------------------------------------------------------------------------------------


def replaced(world: World, client_id: str, new_id: str, quantity: str, price: str | None = None) -> Any:
    """The answer to a cancel-replace."""
    arguments = {} if price is None else {"price": price}
    return call(world, "replace_order", clientOrderId=client_id, requestClientId=new_id, quantity=quantity, **arguments)


def test_a_replacement_inherits_what_was_filled_and_when_it_began(
    world: World, clock: Ticking, heard: list[Event]
) -> None:
    old = order(world, "sell", "2", "0.05", clientOrderId="a", timeInForce="Day", postOnly=True)
    offered(world, "buy", 50_000, 5_000)
    clock.at_ms += 1_000
    new = replaced(world, "a", "b", "3", "0.051")
    assert new | {"id": 0} == old | {
        "id": 0,
        "clientOrderId": "b",
        "quantity": "3.0000",
        "price": "0.051000",
        "cumQuantity": "0.5000",
        "updatedAt": "2026-11-18T11:06:41.000Z",
    }
    assert new["id"] > old["id"]
    assert reports(heard)[-1] == ("b", "replaced", "new")
    payload: Any = heard[-1].payload
    assert payload["originalRequestClientOrderId"] == "a"
    assert trading(world, "ETH") == (Decimal(997), Decimal("2.5"))
    assert call(world, "get_orders") == [new]
    assert (last(world, "a")["status"], last(world, "a")["cumQuantity"]) == ("canceled", "0.5000")
    refused(world, "replace_order", 20002, clientOrderId="a", quantity="1", requestClientId="c")
    offered(world, "buy", 51_000, 25_000)
    assert (last(world, "b")["status"], last(world, "b")["avgPrice"]) == ("filled", "0.050833333333")


def test_a_replacement_may_trade_at_once(world: World) -> None:
    offered(world, "sell", 50_000, 5_000)
    order(world, "buy", "1", "0.049", clientOrderId="a")
    new = replaced(world, "a", "b", "1", "0.05")
    assert (new["status"], len(new["tradesReport"])) == ("partiallyFilled", 1)


def test_a_replacement_loses_its_place(world: World) -> None:
    order(world, "sell", "1", "0.05", clientOrderId="a")
    order(world, "sell", "1", "0.05", clientOrderId="b")
    replaced(world, "a", "c", "0.9")
    offered(world, "buy", 50_000, 10_000)
    assert [each["clientOrderId"] for each in call(world, "get_orders")] == ["c"]


def test_a_replacement_without_a_price_keeps_the_old_one(world: World) -> None:
    order(world, "sell", "1", "0.05", clientOrderId="a")
    assert replaced(world, "a", "b", "2")["price"] == "0.050000"


def test_a_replacement_that_can_not_be_paid_for_is_answered_by_the_cancelled_original(
    world: World, heard: list[Event]
) -> None:
    order(world, "buy", "1", "0.05", clientOrderId="a")
    answer = replaced(world, "a", "b", "1000000", "0.05")
    assert (answer["clientOrderId"], answer["status"]) == ("a", "canceled")
    assert reports(heard)[-1] == ("a", "canceled", "canceled")
    assert call(world, "get_orders") == call(world, "get_order_history", clientOrderId="b") == []
    assert trading(world, "BTC") == (Decimal(100), Decimal(0))


def test_nothing_left_to_fill_ends_the_original(world: World) -> None:
    order(world, "sell", "2", "0.05", clientOrderId="a")
    offered(world, "buy", 50_000, 5_000)
    answer = replaced(world, "a", "b", "0.5")
    assert (answer["clientOrderId"], answer["status"], answer["cumQuantity"]) == ("a", "canceled", "0.5000")
    assert trading(world, "ETH") == (Decimal("999.5"), Decimal(0))


def test_a_waiting_stop_stays_one_when_it_is_replaced(world: World) -> None:
    order(world, "buy", "1", "0.052", type="stopLimit", stopPrice="0.051", clientOrderId="a")
    new = replaced(world, "a", "b", "2", "0.053")
    assert (new["status"], new["stopPrice"], new["price"]) == ("suspended", "0.051000", "0.053000")
    traded_at(world, 51_000)
    assert call(world, "get_order", clientOrderId="b")["status"] == "new"
    woken = replaced(world, "b", "c", "1")
    assert woken["status"] == "new"
    assert world.exchange.pair("ETHBTC").book.levels("buy") == [(53_000, 10_000)]


def test_a_stop_at_the_market_takes_no_price_when_it_is_replaced(world: World) -> None:
    order(world, "sell", "1", type="stopMarket", stopPrice="0.05", clientOrderId="a")
    refused(world, "replace_order", 20009, clientOrderId="a", quantity="1", price="9", requestClientId="b")
    assert "price" not in replaced(world, "a", "b", "2", "9")


def test_a_replacement_must_change_something_and_have_a_fresh_id(world: World) -> None:
    order(world, "sell", "1", "0.05", clientOrderId="a")
    order(world, "sell", "1", "0.06", clientOrderId="b")
    arguments = {"clientOrderId": "a", "quantity": "1", "requestClientId": "c"}
    refused(world, "replace_order", 20009, **arguments)
    refused(world, "replace_order", 20009, **(arguments | {"price": "0.0500004"}))
    for taken in ("a", "b"):
        refusal = refused(world, "replace_order", 20008, **(arguments | {"quantity": "2", "requestClientId": taken}))
        assert refusal.description == "ClientOrderId must be unique during trading session"
    refused(world, "replace_order", 2022, **(arguments | {"price": "0.0500004", "strictValidate": True}))


# Ids -----------------------------------------------------------------------------------------------------------------


def test_an_id_is_used_once_a_day_and_never_while_its_order_is_active(world: World, clock: Ticking) -> None:
    order(world, "sell", "1", "0.05", clientOrderId="kept")
    order(world, "sell", "1", "0.05", clientOrderId="ended")
    call(world, "cancel_order", clientOrderId="ended")
    arguments = {"symbol": "EOSETH", "side": "buy", "quantity": "1", "price": "0.001"}
    for operation in ("create_order", "put_order"):
        for taken in ("kept", "ended"):
            refusal = refused(world, operation, 20008, clientOrderId=taken, **arguments)
            assert refusal.description == "ClientOrderId must be unique during trading session"
    clock.at_ms = NEXT_DAY_MS
    refused(world, "create_order", 20008, clientOrderId="kept", **arguments)
    assert call(world, "put_order", clientOrderId="ended", **arguments)["clientOrderId"] == "ended"


def test_the_exchange_makes_an_id_when_there_is_none(world: World) -> None:
    made = [order(world, "sell", "1", "0.05")["clientOrderId"] for _ in range(5)]
    assert len(set(made)) == 5
    assert all(len(each) == 32 and int(each, 16) >= 0 for each in made)


# What is told --------------------------------------------------------------------------------------------------------


def test_reports_come_before_the_answer_and_tell_each_trade(world: World) -> None:
    seen: list[Any] = []
    world.listen(lambda event: seen.append(event.payload) if event.kind in ("report", "trade") else None)
    order(world, "sell", "1", "0.05", clientOrderId="maker")
    seen.append(order(world, "buy", "0.25", "0.05", OTHER, clientOrderId="taker"))
    maker_new, taker_new, taker_trade, maker_trade, public, answer = seen
    assert maker_new == {
        "id": "340000000001",
        "clientOrderId": "maker",
        "symbol": "ETHBTC",
        "side": "sell",
        "status": "new",
        "type": "limit",
        "timeInForce": "GTC",
        "quantity": "1.0000",
        "price": "0.050000",
        "cumQuantity": "0.0000",
        "postOnly": False,
        "createdAt": "2026-11-18T11:06:40.000Z",
        "updatedAt": "2026-11-18T11:06:40.000Z",
        "reportType": "new",
    }
    assert (taker_new["clientOrderId"], taker_new["reportType"]) == ("taker", "new")
    assert taker_trade["tradeFee"] == "0.00003125"
    assert maker_trade | {"updatedAt": ""} == maker_new | {
        "status": "partiallyFilled",
        "cumQuantity": "0.2500",
        "updatedAt": "",
        "reportType": "trade",
        "tradeId": 1_795_000_000_000_000,
        "tradeQuantity": "0.2500",
        "tradePrice": "0.050000",
        "tradeFee": "0.0000125",
    }
    assert public == {
        "id": 1_795_000_000_000_000,
        "price": "0.050000",
        "quantity": "0.2500",
        "side": "buy",
        "timestamp": "2026-11-18T11:06:40.000Z",
        "symbol": "ETHBTC",
    }
    assert answer["status"] == "filled"


def test_each_report_tells_the_order_as_it_was_then(world: World, heard: list[Event]) -> None:
    for price in (50_000, 51_000):
        offered(world, "sell", price, 5_000)
    order(world, "buy", "2", "0.051", clientOrderId="a", timeInForce="IOC")
    payloads: list[Any] = [event.payload for event in heard if event.kind == "report"]
    assert [(each["reportType"], each["status"], each["cumQuantity"]) for each in payloads] == [
        ("new", "new", "0.0000"),
        ("trade", "partiallyFilled", "0.5000"),
        ("trade", "partiallyFilled", "1.0000"),
        ("expired", "expired", "1.0000"),
    ]


def test_an_account_hears_only_of_its_own_orders(world: World, heard: list[Event]) -> None:
    order(world, "sell", "1", "0.05")
    order(world, "buy", "1", "0.05", OTHER)
    assert {event.account for event in heard if event.kind == "report"} == {"desk@demo.test", "other@demo.test"}
    mine: list[Any] = [event.payload for event in heard if event.account == "desk@demo.test"]
    assert {each["side"] for each in mine} == {"sell"}
