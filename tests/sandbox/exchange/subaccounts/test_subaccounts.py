"""Sub-accounts: freezing, activating, settings, transfers, and what a frozen one may not."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from exchange_ops.wire import catalogue
from sandbox.world.world import Caller, Event, Refusal, World
from tests.sandbox import worlds
from tests.sandbox.worlds import DESK, OTHER, balance, call, opened, outside, row
from wire.records import decode

SUB = Caller("sub-full", "desk+1@demo.test")
SECOND = Caller("second", "desk+2@demo.test")
NEW = Caller("third", "desk+3@demo.test")
FIRST_ID, SECOND_ID, NEW_ID, DISABLED_ID = 7001, 7002, 7003, 7004


@pytest.fixture
def world() -> World:
    return opened(still=True)


def statuses(world: World) -> dict[int, str]:
    return {each["id"]: each["status"] for each in call(world, "get_subaccounts")["result"]}


def kept(world: World) -> list[object]:
    """Everything that is remembered of the sub-accounts."""
    found = world.exchange.accounts.find(DESK.account)
    assert found is not None
    return [json.dumps([str(part) for part in (sub, sub.status)]) for sub in found.sub_accounts]


def refused(world: World, operation: str, code: int, caller: Caller | None = DESK, /, **arguments: object) -> Refusal:
    """The refusal of a call that changes nothing, sub-accounts included."""
    before = kept(world)
    refusal = worlds.refused(world, operation, code, caller, **arguments)
    assert kept(world) == before
    return refusal


def balances(world: World, number: int, wallet: str = "main") -> dict[str, tuple[str, str]]:
    """What is not zero in one of the sub-account's wallets."""
    rows = call(world, "get_subaccount_balances", id=number)["result"][wallet]
    assert len(rows) == len(world.exchange.currencies)
    every = {line["currency"]: (line["available"], line["reserved"]) for line in rows}
    return {code: held for code, held in every.items() if held != ("0", "0")}


def rest(world: World, caller: Caller = SUB, symbol: str = "ETHBTC", side: str = "buy") -> str:
    """The id of an order of the sub-account that rests."""
    price = {"buy": "0.01", "sell": "0.09"}[side]
    made = call(world, "create_order", caller, symbol=symbol, side=side, quantity="2", price=price)
    assert made["status"] == "new"
    return str(made["clientOrderId"])


# What the seed has ---------------------------------------------------------------------------------------------------


def test_the_answers_decode_as_the_records_of_the_catalogue(world: World) -> None:
    calls: dict[str, dict[str, object]] = {
        "get_subaccounts": {},
        "get_subaccount_settings": {"subAccountIds": [FIRST_ID, NEW_ID]},
        "get_subaccount_balances": {"id": FIRST_ID},
        "get_subaccount_deposit_address": {"id": FIRST_ID, "currency": "BTC"},
        "transfer_subaccount_funds": {"subAccountId": FIRST_ID, "currency": "BTC", "amount": "1", "type": "deposit"},
        "set_subaccount_settings": {"subAccountUserId": FIRST_ID, "isPayoutEnabled": False},
        "freeze_subaccounts": {"ids": [FIRST_ID]},
        "activate_subaccounts": {"ids": [FIRST_ID]},
    }
    assert set(calls) == {each.name for each in catalogue.OPERATIONS if each.group == catalogue.SUBACCOUNTS}
    for operation, arguments in calls.items():
        answer = json.dumps(call(world, operation, **arguments)).encode()
        result: Any = catalogue.by_name[operation].result
        assert decode(answer, result) is not None, operation


def test_the_two_active_ones_have_money_and_all_have_addresses_of_their_own(world: World) -> None:
    assert balances(world, FIRST_ID)["BTC"] == ("2", "0")
    assert balances(world, FIRST_ID, "trading")["USD"] == ("5000", "0")
    assert balances(world, SECOND_ID)["USDT20"] == ("750", "0")
    assert [balances(world, each) for each in (NEW_ID, DISABLED_ID)] == [{}, {}]
    addresses = [
        call(world, "get_subaccount_deposit_address", id=each, currency="btc")["result"]["address"]
        for each in (FIRST_ID, SECOND_ID, NEW_ID, DISABLED_ID)
    ]
    assert len({*addresses, call(world, "get_deposit_address", currency="BTC")["address"]}) == 5


