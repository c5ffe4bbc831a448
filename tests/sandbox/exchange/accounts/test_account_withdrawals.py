"""Withdrawals in two phases: what is reserved, what ends how, what is refused, what the networks do."""

from decimal import Decimal
from typing import Any

import pytest

from sandbox.world.world import Event, World
from tests.sandbox.worlds import (
    DESK,
    HOUR_MS,
    OTHER,
    balance,
    call,
    held,
    opened,
    outside,
    refused,
    row,
    withdrawal,
)

FUNDS = "Check that the funds are sufficient, given commissions"


@pytest.fixture
def world() -> World:
    return opened()


def finish(world: World) -> None:
    """Lets everything that is under way come to its end."""
    world.clock.advance(60_000)


# Hold, commit, roll back ---------------------------------------------------------------------------------------------


def test_a_hold_reserves_amount_and_fee_and_waits(world: World) -> None:
    hold_id = held(world, "BTC", "2.5", publicComment="tx-1")
    assert balance(world, "BTC") == ("97.4995", "2.5005")
    transaction = row(world, hold_id)
    assert transaction == {
        "id": hold_id,
        "index": transaction["index"],
        "type": "payout",
        "status": "created",
        "currency": "BTC",
        "amount": "2.50000000",
        "fee": "0.0005",
        "address": outside("BTC"),
        "publicComment": "tx-1",
        "createdAt": "2026-11-18T11:06:40.000Z",
        "updatedAt": "2026-11-18T11:06:40.000Z",
    }
    assert call(world, "get_transactions", limit=1) == [transaction]
    world.clock.advance(HOUR_MS - 1)
    assert row(world, hold_id) == transaction


def test_a_committed_payout_gets_a_hash_confirmations_and_an_end(world: World) -> None:
    hold_id = held(world, "BTC", "2.5")
    assert call(world, "commit_withdrawal", id=hold_id) == {"result": True}
    story = []
    for _ in range(4):
        record = row(world, hold_id)
        story.append((record["status"], record.get("confirmations"), "hash" in record, balance(world, "BTC")))
        world.clock.advance(4_000)
    assert story == [
        ("created", None, False, ("97.4995", "2.5005")),
        ("pending", 0, True, ("97.4995", "2.5005")),
        ("pending", 1, True, ("97.4995", "2.5005")),
        ("success", 2, True, ("97.4995", "0")),
    ]
    accounts: Any = world.ledger()["accounts"]
    assert accounts["exchange"]["BTC"]["fees"] == "0.001"  # this one, and one of the days before
    settled = row(world, hold_id)
    world.clock.advance(24 * HOUR_MS)
    assert settled["confirmations"] == 3
    assert row(world, hold_id) == settled | {"confirmations": 3 + 24 * 900}  # and nothing else has changed


def test_without_auto_commit_false_it_goes_out_at_once(world: World) -> None:
    arguments = withdrawal("LTC", "3")
    del arguments["autoCommit"]
    payout_id = call(world, "create_withdrawal", **arguments)["id"]
    refused(world, "rollback_withdrawal", 20006, id=payout_id)
    world.clock.advance(4_000)
    assert row(world, payout_id)["status"] == "pending"


def test_a_rollback_releases_everything_and_fails_the_transaction(world: World) -> None:
    hold_id = held(world, "BTC", "2.5")
    before = row(world, hold_id)["index"]
    assert call(world, "rollback_withdrawal", id=hold_id) == {"result": True}
    assert balance(world, "BTC") == ("100", "0")
    transaction = row(world, hold_id)
    assert transaction["status"] == "failed"
    assert transaction["index"] > before
    assert "errorCode" not in transaction
    assert "hash" not in transaction


def test_commit_and_rollback_are_idempotent_and_exclude_each_other(world: World) -> None:
    paid, called_off = held(world), held(world)
    call(world, "commit_withdrawal", id=paid)
    call(world, "rollback_withdrawal", id=called_off)
    finish(world)
    for _ in range(3):
        before = row(world, paid), row(world, called_off), world.ledger()
        assert call(world, "commit_withdrawal", id=paid) == {"result": True}
        assert call(world, "rollback_withdrawal", id=called_off) == {"result": True}
        assert (row(world, paid), row(world, called_off), world.ledger()) == before
        refused(world, "rollback_withdrawal", 20006, id=paid)
        refused(world, "commit_withdrawal", 20007, id=called_off)


@pytest.mark.parametrize("operation", ["commit_withdrawal", "rollback_withdrawal"])
def test_only_ones_own_payouts_are_found(world: World, operation: str) -> None:
    hold_id = held(world)
    refused(world, operation, 20005, OTHER, id=hold_id)
    refused(world, operation, 20005, id="00000000-0000-4000-8000-000000000000")
    transfer = call(world, "transfer_funds", currency="BTC", amount="1", type="bankToExchange")["id"]
    refused(world, operation, 20005, id=transfer)
    refused(world, operation, 20005, id="'; drop table payouts; --")
    refused(world, operation, 10001)
    refused(world, operation, 1001, None, id=hold_id)


