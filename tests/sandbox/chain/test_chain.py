"""The chain by itself: work, order, rewards, branches, and an index that always says what the blocks say."""

from collections import Counter
from functools import lru_cache
from hashlib import sha256

import bitcoin
import bitcoin.core
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chaindata.wire import headers, merkle, refusals, transactions
from chaindata.wire.scripts import steps as scripts
from chaindata.wire.transactions import Output, Transaction
from sandbox.chain import seeding, wallet
from sandbox.chain.node import blocks, mempool
from sandbox.chain.node.blocks import COINBASE_MATURITY
from sandbox.chain.node.terms import Refused
from sandbox.chain.state import Chain
from sandbox.chain.wallet import CannotPay, Purse, Vault

NOW_MS = 1_795_000_000_000
COIN_SAT = 100_000_000
MINER, ALICE, BOB = Purse(7, "miner"), Purse(7, "alice"), Purse(7, "bob")


@lru_cache(maxsize=1)
def grown() -> Chain:
    chain = Chain(MINER.script)
    for number in range(120):
        chain.mine(at_ms=NOW_MS + 600_000 * number)
    return chain


@pytest.fixture
def chain() -> Chain:
    """A hundred and twenty empty blocks: twenty coinbases are old enough to be spent."""
    return fresh()


def fresh() -> Chain:
    base = grown()
    times_s = [block.header.time for block in (base.at(height) for height in range(1, 121)) if block is not None]
    return base.redated(times_s, entered_ms=NOW_MS)


def later(chain: Chain) -> int:
    return chain.tip.received_ms + 600_000


def paid(chain: Chain, payer: Purse | Vault, sat: int, payee: Purse | Vault, **more: int) -> Transaction:
    made = wallet.pay(chain, payer, [Output(sat, payee.script)], **more)
    return chain.accept(made.raw, at_ms=later(chain))


def mined(chain: Chain, count: int = 1) -> None:
    for _ in range(count):
        chain.mine(at_ms=later(chain))


def active(chain: Chain) -> list[blocks.Block]:
    return [block for block in map(chain.at, range(chain.tip.height + 1)) if block is not None]


def assert_sound(chain: Chain) -> None:
    """Rebuilds what the chain says about itself from the bytes of its blocks alone."""
    kept = active(chain)
    headers.check_chain([block.header for block in kept], easiest_target=blocks.EASIEST_TARGET)
    coins: dict[tuple[bytes, int], Output] = {}
    fees: Counter[int] = Counter()
    touched: dict[bytes, list[tuple[int, int, bytes]]] = {}
    for block in kept[1:]:
        _check_body(chain, block)
        found = [transactions.read(each.raw) for each in block.transactions]
        made = {(each.txid_bytes, n): output for each in found for n, output in enumerate(each.outputs)}
        coins |= made
        for position, each in enumerate(found):
            used = [] if each.is_coinbase else [coins.pop((one.txid_bytes, one.index)) for one in each.inputs]
            fees[block.height] += sum(one.value_sat for one in used) - (0 if each.is_coinbase else each.value_out_sat)
            for script in {one.script for one in (*used, *each.outputs) if one.script[:1] != b"\x6a"}:
                touched.setdefault(script, []).append((block.height, position, each.txid_bytes))
        assert found[0].value_out_sat == blocks.subsidy_sat(block.height) + fees[block.height]
    spendable = {outpoint: output for outpoint, output in coins.items() if output.script[:1] != b"\x6a"}
    for script in (MINER.script, ALICE.script, BOB.script):
        history = chain.history(script)
        assert [tuple(place) for place in history.confirmed] == touched.get(script, [])
        confirmed = {(coin.txid_bytes, coin.n) for coin in history.coins if coin.height is not None}
        waiting = {outpoint for outpoint in spendable if chain.mempool.spender(*outpoint) is not None}
        assert confirmed == {at for at, output in spendable.items() if output.script == script} - waiting
    for outpoint, output in spendable.items():
        coin = chain.coin(*outpoint)
        assert coin is not None
        assert coin.output == output
    assert_waiting_sound(chain, spendable)