def test_a_deposit_to_the_address_of_a_sub_account_is_its_own(world: World) -> None:
    address = call(world, "get_subaccount_deposit_address", id=FIRST_ID, currency="XRP")["result"]
    world.control("deposit", {"currency": "XRP", "amount": "100", **address})
    world.control("clock", {"advance_ms": 3_600_000})
    assert balances(world, FIRST_ID)["XRP"] == ("100", "0")
    assert balance(world, "XRP") == ("200000", "0")


# Freezing ------------------------------------------------------------------------------------------------------------


def test_freezing_cancels_the_orders_and_moves_the_trading_balance(world: World) -> None:
    heard: list[Event] = []
    rest(world)
    rest(world, side="sell")
    call(world, "create_order", SUB, symbol="BCHUSD", side="buy", quantity="1", price="50", stopPrice="900",
         type="stopLimit")  # fmt: skip
    assert balances(world, FIRST_ID, "trading")["ETH"] == ("8", "2")
    world.listen(heard.append)
    assert call(world, "freeze_subaccounts", ids=str(FIRST_ID)) == {"result": True}
    assert balances(world, FIRST_ID, "trading") == {}
    main = {"BTC": ("3", "0"), "ETH": ("30", "0"), "BCH": ("10", "0"), "USD": ("15000", "0")}
    assert balances(world, FIRST_ID) == main
    assert world.exchange.orders.active == {}
    ended = [event.payload for event in heard if event.kind == "report"]
    assert [report["reportType"] for report in ended if isinstance(report, dict)] == ["canceled"] * 3
    moved = [each for each in world.exchange.transactions.of_account(SUB.account) if each.type == "exchangeToBank"]
    assert {each.currency: each.amount for each in moved} == {
        "BTC": Decimal(1), "ETH": Decimal(10), "BCH": Decimal(5), "USD": Decimal(5000),
    }  # fmt: skip
    assert world.ledger()["balanced"] is True


def test_a_frozen_one_is_shown_as_disable_and_can_be_activated(world: World) -> None:
    call(world, "freeze_subaccounts", ids=f"{FIRST_ID},{NEW_ID}")
    assert statuses(world) == {7001: "disable", 7002: "active", 7003: "disable", 7004: "disable"}
    assert call(world, "get_subaccount_settings", subAccountIds=[FIRST_ID, SECOND_ID, DISABLED_ID]) == {
        "result": [{"subAccountId": SECOND_ID, "isPayoutEnabled": False, "description": "Settlement"}]
    }
    assert call(world, "activate_subaccounts", ids=[FIRST_ID, NEW_ID]) == {"result": True}
    assert statuses(world) == {7001: "active", 7002: "active", 7003: "active", 7004: "disable"}
    settings = call(world, "get_subaccount_settings", subAccountIds=str(FIRST_ID))["result"]
    assert settings == [{"subAccountId": FIRST_ID, "isPayoutEnabled": True, "description": "Trading"}]


def test_freezing_twice_is_refused_in_the_documented_words(world: World) -> None:
    call(world, "freeze_subaccounts", ids=[FIRST_ID])
    again = refused(world, "freeze_subaccounts", 500, ids=[FIRST_ID])
    assert again.description == "account 7001 already freeze or disabled"
    disabled = refused(world, "freeze_subaccounts", 500, ids=[DISABLED_ID])
    assert disabled.description == "account 7004 already freeze or disabled"


