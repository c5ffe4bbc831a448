"""BCH on the exchange is what the sandbox's chain has: payins by anybody, payouts signed by the exchange, its lies."""

from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from chaindata.wire import addresses
from chaindata.wire.scripts import steps
from chaindata.wire.transactions import Output
from sandbox.chain import wallet
from sandbox.chain.scenarios.author import MINER
from sandbox.chain.wallet import Purse
from sandbox.exchange.accounts.coins import PURSE
from sandbox.world.world import World
from tests.sandbox.worlds import DESK, OTHER, Ticking, balance, call, held, opened, outside, picture, refused, row

COIN_SAT = 100_000_000
SLOW = 86_400  # seconds between blocks: none comes but those that a test asks for


@pytest.fixture
def world() -> World:
    made = opened()
    made.control("config", {"block_seconds": SLOW})
    return made


def script_of(address: str) -> bytes:
    return steps.locking(addresses.read(address))


def mine(world: World, blocks: int = 1) -> None:
    world.control("chain/mine", {"blocks": blocks})


def reorganise(world: World, depth: int) -> None:
    world.control("chain/reorg", {"depth": depth})


def paid_to(world: World, address: str) -> list[tuple[str, int]]:
    """Every payment to an address that the chain or its mempool has: transaction and satoshis."""
    script, history = script_of(address), world.chain.history(script_of(address))
    found = [world.chain.find(place.txid_bytes) for place in history.confirmed]
    found += [world.chain.find(txid_bytes) for txid_bytes in history.unconfirmed]
    return [
        (each.transaction.txid, output.value_sat)
        for each in found
        if each is not None
        for output in each.transaction.outputs
        if output.script == script
    ]


def own_address(world: World, caller: Any = DESK) -> str:
    return str(call(world, "get_deposit_address", caller, currency="BCH")["address"])


def payins(world: World, caller: Any = DESK) -> list[dict[str, Any]]:
    """The payins since the world began, newest first."""
    rows = call(world, "get_transactions", caller, currency="BCH", showSenders=True)
    return [each for each in rows if each["type"] == "payin" and each["createdAt"] >= "2026-11-18T11:06:40.000Z"]


def paid_out(world: World, amount: str = "1.25", **more: object) -> str:
    """A payout that the exchange has broadcast."""
    payout_id = held(world, "BCH", amount, **more)
    call(world, "commit_withdrawal", id=payout_id)
    world.clock.advance(4_000)
    return payout_id


# What stands there from the start ------------------------------------------------------------------------------------


def test_the_history_of_a_fresh_world_stands_on_its_chain(world: World) -> None:
    payout, payin = (each for each in call(world, "get_transactions", currency="BCH", showSenders=True))
    assert (payin["type"], payin["amount"], payin["status"]) == ("payin", "12.25000000", "success")
    assert (payout["type"], payout["amount"], payout["status"]) == ("payout", "3.10000000", "success")
    assert paid_to(world, payin["address"]) == [(payin["hash"], 1_225_000_000)]
    assert paid_to(world, payout["address"]) == [(payout["hash"], 310_000_000)]
    (sender,) = payin["senders"]
    assert addresses.read(sender).hash == Purse(1, "customer").address.hash
    for each in (payin, payout):
        found = world.chain.find(bytes.fromhex(each["hash"])[::-1])
        assert found is not None
        assert found.block is not None
        assert world.chain.confirmations(found.block) > 10


def test_another_seed_has_other_deposit_addresses_and_each_belongs_to_a_key(world: World) -> None:
    assert own_address(world) != own_address(opened(seed=2))
    made = [call(world, "create_deposit_address", currency="BCH")["address"] for _ in range(2)]
    assert len({own_address(world, OTHER), *made}) == 3
    for script, found in world.exchange.addresses.by_script.items():
        assert script == found.purse.script
        assert found.address == found.purse.key.address.cash_address


# Payins --------------------------------------------------------------------------------------------------------------


