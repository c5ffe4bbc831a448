"""The world as a whole: seeds, the control plane, time, and what it shows of itself."""

from decimal import Decimal
from typing import Any

import pytest

from sandbox.engine.clock import CannotSetClock
from sandbox.settings.keys import EVERY_RIGHT
from sandbox.world.world import NoHandler, Refusal, World
from tests.sandbox.worlds import (
    HOUR_MS,
    OTHER,
    START_MS,
    Ticking,
    balance,
    call,
    held,
    opened,
    outside,
    picture,
    refused,
    row,
)


@pytest.fixture
def world() -> World:
    return opened()


def refused_control(world: World, name: str, arguments: dict[str, object], code: int = 10001) -> str:
    """The description of a refused control action, which must have changed nothing."""
    before, length = picture(world), world.journal.length
    with pytest.raises(Refusal) as caught:
        world.control(name, arguments)
    assert caught.value.code == code
    assert (picture(world), world.journal.length) == (before, length)
    return caught.value.description


# Seeds and keys ------------------------------------------------------------------------------------------------------


def test_the_same_seed_makes_the_same_world_and_another_one_another() -> None:
    first, same, other = opened(), opened(seed=1), opened(seed=2)
    assert picture(first) == picture(same)
    assert picture(first)[0] != picture(other)[0]
    addresses = {call(each, "get_deposit_address", currency="BCH")["address"] for each in (first, same, other)}
    assert len(addresses) == 2
    assert held(first) == held(same)


def test_keys_carry_the_rights_of_the_contract(world: World) -> None:
    rights = {key.login: (key.secret, key.account, set(key.rights)) for key in world.keys.values()}
    trade = {"Place/cancel orders", "Orderbook, History, Trading balance"}
    read = {"Orderbook, History, Trading balance", "Payment information"}
    withdraw = {"Payment information", "Withdraw cryptocurrencies"}
    assert rights == {
        "demo-full": ("demo-full-secret", "desk@demo.test", set(EVERY_RIGHT)),
        "demo-trade": ("demo-trade-secret", "desk@demo.test", trade),
        "demo-read": ("demo-read-secret", "desk@demo.test", read),
        "demo-withdraw": ("demo-withdraw-secret", "desk@demo.test", withdraw),
        "next-trade": ("next-trade-secret", "desk@demo.test", trade),
        "next-read": ("next-read-secret", "desk@demo.test", read),
        "next-withdraw": ("next-withdraw-secret", "desk@demo.test", withdraw),
        "other-full": ("other-full-secret", "other@demo.test", set(EVERY_RIGHT)),
        "sub-full": ("sub-full-secret", "desk+1@demo.test", set(EVERY_RIGHT)),
    }
    assert len(EVERY_RIGHT) == 4
    assert "demo-full-secret" not in world.keys
    assert "demo-full-secret" not in repr(world.keys["demo-full"])


def test_what_is_not_imitated_is_told_apart_from_a_refusal(world: World) -> None:
    with pytest.raises(NoHandler):
        world.perform("dance", OTHER, {})
    with pytest.raises(NoHandler):
        world.control("chain/mint", {})


# Deposits and payouts from outside -----------------------------------------------------------------------------------


def test_a_deposit_arrives_after_its_confirmations(world: World) -> None:
    made: Any = world.control("deposit", {"currency": "btc", "amount": "1.5"})
    transaction = row(world, made["id"])
    assert (transaction["type"], transaction["status"], transaction["confirmations"]) == ("payin", "pending", 0)
    assert transaction["address"] == call(world, "get_deposit_address", currency="BTC")["address"]
    assert len(transaction["hash"]) == 64
    assert balance(world, "BTC") == ("100", "0")
    world.clock.advance(8_000)
    transaction = row(world, made["id"])
    assert (transaction["status"], transaction["confirmations"], transaction["amount"]) == ("success", 2, "1.50000000")
    assert balance(world, "BTC") == ("101.5", "0")
    assert world.ledger()["balanced"] is True