# The end of the hour -------------------------------------------------------------------------------------------------


def test_a_hold_that_nobody_touched_lapses_after_the_hour(world: World) -> None:
    hold_id = held(world, "BTC", "2.5")
    world.clock.advance(HOUR_MS)
    transaction = row(world, hold_id)
    assert transaction["status"] == "failed"
    assert transaction["updatedAt"] == "2026-11-18T12:06:40.000Z"
    assert balance(world, "BTC") == ("100", "0")
    refused(world, "commit_withdrawal", 20007, id=hold_id)
    assert call(world, "rollback_withdrawal", id=hold_id) == {"result": True}


def test_a_commit_in_the_last_millisecond_counts(world: World) -> None:
    hold_id = held(world)
    world.clock.advance(HOUR_MS - 1)
    call(world, "commit_withdrawal", id=hold_id)
    world.clock.advance(HOUR_MS)
    assert row(world, hold_id)["status"] == "success"


def test_hold_end_stay_leaves_it_open_for_ever(world: World) -> None:
    world.control("config", {"hold_end": "stay"})
    hold_id = held(world)
    world.clock.advance(50 * HOUR_MS)
    assert row(world, hold_id)["status"] == "created"
    assert balance(world, "BTC") == ("98.9995", "1.0005")
    call(world, "commit_withdrawal", id=hold_id)
    finish(world)
    assert row(world, hold_id)["status"] == "success"


def test_hold_end_commit_pays_by_itself(world: World) -> None:
    world.control("config", {"hold_end": "commit"})
    hold_id = held(world)
    world.clock.advance(HOUR_MS + 12_000)
    assert row(world, hold_id)["status"] == "success"
    refused(world, "rollback_withdrawal", 20006, id=hold_id)


# Amounts and fees ----------------------------------------------------------------------------------------------------


def test_include_fee_takes_the_fee_out_of_the_amount(world: World) -> None:
    hold_id = held(world, "BTC", "1", includeFee=True)
    transaction = row(world, hold_id)
    assert (transaction["amount"], transaction["fee"]) == ("0.99950000", "0.0005")
    assert balance(world, "BTC") == ("99", "1")
    everything = held(world, "BTC", "99", includeFee=True)
    assert balance(world, "BTC") == ("0", "100")
    call(world, "rollback_withdrawal", id=everything)
    refused(world, "create_withdrawal", 20001, **withdrawal("BTC", "99"))
    held(world, "BTC", "98.9995")
    assert balance(world, "BTC") == ("0", "100")


def test_the_estimate_tells_the_fee_and_drift_makes_the_hold_differ(world: World) -> None:
    assert call(world, "estimate_withdrawal", currency="eth", amount="1") == {"fee": "0.0042"}
    assert row(world, held(world, "ETH", "1"))["fee"] == "0.0042"
    world.control("config", {"fee_drift": "0.1"})
    assert call(world, "estimate_withdrawal", currency="ETH", amount="1") == {"fee": "0.0042"}
    assert row(world, held(world, "ETH", "1"))["fee"] == "0.00462"
    world.control("config", {"fee_drift": Decimal("0.33333")})
    assert row(world, held(world, "BTC", "1"))["fee"] == "0.00066667"
    refused(world, "estimate_withdrawal", 600, currency="NXT", amount="1")
    refused(world, "estimate_withdrawal", 2002, currency="XYZ", amount="1")
    refused(world, "estimate_withdrawal", 10001, currency="ETH")
    refused(world, "estimate_withdrawal", 10001, currency="ETH", amount="0")