def test_a_deposit_is_pending_when_seen_and_money_at_two_confirmations(world: World) -> None:
    payin_id: Any = world.control("deposit", {"currency": "BCH", "amount": "7.5"})
    entry = row(world, payin_id["id"])
    assert (entry["status"], entry["confirmations"], entry["address"]) == ("pending", 0, own_address(world))
    assert paid_to(world, own_address(world))[-1] == (entry["hash"], 750_000_000)
    assert balance(world, "BCH") == ("500", "0")
    mine(world)
    assert (row(world, entry["id"])["status"], row(world, entry["id"])["confirmations"]) == ("pending", 1)
    mine(world)
    assert (row(world, entry["id"])["status"], row(world, entry["id"])["confirmations"]) == ("success", 2)
    assert balance(world, "BCH") == ("507.5", "0")
    mine(world, 3)
    assert (row(world, entry["id"])["status"], row(world, entry["id"])["confirmations"]) == ("success", 5)
    assert balance(world, "BCH") == ("507.5", "0")
    assert world.ledger()["balanced"] is True


@pytest.mark.parametrize("network", [addresses.Network.TEST, addresses.Network.REGTEST])
@pytest.mark.parametrize("form", ["cash_address", "legacy_address", "slp_address"])
def test_who_pays_a_deposit_address_on_the_chain_in_any_form_pays_in(world: World, form: str, network: Any) -> None:
    spelled = getattr(replace(addresses.read(own_address(world, OTHER)), network=network), form)
    paid: Any = world.control("chain/pay", {"address": spelled, "amount": "0.5"})
    (payin,) = payins(world, OTHER)
    assert (payin["hash"], payin["amount"], payin["status"]) == (paid["txid"], "0.50000000", "pending")
    (sender,) = payin["senders"]
    assert addresses.read(sender).hash == Purse(1, MINER).address.hash
    mine(world, 2)
    assert balance(world, "BCH", OTHER) == ("20.5", "0")


def test_one_transaction_pays_several_accounts_and_one_address_twice(world: World) -> None:
    desk, other = script_of(own_address(world)), script_of(own_address(world, OTHER))
    outputs = [Output(COIN_SAT, desk), Output(2 * COIN_SAT, other), Output(3 * COIN_SAT, desk)]
    signed = wallet.pay(world.chain, Purse(1, MINER), outputs)
    assert world.broadcast(signed.raw) == signed.txid
    assert world.broadcast(signed.raw) == signed.txid  # told again: nothing new
    assert [each["amount"] for each in payins(world)] == ["4.00000000"]
    assert [each["amount"] for each in payins(world, OTHER)] == ["2.00000000"]
    mine(world, 2)
    assert (balance(world, "BCH"), balance(world, "BCH", OTHER)) == (("504", "0"), ("22", "0"))


def test_a_reorganisation_takes_confirmations_of_a_payin_back_and_never_the_money(world: World) -> None:
    payin_id: Any = world.control("deposit", {"currency": "BCH", "amount": "1"})
    mine(world)
    reorganise(world, 1)
    assert (row(world, payin_id["id"])["status"], row(world, payin_id["id"])["confirmations"]) == ("pending", 0)
    mine(world, 2)
    assert row(world, payin_id["id"])["status"] == "success"
    reorganise(world, 3)
    assert row(world, payin_id["id"])["status"] == "success"
    mine(world, 3)
    assert balance(world, "BCH") == ("501", "0")


@pytest.mark.parametrize("amount", ["0.00000545", "0.000000001", "20000000", "9000"])
def test_an_amount_that_the_chain_can_not_move_is_no_deposit(world: World, amount: str) -> None:
    before = picture(world)
    with pytest.raises(Exception, match="amount"):
        world.control("deposit", {"currency": "BCH", "amount": amount})
    assert picture(world) == before
    assert payins(world) == []


def test_who_sent_a_deposit_is_what_the_chain_says(world: World) -> None:
    with pytest.raises(Exception, match="sender"):
        world.control("deposit", {"currency": "BCH", "amount": "1", "sender": outside("BCH")})


# Payouts -------------------------------------------------------------------------------------------------------------


