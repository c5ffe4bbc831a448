"""Account management: balances, addresses, transfers, conversions, lists of transactions."""

import json
from decimal import Decimal
from typing import Any

import pytest

from chaindata.wire import addresses as cash
from exchange_ops.wire import catalogue, coin_addresses, records
from sandbox.exchange.handlers import CHANGING, HANDLERS, STREAM_HANDLERS
from sandbox.world.world import Event, World
from tests.sandbox.worlds import (
    DESK,
    HOUR_MS,
    MINUTE_MS,
    OTHER,
    START_MS,
    balance,
    call,
    held,
    opened,
    outside,
    refused,
    row,
)
from wire.records import decode

FUNDS = "Check that the funds are sufficient, given commissions"


@pytest.fixture
def world() -> World:
    return opened()


def test_every_account_management_operation_has_a_handler_and_every_handler_an_operation() -> None:
    managed = {operation.name for operation in catalogue.OPERATIONS if operation.path.startswith("/api/2/account/")}
    assert len(managed) == 15
    assert managed <= set(HANDLERS)
    assert set(HANDLERS) <= set(catalogue.by_name)
    assert set(HANDLERS) | set(STREAM_HANDLERS) >= CHANGING


def test_answers_decode_as_the_records_of_the_catalogue(world: World) -> None:
    def read(answer: object, kind: Any) -> Any:
        return decode(json.dumps(answer).encode(), kind)

    held(world, "XRP", "25", paymentId="9", publicComment="tx-abc")
    currencies = read(call(world, "get_currencies"), list[records.Currency])
    assert {currency.id for currency in currencies} >= {"BTC", "ETH", "BCH", "LTC", "XRP", "DOGE", "EOS", "ONT", "USD"}
    assert len(read(call(world, "get_symbols"), list[records.Symbol])) == 24
    assert len(read(call(world, "get_tickers"), list[records.Ticker])) == 24
    balances = read(call(world, "get_balances"), list[records.Balance])
    assert {line.currency: line.available for line in balances}["ETH"] == Decimal(1000)
    listed = read(call(world, "get_transactions", showSenders=True), list[records.Transaction])
    assert listed[0].public_comment == "tx-abc"
    assert {entry.type for entry in listed} >= {"payin", "payout", "bankToExchange", "exchangeToBank"}
    assert read(call(world, "get_deposit_address", currency="NXT"), records.DepositAddress).public_key
    assert len(read(call(world, "get_used_addresses", currency="XRP"), list[records.UsedAddress])) == 1


# Balances ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("operation", ["get_balances", "get_trading_balances"])
def test_the_seeded_balances_are_there_with_every_currency(world: World, operation: str) -> None:
    rows = {line["currency"]: line["available"] for line in call(world, operation)}
    assert set(rows) == set(world.exchange.currencies)
    least = {"BTC": 100, "ETH": 1000, "BCH": 500, "USD": 1_000_000, "EOS": 10_000, "USDT20": 10_000}
    assert {code: int(rows[code]) for code in least} == least
    assert rows["SHIB"] == "0"


def test_accounts_see_only_their_own(world: World) -> None:
    assert balance(world, "BTC", OTHER) == ("5", "0")
    mine = row(world, held(world))
    refused(world, "get_transaction", 20004, OTHER, id=mine["id"])
    assert call(world, "get_transactions", OTHER) == []
    assert call(world, "get_subaccounts", OTHER) == {"result": []}
    refused(world, "get_balances", 1001, None)


def test_the_four_sub_accounts_are_listed(world: World) -> None:
    listed = [(each["id"], each["status"]) for each in call(world, "get_subaccounts")["result"]]
    assert listed == [(7001, "active"), (7002, "active"), (7003, "new"), (7004, "disable")]


# Addresses -----------------------------------------------------------------------------------------------------------


def test_every_open_currency_has_a_valid_deposit_address_from_the_start(world: World) -> None:
    open_ones = [each for each in call(world, "get_currencies") if each["crypto"] and each["payinEnabled"]]
    assert len(open_ones) > 15
    for currency in open_ones:
        code = currency["id"]
        made = call(world, "get_deposit_address", currency=code)
        if code == "BCH":
            found = cash.read(made["address"], networks=(cash.Network.REGTEST,))
            assert found.cash_address == made["address"]
        else:
            assert coin_addresses.read(code, made["address"]).text == made["address"]
        assert ("paymentId" in made) == currency["payinPaymentId"]
        assert ("publicKey" in made) == (code == "NXT")