def test_a_deposit_goes_to_whose_address_it_is(world: World) -> None:
    target = call(world, "get_deposit_address", OTHER, currency="XRP")
    deposit: dict[str, object] = {
        "currency": "XRP",
        "amount": "70",
        "address": target["address"],
        "paymentId": target["paymentId"],
    }
    world.control("deposit", deposit | {"sender": outside("XRP", "a friend")})
    world.clock.advance(60_000)
    assert balance(world, "XRP", OTHER) == ("70", "0")
    assert balance(world, "XRP") == ("200000", "0")
    assert call(world, "get_transactions", OTHER, showSenders=True)[0]["senders"] == [outside("XRP", "a friend")]
    assert "no XRP deposit address" in refused_control(world, "deposit", deposit | {"paymentId": "1"})


def test_money_of_account_is_there_at_once(world: World) -> None:
    made: Any = world.control("deposit", {"currency": "USD", "amount": Decimal("12.34"), "account": "other@demo.test"})
    assert balance(world, "USD", OTHER) == ("25012.34", "0")
    assert call(world, "get_transaction", OTHER, id=made["id"])["type"] == "deposit"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"amount": "1"}, 10001),
        ({"currency": "BTC"}, 10001),
        ({"currency": "XYZ", "amount": "1"}, 2002),
        ({"currency": "BTC", "amount": "0"}, 10001),
        ({"currency": "BTC", "amount": "1e9"}, 10001),
        ({"currency": "BTC", "amount": "0.00000000001"}, 10001),
        ({"currency": "BTC", "amount": "1", "address": "nobody's"}, 10001),
        ({"currency": "BTC", "amount": "1", "account": "nobody@demo.test"}, 10001),
        ({"currency": "BTC", "amount": "1", "acount": "other@demo.test"}, 10001),
    ],
)
def test_an_odd_deposit_is_refused(world: World, arguments: dict[str, object], code: int) -> None:
    refused_control(world, "deposit", arguments, code)


def test_a_payout_can_be_moved_on_by_force(world: World) -> None:
    payout_id = held(world)
    world.control("config", {"payout_seconds": 3600})
    call(world, "commit_withdrawal", id=payout_id)
    transaction: Any = world.control("payouts", {"id": payout_id, "status": "pending"})
    assert (transaction["status"], len(transaction["hash"])) == ("pending", 64)
    refused_control(world, "payouts", {"id": payout_id, "status": "pending"})
    world.control("payouts", {"id": payout_id, "status": "success"})
    assert row(world, payout_id)["status"] == "success"
    assert balance(world, "BTC") == ("98.9995", "0")
    ended = row(world, payout_id)
    for status in ("pending", "success", "failed"):
        assert "success already" in refused_control(world, "payouts", {"id": payout_id, "status": status})
    world.clock.advance(10 * HOUR_MS)
    assert row(world, payout_id) == ended | {"confirmations": 10}  # one after each hour


@pytest.mark.parametrize("before", ["created", "pending"])
def test_a_payout_can_fail_by_force_and_the_money_returns(world: World, before: str) -> None:
    payout_id = held(world)
    call(world, "commit_withdrawal", id=payout_id)
    if before == "pending":
        world.clock.advance(4_000)
    assert row(world, payout_id)["status"] == before
    world.control("payouts", {"id": payout_id, "status": "failed", "errorCode": "BAD_PRECISION"})
    assert (row(world, payout_id)["status"], row(world, payout_id)["errorCode"]) == ("failed", "BAD_PRECISION")
    assert balance(world, "BTC") == ("100", "0")
    world.clock.advance(HOUR_MS)
    assert row(world, payout_id)["status"] == "failed"
    assert balance(world, "BTC") == ("100", "0")


@pytest.mark.parametrize("status", ["pending", "success"])
def test_a_hold_can_be_paid_without_its_owners_commit(world: World, status: str) -> None:
    payout_id = held(world)
    world.control("payouts", {"id": payout_id, "status": status})
    assert row(world, payout_id)["status"] == status
    refused(world, "rollback_withdrawal", 20006, id=payout_id)
    assert call(world, "commit_withdrawal", id=payout_id) == {"result": True}
    world.clock.advance(2 * HOUR_MS)
    assert row(world, payout_id)["status"] == "success"
    assert balance(world, "BTC") == ("98.9995", "0")