def _check_body(chain: Chain, block: blocks.Block) -> None:
    txids = [sha256(sha256(each.raw).digest()).digest() for each in block.transactions]
    assert list(block.txids_bytes) == txids
    assert txids[1:] == sorted(txids[1:], key=lambda txid: txid[::-1])
    assert block.header.merkle_root_bytes == merkle.root(txids)
    assert all(len(each.raw) >= 100 for each in block.transactions)
    height = scripts.push_number(block.height)
    assert block.transactions[0].inputs[0].script.startswith(height)
    before = chain.previous(block)
    assert before is not None
    assert block.header.time > chain.median_time_s(before)
    assert block.chainwork == 2 * (block.height + 1)


def assert_waiting_sound(chain: Chain, coins: dict[tuple[bytes, int], Output]) -> None:
    spent: set[tuple[bytes, int]] = set()
    known = dict(coins)
    for entry in chain.mempool:
        outpoints = [(each.txid_bytes, each.index) for each in entry.transaction.inputs]
        assert not spent & set(outpoints)
        spent |= set(outpoints)
        assert entry.fee_sat == sum(known[each].value_sat for each in outpoints) - entry.transaction.value_out_sat
        known |= {(entry.txid_bytes, n): output for n, output in enumerate(entry.transaction.outputs)}
        parents = {txid_bytes for txid_bytes, _ in outpoints if txid_bytes in chain.mempool}
        assert set(entry.parents) == parents
        assert all(entry.txid_bytes in chain.mempool.descendants(parent) for parent in parents)
    assert chain.mempool.bytes == sum(entry.size for entry in chain.mempool)


# Blocks --------------------------------------------------------------------------------------------------------------


def test_the_first_block_is_that_of_every_such_chain() -> None:
    first = blocks.genesis()
    assert first.hash == "0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206"
    assert first.header.merkle_root == "4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b"
    assert first.header.meets_target


def test_the_coins_of_the_first_block_are_found_by_nobody(chain: Chain) -> None:
    coinbase = chain.genesis.transactions[0]
    assert chain.find(coinbase.txid_bytes) is None
    assert chain.coin(coinbase.txid_bytes, 0) is None
    assert chain.history(coinbase.outputs[0].script).coins == []


@pytest.mark.parametrize(
    ("height", "sat"),
    [(0, 5_000_000_000), (149, 5_000_000_000), (150, 2_500_000_000), (299, 2_500_000_000), (300, 1_250_000_000)]
    + [(150 * 32, 1), (150 * 33, 0), (10**9, 0)],
)
def test_the_reward_halves_every_150_blocks(height: int, sat: int) -> None:
    assert blocks.subsidy_sat(height) == sat


def test_work_is_really_searched_for() -> None:
    tries = [blocks.worked(bytes([n]) * 32, bytes(32), 1_700_000_000).nonce for n in range(64)]
    assert all(blocks.worked(bytes([n]) * 32, bytes(32), 1_700_000_000).meets_target for n in range(64))
    assert len(set(tries)) > 1


def test_blocks_of_one_instant_have_rising_median_times(chain: Chain) -> None:
    for _ in range(30):
        chain.mine(at_ms=NOW_MS)
    assert_sound(chain)


def test_a_block_long_after_the_end_of_headers_can_still_be_told(chain: Chain) -> None:
    block = chain.mine(at_ms=5_000_000_000_000)
    assert block.header.time == 0xFFFFFFFF
    assert block.header.meets_target


def test_a_coinbase_pays_subsidy_and_fees(chain: Chain) -> None:
    paid(chain, MINER, 3 * COIN_SAT, ALICE, fee_rate=5)
    fee_sat = next(iter(chain.mempool)).fee_sat
    block = chain.mine(at_ms=later(chain))
    assert block.transactions[0].value_out_sat == 50 * COIN_SAT + fee_sat
    assert fee_sat >= 5 * block.transactions[1].size