def test_new_addresses_become_current_and_the_old_ones_stay(world: World) -> None:
    first = call(world, "get_deposit_address", currency="btc")
    made = [call(world, "create_deposit_address", currency="BTC") for _ in range(5)]
    assert len({address["address"] for address in [first, *made]}) == 6
    assert call(world, "get_deposit_address", currency="BTC") == made[-1]
    assert call(world, "get_deposit_addresses", currency="BTC") == [*reversed(made), first]
    for address in (first, *made):
        assert call(world, "is_own_address", address=address["address"]) == {"result": True}
        assert call(world, "is_own_address", OTHER, address=address["address"]) == {"result": False}


def test_at_most_five_new_addresses_a_day_and_currency_and_the_last_ten_listed(world: World) -> None:
    for _ in range(5):
        call(world, "create_deposit_address", currency="LTC")
    refusal = refused(world, "create_deposit_address", 20003, currency="LTC")
    assert refusal.description == "At most 5 new LTC addresses are given out in 24 hours"
    call(world, "create_deposit_address", currency="BTC")
    call(world, "create_deposit_address", OTHER, currency="LTC")
    world.clock.advance(24 * HOUR_MS - 1)
    refused(world, "create_deposit_address", 20003, currency="LTC")
    world.clock.advance(1)
    for _ in range(5):
        call(world, "create_deposit_address", currency="LTC")
    assert len(call(world, "get_deposit_addresses", currency="LTC")) == 10


def test_an_own_address_is_known_in_every_spelling(world: World) -> None:
    made = call(world, "get_deposit_address", currency="BCH")["address"]
    found = cash.read(made)
    for spelled in (made, made.upper(), made.removeprefix("bchreg:"), found.legacy_address, found.slp_address):
        assert call(world, "is_own_address", address=spelled) == {"result": True}, spelled
    ether = call(world, "get_deposit_address", currency="ETH")["address"]
    assert call(world, "is_own_address", address=ether.lower()) == {"result": True}
    assert call(world, "is_own_address", address=outside("BCH")) == {"result": False}
    assert call(world, "is_own_address", address="no address at all") == {"result": False}


@pytest.mark.parametrize("code", ["USD", "DDF"])
def test_no_address_where_nothing_can_be_paid_in(world: World, code: str) -> None:
    refusal = refused(world, "create_deposit_address", 600, currency=code)
    assert refusal.description == f"Deposits of {code} are not available"
    refused(world, "get_deposit_address", 600, currency=code)
    assert call(world, "get_deposit_addresses", currency=code) == []


@pytest.mark.parametrize(
    "operation",
    ["get_deposit_address", "create_deposit_address", "get_deposit_addresses", "get_used_addresses", "get_currency"],
)
def test_an_unknown_currency_is_named_in_the_refusal(world: World, operation: str) -> None:
    assert refused(world, operation, 2002, currency="nope").description == (
        "The requested currency can't found. Requested: NOPE"
    )
    assert refused(world, operation, 10001).description == "Param 'currency' required"
    refused(world, operation, 2002, currency="ВТС")  # Cyrillic letters
    refused(world, operation, 10001, currency=5)
    refused(world, operation, 10001, currency="B" * 2000)
    refused(world, operation, 10001, currency="BTC\n")


def test_used_addresses_are_the_last_ten_different_ones_of_committed_payouts(world: World) -> None:
    before = call(world, "get_used_addresses", currency="DOGE")
    assert before == []
    targets = [outside("DOGE", f"payee {number}") for number in range(12)]
    for target in [*targets, targets[5]]:
        call(world, "create_withdrawal", currency="DOGE", amount="20", address=target)
    never_sent = held(world, "DOGE", "20", address=outside("DOGE", "held only"))
    call(world, "rollback_withdrawal", id=never_sent)
    used = [entry["address"] for entry in call(world, "get_used_addresses", currency="DOGE")]
    assert used == [targets[5], *[each for each in reversed(targets) if each != targets[5]]][:10]
    call(world, "create_withdrawal", currency="XRP", amount="20", address=outside("XRP"), paymentId="77")
    assert call(world, "get_used_addresses", currency="XRP")[0] == {"address": outside("XRP"), "paymentId": "77"}