def test_a_hold_can_be_called_off_by_the_exchange(world: World) -> None:
    payout_id = held(world)
    world.control("payouts", {"id": payout_id, "status": "failed"})
    assert balance(world, "BTC") == ("100", "0")
    refused(world, "commit_withdrawal", 20007, id=payout_id)
    assert call(world, "rollback_withdrawal", id=payout_id) == {"result": True}


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"status": "success"}, 10001),
        ({"id": "unknown", "status": "success"}, 20005),
        ({"id": "HELD"}, 10001),
        ({"id": "HELD", "status": "created"}, 10001),
        ({"id": "HELD", "status": "failed", "errorCode": "BAD_LUCK"}, 10001),
        ({"id": "HELD", "status": "success", "errorCode": "BAD_PRECISION"}, 10001),
    ],
)
def test_an_odd_move_is_refused(world: World, arguments: dict[str, object], code: int) -> None:
    payout_id = held(world)
    params = {name: payout_id if value == "HELD" else value for name, value in arguments.items()}
    refused_control(world, "payouts", params, code)


def test_a_foreign_withdrawal_is_one_of_the_account(world: World) -> None:
    arguments: dict[str, object] = {"currency": "BTC", "amount": "2", "address": outside("BTC")}
    made: Any = world.control("foreign-withdrawal", arguments)
    refused(world, "rollback_withdrawal", 20006, id=made["id"])
    world.clock.advance(60_000)
    assert row(world, made["id"])["status"] == "success"
    assert balance(world, "BTC") == ("97.9995", "0")
    waiting: Any = world.control("foreign-withdrawal", arguments | {"autoCommit": False, "account": "other@demo.test"})
    assert call(world, "rollback_withdrawal", OTHER, id=waiting["id"]) == {"result": True}
    refused_control(world, "foreign-withdrawal", arguments | {"amount": "1000"}, 20001)
    refused_control(world, "foreign-withdrawal", {}, 10001)
    refused_control(world, "foreign-withdrawal", arguments | {"note": "?"}, 10001)


# Time ----------------------------------------------------------------------------------------------------------------


def test_time_follows_the_real_clock_until_it_is_moved_or_frozen() -> None:
    clock = Ticking()
    world = opened(clock=clock)
    clock.at_ms += 1_500
    assert world.clock.now_ms() == START_MS + 1_500
    assert world.control("clock", {"advance_ms": 10_000}) == {
        "time": "2026-11-18T11:06:51.500Z",
        "time_ms": START_MS + 11_500,
        "frozen": False,
    }
    world.control("clock", {"frozen": True})
    clock.at_ms += HOUR_MS
    assert world.clock.now_ms() == START_MS + 11_500
    world.clock.advance(500)
    assert world.clock.now_ms() == START_MS + 12_000
    answer: Any = world.control("clock", {"frozen": False})
    assert answer["time_ms"] == START_MS + 12_000
    clock.at_ms += 7
    assert world.clock.now_ms() == START_MS + 12_007


@pytest.mark.parametrize(
    "arguments",
    [{"advance_ms": -1}, {"advance_ms": "soon"}, {"advance_ms": 1.5}, {"advance_ms": True}, {"advance_ms": 10**15}]
    + [{"frozen": "yes"}, {"frozen": 1}, {"back_ms": 5}],
)
def test_time_does_not_run_backwards_or_sideways(world: World, arguments: dict[str, object]) -> None:
    refused_control(world, "clock", arguments)
    with pytest.raises(CannotSetClock):
        world.clock.advance(-1)


def test_timers_go_off_in_order_each_at_its_own_instant() -> None:
    clock = Ticking()
    world = opened(clock=clock)
    assert world.due() == START_MS + 30_000  # the chain's next block
    world.control("config", {"block_seconds": 86_400})
    first = held(world)
    clock.at_ms += 1_000
    second = held(world)
    clock.at_ms = START_MS + HOUR_MS - 1
    world.run_due()
    assert world.due() == START_MS + HOUR_MS
    clock.at_ms = START_MS + 2 * HOUR_MS
    world.run_due()
    assert world.due() == START_MS + 24 * HOUR_MS
    assert row(world, first)["updatedAt"] == "2026-11-18T12:06:40.000Z"
    assert row(world, second)["updatedAt"] == "2026-11-18T12:06:41.000Z"
    assert row(world, first)["index"] < row(world, second)["index"]