@pytest.mark.parametrize("bad", [DISABLED_ID, 9999])
@pytest.mark.parametrize("order", [1, -1])
def test_one_bad_id_refuses_the_whole_freeze(world: World, bad: int, order: int) -> None:
    rest(world)
    refused(world, "freeze_subaccounts", 500, ids=[FIRST_ID, SECOND_ID, bad][::order])
    assert len(world.exchange.orders.active) == 1


def test_an_id_named_twice_is_frozen_once(world: World) -> None:
    assert call(world, "freeze_subaccounts", ids="7001, 7001,7001") == {"result": True}


@pytest.mark.parametrize("operation", ["freeze_subaccounts", "activate_subaccounts"])
@pytest.mark.parametrize(
    ("ids", "description"),
    [
        (None, "Param 'ids' required"),
        ("", "Param 'ids' required"),
        ([], "Param 'ids' required"),
        ("7001,", "Param 'ids' required"),
        ("7001,x", "Param 'ids' must be an index"),
        ("-7001", "Param 'ids' must be an index"),
        ("7001.0", "Param 'ids' must be an index"),
        ("1e3", "Param 'ids' must be an index"),
        ("٧٠٠١", "Param 'ids' must be an index"),
        ([True], "Param 'ids' must be an index"),
        ([[7001]], "Param 'ids' must be an index"),
        (2**70, "Param 'ids' must be an index"),
        (["7001' OR '1'='1"], "Param 'ids' must be an index"),
        (list(range(1001)), "Param 'ids' has more than 1000 ids"),
    ],
)
def test_odd_ids_are_refused(world: World, operation: str, ids: object, description: str) -> None:
    assert refused(world, operation, 10001, ids=ids).description == description


def test_sub_accounts_of_others_are_unknown(world: World) -> None:
    for operation in ("freeze_subaccounts", "activate_subaccounts"):
        refusal = refused(world, operation, 500, OTHER, ids=[FIRST_ID])
        assert refusal.description == "Cannot find sub account 7001"
        assert refused(world, operation, 500, SUB, ids=[FIRST_ID]).description == "Cannot find sub account 7001"
    refused(world, "get_subaccount_balances", 500, OTHER, id=FIRST_ID)
    refused(world, "get_subaccount_deposit_address", 500, OTHER, id=FIRST_ID, currency="BTC")
    refused(world, "get_subaccount_settings", 500, OTHER, subAccountIds=[FIRST_ID])
    refused(world, "set_subaccount_settings", 500, OTHER, subAccountUserId=FIRST_ID, isPayoutEnabled=True)
    move = {"subAccountId": FIRST_ID, "currency": "BTC", "amount": "1", "type": "withdraw"}
    assert refused(world, "transfer_subaccount_funds", 500, OTHER, **move).description == "Cannot find sub account 7001"
    refused(world, "get_subaccounts", 1001, None)


@pytest.mark.parametrize("number", [DISABLED_ID, NEW_ID])
def test_what_was_never_frozen_or_is_disabled_is_not_activated(world: World, number: int) -> None:
    call(world, "freeze_subaccounts", ids=[FIRST_ID])
    before = kept(world)
    assert call(world, "activate_subaccounts", ids=[FIRST_ID, number]) == {"result": False}
    assert kept(world) == before
    assert call(world, "activate_subaccounts", ids=[FIRST_ID]) == {"result": True}
    assert call(world, "activate_subaccounts", ids=[FIRST_ID]) == {"result": True}


def test_a_frozen_one_may_nothing_until_it_is_activated(world: World) -> None:
    hold = call(world, "create_withdrawal", SUB, currency="BTC", amount="1", address=outside("BTC"), autoCommit=False)
    call(world, "freeze_subaccounts", ids=[FIRST_ID])
    refused(world, "get_balances", 403, SUB)
    refused(world, "get_trading_balances", 403, SUB)
    refused(world, "create_order", 403, SUB, symbol="ETHBTC", side="buy", quantity="1", price="0.01")
    refused(world, "commit_withdrawal", 403, SUB, id=hold["id"])
    call(world, "activate_subaccounts", ids=[FIRST_ID])
    assert call(world, "commit_withdrawal", SUB, id=hold["id"]) == {"result": True}