@pytest.mark.parametrize(
    ("arguments", "code", "description"),
    [
        ({"currency": "XYZ"}, 2002, "The requested currency can't found. Requested: XYZ"),
        ({"currency": None}, 10001, "Param 'currency' required"),
        ({"currency": "NXT"}, 600, "Withdrawals of NXT are not available"),
        ({"currency": "DDF"}, 600, "Withdrawals of DDF are not available"),
        ({"currency": "USD"}, 600, "Withdrawals of USD are not available"),
        ({"amount": None}, 10001, "Param 'amount' required"),
        ({"amount": "0"}, 10001, "Param 'amount' must be a positive number"),
        ({"amount": "-1"}, 10001, "Param 'amount' must be a positive number"),
        ({"amount": "nan"}, 10001, "Param 'amount' must be a positive number"),
        ({"amount": "-Infinity"}, 10001, "Param 'amount' must be a positive number"),
        ({"amount": "1e1"}, 10001, "Param 'amount' must be a positive number"),
        ({"amount": "\u0967"}, 10001, "Param 'amount' must be a positive number"),
        ({"amount": "\uff11"}, 10001, "Param 'amount' must be a positive number"),
        ({"amount": "1 "}, 10001, "Param 'amount' must be a positive number"),
        ({"amount": "1" * 5000}, 10001, "Param 'amount' must be a positive number"),
        ({"amount": 10**30}, 10001, "Param 'amount' must be a positive number"),
        ({"amount": True}, 10001, "Param 'amount' must be a positive number"),
        ({"amount": ["1"]}, 10001, "Param 'amount' must be a positive number"),
        ({"amount": 0.5}, 10001, "Param 'amount' is not valid"),
        ({"amount": "0.00099999"}, 10001, "Param 'amount' is below the minimum of 0.001 BTC"),
        ({"amount": "0.00149999", "includeFee": True}, 10001, "Param 'amount' is below the minimum of 0.001 BTC"),
        ({"amount": "0.0005", "includeFee": True}, 10001, "Param 'amount' does not exceed the fee"),
        ({"amount": "1.00000000001"}, 10001, "Param 'amount' has more than 10 digits after the point"),
        ({"currency": "ONT", "amount": "2.5"}, 10001, "Param 'amount' has more than 0 digits after the point"),
        ({"currency": "ONT", "amount": "1001"}, 20003, "At most 1000 ONT can be withdrawn in 24 hours"),
        ({"amount": "100"}, 20001, FUNDS),
        ({"amount": "99.9995000001"}, 20001, FUNDS),
        ({"amount": "999999999999999999999999"}, 20001, FUNDS),
        ({"address": None}, 10001, "Param 'address' required"),
        ({"address": ""}, 10001, "Param 'address' required"),
        ({"address": "1Boat SLRHt"}, 10001, "Param 'address' must have neither spaces nor letters beyond ASCII"),
        ({"address": "1\u0412oat"}, 10001, "Param 'address' must have neither spaces nor letters beyond ASCII"),
        ({"address": "a" * 129}, 10001, "Param 'address' is longer than 128 characters"),
        ({"address": "1\u202eBoat"}, 10001, "Param 'address' has control characters"),
        ({"address": "line\nbreak"}, 10001, "Param 'address' has control characters"),
        ({"address": 12345}, 10001, "Param 'address' must be a text"),
        ({"paymentId": "7"}, 10001, "Param 'paymentId' is not used by BTC"),
        ({"publicComment": "c" * 256}, 10001, "Param 'publicComment' is longer than 255 characters"),
        ({"publicComment": "\x00"}, 10001, "Param 'publicComment' has control characters"),
        ({"includeFee": "perhaps"}, 10001, "Param 'includeFee' must be true or false"),
        ({"autoCommit": 0}, 10001, "Param 'autoCommit' must be true or false"),
    ],
)
def test_a_withdrawal_that_makes_no_sense_is_refused_and_changes_nothing(
    world: World, arguments: dict[str, object], code: int, description: str
) -> None:
    params = withdrawal("BTC", "1") | {"address": outside(str(arguments.get("currency") or "BTC"))} | arguments
    assert refused(world, "create_withdrawal", code, **params).description == description


def test_money_on_the_trading_account_does_not_help(world: World) -> None:
    call(world, "transfer_funds", currency="BTC", amount="99.5", type="bankToExchange")
    refused(world, "create_withdrawal", 20001, **withdrawal("BTC", "0.5"))
    call(world, "transfer_funds", currency="BTC", amount="0.0005", type="exchangeToBank")
    held(world, "BTC", "0.5")


def test_what_is_reserved_can_be_spent_only_once(world: World) -> None:
    held(world, "BTC", "60")
    refused(world, "create_withdrawal", 20001, **withdrawal("BTC", "60"))
    refused(world, "transfer_funds", 20001, currency="BTC", amount="60", type="bankToExchange")
    refused(world, "transfer_to_user", 20001, currency="BTC", amount="60", by="username", identifier="other")


def test_a_daily_limit_counts_what_did_not_fail(world: World) -> None:
    first = held(world, "ONT", "600")
    refused(world, "create_withdrawal", 20003, **withdrawal("ONT", "401"))
    second = held(world, "ONT", "400")
    call(world, "rollback_withdrawal", id=second)
    third = held(world, "ONT", "400")
    for hold_id in (first, third):
        call(world, "commit_withdrawal", id=hold_id)
    world.clock.advance(24 * HOUR_MS - 1)
    refused(world, "create_withdrawal", 20003, **withdrawal("ONT", "2"))
    world.clock.advance(1)
    held(world, "ONT", "1000")