def test_how_often_the_clock_is_looked_at_changes_nothing() -> None:
    stories = []
    for stops in ([], [3 * HOUR_MS], [1, 4_000, 4_001, HOUR_MS, HOUR_MS, 5]):
        clock = Ticking()
        world = opened(clock=clock)
        paid, left = held(world), held(world, "ETH", "1")
        call(world, "commit_withdrawal", id=paid)
        for stop in stops:
            clock.at_ms += stop
            world.run_due()
        clock.at_ms = START_MS + 4 * HOUR_MS
        assert row(world, paid)["updatedAt"] == "2026-11-18T11:06:52.000Z"
        assert row(world, left)["updatedAt"] == "2026-11-18T12:06:40.000Z"
        stories.append(picture(world))
    assert stories[0] == stories[1] == stories[2]


# Configuration and state ---------------------------------------------------------------------------------------------


def test_the_configuration_is_shown_and_changed_by_name(world: World) -> None:
    assert world.control("config", {}) == {
        "dialect": "documented",
        "hold_end": "lapse",
        "list_delay_ms": 0,
        "echo_comment": True,
        "fee_drift": 0,
        "rate_limits": None,
        "payout_seconds": 4,
        "block_seconds": 30,
        "take_liquidity_rate": None,
        "provide_liquidity_rate": None,
        "history_delay_ms": 0,
        "payout_on_chain": "as_told",
        "chain_rate_limit": 0,
        "chain_pro_password": "BITBOX",
        "chain_proofs_as_specified": False,
        "cash_account_offset": 10,
        "non_js_framework": False,
    }
    answer: Any = world.control("config", {"rate_limits": True, "payout_seconds": Decimal("0.25"), "hold_end": "stay"})
    assert answer["rate_limits"] == {"market": 100, "trading": 300, "other": 10}
    assert (answer["payout_seconds"], answer["hold_end"]) == ("0.25", "stay")
    assert world.config.payout_ms == 250
    world.control("config", {"rate_limits": {"other": 2}})
    assert world.config.rate_limits == {"market": 100, "trading": 300, "other": 2}
    world.control("config", {"rate_limits": False})
    assert world.config.rate_limits is None


@pytest.mark.parametrize(
    "odd",
    [
        {"colour": "red"},
        {"hold_end": "explode"},
        {"hold_end": ["lapse"]},
        {"list_delay_ms": -1},
        {"list_delay_ms": "5"},
        {"list_delay_ms": True},
        {"list_delay_ms": 10**9},
        {"echo_comment": "yes"},
        {"fee_drift": "lots"},
        {"fee_drift": "-1"},
        {"fee_drift": 10**30},
        {"payout_seconds": -1},
        {"payout_seconds": "1e3"},
        {"block_seconds": 0},
        {"rate_limits": {"other": 0}},
        {"rate_limits": {"moon": 5}},
        {"rate_limits": 7},
        {"echo_comment": False, "hold_end": "explode"},
    ],
)
def test_an_odd_configuration_is_refused_whole(world: World, odd: dict[str, object]) -> None:
    assert next(reversed(odd)) in refused_control(world, "config", odd)


def test_the_state_tells_time_counts_and_warnings(world: World) -> None:
    held(world)
    state: Any = world.state()
    assert state["time"] == "2026-11-18T11:06:40.000Z"
    assert (state["seed"], state["frozen"], state["warnings"], state["broken"]) == (1, False, [], "")
    assert state["journal"] == {"length": 1, "kept": False}
    assert state["counts"]["open_holds"] == 1
    assert (state["counts"]["symbols"], state["counts"]["accounts"]) == (24, 2)
    assert state["config"]["hold_end"] == "lapse"


def test_a_reset_makes_a_fresh_world_and_keeps_its_listeners(world: World) -> None:
    heard: list[object] = []
    world.listen(heard.append)
    fresh = picture(opened())
    held(world)
    world.control("config", {"hold_end": "stay"})
    world.control("clock", {"advance_ms": 5, "frozen": True})
    answer: Any = world.control("reset", {"seed": 1})
    assert answer["journal"]["length"] == 0
    assert picture(world) == fresh
    heard.clear()
    held(world)
    assert len(heard) == 2
    world.control("reset", {"seed": 2, "symbols": 30})
    assert world.state()["counts"]["symbols"] == 30  # type: ignore[index]
    assert picture(world) != fresh


@pytest.mark.parametrize("odd", [{"seed": -1}, {"seed": "x"}, {"seed": 2**63}, {"symbols": 10**6}, {"sed": 2}])
def test_an_odd_reset_is_refused(world: World, odd: dict[str, object]) -> None:
    held(world)
    refused_control(world, "reset", odd)