# Transfers -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "bank", "trading"), [("bankToExchange", "98.5", "101.5"), ("exchangeToBank", "101.5", "98.5")]
)
def test_a_transfer_shows_in_both_balances_and_in_the_list_at_once(
    world: World, kind: str, bank: str, trading: str
) -> None:
    made = call(world, "transfer_funds", currency="btc", amount="1.5", type=kind)
    assert balance(world, "BTC") == (bank, "0")
    assert balance(world, "BTC", operation="get_trading_balances") == (trading, "0")
    listed = call(world, "get_transactions", limit=1)[0]
    assert listed == {
        "id": made["id"],
        "index": listed["index"],
        "type": kind,
        "status": "success",
        "currency": "BTC",
        "amount": "1.50000000",
        "createdAt": "2026-11-18T11:06:40.000Z",
        "updatedAt": "2026-11-18T11:06:40.000Z",
    }
    assert world.ledger()["balanced"] is True


@pytest.mark.parametrize(
    ("arguments", "code", "description"),
    [
        ({"amount": "100.00000001"}, 20001, FUNDS),
        ({"amount": "999999999999999999999999"}, 20001, FUNDS),
        ({"amount": "0.00000000001"}, 10001, "Param 'amount' has more than 10 digits after the point"),
        ({"amount": "0"}, 10001, "Param 'amount' must be a positive number"),
        ({"amount": "-1"}, 10001, "Param 'amount' must be a positive number"),
        ({"amount": "NaN"}, 10001, "Param 'amount' must be a positive number"),
        ({"amount": "Infinity"}, 10001, "Param 'amount' must be a positive number"),
        ({"amount": "1e-3"}, 10001, "Param 'amount' must be a positive number"),
        ({"amount": "\u0661"}, 10001, "Param 'amount' must be a positive number"),
        ({"amount": "9" * 80}, 10001, "Param 'amount' must be a positive number"),
        ({"amount": 1.5}, 10001, "Param 'amount' is not valid"),
        ({"amount": Decimal("NaN")}, 10001, "Param 'amount' is not valid"),
        ({"amount": Decimal("1E+40")}, 10001, "Param 'amount' must be a positive number"),
        ({"amount": None}, 10001, "Param 'amount' required"),
        ({"amount": ""}, 10001, "Param 'amount' required"),
        ({"type": "sideways"}, 10001, "Param 'type' must be one of bankToExchange, exchangeToBank"),
        ({"type": None}, 10001, "Param 'type' required"),
        ({"currency": "XYZ"}, 2002, "The requested currency can't found. Requested: XYZ"),
        ({"currency": "DDF"}, 600, "Transfers of DDF are not available"),
    ],
)
def test_a_transfer_that_makes_no_sense_is_refused_and_changes_nothing(
    world: World, arguments: dict[str, object], code: int, description: str
) -> None:
    params = {"currency": "BTC", "amount": "1", "type": "bankToExchange"} | arguments
    assert refused(world, "transfer_funds", code, **params).description == description


def test_money_given_to_another_user_arrives_there(world: World) -> None:
    sent = call(world, "transfer_to_user", currency="ETH", amount="2.5", by="email", identifier="OTHER@demo.test")
    assert balance(world, "ETH") == ("997.5", "0")
    assert balance(world, "ETH", OTHER) == ("52.5", "0")
    mine, theirs = row(world, sent["result"]), call(world, "get_transactions", OTHER)[0]
    assert (mine["type"], mine["subType"], mine["status"]) == ("withdraw", "offchain", "success")
    assert (theirs["type"], theirs["amount"], theirs["status"]) == ("deposit", "2.500000000000000000", "success")
    call(world, "transfer_to_user", OTHER, currency="ETH", amount="1", by="username", identifier="desk")
    assert balance(world, "ETH") == ("998.5", "0")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"identifier": "nobody"}, 10001),
        ({"identifier": "оther"}, 10001),  # a Cyrillic o
        ({"identifier": "other "}, 10001),
        ({"identifier": "other@demo.test"}, 10001),
        ({"identifier": "desk"}, 10001),
        ({"identifier": None}, 10001),
        ({"by": "telepathy"}, 10001),
        ({"by": None}, 10001),
        ({"amount": "1001"}, 20001),
        ({"currency": "DDF", "amount": "1"}, 600),
    ],
)
def test_a_gift_to_nobody_is_refused(world: World, arguments: dict[str, object], code: int) -> None:
    params = {"currency": "ETH", "amount": "1", "by": "username", "identifier": "other"} | arguments
    refused(world, "transfer_to_user", code, **params)