@pytest.mark.parametrize("caller", [NEW, Caller("fourth", "desk+4@demo.test")])
def test_only_active_ones_may_act(world: World, caller: Caller) -> None:
    refused(world, "get_balances", 403, caller)


# Settings ------------------------------------------------------------------------------------------------------------


def test_a_setting_is_changed_in_part_or_whole(world: World) -> None:
    changed = call(world, "set_subaccount_settings", subAccountUserId=FIRST_ID, isPayoutEnabled=False)
    assert changed == {"result": [{"subAccountId": FIRST_ID, "isPayoutEnabled": False, "description": "Trading"}]}
    call(world, "set_subaccount_settings", subAccountUserId=str(FIRST_ID), description="Überweisungen 🏦")
    assert call(world, "get_subaccount_settings", subAccountIds=FIRST_ID)["result"] == [
        {"subAccountId": FIRST_ID, "isPayoutEnabled": False, "description": "Überweisungen 🏦"}
    ]
    call(world, "set_subaccount_settings", subAccountUserId=FIRST_ID, description="")
    assert call(world, "get_subaccount_settings", subAccountIds=FIRST_ID)["result"][0]["description"] == ""


def test_a_sub_account_without_payouts_can_not_withdraw(world: World) -> None:
    wanted = {"currency": "ETH", "amount": "1", "address": outside("ETH")}
    refused(world, "create_withdrawal", 403, SECOND, **wanted)
    call(world, "set_subaccount_settings", subAccountUserId=SECOND_ID, isPayoutEnabled=True)
    assert call(world, "create_withdrawal", SECOND, **wanted)["id"]


@pytest.mark.parametrize("frozen", [True, False])
def test_the_setting_of_a_closed_one_can_not_be_changed(world: World, frozen: bool) -> None:
    if frozen:
        call(world, "freeze_subaccounts", ids=[FIRST_ID])
    number = FIRST_ID if frozen else DISABLED_ID
    refused(world, "set_subaccount_settings", 10021, subAccountUserId=number, isPayoutEnabled=True)


@pytest.mark.parametrize(
    "odd",
    [
        {"isPayoutEnabled": "maybe"},
        {"isPayoutEnabled": 1},
        {"description": "x" * 256},
        {"description": "a\x00b"},
        {"description": ["x"]},
        {"subAccountUserId": ""},
        {"subAccountUserId": "7001; DROP TABLE"},
    ],
)
def test_odd_settings_are_refused(world: World, odd: dict[str, object]) -> None:
    refused(world, "set_subaccount_settings", 10001, **({"subAccountUserId": FIRST_ID} | odd))


# Transfers -----------------------------------------------------------------------------------------------------------


def test_money_goes_to_a_sub_account_and_back(world: World) -> None:
    wanted = {"subAccountId": FIRST_ID, "currency": "btc", "amount": "0.25"}
    deposit_id = call(world, "transfer_subaccount_funds", type="deposit", **wanted)["result"]
    assert (balance(world, "BTC"), balances(world, FIRST_ID)["BTC"]) == (("99.75", "0"), ("2.25", "0"))
    sent = row(world, deposit_id)
    assert (sent["type"], sent["subType"], sent["status"]) == ("withdraw", "offchain", "success")
    assert Decimal(sent["amount"]) == Decimal("0.25")
    taken = call(world, "transfer_subaccount_funds", type="withdraw", **wanted)["result"]
    assert (balance(world, "BTC"), balances(world, FIRST_ID)["BTC"]) == (("100", "0"), ("2", "0"))
    assert row(world, taken)["type"] == "deposit"
    theirs = [(each["type"], each["amount"]) for each in call(world, "get_transactions", SUB)]
    assert [kind for kind, _ in theirs] == ["withdraw", "deposit"]
    refused(world, "get_transaction", 20004, SUB, id=deposit_id)