# Branches ------------------------------------------------------------------------------------------------------------


def test_of_equal_branches_the_first_seen_one_stays_active(chain: Chain) -> None:
    tip = chain.tip
    fork = chain.at(tip.height - 3)
    assert fork is not None
    made = chain.branch(fork, 3, at_ms=later(chain))
    assert chain.tip is tip
    assert [(each.block, each.branch_length, each.status) for each in chain.tips()] == sorted(
        [(tip, 0, "active"), (made[-1], 3, "valid-fork")], key=lambda each: each[0].hash
    )
    assert [chain.confirmations(block) for block in made] == [-1, -1, -1]
    assert chain.next(made[0]) is None
    further = chain.branch(made[-1], 1, at_ms=later(chain))
    assert chain.tip is further[-1]
    assert chain.confirmations(made[0]) == 4
    assert chain.confirmations(tip) == -1
    assert [(each.branch_length, each.status) for each in chain.tips()] == [(0, "active"), (3, "valid-fork")]
    assert_sound(chain)


def test_blocks_of_one_parent_and_instant_are_different_ones(chain: Chain) -> None:
    tip, at_ms = chain.tip, later(chain)
    known = chain.branch(tip, 2, at_ms=at_ms, has_bodies=False)
    first = chain.mine(at_ms=at_ms)
    second = chain.reorganise(1, at_ms=at_ms)
    assert len({block.hash for block in (*known, first, second)}) == 4
    assert chain.block(first.hash) is first
    assert {each.status for each in chain.tips()} == {"active", "valid-fork", "headers-only"}
    assert_sound(chain)


def test_a_branch_of_headers_only_never_takes_over(chain: Chain) -> None:
    tip = chain.tip
    made = chain.branch(chain.genesis, 200, at_ms=NOW_MS, has_bodies=False)
    assert chain.tip is tip
    assert [(each.block.height, each.branch_length, each.status) for each in chain.tips()] == [
        (200, 200, "headers-only"),
        (120, 0, "active"),
    ]
    assert chain.block(made[-1].hash) is made[-1]