# What the networks refuse --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "error_code"),
    [
        ({"address": "1BoatSLRHtKNngkdXEeobR76b53LETtpyU"}, "INVALID_ADDRESS"),
        ({"address": "nonsense"}, "INVALID_ADDRESS"),
        ({"address": outside("LTC")}, "INVALID_ADDRESS"),
        ({"amount": "1.0000000001"}, "BAD_PRECISION"),
        ({"currency": "XRP", "amount": 20, "address": outside("XRP"), "paymentId": "4294967296"}, "INVALID_PAYMENT_ID"),
        ({"currency": "XRP", "amount": "20", "address": outside("XRP"), "paymentId": "memo"}, "INVALID_PAYMENT_ID"),
        ({"currency": "BCH", "amount": "20", "address": outside("BTC")}, "INVALID_ADDRESS"),
        ({"currency": "ETH", "amount": "20", "address": outside("ETH")[:-1]}, "INVALID_ADDRESS"),
    ],
)
def test_what_the_network_refuses_fails_after_the_commit_and_the_money_returns(
    world: World, arguments: dict[str, object], error_code: str
) -> None:
    params = withdrawal() | arguments
    code = str(params["currency"])
    before = balance(world, code)
    payout_id = call(world, "create_withdrawal", **params)["id"]
    assert call(world, "commit_withdrawal", id=payout_id) == {"result": True}
    assert balance(world, code) != before
    world.clock.advance(4_000)
    transaction = row(world, payout_id)
    assert (transaction["status"], transaction["errorCode"]) == ("failed", error_code)
    assert "hash" not in transaction
    assert balance(world, code) == before
    assert call(world, "commit_withdrawal", id=payout_id) == {"result": True}
    refused(world, "rollback_withdrawal", 20006, id=payout_id)


@pytest.mark.parametrize("code", ["BCH", "LTC", "DOGE", "XRP", "EOS", "ONT", "USDT20", "ETH"])
def test_every_coin_can_be_paid_to_a_valid_address(world: World, code: str) -> None:
    payout_id = held(world, code, "20")
    call(world, "commit_withdrawal", id=payout_id)
    finish(world)
    transaction = row(world, payout_id)
    assert transaction["status"] == "success"
    assert transaction["hash"].startswith("0x") == (code in {"USDT20", "ETH"})


def test_a_payout_to_a_deposit_address_of_the_exchange_is_booked_over(world: World) -> None:
    target = call(world, "get_deposit_address", OTHER, currency="XRP")
    payout_id = held(world, "XRP", "30", address=target["address"], paymentId=target["paymentId"])
    call(world, "commit_withdrawal", id=payout_id)
    world.clock.advance(4_000)
    sent, received = row(world, payout_id), call(world, "get_transactions", OTHER)[0]
    assert (sent["status"], sent["subType"], sent["offchainId"]) == ("success", "offchain", received["offchainId"])
    assert (received["type"], received["subType"], received["amount"]) == ("payin", "offchain", "30.000000")
    assert "hash" not in sent
    assert balance(world, "XRP", OTHER) == ("30", "0")
    assert balance(world, "XRP") == ("199969.75", "0")


def test_a_payout_to_oneself_comes_back_less_its_fee(world: World) -> None:
    own = call(world, "get_deposit_address", currency="BTC")["address"]
    call(world, "commit_withdrawal", id=held(world, "BTC", "10", address=own))
    finish(world)
    assert balance(world, "BTC") == ("99.9995", "0")


def test_the_comment_is_echoed_unless_configured_otherwise(world: World) -> None:
    hold_id = held(world, publicComment="tx-abc")
    assert row(world, hold_id)["publicComment"] == "tx-abc"
    world.control("config", {"echo_comment": False})
    assert "publicComment" not in row(world, hold_id)
    assert "publicComment" not in call(world, "get_transactions", limit=1)[0]
    assert "publicComment" not in call(world, "find_transactions", limit=1)[0]


def test_payout_seconds_may_be_nothing_at_all(world: World) -> None:
    world.control("config", {"payout_seconds": 0})
    payout_id = held(world)
    call(world, "commit_withdrawal", id=payout_id)
    assert row(world, payout_id)["status"] == "success"


def test_listeners_hear_the_whole_life_of_a_payout(world: World) -> None:
    heard: list[Event] = []
    world.listen(heard.append)
    payout_id = held(world)
    call(world, "commit_withdrawal", id=payout_id)
    finish(world)
    frames: list[Any] = [event.payload for event in heard if event.kind == "transaction"]
    assert [(each["status"], each.get("confirmations")) for each in frames] == [
        *(("created", None), ("created", None), ("pending", 0), ("pending", 1), ("success", 2))
    ]
    assert {event.account for event in heard} == {DESK.account}
    assert [each["index"] for each in frames] == sorted({each["index"] for each in frames})
    balances: list[Any] = [event.payload for event in heard if event.kind == "balance"]
    assert [line["reserved"] for each in balances for line in each if line["currency"] == "BTC"] == ["1.0005", "0"]