def test_variants_of_one_currency_convert_one_for_one(world: World) -> None:
    made = call(world, "convert_currency", fromCurrency="USDT20", toCurrency="usd", amount="250.25")["result"]
    assert balance(world, "USDT20") == ("9749.75", "0")
    assert balance(world, "USD") == ("1000250.25", "0")
    withdrawn, taken = (row(world, each) for each in made)
    assert [withdrawn[name] for name in ("type", "subType", "currency", "status")] == [
        *("withdraw", "swap", "USDT20", "success")
    ]
    assert [taken[name] for name in ("type", "subType", "currency", "amount")] == ["deposit", "swap", "USD", "250.25"]
    assert world.ledger()["sums"]["USD"] == "0"  # type: ignore[index]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"toCurrency": "BTC"}, 600),
        ({"toCurrency": "USD"}, 600),
        ({"toCurrency": "USDC"}, 600),
        ({"toCurrency": "??"}, 2002),
        ({"toCurrency": None}, 10001),
        ({"amount": "1000000.01"}, 20001),
        ({"amount": "0.0000001"}, 10001),
    ],
)
def test_other_conversions_are_refused(world: World, arguments: dict[str, object], code: int) -> None:
    params = {"fromCurrency": "USD", "toCurrency": "USDT20", "amount": "1"} | arguments
    refused(world, "convert_currency", code, **params)


# Lists ---------------------------------------------------------------------------------------------------------------


def ids(rows: list[dict[str, Any]]) -> list[str]:
    return [each["id"] for each in rows]


@pytest.fixture
def five(world: World) -> list[str]:
    """Five transfers, a minute apart, of two currencies."""
    made = []
    for number in range(5):
        world.clock.advance(MINUTE_MS)
        code = "BTC" if number % 2 else "ETH"
        made.append(call(world, "transfer_funds", currency=code, amount="1", type="bankToExchange")["id"])
    return made


def test_lists_are_newest_first_and_page(world: World, five: list[str]) -> None:
    assert ids(call(world, "get_transactions"))[:5] == five[::-1]
    assert ids(call(world, "get_transactions", limit=2)) == five[:2:-1]
    assert ids(call(world, "get_transactions", limit=2, offset=2)) == [five[2], five[1]]
    assert ids(call(world, "get_transactions", sort="ASC", offset=11)) == five
    assert call(world, "get_transactions", limit=0) == []
    assert call(world, "get_transactions", offset=100_000) == []
    assert ids(call(world, "get_transactions", currency="btc", limit=2)) == [five[3], five[1]]


def test_intervals_of_time_take_dates_and_milliseconds_and_include_both_ends(world: World, five: list[str]) -> None:
    second, fourth = START_MS + 2 * MINUTE_MS, START_MS + 4 * MINUTE_MS
    wanted = five[3:0:-1]
    assert ids(call(world, "get_transactions", from_=second, till=fourth)) == wanted
    assert ids(call(world, "get_transactions", from_=str(second), till=str(fourth))) == wanted
    assert ids(call(world, "get_transactions", from_="2026-11-18T11:08:40.000Z", till="2026-11-18T11:10:40Z")) == wanted
    assert ids(call(world, "get_transactions", from_="2026-11-18T11:08:41", till="2026-11-18T11:10:40Z")) == wanted[:2]
    assert ids(call(world, "find_transactions", from_=second, till=fourth, order="ASC")) == wanted[::-1]


def test_an_index_is_unique_grows_at_any_change_and_can_be_read_on_from(world: World, five: list[str]) -> None:
    hold_id = held(world)
    seen = {each["index"] for each in call(world, "get_transactions", limit=1000)}
    assert len(seen) == len(call(world, "get_transactions", limit=1000))
    last = max(seen)
    assert row(world, hold_id)["index"] == last
    assert call(world, "load_transactions", from_=last + 1) == []
    call(world, "commit_withdrawal", id=hold_id)
    indexes = [row(world, hold_id)["index"]]
    for _ in range(3):
        world.clock.advance(4_000)
        indexes.append(row(world, hold_id)["index"])
    assert indexes == sorted(set(indexes))
    assert indexes[0] > last
    assert ids(call(world, "get_transactions", by="index", sort="ASC", from_=last + 1)) == [hold_id]
    assert ids(call(world, "load_transactions", from_=last + 1)) == [hold_id]
    assert call(world, "load_transactions", from_=last + 1, till=indexes[-1]) == []
    assert ids(call(world, "get_transactions", by="index", from_=last + 1, till=indexes[-1])) == [hold_id]
    assert ids(call(world, "load_transactions"))[-1] == hold_id
    assert ids(call(world, "load_transactions", order="DESC"))[0] == hold_id