def test_both_sides_of_a_transfer_hear_of_it(world: World) -> None:
    heard: list[Event] = []
    world.listen(heard.append)
    call(world, "transfer_subaccount_funds", subAccountId=FIRST_ID, currency="BTC", amount="1", type="deposit")
    assert [(event.kind, event.account) for event in heard] == [
        ("transaction", DESK.account),
        ("transaction", SUB.account),
        ("balance", DESK.account),
        ("balance", SUB.account),
    ]


@pytest.mark.parametrize("direction", ["deposit", "withdraw"])
def test_a_closed_one_takes_no_part_in_transfers(world: World, direction: str) -> None:
    call(world, "freeze_subaccounts", ids=[FIRST_ID])
    for number in (FIRST_ID, DISABLED_ID):
        wanted = {"subAccountId": number, "currency": "BTC", "amount": "1", "type": direction}
        assert refused(world, "transfer_subaccount_funds", 500, **wanted).description == "Bad Request"


def test_a_new_one_takes_part(world: World) -> None:
    call(world, "transfer_subaccount_funds", subAccountId=NEW_ID, currency="USD", amount="5", type="deposit")
    assert balances(world, NEW_ID) == {"USD": ("5", "0")}


@pytest.mark.parametrize(
    ("code", "odd"),
    [
        (20001, {"amount": "100.00000001"}),
        (20001, {"amount": "3", "type": "withdraw"}),
        (20001, {"amount": "1", "type": "withdraw", "currency": "EOS"}),
        (10001, {"amount": "0.00000000000000000000001"}),
        (10001, {"amount": "0"}),
        (10001, {"amount": "-1"}),
        (10001, {"amount": "NaN"}),
        (10001, {"amount": "1e2"}),
        (10001, {"amount": "9" * 25}),
        (10001, {"amount": None}),
        (10001, {"type": None}),
        (10001, {"type": "Deposit"}),
        (10001, {"type": "bankToExchange"}),
        (10001, {"currency": None}),
        (2002, {"currency": "XXX"}),
        (10001, {"subAccountId": None}),
        (10001, {"subAccountId": "7001,7002"}),
        (500, {"subAccountId": 1}),
        (600, {"currency": "DELISTED"}),
    ],
)
def test_odd_transfers_are_refused(world: World, code: int, odd: dict[str, object]) -> None:
    if odd.get("currency") == "DELISTED":
        odd = {"currency": next(each["id"] for each in call(world, "get_currencies") if each["delisted"])}
    wanted = {"subAccountId": FIRST_ID, "currency": "BTC", "amount": "1", "type": "deposit"} | odd
    refused(world, "transfer_subaccount_funds", code, **wanted)


def test_a_delisted_currency_has_no_deposit_address(world: World) -> None:
    closed = next(each["id"] for each in call(world, "get_currencies") if not each["payinEnabled"])
    refused(world, "get_subaccount_deposit_address", 600, id=FIRST_ID, currency=closed)
    refused(world, "get_subaccount_deposit_address", 2002, id=FIRST_ID, currency="XXX")
    refused(world, "get_subaccount_balances", 10001, id="")


# The journal ---------------------------------------------------------------------------------------------------------


def test_all_of_it_is_lived_again(tmp_path: Path) -> None:
    world = opened(tmp_path, still=True)
    rest(world)
    call(world, "transfer_subaccount_funds", subAccountId=SECOND_ID, currency="BTC", amount="1", type="deposit")
    call(world, "set_subaccount_settings", subAccountUserId=NEW_ID, isPayoutEnabled=False, description="later")
    call(world, "freeze_subaccounts", ids=[FIRST_ID, SECOND_ID])
    call(world, "activate_subaccounts", ids=[SECOND_ID])
    before = (worlds.picture(world), kept(world))
    world.close()
    again = opened(tmp_path, still=True)
    assert again.warnings == []
    assert (worlds.picture(again), kept(again)) == before
    assert statuses(again) == {7001: "disable", 7002: "active", 7003: "new", 7004: "disable"}
    again.close()
