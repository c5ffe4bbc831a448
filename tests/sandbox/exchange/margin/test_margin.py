"""Margin accounts, orders and positions: money set aside, positions opened and closed, and everything refused."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from exchange_ops.wire import catalogue
from sandbox.exchange.handlers import CHANGING
from sandbox.world.world import Caller, Event, World
from tests.sandbox.margins import PRICE, account, funded, is_sound, kept, margin_order, refused, traded
from tests.sandbox.trading import offered, trading
from tests.sandbox.worlds import DESK, OTHER, call, opened, picture
from wire.records import decode

FUNDS = "Check that the funds are sufficient, given commissions"
SUB = Caller("sub-full", "desk+1@demo.test")


@pytest.fixture
def world() -> World:
    return opened(still=True)


def amounts(record: dict[str, Any]) -> tuple[Decimal, Decimal, Decimal]:
    """Balance, what orders need, what the position needs."""
    return tuple(Decimal(record[f"marginBalance{each}"]) for each in ("", "Orders", "Required"))  # type: ignore[return-value]


def test_every_margin_operation_answers_with_its_record(world: World) -> None:
    calls: dict[str, dict[str, object]] = {
        "set_margin_account": {"symbol": "ETHBTC", "marginBalance": "1"},
        "create_margin_order": {"symbol": "ETHBTC", "side": "buy", "quantity": "1", "price": "0.05"},
        "put_margin_order": {
            "clientOrderId": "mine", "symbol": "ETHBTC", "side": "buy", "quantity": "1", "price": "0.04",
            "timeInForce": "GTC",
        },
        "get_margin_orders": {},
        "get_margin_order": {"clientOrderId": "mine"},
        "cancel_margin_order": {"clientOrderId": "mine"},
        "cancel_margin_orders": {},
        "get_margin_accounts": {},
        "get_margin_account": {"symbol": "ETHBTC"},
        "get_margin_positions": {},
        "get_margin_position": {"symbol": "ETHBTC"},
        "close_margin_position": {"symbol": "ETHBTC"},
        "close_margin_positions": {},
        "close_margin_account": {"symbol": "ETHBTC"},
        "close_margin_accounts": {},
    }  # fmt: skip
    groups = (catalogue.MARGIN, catalogue.MARGIN_ORDERS)
    assert set(calls) == {each.name for each in catalogue.OPERATIONS if each.group in groups}
    for operation, arguments in calls.items():
        if operation == "create_margin_order":
            offered(world, "sell", PRICE, 10_000)
        if operation == "close_margin_position":
            offered(world, "buy", PRICE, 10_000)
        answer = json.dumps(call(world, operation, **arguments)).encode()
        result: Any = catalogue.by_name[operation].result
        assert decode(answer, result) is not None, operation
        assert (operation in CHANGING) is not operation.startswith("get_")
    assert is_sound(world)


# Accounts ------------------------------------------------------------------------------------------------------------


def test_an_account_takes_its_balance_from_the_trading_account(world: World) -> None:
    made = funded(world, "2.5")
    assert made["leverage"] == "10.00"
    assert amounts(made) == (Decimal("2.5"), 0, 0)
    assert "position" not in made
    assert trading(world, "BTC") == (Decimal("97.5"), 0)
    assert amounts(funded(world, "0.5"))[0] == Decimal("0.5")
    assert trading(world, "BTC") == (Decimal("99.5"), 0)
    closed = funded(world, "0")
    assert amounts(closed) == (0, 0, 0)
    assert trading(world, "BTC") == (Decimal(100), 0)
    assert call(world, "get_margin_accounts") == []
    assert is_sound(world)


def test_accounts_are_isolated_from_each_other_and_from_other_people(world: World) -> None:
    funded(world, "1")
    funded(world, "2", "LTCBTC")
    funded(world, "3", "ETHBTC", OTHER)
    assert [(each["symbol"], each["marginBalance"]) for each in call(world, "get_margin_accounts")] == [
        ("ETHBTC", "1"),
        ("LTCBTC", "2"),
    ]
    funded(world, "0")
    assert account(world, "LTCBTC")["marginBalance"] == "2"
    assert account(world, "ETHBTC", OTHER)["marginBalance"] == "3"
    assert is_sound(world)


def test_digits_beyond_the_currency_are_rounded_or_refused(world: World) -> None:
    refused(world, "set_margin_account", 10001, symbol="ETHUSD", marginBalance="0." + "1" * 20, strictValidate=True)
    made = funded(world, "1.9" + "1" * 22, "ETHUSD")
    digits = world.exchange.currencies["USD"].digits
    assert len(made["marginBalance"].partition(".")[2]) == digits


@pytest.mark.parametrize(
    ("code", "arguments"),
    [
        (10001, {"marginBalance": None}),
        (10001, {"marginBalance": ""}),
        (10001, {"marginBalance": "-1"}),
        (10001, {"marginBalance": "NaN"}),
        (10001, {"marginBalance": "1e3"}),
        (10001, {"marginBalance": "٣"}),
        (10001, {"marginBalance": "1" * 30}),
        (10001, {"marginBalance": "1; DROP TABLE accounts"}),
        (10001, {"marginBalance": ["1"]}),
        (10001, {"strictValidate": "perhaps"}),
        (10001, {"symbol": None}),
        (2001, {"symbol": "NOSUCH"}),
        (20040, {"symbol": "ETHEUR"}),
        (20032, {"marginBalance": "0"}),
        (20001, {"marginBalance": "100.000001"}),
    ],
)
def test_odd_balances_are_refused(world: World, code: int, arguments: dict[str, object]) -> None:
    refused(world, "set_margin_account", code, **({"symbol": "ETHBTC", "marginBalance": "1"} | arguments))


def test_the_present_balance_is_no_change(world: World) -> None:
    funded(world, "1")
    refused(world, "set_margin_account", 20033, symbol="ETHBTC", marginBalance="1.000")


def test_a_balance_can_not_go_below_what_is_needed(world: World) -> None:
    funded(world, "1")
    traded(world, "buy", 10)
    refusal = refused(world, "set_margin_account", 20001, symbol="ETHBTC", marginBalance="0.051374")
    assert refusal.description == FUNDS
    refused(world, "set_margin_account", 20001, symbol="ETHBTC", marginBalance="0")
    assert amounts(funded(world, "0.051375")) == (Decimal("0.051375"), 0, Decimal("0.051375"))
    assert is_sound(world)


def test_a_loss_binds_the_balance_too(world: World) -> None:
    funded(world, "1")
    traded(world, "buy", 10)
    offered(world, "buy", PRICE - 2_000, 1)
    offered(world, "sell", PRICE - 2_000, 1)  # a trade: the mark is 0.048, the loss 0.02
    assert account(world)["position"]["pnl"] == "-0.02"
    refused(world, "set_margin_account", 20001, symbol="ETHBTC", marginBalance="0.071374")
    assert amounts(funded(world, "0.071375"))[0] == Decimal("0.071375")


@pytest.mark.parametrize(
    "operation",
    ["get_margin_account", "get_margin_position", "close_margin_account", "close_margin_position"],
)
def test_what_is_not_there_is_not_found(world: World, operation: str) -> None:
    refused(world, operation, 20032, symbol="ETHBTC")
    refused(world, operation, 2001, symbol="NOSUCH")
    refused(world, operation, 10001, symbol="")
    refused(world, operation, 1001, None, symbol="ETHBTC")
    if "position" in operation:
        funded(world)
        refused(world, operation, 20032, symbol="ETHBTC")


# Orders --------------------------------------------------------------------------------------------------------------


def test_an_order_sets_its_margin_aside_until_it_ends(world: World) -> None:
    funded(world, "1")
    made = margin_order(world, "buy", "10", "0.04", clientOrderId="a")
    assert (made["status"], made["clientOrderId"]) == ("new", "a")
    assert amounts(account(world)) == (1, Decimal("0.4") * Decimal("0.10525"), 0)
    assert trading(world, "BTC") == (99, 0)  # nothing more is taken from there
    assert call(world, "get_margin_orders") == [made]
    assert call(world, "get_margin_orders", symbol="LTCBTC") == []
    assert call(world, "get_margin_order", clientOrderId="a") == made
    assert call(world, "get_orders") == []
    cancelled = call(world, "cancel_margin_order", clientOrderId="a")
    assert cancelled["status"] == "canceled"
    assert amounts(account(world)) == (1, 0, 0)
    refused(world, "cancel_margin_order", 20002, clientOrderId="a")


def test_all_margin_orders_are_cancelled_and_spot_orders_are_not(world: World) -> None:
    funded(world)
    spot = call(world, "create_order", symbol="ETHBTC", side="buy", quantity="1", price="0.04")
    first = margin_order(world, "buy", "1", "0.04")
    second = margin_order(world, "sell", "1", "0.09")
    assert call(world, "cancel_margin_orders", symbol="LTCBTC") == []
    refused(world, "cancel_margin_order", 20002, clientOrderId=spot["clientOrderId"])
    refused(world, "cancel_order", 20002, clientOrderId=first["clientOrderId"])
    refused(world, "get_margin_order", 20002, clientOrderId=spot["clientOrderId"])
    cancelled = call(world, "cancel_margin_orders")
    assert [each["id"] for each in cancelled] == [first["id"], second["id"]]
    assert [each["id"] for each in call(world, "get_orders")] == [spot["id"]]


def test_an_order_needs_an_account_of_its_symbol(world: World) -> None:
    funded(world, "1", "LTCBTC")
    wanted = {"symbol": "ETHBTC", "side": "buy", "quantity": "1", "price": "0.04"}
    refused(world, "create_margin_order", 20032, **wanted)
    refused(world, "put_margin_order", 20032, clientOrderId="x", **wanted)
    refused(world, "create_margin_order", 20040, **(wanted | {"symbol": "ETHEUR"}))


@pytest.mark.parametrize(
    ("code", "odd"),
    [
        (2010, {"quantity": None}),
        (2010, {"quantity": "-1"}),
        (2011, {"quantity": "0"}),
        (2011, {"quantity": "0.00001"}),
        (2012, {"quantity": "1.00001", "strictValidate": True}),
        (2020, {"price": None}),
        (2020, {"price": "0"}),
        (2021, {"price": "0.0000001"}),
        (2022, {"price": "0.0400001", "strictValidate": True}),
        (2022, {"type": "stopLimit", "stopPrice": "0"}),
        (10001, {"type": "stopLimit"}),
        (10001, {"type": "iceberg"}),
        (10001, {"side": None}),
        (10001, {"side": "BUY "}),
        (10001, {"timeInForce": "GTD"}),
        (10001, {"clientOrderId": "x" * 33}),
        (2001, {"symbol": "ETHXXX"}),
        (20001, {"quantity": "300"}),
        (20008, {"clientOrderId": "taken"}),
    ],
)
def test_odd_orders_are_refused(world: World, code: int, odd: dict[str, object]) -> None:
    funded(world)
    margin_order(world, "buy", "1", "0.03", clientOrderId="taken")
    wanted: dict[str, object] = {"symbol": "ETHBTC", "side": "buy", "quantity": "1", "price": "0.04"}
    refused(world, "create_margin_order", code, **(wanted | odd))


def test_orders_together_need_no_more_than_the_balance(world: World) -> None:
    funded(world, "0.0421")  # exactly one of 0.4 BTC
    margin_order(world, "buy", "10", "0.04")
    refused(world, "create_margin_order", 20001, symbol="ETHBTC", side="buy", quantity="0.0001", price="0.04")
    refused(world, "create_margin_order", 20001, symbol="ETHBTC", side="sell", quantity="0.0001", price="0.06")


def test_a_low_limit_does_not_sell_on_too_little_margin(world: World) -> None:
    funded(world, "0.04")
    offered(world, "buy", PRICE, 1_000_000)
    refused(world, "create_margin_order", 20001, symbol="ETHBTC", side="sell", quantity="10", price="0.000001")
    refused(world, "create_margin_order", 20001, symbol="ETHBTC", side="sell", quantity="10", type="market")
    refused(
        world, "create_margin_order", 20001,
        symbol="ETHBTC", side="sell", quantity="10", type="stopLimit", price="0.000001", stopPrice="0.05",
    )  # fmt: skip
    assert margin_order(world, "sell", "7", "0.000001")["status"] == "filled"
    assert is_sound(world)


# Positions -----------------------------------------------------------------------------------------------------------


def test_a_trade_opens_a_position_and_costs_its_fee(world: World) -> None:
    funded(world, "1")
    offered(world, "sell", PRICE, 100_000)
    made = margin_order(world, "buy", "10", "0.05")
    assert [trade["fee"] for trade in made["tradesReport"]] == ["0.00125"]
    record = account(world)
    assert amounts(record) == (Decimal("0.99875"), 0, Decimal("0.051375"))
    position = record["position"]
    assert call(world, "get_margin_positions") == [position]
    assert call(world, "get_margin_position", symbol="ethbtc") == position
    assert (position["quantity"], position["priceEntry"], position["pnl"]) == ("10.0000", "0.050000", "0")
    # More balance than the position cost: it can't be liquidated.
    assert (position["priceMarginCall"], position["priceLiquidation"]) == ("0.000000", "0.000000")
    funded(world, "0.1")
    position = account(world)["position"]
    assert position["priceLiquidation"] == "0.042216"  # (0.5 - 0.1) / (10 x 0.9475)
    assert position["priceMarginCall"] == "0.043755"
    trade = call(world, "get_trade_history", margin="only")[0]
    assert (trade["liquidation"], trade["side"]) == (False, "buy")
    assert call(world, "get_trade_history", margin="ignore") == []
    assert is_sound(world)


def test_closing_a_part_brings_its_gain_and_the_rest_stays(world: World) -> None:
    funded(world, "1")
    traded(world, "buy", 10)
    traded(world, "sell", 4, PRICE + 1_000)
    record = account(world)
    # 1 - 0.00125 + 4 x 0.001 - 0.204 x 0.0025
    assert amounts(record)[0] == Decimal("1.00224")
    assert (record["position"]["quantity"], record["position"]["pnl"]) == ("6.0000", "0.006")
    traded(world, "sell", 8, PRICE + 1_000)
    flipped = account(world)["position"]
    assert (flipped["quantity"], flipped["priceEntry"]) == ("-2.0000", "0.051000")
    assert flipped["id"] != record["position"]["id"]
    assert Decimal(flipped["priceLiquidation"]) > Decimal(flipped["priceMarginCall"]) > Decimal("0.051")
    assert is_sound(world)


def test_an_order_that_reduces_needs_no_margin(world: World) -> None:
    funded(world, "0.055")
    traded(world, "buy", 10)
    margin_order(world, "sell", "10", "0.06")
    assert amounts(account(world))[1] == 0
    refused(world, "create_margin_order", 20001, symbol="ETHBTC", side="sell", quantity="5", price="0.06")
    call(world, "cancel_margin_orders")
    funded(world, "0.2")
    margin_order(world, "sell", "12", "0.06")
    assert amounts(account(world))[1] == Decimal("0.12") * Decimal("0.10525")


def test_a_loss_beyond_the_balance_is_the_exchanges(world: World) -> None:
    funded(world, "0.055")
    traded(world, "buy", 10)
    offered(world, "buy", 30_000, 100_000)
    call(world, "close_margin_position", symbol="ETHBTC")
    assert amounts(account(world)) == (0, 0, 0)
    assert is_sound(world)
    assert world.ledger()["balanced"] is True


def test_past_the_margin_call_a_position_may_only_be_reduced(world: World) -> None:
    funded(world, "0.06")
    traded(world, "buy", 10)
    offered(world, "buy", 48_000, 1)
    offered(world, "sell", 48_000, 1)
    assert Decimal(account(world)["position"]["priceMarginCall"]) >= Decimal("0.048")
    refused(world, "create_margin_order", 20034, symbol="ETHBTC", side="buy", quantity="0.0001", price="0.04")
    assert margin_order(world, "sell", "10", "0.06")["status"] == "new"
    funded(world, "1")
    assert margin_order(world, "buy", "1", "0.04")["status"] == "new"


def test_a_position_is_closed_at_the_market_without_its_orders(world: World) -> None:
    funded(world, "1")
    traded(world, "sell", 10)
    margin_order(world, "buy", "1", "0.01")
    margin_order(world, "sell", "1", "0.09")
    offered(world, "sell", PRICE + 10, 60_000)
    offered(world, "sell", PRICE + 20, 60_000)
    before = account(world)["position"]
    assert call(world, "close_margin_position", symbol="ETHBTC") == [before]
    assert call(world, "get_margin_positions") == []
    assert call(world, "get_margin_orders") == []
    assert amounts(account(world))[1:] == (0, 0)
    # 1 - fees of 0.5 in and 0.50014 out - what the price rose: 6 x 0.00001 + 4 x 0.00002
    assert amounts(account(world))[0] == Decimal(1) - Decimal("0.00125") - Decimal("0.00125035") - Decimal("0.00014")
    assert is_sound(world)


def test_what_the_book_does_not_hold_is_not_closed(world: World) -> None:
    funded(world, "1")
    traded(world, "sell", 10)
    margin_order(world, "buy", "1", "0.01")
    offered(world, "sell", PRICE, 99_999)
    margin_order(world, "sell", "1", "0.06")  # one's own margin orders are no takers
    for operation in ("close_margin_position", "close_margin_account"):
        refused(world, operation, 20010, symbol="ETHBTC")
    refused(world, "close_margin_positions", 20010)
    refused(world, "close_margin_accounts", 20010)
    offered(world, "sell", PRICE, 1)
    assert len(call(world, "close_margin_positions")) == 1


def test_one_position_that_can_not_be_closed_keeps_all_of_them(world: World) -> None:
    funded(world, "1")
    funded(world, "1", "LTCBTC")
    traded(world, "sell", 1)
    offered(world, "buy", 10_000, 1_000, "LTCBTC")
    margin_order(world, "sell", "1", "0.001", symbol="LTCBTC")
    offered(world, "sell", PRICE, 10_000)
    refused(world, "close_margin_accounts", 20010)
    offered(world, "sell", 10_000, 1_000, "LTCBTC")
    closed = call(world, "close_margin_accounts")
    assert [each["symbol"] for each in closed] == ["ETHBTC", "LTCBTC"]
    assert all("position" not in each for each in closed)
    assert call(world, "get_margin_accounts") == []
    assert is_sound(world)


def test_a_position_is_closed_at_a_limit(world: World) -> None:
    funded(world, "1")
    traded(world, "buy", 10)
    assert call(world, "close_margin_position", symbol="ETHBTC", price="0.06") == []
    (resting,) = call(world, "get_margin_orders")
    assert (resting["side"], resting["quantity"], resting["price"]) == ("sell", "10.0000", "0.060000")
    offered(world, "buy", PRICE, 100_000)
    closed = call(world, "close_margin_position", symbol="ETHBTC", price="0.05")
    assert [each["quantity"] for each in closed] == ["10.0000"]
    assert call(world, "get_margin_orders") == []
    assert is_sound(world)


@pytest.mark.parametrize(
    ("code", "odd"),
    [
        (2020, {"price": "x"}),
        (2020, {"price": "0"}),
        (2020, {"price": "-1"}),
        (2021, {"price": "0.0000001"}),
        (2022, {"price": "0.0500001", "strictValidate": True}),
        (10001, {"price": "0.05", "strictValidate": "odd"}),
    ],
)
def test_odd_limits_are_refused(world: World, code: int, odd: dict[str, object]) -> None:
    funded(world)
    traded(world, "buy", 1)
    refused(world, "close_margin_position", code, symbol="ETHBTC", **odd)


def test_two_margin_accounts_trade_with_each_other(world: World) -> None:
    funded(world, "1")
    funded(world, "1", "ETHBTC", OTHER)
    margin_order(world, "sell", "3", "0.05")
    margin_order(world, "buy", "3", "0.05", OTHER)
    assert account(world)["position"]["quantity"] == "-3.0000"
    assert account(world, "ETHBTC", OTHER)["position"]["quantity"] == "3.0000"
    assert is_sound(world)


def test_an_account_that_trades_with_itself_is_where_it_was(world: World) -> None:
    funded(world, "1")
    margin_order(world, "sell", "3", "0.05")
    margin_order(world, "buy", "3", "0.05")
    assert "position" not in account(world)
    assert amounts(account(world))[0] == Decimal(1) - Decimal("0.15") * Decimal("0.0035")
    assert is_sound(world)


# News ----------------------------------------------------------------------------------------------------------------


def news(world: World, heard: list[Event]) -> list[tuple[str, str]]:
    """Kind and report type, or reason, of the margin news since the last call."""
    frames = [event.payload for event in heard if event.kind in {"marginReport", "marginAccount"}]
    heard.clear()
    return [
        (str(each["reportType"]), str(each.get("reportReason", "order"))) for each in frames if isinstance(each, dict)
    ]


def test_listeners_hear_of_accounts_behind_their_orders(world: World) -> None:
    heard: list[Event] = []
    world.listen(heard.append)
    funded(world, "1")
    assert news(world, heard) == [("created", "created")]
    funded(world, "2")
    assert news(world, heard) == [("updated", "marginChanged")]
    margin_order(world, "buy", "1", "0.04", clientOrderId="a")
    assert news(world, heard) == [("new", "order"), ("updated", "updated")]
    call(world, "cancel_margin_order", clientOrderId="a")
    assert news(world, heard) == [("canceled", "order"), ("updated", "updated")]
    traded(world, "buy", 2)
    assert news(world, heard)[1:3] == [("trade", "order"), ("updated", "openTrade")]
    traded(world, "sell", 1)
    assert ("updated", "closeTrade") in news(world, heard)
    traded(world, "sell", 2)
    assert ("updated", "flipTrade") in news(world, heard)
    traded(world, "buy", 1)
    assert ("closed", "closed") in news(world, heard)
    margin_order(world, "buy", "1", "0.04")
    heard.clear()
    funded(world, "0")
    assert news(world, heard) == [("canceled", "order"), ("closed", "closed")]
    funded(world, "1")
    assert news(world, heard) == [("created", "reopened")]


def test_trades_tell_their_position(world: World) -> None:
    heard: list[Event] = []
    funded(world)
    world.listen(heard.append)
    traded(world, "buy", 1)
    trades = [event.payload for event in heard if event.kind == "marginReport"]
    position = account(world)["position"]
    facts = trades[-1]
    assert isinstance(facts, dict)
    assert (facts["reportType"], facts["tradePositionId"]) == ("trade", position["id"])
    accounts = [event for event in heard if event.kind == "marginAccount"]
    assert {event.account for event in accounts} == {DESK.account}
    assert isinstance(accounts[0].payload, dict)
    assert accounts[0].payload["position"]["id"] == position["id"]


# Sub-accounts and the journal ----------------------------------------------------------------------------------------


def test_freezing_frees_the_margin_that_no_position_needs(world: World) -> None:
    funded(world, "0.25", "LTCBTC", SUB)
    funded(world, "0.5", "ETHBTC", SUB)
    traded(world, "buy", 1, caller=SUB)
    margin_order(world, "buy", "1", "0.03", SUB)
    call(world, "freeze_subaccounts", ids=[7001])
    (left,) = world.exchange.margins.accounts(SUB.account)
    assert (left.pair.symbol.id, left.quantity) == ("ETHBTC", 10_000)
    assert world.exchange.orders.active == {}
    main = call(world, "get_subaccount_balances", id=7001)["result"]["main"]
    assert next(row["available"] for row in main if row["currency"] == "BTC") == "2.5"
    assert is_sound(world)


def test_all_of_it_is_lived_again(tmp_path: Path) -> None:
    world = opened(tmp_path, still=True)
    funded(world, "1")
    funded(world, "1", "ETHBTC", OTHER)
    funded(world, "1", "LTCBTC")
    traded(world, "buy", 3)
    traded(world, "sell", 1, PRICE + 7)
    margin_order(world, "sell", "4", "0.06", clientOrderId="rests")
    margin_order(world, "buy", "1", "0.06", OTHER)
    margin_order(world, "sell", "1", type="stopLimit", price="0.01", stopPrice="0.02", timeInForce="Day")
    with pytest.raises(Exception, match="20001"):
        margin_order(world, "buy", "300", "0.04")
    offered(world, "sell", PRICE, 20_000)
    offered(world, "buy", PRICE - 1, 20_000)
    call(world, "close_margin_position", OTHER, symbol="ETHBTC")
    call(world, "set_margin_account", symbol="LTCBTC", marginBalance="0")
    before = (picture(world), kept(world))
    world.close()
    again = opened(tmp_path, still=True)
    assert again.warnings == []
    assert (picture(again), kept(again)) == before
    assert is_sound(again)
    again.close()