def test_a_payout_is_one_transaction_of_the_exact_amount_and_blocks_confirm_it(world: World) -> None:
    payout_id = held(world, "BCH", "1.25000001")
    call(world, "commit_withdrawal", id=payout_id)
    assert "hash" not in row(world, payout_id)
    assert paid_to(world, outside("BCH")) == []
    world.clock.advance(4_000)
    entry = row(world, payout_id)
    assert (entry["status"], entry["confirmations"]) == ("pending", 0)
    assert paid_to(world, outside("BCH")) == [(entry["hash"], 125_000_001)]
    world.clock.advance(3_600_000)  # time alone confirms nothing
    assert row(world, payout_id) == entry
    mine(world)
    assert (row(world, payout_id)["status"], row(world, payout_id)["confirmations"]) == ("pending", 1)
    mine(world)
    assert (row(world, payout_id)["status"], row(world, payout_id)["confirmations"]) == ("success", 2)
    assert balance(world, "BCH") == ("498.74949999", "0")
    assert world.ledger()["balanced"] is True


def test_blocks_come_by_the_clock_too() -> None:
    world = opened()
    payout_id = paid_out(world)
    world.clock.advance(26_000)
    assert row(world, payout_id)["confirmations"] == 1
    world.clock.advance(30_000)
    assert row(world, payout_id)["status"] == "success"


def test_a_reorganisation_takes_confirmations_of_a_payout_back_until_it_is_told_as_paid(world: World) -> None:
    payout_id = paid_out(world)
    mine(world)
    reorganise(world, 1)
    assert (row(world, payout_id)["status"], row(world, payout_id)["confirmations"]) == ("pending", 0)
    mine(world, 2)
    entry = row(world, payout_id)
    assert entry["status"] == "success"
    reorganise(world, 2)
    assert row(world, payout_id) == entry | {"confirmations": 0}
    assert len(world.chain.history(script_of(outside("BCH"))).unconfirmed) == 1
    mine(world)
    assert paid_to(world, outside("BCH")) == [(entry["hash"], 125_000_000)]


def test_many_payouts_at_once_never_spend_a_coin_twice(world: World) -> None:
    ids = [held(world, "BCH", "2", address=outside("BCH", f"supplier {number}")) for number in range(60)]
    for payout_id in ids:
        call(world, "commit_withdrawal", id=payout_id)
    world.clock.advance(4_000)
    for _ in range(6):
        mine(world)
    rows = [row(world, payout_id) for payout_id in ids]
    assert {each["status"] for each in rows} == {"success"}
    spent = []
    for each in rows:
        found = world.chain.find(bytes.fromhex(each["hash"])[::-1])
        assert found is not None
        spent += [(coin.txid_bytes, coin.index) for coin in found.transaction.inputs]
        assert paid_to(world, each["address"]) == [(each["hash"], 2 * COIN_SAT)]
    assert len(spent) == len(set(spent))


def test_a_payout_waits_while_the_purse_is_short_and_goes_out_when_coins_come(world: World) -> None:
    drained = wallet.pay(world.chain, Purse(1, PURSE), [Output(1_256 * COIN_SAT, script_of(outside("BCH", "thief")))])
    world.broadcast(drained.raw)
    payout_id = paid_out(world, "40")
    assert (row(world, payout_id)["status"], paid_to(world, outside("BCH"))) == ("created", [])
    mine(world)
    assert row(world, payout_id)["status"] == "created"
    world.control("deposit", {"currency": "BCH", "amount": "60"})
    mine(world)  # what was paid in is spent once it is confirmed
    assert row(world, payout_id)["status"] == "pending"
    assert paid_to(world, outside("BCH")) == [(row(world, payout_id)["hash"], 40 * COIN_SAT)]
    mine(world, 2)
    assert row(world, payout_id)["status"] == "success"


def test_payouts_that_are_moved_by_hand_are_paid_on_the_chain_all_the_same(world: World) -> None:
    payout_id = held(world, "BCH", "1")
    answer: Any = world.control("payouts", {"id": payout_id, "status": "pending"})
    assert paid_to(world, outside("BCH")) == [(answer["hash"], COIN_SAT)]
    done: Any = world.control("payouts", {"id": payout_id, "status": "success"})
    assert (done["status"], done["hash"]) == ("success", answer["hash"])
    at_once = held(world, "BCH", "2", address=outside("BCH", "another"))
    done = world.control("payouts", {"id": at_once, "status": "success"})
    assert paid_to(world, outside("BCH", "another")) == [(done["hash"], 2 * COIN_SAT)]
    failed = held(world, "BCH", "3", address=outside("BCH", "a third"))
    world.control("payouts", {"id": failed, "status": "failed"})
    mine(world, 3)
    assert paid_to(world, outside("BCH", "a third")) == []
    assert row(world, failed)["status"] == "failed"