def test_a_reorganisation_lets_transactions_wait_again_and_confirms_them_anew(chain: Chain) -> None:
    first = paid(chain, MINER, 5 * COIN_SAT, ALICE)
    mined(chain)
    second = paid(chain, ALICE, COIN_SAT, BOB)
    mined(chain)
    waiting = paid(chain, BOB, COIN_SAT // 2, ALICE)
    height = chain.tip.height
    tip = chain.reorganise(2, at_ms=later(chain))
    assert (tip.height, chain.tip) == (height + 1, tip)
    assert [entry.txid_bytes for entry in chain.mempool] == [each.txid_bytes for each in (first, second, waiting)]
    assert chain.coin(first.txid_bytes, 0) is None
    assert_sound(chain)
    mined(chain)
    assert len(chain.mempool) == 0
    found = chain.find(second.txid_bytes)
    assert found is not None
    assert found.block is chain.tip
    assert_sound(chain)


def test_a_block_full_of_relatives_waits_again_whole(chain: Chain) -> None:
    """In canonical order children stand before their parents as often as not."""
    paid(chain, MINER, 9 * COIN_SAT, ALICE)
    people = (ALICE, BOB)
    made = [
        paid(chain, people[turn % 2], 8 * COIN_SAT - turn * COIN_SAT // 10, people[1 - turn % 2]) for turn in range(9)
    ]
    block = chain.mine(at_ms=later(chain))
    assert [each.txid_bytes for each in made] != [
        txid for txid in block.txids_bytes if txid in {m.txid_bytes for m in made}
    ]
    assert_sound(chain)
    chain.reorganise(1, at_ms=later(chain))
    assert {each.txid_bytes for each in made} < {entry.txid_bytes for entry in chain.mempool}
    assert_sound(chain)
    mined(chain)
    assert len(chain.mempool) == 0
    assert_sound(chain)


def test_what_spends_a_coinbase_that_vanished_goes_with_all_that_depends_on_it(chain: Chain) -> None:
    young = chain.at(chain.tip.height + 1 - COINBASE_MATURITY)
    assert young is not None
    coin = (young.txids_bytes[0], 0)
    made = wallet.pay(chain, MINER, [Output(COIN_SAT, ALICE.script)], spending=[coin])
    chain.accept(made.raw, at_ms=later(chain))
    paid(chain, ALICE, COIN_SAT // 2, BOB)
    older = paid(chain, MINER, COIN_SAT, BOB)
    chain.reorganise(chain.tip.height - young.height + 1, at_ms=later(chain))
    assert chain.find(young.txids_bytes[0]) is None
    assert [entry.txid_bytes for entry in chain.mempool] == [older.txid_bytes]
    assert_sound(chain)


def test_what_a_block_spends_otherwise_does_not_wait_any_more(chain: Chain) -> None:
    kept = paid(chain, MINER, COIN_SAT, MINER)
    first = paid(chain, MINER, 2 * COIN_SAT, ALICE)
    paid(chain, ALICE, COIN_SAT, BOB)
    spent = first.inputs[0]
    rival = transactions.build(inputs=[spent], outputs=[Output(COIN_SAT, BOB.script)])
    chain.mempool.settle([rival], [rival.txid_bytes])
    assert [entry.txid_bytes for entry in chain.mempool] == [kept.txid_bytes]
    assert chain.mempool.spender(spent.txid_bytes, spent.index) is None
    assert chain.mempool.touching(BOB.script) == []
    assert chain.mempool.bytes == kept.size


@pytest.mark.parametrize("depth", [0, -1, 121, 10**6])
def test_a_chain_is_not_reorganised_beyond_its_first_block(chain: Chain, depth: int) -> None:
    tip = chain.tip
    with pytest.raises(ValueError, match="can't be replaced"):
        chain.reorganise(depth, at_ms=later(chain))
    assert chain.tip is tip


def test_the_whole_chain_can_be_replaced(chain: Chain) -> None:
    paid(chain, MINER, COIN_SAT, ALICE)
    chain.reorganise(120, at_ms=later(chain))
    assert chain.tip.height == 121
    assert len(chain.mempool) == 0
    assert_sound(chain)


# The mempool ---------------------------------------------------------------------------------------------------------


def test_a_transaction_that_waits_already_is_told_again(chain: Chain) -> None:
    made = paid(chain, MINER, COIN_SAT, ALICE)
    assert chain.accept(made.raw, at_ms=later(chain)) == made
    assert len(chain.mempool) == 1


def test_figures_of_a_family_are_those_of_all_its_members(chain: Chain) -> None:
    paid(chain, MINER, 10 * COIN_SAT, ALICE)
    mined(chain)
    parent = paid(chain, ALICE, 4 * COIN_SAT, BOB)
    child = paid(chain, BOB, COIN_SAT, ALICE, fee_rate=3)
    lonely = paid(chain, MINER, COIN_SAT, MINER)
    first, second, third = chain.mempool
    assert [first.txid_bytes, second.txid_bytes, third.txid_bytes] == [
        each.txid_bytes for each in (parent, child, lonely)
    ]
    ancestry, descent = chain.mempool.ancestry(second), chain.mempool.descent(first)
    assert (ancestry.count, ancestry.size) == (2, parent.size + child.size) == (descent.count, descent.size)
    assert ancestry.fees_sat == first.fee_sat + second.fee_sat == descent.fees_sat
    assert chain.mempool.ancestry(first).count == chain.mempool.descent(second).count == 1
    assert chain.mempool.ancestry(third).count == 1


def test_a_block_takes_no_more_than_it_has_room_for(chain: Chain, monkeypatch: pytest.MonkeyPatch) -> None:
    made = [paid(chain, MINER, COIN_SAT, ALICE) for _ in range(3)]
    monkeypatch.setattr(blocks, "MOST_BYTES", made[0].size + made[1].size)
    mined(chain)
    assert [entry.txid_bytes for entry in chain.mempool] == [made[2].txid_bytes]
    assert_sound(chain)


def test_a_full_mempool_takes_no_more(chain: Chain, monkeypatch: pytest.MonkeyPatch) -> None:
    made = paid(chain, MINER, COIN_SAT, ALICE)
    monkeypatch.setattr(mempool, "MOST_BYTES", made.size + 150)
    with pytest.raises(Refused) as caught:
        paid(chain, MINER, COIN_SAT, ALICE)
    assert caught.value.text == "mempool full (code 66)"
    mined(chain)
    paid(chain, MINER, COIN_SAT, ALICE)
    assert_sound(chain)


def test_every_single_byte_of_a_payment_counts(chain: Chain) -> None:
    raw = wallet.pay(chain, MINER, [Output(COIN_SAT, ALICE.script)]).raw
    for at in range(len(raw)):
        changed = bytearray(raw)
        changed[at] ^= 1 << at % 8
        with pytest.raises(Refused):
            chain.accept(bytes(changed), at_ms=NOW_MS)
    assert len(chain.mempool) == 0
    assert chain.accept(raw, at_ms=NOW_MS).raw == raw


@pytest.mark.parametrize("raw", [b"", b"\x00", bytes(99), b"\xff" * 5000])
def test_bytes_that_are_no_transaction_are_not_taken(chain: Chain, raw: bytes) -> None:
    with pytest.raises(Refused) as caught:
        chain.accept(raw, at_ms=NOW_MS)
    assert caught.value.refusal in (refusals.DECODE_FAILED, refusals.REJECTED)


# Purses --------------------------------------------------------------------------------------------------------------


def test_a_purse_never_picks_dust_unless_told(chain: Chain) -> None:
    paid(chain, MINER, 546, ALICE)
    mined(chain)
    with pytest.raises(CannotPay):
        wallet.pay(chain, ALICE, [Output(0, scripts.returning([b"x"]))])
    coin = chain.history(ALICE.script).coins[0]
    made = wallet.pay(
        chain, ALICE, [Output(0, scripts.returning([b"x"]))], spending=[(coin.txid_bytes, coin.n)], change=False
    )
    assert chain.accept(made.raw, at_ms=NOW_MS).outputs == (Output(0, scripts.returning([b"x"])),)


def test_keys_vaults_and_locktimes_are_signed_for(chain: Chain) -> None:
    vault = Vault("both", [ALICE, BOB], 2)
    key = wallet.pay(chain, MINER, [Output(COIN_SAT, ALICE.key_script), Output(2 * COIN_SAT, vault.script)])
    chain.accept(key.raw, at_ms=NOW_MS)
    spent = wallet.pay(chain, ALICE, [Output(COIN_SAT // 2, BOB.script)], spending=[(key.txid_bytes, 0)], locktime=100)
    assert chain.accept(spent.raw, at_ms=NOW_MS).locktime == 100
    paid(chain, vault, COIN_SAT, BOB)
    mined(chain)
    assert len(chain.mempool) == 0
    assert_sound(chain)


def test_a_purse_does_not_spend_what_belongs_to_others(chain: Chain) -> None:
    made = paid(chain, MINER, COIN_SAT, ALICE)
    with pytest.raises(CannotPay, match="does not hold the key"):
        wallet.pay(chain, BOB, [Output(1000, BOB.script)], spending=[(made.txid_bytes, 0)])
    with pytest.raises(CannotPay, match="no unspent output"):
        wallet.pay(chain, BOB, [Output(1000, BOB.script)], spending=[(bytes(32), 0)])
    with pytest.raises(CannotPay, match="short of"):
        wallet.pay(chain, BOB, [Output(1000, BOB.script)])


# Anything at all -----------------------------------------------------------------------------------------------------

STEPS = st.lists(
    st.tuples(st.sampled_from(["pay", "pay", "pay", "mine", "reorganise", "branch"]), st.integers(0, 11)),
    min_size=1,
    max_size=25,
)


@settings(max_examples=100, deadline=None)
@given(STEPS)
def test_whatever_happens_the_chain_says_what_its_blocks_say(steps: list[tuple[str, int]]) -> None:
    chain = fresh()
    people = (MINER, ALICE, BOB)
    for what, number in steps:
        if what == "pay":
            try:
                paid(chain, people[number % 3], COIN_SAT * (1 + number // 3), people[number // 4])
            except CannotPay:
                continue
        elif what == "mine":
            mined(chain, 1 + number // 6)
        elif what == "reorganise":
            chain.reorganise(1 + number, at_ms=later(chain))
        else:
            fork = chain.at(chain.tip.height - number)
            assert fork is not None
            chain.branch(fork, 1 + number // 2, at_ms=later(chain))
    assert_sound(chain)


# The story -----------------------------------------------------------------------------------------------------------


def test_a_world_begins_with_a_whole_chain() -> None:
    chain = seeding.begun(1, started_ms=NOW_MS)
    assert chain.tip.height >= 200
    assert chain.tip.header.time == NOW_MS // 1000
    assert_sound(chain)
    kinds = {
        scripts.kind_of(output.script)
        for block in active(chain)
        for each in block.transactions
        for output in each.outputs
    }
    assert {"pubkey", "pubkeyhash", "scripthash", "nulldata"} <= {kind.value for kind in kinds}
    assert {each.status for each in chain.tips()} == {"active", "valid-fork", "headers-only"}
    assert max(chain.mempool.ancestry(entry).count for entry in chain.mempool) >= 3


def test_the_story_depends_on_the_seed_and_headers_on_the_time() -> None:
    first, same, later_one, other = (
        seeding.begun(seed, started_ms=at_ms)
        for seed, at_ms in ((1, NOW_MS), (1, NOW_MS), (1, NOW_MS + 7_000), (2, NOW_MS))
    )
    assert first.tip.hash == same.tip.hash != later_one.tip.hash
    assert [block.txids_bytes for block in active(first)] == [block.txids_bytes for block in active(later_one)]
    assert [block.txids_bytes for block in active(first)] != [block.txids_bytes for block in active(other)]


def test_worlds_of_one_seed_do_not_touch_each_other() -> None:
    first, second = seeding.begun(1, started_ms=NOW_MS), seeding.begun(1, started_ms=NOW_MS)
    waiting = len(second.mempool)
    first.mine(at_ms=NOW_MS)
    first.reorganise(50, at_ms=NOW_MS)
    assert len(second.mempool) == waiting
    assert_sound(second)
    assert seeding.begun(1, started_ms=NOW_MS).tip.hash == second.tip.hash


def test_another_library_reads_the_same_blocks() -> None:
    """python-bitcoinlib has its own parameters of this network: work, form, merkle roots, ids."""
    bitcoin.SelectParams("regtest")
    try:
        chain = seeding.begun(1, started_ms=NOW_MS)
        for block in active(chain):
            theirs = bitcoin.core.CBlock.deserialize(block.raw)
            assert theirs.GetHash() == block.hash_bytes
            assert theirs.calc_merkle_root() == block.header.merkle_root_bytes
            bitcoin.core.CheckBlockHeader(theirs.get_header(), cur_time=NOW_MS // 1000)
            assert [each.GetTxid() for each in theirs.vtx] == list(block.txids_bytes)
            for each in theirs.vtx:
                bitcoin.core.CheckTransaction(each)
        assert active(chain)[0].raw == bitcoin.params.GENESIS_BLOCK.serialize()
    finally:
        bitcoin.SelectParams("mainnet")


@pytest.mark.parametrize("started_ms", [0, 1_000, 1_296_688_602_000, 4_294_967_295_000])
def test_a_world_can_begin_at_any_time(started_ms: int) -> None:
    assert_sound(seeding.begun(1, started_ms=started_ms))
