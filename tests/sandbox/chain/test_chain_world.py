"""The chain in its world: blocks by the clock, what testers do, the journal, and the same chain after a restart."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from chaindata.wire import refusals
from chaindata.wire.transactions import Output
from sandbox.chain import wallet
from sandbox.chain.node.terms import Refused
from sandbox.chain.scenarios.author import MINER
from sandbox.chain.wallet import Purse
from sandbox.engine import journal
from sandbox.engine.journal import Entry
from sandbox.exchange.terms import NoHandler, Refusal
from sandbox.world.world import World
from tests.sandbox.worlds import HOUR_MS, START_MS, Ticking, held, opened

DAY_MS = 24 * HOUR_MS
SOMEBODY = "bchtest:qpm2qsznhks23z7629mms6s4cwef74vcwvqcw003ap"
SPELLINGS = (
    SOMEBODY,
    "qpm2qsznhks23z7629mms6s4cwef74vcwvqcw003ap",
    SOMEBODY.upper(),
    "bchreg:qpm2qsznhks23z7629mms6s4cwef74vcwv6ycwvz78",
    "slptest:qpm2qsznhks23z7629mms6s4cwef74vcwvmvf54x0u",
    "mrLC19Je2BuWQDkWSTriGYPyQJXKkkBmCx",
)
SOMEBODYS_SCRIPT = bytes.fromhex("76a91476a04053bda0a88bda5177b86a15c3b29f55987388ac")


@pytest.fixture
def clock() -> Ticking:
    return Ticking()


@pytest.fixture
def world(clock: Ticking) -> World:
    return opened(clock=clock)


def control(world: World, name: str, **arguments: object) -> Any:
    return world.control(f"chain/{name}", arguments)


def chain_of(world: World) -> tuple[object, ...]:
    """All that is known of the chain: equal ones are the same chain."""
    chain = world.chain
    return (
        [(tip.block.hash, tip.branch_length, tip.status) for tip in chain.tips()],
        [(entry.txid, entry.entered_ms, entry.height, entry.fee_sat) for entry in chain.mempool],
        [block.received_ms for block in map(chain.at, range(chain.tip.height + 1)) if block is not None],
        world.exchange.pace.due_ms,
    )


def actions(world: World) -> list[str]:
    return [json.loads(line)["do"] for line in world.journal.lines[1:]]


# Time ----------------------------------------------------------------------------------------------------------------


def test_a_block_comes_every_thirty_seconds_and_takes_what_waits(world: World, clock: Ticking) -> None:
    begun: Any = world.state()["tip"]
    assert begun["height"] == world.chain.tip.height >= 200
    assert begun["waiting"] == len(world.chain.mempool) > 0
    clock.at_ms += 29_999
    assert world.state()["tip"] == begun
    clock.at_ms += 1
    facts: Any = world.state()["tip"]
    assert facts == {
        "height": begun["height"] + 1,
        "hash": world.chain.tip.hash,
        "time": (START_MS + 30_000) // 1000,
        "waiting": 0,
    }
    clock.at_ms += 65_000
    world.run_due()
    assert world.chain.tip.height == begun["height"] + 3
    assert world.chain.tip.received_ms == START_MS + 90_000
    assert actions(world) == []


def test_the_pace_of_blocks_can_be_changed(world: World, clock: Ticking) -> None:
    height = world.chain.tip.height
    clock.at_ms += 20_000
    world.control("config", {"block_seconds": 5})
    assert world.due() == START_MS + 20_000  # five seconds after the last one are over
    world.run_due()
    assert world.chain.tip.height == height + 1
    clock.at_ms += 10_000
    world.run_due()
    assert world.chain.tip.height == height + 3
    world.control("config", {"block_seconds": 3600})
    clock.at_ms += 3_599_999
    world.run_due()
    assert world.chain.tip.height == height + 3
    clock.at_ms += 1
    world.run_due()
    assert world.chain.tip.height == height + 4


def test_a_frozen_clock_brings_no_blocks(world: World, clock: Ticking) -> None:
    world.control("clock", {"frozen": True})
    height = world.chain.tip.height
    clock.at_ms += HOUR_MS
    world.run_due()
    assert world.chain.tip.height == height
    world.control("clock", {"advance_ms": 60_000})
    assert world.chain.tip.height == height + 2


def test_how_often_time_is_looked_at_changes_no_block() -> None:
    seen = []
    for stops in ([3_000_000], [1, 29_999, 30_000, 100_000, 2_840_000], [1_000] * 3_000):
        clock = Ticking()
        world = opened(clock=clock)
        for stop in stops:
            clock.at_ms += stop
            world.run_due()
        seen.append(chain_of(world))
    assert seen[0] == seen[1] == seen[2]


@pytest.mark.parametrize("days", [1, 40, 3660])
def test_after_a_long_gap_five_hundred_blocks_are_caught_up_with(world: World, clock: Ticking, days: int) -> None:
    height = world.chain.tip.height
    clock.at_ms += days * DAY_MS
    world.run_due()
    assert world.chain.tip.height == height + 501
    assert world.chain.tip.received_ms == clock.at_ms
    assert world.due() == clock.at_ms + 30_000
    before = world.chain.at(height + 500)
    assert before is not None
    assert before.received_ms == START_MS + 500 * 30_000
    assert actions(world)[-1] == "chain-leap"
    world.run_due()
    assert world.chain.tip.height == height + 501


def test_a_gap_that_fits_is_lived_through(world: World, clock: Ticking) -> None:
    height = world.chain.tip.height
    clock.at_ms += 500 * 30_000
    world.run_due()
    assert world.chain.tip.height == height + 500
    assert "chain-leap" not in actions(world)


# What testers do -----------------------------------------------------------------------------------------------------


def test_blocks_are_mined_on_demand(world: World) -> None:
    height = world.chain.tip.height
    answer = control(world, "mine")
    assert answer["tip"]["height"] == height + 1
    assert answer["hashes"] == [world.chain.tip.hash]
    answer = control(world, "mine", blocks=3)
    assert [world.chain.block(each) for each in answer["hashes"]] == [
        world.chain.at(at) for at in range(height + 2, height + 5)
    ]


def test_a_reorganisation_replaces_the_last_blocks(world: World) -> None:
    paid = control(world, "pay", address=SOMEBODY, amount="2.5")["txid"]
    control(world, "mine", blocks=2)
    old = [
        block.hash
        for block in map(world.chain.at, range(world.chain.tip.height - 1, world.chain.tip.height + 1))
        if block
    ]
    answer = control(world, "reorg", depth=2)
    assert answer["replaced"] == old
    assert answer["tip"]["hash"] == world.chain.tip.hash not in old
    assert answer["tip"]["waiting"] == len(world.chain.mempool) > 0
    assert paid in {entry.txid for entry in world.chain.mempool}
    assert [each.status for each in world.chain.tips() if each.block.hash == old[-1]] == ["valid-fork"]
    control(world, "mine")
    found = world.chain.find(bytes.fromhex(paid)[::-1])
    assert found is not None
    assert found.block is world.chain.tip


@pytest.mark.parametrize("address", SPELLINGS)
def test_anybody_can_be_paid(world: World, address: str) -> None:
    answer = control(world, "pay", address=address, amount="1.00000001")
    entry = world.chain.mempool.get(bytes.fromhex(answer["txid"])[::-1])
    assert entry is not None
    assert Output(100_000_001, SOMEBODYS_SCRIPT) in entry.transaction.outputs
    assert world.chain.history(SOMEBODYS_SCRIPT).unconfirmed == [entry.txid_bytes]


def test_many_payments_fit_between_two_blocks(world: World) -> None:
    txids = [control(world, "pay", address=SOMEBODY, amount=1)["txid"] for _ in range(60)]
    assert len(set(txids)) == 60
    control(world, "mine")
    history = world.chain.history(SOMEBODYS_SCRIPT)
    assert len(history.confirmed) == 60
    assert sum(coin.output.value_sat for coin in history.coins) == 60 * 100_000_000


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("mine", {"blocks": 0}),
        ("mine", {"blocks": -1}),
        ("mine", {"blocks": 1001}),
        ("mine", {"blocks": 10**30}),
        ("mine", {"blocks": "many"}),
        ("mine", {"blocks": True}),
        ("mine", {"block": 1}),
        ("reorg", {"depth": 0}),
        ("reorg", {"depth": 101}),
        ("reorg", {"depth": 1.5}),
        ("reorg", {"height": 3}),
        ("pay", {}),
        ("pay", {"address": SOMEBODY}),
        ("pay", {"amount": "1"}),
        ("pay", {"address": SOMEBODY, "amount": "0"}),
        ("pay", {"address": SOMEBODY, "amount": "-1"}),
        ("pay", {"address": SOMEBODY, "amount": "0.00000545"}),
        ("pay", {"address": SOMEBODY, "amount": "0.000000001"}),
        ("pay", {"address": SOMEBODY, "amount": "1.000000000000000000000001"}),
        ("pay", {"address": SOMEBODY, "amount": "NaN"}),
        ("pay", {"address": SOMEBODY, "amount": "1000000"}),
        ("pay", {"address": SOMEBODY, "amount": "99999999999999999999999"}),
        ("pay", {"address": SOMEBODY, "amount": "1", "fee": "1"}),
        ("pay", {"address": "bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a", "amount": "1"}),
        ("pay", {"address": SOMEBODY[:-1] + "q", "amount": "1"}),
        ("pay", {"address": "everybody", "amount": "1"}),
        ("pay", {"address": "", "amount": "1"}),
        ("pay", {"address": "x" * 10_000, "amount": "1"}),
        ("pay", {"address": {"to": SOMEBODY}, "amount": "1"}),
    ],
)
def test_odd_orders_change_nothing(world: World, name: str, arguments: dict[str, object]) -> None:
    before, length = chain_of(world), world.journal.length
    with pytest.raises(Refusal) as caught:
        control(world, name, **arguments)
    assert caught.value.code == 10001
    assert (chain_of(world), world.journal.length) == (before, length)


# Broadcasts ----------------------------------------------------------------------------------------------------------


def payment(world: World, sat: int = 1_000_000) -> bytes:
    miner = Purse(world.exchange.seed, MINER)
    return wallet.pay(world.chain, miner, [Output(sat, SOMEBODYS_SCRIPT)]).raw


def test_a_broadcast_waits_and_is_journaled_once_as_its_bytes(world: World) -> None:
    raw = payment(world)
    txid = world.broadcast(raw)
    assert bytes.fromhex(txid)[::-1] in world.chain.mempool
    assert world.broadcast(raw) == txid
    assert actions(world) == ["chain-broadcast"]
    assert json.loads(world.journal.lines[-1])["with"] == {"hex": raw.hex()}


def test_a_refused_broadcast_leaves_no_trace(world: World) -> None:
    before = chain_of(world)
    raw = bytearray(payment(world))
    raw[60] ^= 1
    for odd in (bytes(raw), b"", bytes(100), payment(world)[:-1]):
        with pytest.raises(Refused):
            world.broadcast(odd)
    assert (chain_of(world), actions(world)) == (before, [])


def test_a_broadcast_that_can_not_be_journaled_stops_the_world(tmp_path: Path) -> None:
    world = opened(tmp_path)
    raw = payment(world)
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, world.journal._descriptor)
    with pytest.raises(Refusal) as caught:
        world.broadcast(raw)
    assert caught.value.code == 503
    with pytest.raises(Refusal):
        world.ask_chain("get_block_count", {})
    os.close(full)
    world.close()
    again = opened(tmp_path)
    assert again.warnings == []
    assert again.broadcast(raw)
    again.close()


def test_what_is_not_imitated_is_told(world: World) -> None:
    with pytest.raises(NoHandler):
        world.ask_chain("get_rich", {})


def test_questions_are_answered_after_what_is_due(world: World, clock: Ticking) -> None:
    before: Any = world.ask_chain("get_block_count", {})
    clock.at_ms += 30_000
    assert world.ask_chain("get_block_count", {}) == before + 1
    with pytest.raises(Refused) as caught:
        world.ask_chain("get_block_by_height", {"height": before + 2})
    assert caught.value.refusal is refusals.HEIGHT_OUT_OF_RANGE


# The journal ---------------------------------------------------------------------------------------------------------


def lived(folder: Path, clock: Ticking) -> World:
    """A world in which everything happened to the chain that can."""
    world = opened(folder, clock)
    for turn in range(8):
        clock.at_ms += 41_000
        control(world, "pay", address=SOMEBODY, amount="0.5")
        world.broadcast(payment(world, 500_000 + turn))
        if turn % 3 == 0:
            control(world, "mine", blocks=1 + turn)
            control(world, "reorg", depth=1 + turn)
        held(world, "BCH", "0.1")
    world.control("config", {"block_seconds": 7})
    clock.at_ms += 100_000
    world.control("clock", {"advance_ms": 20 * DAY_MS})
    control(world, "pay", address=SOMEBODY, amount="0.25")
    clock.at_ms += 3_000
    world.run_due()
    return world


def test_a_world_that_is_opened_again_has_the_same_chain(tmp_path: Path, clock: Ticking) -> None:
    world = lived(tmp_path, clock)
    before = chain_of(world)
    world.close()
    again = opened(tmp_path, clock)
    assert again.warnings == []
    again.run_due()
    assert chain_of(again) == before
    again.close()


def test_blocks_told_before_a_restart_are_never_untold(tmp_path: Path, clock: Ticking) -> None:
    """However long the sandbox was off: what time had made before is made again, then the gap is leapt over."""
    world = opened(tmp_path, clock)
    for _ in range(4):
        clock.at_ms += 450 * 30_000
        world.run_due()
    facts = world.chain.tip
    world.close()
    clock.at_ms += 400 * DAY_MS
    again = opened(tmp_path, clock)
    again.run_due()
    kept = again.chain.at(facts.height)
    assert kept is not None
    assert kept.hash == facts.hash
    assert again.chain.tip.height <= facts.height + 501
    before = chain_of(again)
    again.close()
    third = opened(tmp_path, clock)
    third.run_due()
    assert chain_of(third) == before
    third.close()


def test_a_journal_from_before_there_was_a_chain_is_opened_quickly(tmp_path: Path, clock: Ticking) -> None:
    """Such a journal leaps over years between two entries without a word about blocks."""
    world = opened(tmp_path, clock)
    before = world.chain.tip.height
    world.close()
    entries = [Entry(START_MS + 1000, "clock", {"offset_ms": 3000 * DAY_MS, "frozen_at_ms": None})]
    for thousands in (1, 2, 3):
        entries.append(Entry(START_MS + thousands * 1000 * DAY_MS, "config", {"echo_comment": True}))
    _write(tmp_path, entries)
    again = opened(tmp_path, clock)
    assert again.warnings == []
    assert before <= again.chain.tip.height <= before + 2_000
    again.close()


def test_a_broadcast_that_fits_no_more_ends_what_is_taken_for_true(tmp_path: Path, clock: Ticking) -> None:
    opened(tmp_path, clock).close()
    _write(tmp_path, [Entry(START_MS + 1000, "chain-broadcast", {"hex": "00" * 100})])
    again = opened(tmp_path, clock)
    assert again.journal.length == 0
    assert len(again.warnings) == 1
    assert again.warnings[0].startswith("journal unreadable from line 2 on")
    again.close()


def test_a_reset_begins_another_chain(world: World) -> None:
    control(world, "mine", blocks=5)
    height = world.chain.tip.height
    world.control("reset", {"seed": 2})
    assert world.chain.tip.height < height
    assert world.chain.miner_script == Purse(2, MINER).script


def _write(folder: Path, entries: list[Entry]) -> None:
    """Adds entries to a closed journal, as another version might have written them."""
    path = folder / "journal.jsonl"
    reading, _ = journal.read(path)
    kept = journal.Journal.resume(path, reading)
    for entry in entries:
        kept.append(entry)
    kept.close()