def test_a_payout_to_an_own_address_touches_no_chain(world: World) -> None:
    tip, waiting = world.chain.tip, len(world.chain.mempool)
    paid_out(world, "5", address=own_address(world, OTHER))
    assert (balance(world, "BCH", OTHER), len(world.chain.mempool)) == (("25", "0"), waiting)
    assert world.chain.tip is tip


def test_an_address_that_nothing_can_pay_is_refused_by_the_network(world: World) -> None:
    long = addresses.cash_encode("bchreg", addresses.Kind.SCRIPT, bytes(32))
    payout_id = paid_out(world, address=long)
    assert (row(world, payout_id)["status"], row(world, payout_id)["errorCode"]) == ("failed", "INVALID_ADDRESS")
    assert balance(world, "BCH") == ("500", "0")


# Lies ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lie", "arrives"), [("short", [112_500_000]), ("elsewhere", []), ("never", []), ("as_told", [125_000_000])]
)
def test_the_exchange_can_be_made_to_lie_about_a_payout(world: World, lie: str, arrives: list[int]) -> None:
    world.control("config", {"payout_on_chain": lie})
    payout_id = paid_out(world)
    entry = row(world, payout_id)
    assert (entry["status"], entry["amount"], entry["address"]) == ("pending", "1.25000000", outside("BCH"))
    mine(world, 2)
    entry = row(world, payout_id)
    assert (entry["status"], entry["confirmations"], len(entry["hash"])) == ("success", 2, 64)
    assert [sat for _, sat in paid_to(world, outside("BCH"))] == arrives
    found = world.chain.find(bytes.fromhex(entry["hash"])[::-1])
    assert (found is None) == (lie == "never")
    if lie == "elsewhere" and found is not None:
        assert found.transaction.outputs[0].value_sat == 125_000_000
    assert world.ledger()["balanced"] is True


@pytest.mark.parametrize("lie", ["", "true", None, 7, "SHORT"])
def test_only_known_lies_are_configured(world: World, lie: object) -> None:
    if lie is None:
        assert world.control("config", {"payout_on_chain": lie}) == world.config.as_json()
        return
    with pytest.raises(Exception, match="payout_on_chain"):
        world.control("config", {"payout_on_chain": lie})
    assert world.config.payout_on_chain == "as_told"


# A restart -----------------------------------------------------------------------------------------------------------


def test_a_restart_finds_the_same_movements_on_the_same_chain(tmp_path: Path) -> None:
    clock = Ticking()
    world = opened(tmp_path, clock)
    world.control("config", {"payout_on_chain": "short"})
    first = paid_out(world)
    world.control("config", {"payout_on_chain": "as_told"})
    world.control("deposit", {"currency": "BCH", "amount": "3"})
    world.control("chain/pay", {"address": own_address(world, OTHER), "amount": "0.75"})
    clock.at_ms += 61_000
    world.run_due()
    reorganise(world, 2)
    paid_out(world, "2", address=outside("BCH", "another"))
    seen = picture(world), world.chain.tip.hash, [entry.txid for entry in world.chain.mempool]
    world.close()
    again = opened(tmp_path, clock)
    assert (picture(again), again.chain.tip.hash, [entry.txid for entry in again.chain.mempool]) == seen
    mine(again, 2)
    assert row(again, first)["status"] == "success"
    assert again.warnings == []
    again.close()


def test_amounts_on_the_chain_are_what_customers_own(world: World) -> None:
    """The purse and the deposit addresses hold at least what the exchange owes in BCH."""
    owed = sum((Decimal(balance(world, "BCH", caller)[0]) for caller in (DESK, OTHER)), Decimal(0))
    scripts_held = [Purse(1, PURSE).script, *world.exchange.addresses.by_script]
    held_sat = sum(coin.output.value_sat for each in scripts_held for coin in world.chain.history(each).coins)
    assert Decimal(held_sat) / COIN_SAT > 2 * owed  # bank and trading
    refused(world, "create_withdrawal", 20001, currency="BCH", amount="501", address=outside("BCH"))