@pytest.mark.parametrize(
    "odd",
    [
        {"by": "mood"},
        {"sort": "UP"},
        {"limit": 1001},
        {"limit": -1},
        {"limit": "many"},
        {"offset": 100_001},
        {"from": "yesterday"},
        {"from": "2026-13-45"},
        {"from": -5},
        {"from": True},
        {"by": "index", "from": "2026-11-18T11:08:40Z"},
        {"by": "index", "till": -1},
        {"by": "index", "till": 2**63},
        {"showSenders": "maybe"},
        {"sort": ["ASC"]},
    ],
)
def test_odd_filters_are_refused(world: World, odd: dict[str, object]) -> None:
    refused(world, "get_transactions", 10001, **{name + "_" * (name == "from"): value for name, value in odd.items()})
    refused(world, "get_transactions", 2002, currency="NONE")


def test_senders_are_shown_only_when_asked_and_only_of_payins(world: World) -> None:
    assert not any("senders" in each for each in call(world, "get_transactions"))
    transactions = call(world, "get_transactions", showSenders=True)
    assert {each["type"] for each in transactions if "senders" in each} == {"payin"}
    assert all(each["senders"] for each in transactions if each["type"] == "payin")


def test_an_unknown_transaction_is_not_found(world: World) -> None:
    refused(world, "get_transaction", 20004, id="b8b333a8-e544-4dd4-952b-82f6be3edc0a")
    refused(world, "get_transaction", 10001)


def test_a_listing_delay_hides_new_transactions_and_their_news_for_that_long(world: World) -> None:
    heard: list[Event] = []
    world.listen(heard.append)
    world.control("config", {"list_delay_ms": 5_000})
    hold_id = held(world)
    assert hold_id not in ids(call(world, "get_transactions"))
    assert hold_id not in ids(call(world, "load_transactions"))
    assert row(world, hold_id)["status"] == "created"
    assert balance(world, "BTC") == ("98.9995", "1.0005")
    assert [event.kind for event in heard] == ["balance"]
    world.clock.advance(4_999)
    assert hold_id not in ids(call(world, "get_transactions"))
    world.clock.advance(1)
    assert hold_id in ids(call(world, "get_transactions"))
    assert [event.kind for event in heard] == ["balance", "transaction"]
    assert heard[1].payload == row(world, hold_id)


# News ----------------------------------------------------------------------------------------------------------------


def test_listeners_hear_transactions_and_balances_of_whom_they_concern(world: World) -> None:
    heard: list[Event] = []
    stop = world.listen(heard.append)
    call(world, "transfer_to_user", currency="ETH", amount="1", by="username", identifier="other")
    assert [(event.kind, event.account) for event in heard] == [
        ("transaction", DESK.account),
        ("transaction", OTHER.account),
        ("balance", DESK.account),
        ("balance", OTHER.account),
    ]
    assert heard[0].payload["type"] == "withdraw"  # type: ignore[index]
    frame = heard[3].payload
    assert frame == call(world, "get_stream_balance", OTHER)
    assert {"currency": "ETH", "available": "51", "reserved": "0"} in frame  # type: ignore[operator]
    assert all(line["available"] != "0" for line in frame)  # type: ignore[attr-defined]
    stop()
    call(world, "transfer_to_user", currency="ETH", amount="1", by="username", identifier="other")
    assert len(heard) == 4


def test_a_refused_call_is_no_news_and_a_failing_listener_harms_nobody(world: World) -> None:
    heard: list[Event] = []

    def failing(event: Event) -> None:
        raise RuntimeError("a listener that fails")

    world.listen(failing)
    world.listen(heard.append)
    refused(world, "transfer_funds", 20001, currency="BTC", amount="1000", type="bankToExchange")
    assert heard == []
    call(world, "transfer_funds", currency="BTC", amount="1", type="bankToExchange")
    assert [event.kind for event in heard] == ["transaction", "balance"]
