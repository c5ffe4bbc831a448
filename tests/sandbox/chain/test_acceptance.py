"""What a transaction must be to wait for a block, each rule at its edge, in the node's words."""

import bitcash
import coincurve
import pytest
from bitcash.network.meta import Unspent
from bitcash.transaction import calc_txid
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chaindata.wire import transactions
from chaindata.wire.addresses import Network
from chaindata.wire.scripts import steps
from chaindata.wire.scripts.sighash import Digests
from chaindata.wire.transactions import Input, Output, Transaction
from sandbox.chain.node import acceptance, standardness
from sandbox.chain.node.terms import Refused
from tests.sandbox.chain.assembling import code
from tests.sandbox.chain.small_chain import AT_MS, COIN_SAT, FEE_SAT, SmallChain, small

__all__ = ["small"]
HASHED = steps.locking(steps.script_hash_address(b"", Network.REGTEST))  # pays to the hash of a script


def kept(small: SmallChain, *outputs: Output) -> tuple[Output, ...]:
    """These outputs, and one that takes the rest of a coin of ten."""
    change_sat = 10 * COIN_SAT - FEE_SAT - sum(each.value_sat for each in outputs)
    return (*outputs, Output(change_sat, small.other.script))


# What is taken -------------------------------------------------------------------------------------------------------


def test_a_payment_waits_with_its_fee_and_is_mined(small):
    made = small.accept(small.pay())
    entry = small.chain.mempool.get(made.txid_bytes)
    assert (entry.fee_sat, entry.entered_ms) == (FEE_SAT, AT_MS)
    assert small.accept(made) == made
    assert len(small.chain.mempool) == 1  # told again, it waits once
    small.mine()
    assert small.refusal(made) == "transaction already in block chain"


def test_what_waits_can_be_spent(small):
    parent = small.accept(small.pay(*kept(small, Output(9 * COIN_SAT, small.owner.script))))
    child = small.pay(Output(9 * COIN_SAT - FEE_SAT, small.other.script), coins=[(parent.txid_bytes, 0)])
    small.accept(child)
    assert small.chain.mempool.ancestors(child.txid_bytes) == {parent.txid_bytes}


@pytest.mark.parametrize(
    "form", ["key", "key hash", "multisig", "note of 223 bytes", "546 satoshis", "540 to a script"]
)
def test_usual_outputs_are_taken(small, form):
    keys = [small.owner.key.public_key] * 3
    outputs = {
        "key": Output(COIN_SAT, small.other.key_script),
        "key hash": Output(COIN_SAT, small.other.script),
        "multisig": Output(COIN_SAT, steps.multisig(2, keys)),
        "note of 223 bytes": Output(0, steps.returning([bytes(220)])),
        "546 satoshis": Output(546, small.other.script),
        "540 to a script": Output(540, HASHED),
    }
    small.accept(small.pay(*kept(small, outputs[form])))
    assert len(small.chain.mempool) == 1


# Form ----------------------------------------------------------------------------------------------------------------


def bare(inputs: list[Input], outputs: list[Output]) -> Transaction:
    return transactions.build(inputs=inputs, outputs=outputs)


SOMEBODY = Output(COIN_SAT, HASHED)
SPENT = Input(b"\x01" * 32, 0, bytes([75]) + bytes(75))
COINBASE = Input(bytes(32), transactions.COINBASE_INDEX, b"\x01\x02\x03" + bytes(60))


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (bare([], [SOMEBODY] * 4), "bad-txns-vin-empty (code 16)"),
        (bare([SPENT], []), "bad-txns-vout-empty (code 16)"),
        (bare([Input(b"\x01" * 32, 0, b"")], [SOMEBODY]), "bad-txns-undersize (code 64)"),
        (bare([SPENT], [Output(-1, HASHED)]), "bad-txns-vout-negative (code 16)"),
        (bare([SPENT], [Output(transactions.MOST_SAT + 1, HASHED)]), "bad-txns-vout-toolarge (code 16)"),
        (bare([SPENT], [Output(transactions.MOST_SAT, HASHED)] * 2), "bad-txns-txouttotal-toolarge (code 16)"),
        (bare([SPENT, SPENT], [SOMEBODY]), "bad-txns-inputs-duplicate (code 16)"),
        (bare([SPENT, COINBASE], [SOMEBODY]), "bad-txns-prevout-null (code 16)"),
        (bare([COINBASE], [SOMEBODY]), "bad-tx-coinbase (code 16)"),
        (bare([SPENT], [Output(0, code("CHECKMULTISIG ") * 1001)]), "bad-txn-sigops (code 16)"),
    ],
)
def test_what_no_block_holds(small, wrong, reason):
    assert small.refusal(wrong) == reason


@pytest.mark.parametrize("version", [0, 3, -1, 2**31 - 1])
def test_odd_versions_are_not_relayed(small, version):
    assert small.refusal(small.pay(version=version)) == "version (code 64)"


@pytest.mark.parametrize(
    "odd",
    [
        b"",
        code("1"),
        code("RETURN DUP"),
        b"\x6a\x05ab",
        b"\x6a\x4c",
        b"\x6a\x4e\xff\xff\xff\xff",
        steps.returning([bytes(221)]),
        code("DUP HASH160"),
        b"\x21" + bytes(40),
    ],
)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_odd_outputs_are_not_relayed_wherever_they_stand(small, odd, place):
    outputs = [Output(COIN_SAT, small.other.script), Output(COIN_SAT, small.other.script)]
    outputs.insert(place, Output(COIN_SAT, odd))
    assert small.refusal(small.pay(*outputs)) == "scriptpubkey (code 64)"


def test_a_multisig_of_four_keys_is_an_odd_output(small):
    four = steps.multisig(1, [small.owner.key.public_key] * 4)
    assert small.refusal(small.pay(*kept(small, Output(COIN_SAT, four)))) == "scriptpubkey (code 64)"


@pytest.mark.parametrize(("locking", "least_sat"), [("hash", 546), ("script", 540), ("key", 576)])
def test_dust(small, locking, least_sat):
    script = {"hash": small.other.script, "script": HASHED, "key": small.other.key_script}[locking]
    assert standardness.dust_sat(Output(0, script)) == least_sat
    assert small.refusal(small.pay(*kept(small, Output(least_sat - 1, script)))) == "dust (code 64)"
    small.accept(small.pay(*kept(small, Output(least_sat, script))))


def test_one_note_only(small):
    note = Output(0, steps.returning([b"note"]))
    assert small.refusal(small.pay(*kept(small, note, note))) == "multi-op-return (code 64)"
    small.accept(small.pay(*kept(small, note)))


def test_sizes(small):
    def of(outputs: int) -> Transaction:
        many = [Output(1_000, small.other.script)] * outputs  # of 34 bytes
        return small.pay(*many, Output(10 * COIN_SAT - outputs * 1_000 - 200_000, small.other.script))

    large = of(2_936)
    assert standardness.MOST_BYTES < large.size < standardness.MOST_BYTES + 100
    assert small.refusal(large) == "tx-size (code 64)"
    small.accept(of(2_930))


def test_what_unlocks_is_bounded_and_pushes_only(small):
    def unlocked(script: bytes) -> Transaction:
        return transactions.build(inputs=[Input(*small.coins[0], script)], outputs=kept(small))

    assert small.refusal(unlocked(steps.push(bytes(520)) * 3 + bytes(83))) == "scriptsig-size (code 64)"
    assert (
        small.refusal(unlocked(code("'about-as-much-ado-as-is-needed-here' DUP"))) == "scriptsig-not-pushonly (code 64)"
    )
    assert small.refusal(unlocked(steps.push(bytes(30)) + b"\x05ab")) == "scriptsig-not-pushonly (code 64)"


# Time ----------------------------------------------------------------------------------------------------------------


def test_a_locktime_of_height(small):
    height = small.chain.tip.height
    early = small.pay(locktime=height + 1, sequence=0)
    assert small.refusal(early) == "bad-txns-nonfinal, non-final transaction (code 64)"
    small.mine()
    small.accept(early)


def test_a_locktime_is_void_when_every_sequence_is_final(small):
    small.accept(small.pay(locktime=small.chain.tip.height + 1_000))


def test_a_locktime_of_time_looks_at_the_median_of_blocks(small):
    median_s = small.chain.median_time_s(small.chain.tip)
    assert "non-final" in small.refusal(small.pay(locktime=median_s, sequence=1, version=1))
    small.accept(small.pay(locktime=median_s - 1, sequence=1, version=1))


def test_an_age_in_blocks(small):
    confirmations = 2  # of the coins; in the next block it will be one more
    small.accept(small.pay(sequence=confirmations))
    other = {"coins": small.coins[1:2]}
    assert small.refusal(small.pay(sequence=confirmations + 1, **other)) == "non-BIP68-final (code 64)"
    small.accept(small.pay(sequence=confirmations + 1, version=1, **other))
    small.accept(small.pay(sequence=1 << 31 | 1_000, coins=small.coins[2:3]))


def test_an_age_of_what_waits_is_none(small):
    parent = small.accept(small.pay(Output(9 * COIN_SAT + 99_000_000, small.owner.script)))
    spending = {"coins": [(parent.txid_bytes, 0)]}
    output = Output(9 * COIN_SAT + 98_000_000, small.other.script)
    assert small.refusal(small.pay(output, sequence=1, **spending)) == "non-BIP68-final (code 64)"
    small.accept(small.pay(output, sequence=0, **spending))


def test_an_age_in_time(small):
    unit, place = 1 << 22, small.chain.find(small.coins[0][0])
    begun_s = small.chain.median_time_s(small.chain.at(place.block.height - 1))
    passed = (small.chain.median_time_s(small.chain.tip) - begun_s) // 512
    assert passed >= 1
    assert small.refusal(small.pay(sequence=unit | passed + 1)) == "non-BIP68-final (code 64)"
    small.accept(small.pay(sequence=unit | passed))


# Inputs --------------------------------------------------------------------------------------------------------------


def test_inputs_have_to_be_there(small):
    unknown = small.pay(Output(COIN_SAT // 2, small.other.script), coins=[(b"\x07" * 32, 0)])
    assert small.refusal(unknown) == "Missing inputs"
    beyond = small.pay(Output(COIN_SAT // 2, small.other.script), coins=[(small.coins[0][0], 99)])
    assert small.refusal(beyond) == "Missing inputs"
    parent = small.accept(small.pay())
    beyond = small.pay(Output(COIN_SAT // 2, small.other.script), coins=[(parent.txid_bytes, 1)])
    assert small.refusal(beyond) == "Missing inputs"


def test_a_second_spending_is_refused_while_the_first_waits_and_after(small):
    small.accept(small.pay())
    second = small.pay(Output(9 * COIN_SAT + 95_000_000, small.owner.script))
    assert small.refusal(second) == "txn-mempool-conflict (code 18)"
    both = small.pay(Output(19 * COIN_SAT + 95_000_000, small.owner.script), coins=[small.coins[1], small.coins[0]])
    assert small.refusal(both) == "txn-mempool-conflict (code 18)"
    small.mine()
    assert small.refusal(second) == "Missing inputs"
    assert small.refusal(both) == "Missing inputs"


def test_after_a_reorganisation_what_was_mined_waits_again_and_its_rival_is_refused(small):
    first = small.accept(small.pay())
    small.mine()
    small.chain.reorganise(1, at_ms=AT_MS * 2)
    assert first.txid_bytes in small.chain.mempool
    second = small.pay(Output(9 * COIN_SAT + 95_000_000, small.owner.script))
    assert small.refusal(second) == "txn-mempool-conflict (code 18)"


def test_a_reward_has_to_ripen(small):
    def of(depth: int) -> Transaction:
        block = small.chain.at(small.chain.tip.height + 1 - depth)
        output = Output(block.transactions[0].value_out_sat - FEE_SAT, small.other.script)
        return small.spend([output], coins=[(block.txids_bytes[0], 0)], by=small.author.miner)

    why = "bad-txns-premature-spend-of-coinbase, tried to spend coinbase at depth 99 (code 16)"
    assert small.refusal(of(99)) == why
    small.accept(of(100))


def test_outputs_are_worth_no_more_than_inputs(small):
    more = small.pay(Output(10 * COIN_SAT + 1, small.other.script))
    why = "bad-txns-in-belowout, value in (10.00) < value out (10.00000001) (code 16)"
    assert small.refusal(more) == why
    assert [acceptance.money(each) for each in (0, 1, 10, 150_000_000)] == ["0.00", "0.00000001", "0.0000001", "1.50"]


def test_fees_have_a_least_and_a_most(small):
    size = small.pay().size
    for fee_sat in (0, size - 2):
        cheap = small.pay(Output(10 * COIN_SAT - fee_sat, small.other.script))
        assert small.refusal(cheap) == "min relay fee not met (code 66)"
    high = small.pay(Output(10 * COIN_SAT - 10_000_001, small.other.script))
    assert small.refusal(high) == "absurdly-high-fee, 10000001 > 10000000 (code 256)"
    small.accept(small.pay(Output(10 * COIN_SAT - 10_000_000, small.other.script)))
    small.accept(small.pay(Output(10 * COIN_SAT - size - 1, small.other.script), coins=small.coins[1:2]))


def test_scripts_under_a_hash_must_be_there(small):
    coin = small.locked(code("1"))
    assert small.refusal(small.unlock(coin, b"")) == "bad-txns-nonstandard-inputs (code 64)"


@pytest.mark.parametrize("inner", ["0 IF " + "CHECKSIG DROP " * 16 + "ENDIF 1", "0 0 0 CHECKMULTISIG"])
def test_scripts_under_a_hash_may_name_any_number_of_checks(small, inner):
    """What counts is how many are made as they run (May 2020; supplement 10)."""
    script = code(inner)
    small.accept(small.unlock(small.locked(script), steps.push(script)))


@pytest.mark.parametrize(("checks", "is_taken"), [(3, True), (5, False)])
def test_an_input_has_bytes_for_the_checks_that_it_asks_for(small, checks, is_taken):
    """43 for each, less 60: here 113 bytes and two more for each check but the first (supplement 10)."""
    message, key = b"some words", coincurve.PrivateKey.from_int(77)
    inner = steps.push(message) + steps.push(key.public_key.format())
    inner += code("3DUP CHECKDATASIGVERIFY") * (checks - 1) + code("CHECKDATASIG")
    unlocking = steps.push(key.sign(message)) + steps.push(inner)
    assert (len(unlocking) >= 43 * checks - 60) is is_taken
    spending = small.unlock(small.locked(inner), unlocking)
    if is_taken:
        small.accept(spending)
    else:
        why = "non-mandatory-script-verify-flag (Input SigChecks limit exceeded) (code 64)"
        assert small.refusal(spending) == why


def test_too_many_checks_in_one_transaction(small):
    output = Output(1_000, steps.multisig(1, [small.owner.key.public_key]))  # counts as twenty

    def of(outputs: int) -> Transaction:
        change_sat = 10 * COIN_SAT - outputs * 1_000 - 20_000
        return small.pay(*([output] * outputs), Output(change_sat, HASHED))

    assert small.refusal(of(201)) == "bad-txns-too-many-sigops, 4020 (code 64)"
    small.accept(of(200))


# Relatives -----------------------------------------------------------------------------------------------------------


def test_a_line_of_fifty_waits(small):
    coin, value_sat = small.coins[0], 10 * COIN_SAT
    for _ in range(50):
        value_sat -= FEE_SAT
        coin = (small.accept(small.pay(Output(value_sat, small.owner.script), coins=[coin])).txid_bytes, 0)
    last = small.pay(Output(value_sat - FEE_SAT, small.owner.script), coins=[coin])
    refusal = small.refusal(last)
    assert refusal.startswith("too-long-mempool-chain, too many descendants for tx ")
    assert refusal.endswith(" [limit: 50] (code 64)")
    small.mine()
    small.accept(last)


def test_fifty_ancestors_side_by_side_are_too_many(small):
    spread = small.accept(small.pay(*[Output(10_000_000, small.owner.script) for _ in range(99)]))
    small.mine()
    parents = [
        small.accept(small.pay(Output(9_990_000, small.owner.script), coins=[(spread.txid_bytes, n)]))
        for n in range(50)
    ]
    coins = [(each.txid_bytes, 0) for each in parents]
    output = Output(9_990_000 * 49 - 20_000, small.other.script)
    refusal = small.refusal(small.pay(Output(9_990_000 * 50 - 20_000, small.other.script), coins=coins))
    assert refusal == "too-long-mempool-chain, too many unconfirmed ancestors [limit: 50] (code 64)"
    small.accept(small.pay(output, coins=coins[:49]))


def test_the_bytes_of_relatives_are_bounded(small):
    coin, value_sat = small.coins[0], 10 * COIN_SAT
    many = [Output(1_000, small.other.script)] * 1_400
    for _ in range(2):
        value_sat -= 1_400 * 1_000 + 100_000
        made = small.pay(*many, Output(value_sat, small.owner.script), coins=[coin])
        coin = (small.accept(made).txid_bytes, 1_400)
    third = small.pay(*many, Output(value_sat - 1_400 * 1_000 - 100_000, small.owner.script), coins=[coin])
    refusal = small.refusal(third)
    assert refusal.startswith("too-long-mempool-chain, exceeds descendant size limit for tx ")
    assert refusal.endswith(" [limit: 101000] (code 64)")


def test_the_bytes_of_parents_side_by_side_are_bounded(small):
    many = [Output(1_000, small.other.script)] * 980  # more than 33,333 bytes
    rest = Output(10 * COIN_SAT - 980 * 1_000 - 50_000, small.owner.script)
    parents = [(small.accept(small.pay(*many, rest, coins=[coin])).txid_bytes, 980) for coin in small.coins[:3]]
    value_sat = 3 * rest.value_sat - FEE_SAT
    refusal = small.refusal(small.pay(Output(value_sat, small.other.script), coins=parents))
    assert refusal == "too-long-mempool-chain, exceeds ancestor size limit [limit: 101000] (code 64)"
    small.accept(small.pay(Output(value_sat - rest.value_sat, small.other.script), coins=parents[:2]))


# Scripts -------------------------------------------------------------------------------------------------------------


def test_what_does_not_unlock(small):
    made = small.pay()
    signature, key = (step.pushed for step in steps.steps(made.inputs[0].script))
    other = steps.push(small.other.key.public_key)

    def unlocked(script: bytes) -> Transaction:
        return transactions.build(inputs=[Input(*small.coins[0], script)], outputs=made.outputs)

    failed = "mandatory-script-verify-flag-failed"
    refused = {
        steps.push(signature) + other: f"{failed} (Script failed an OP_EQUALVERIFY operation) (code 16)",
        steps.push(signature[:-2] + bytes([signature[-2] ^ 1]) + b"\x41") + steps.push(key): (
            f"{failed} (Signature must be zero for failed CHECK(MULTI)SIG operation) (code 16)"
        ),
        steps.push(signature[:-1] + b"\x01") + steps.push(key): (
            f"{failed} (Signature must use SIGHASH_FORKID) (code 16)"
        ),
        code("1") + steps.push(signature) + steps.push(key): (
            "non-mandatory-script-verify-flag (Extra items left on stack after execution) (code 64)"
        ),
        steps.push(key): f"{failed} (Operation not valid with the current stack size) (code 16)",
    }
    for unlocking, reason in refused.items():
        assert small.refusal(unlocked(unlocking)) == reason
    small.accept(unlocked(steps.push(signature) + steps.push(key)))


def test_each_byte_of_a_payment_counts(small):
    raw = small.pay().raw
    for place in range(len(raw)):
        changed = raw[:place] + bytes([raw[place] ^ 0x01]) + raw[place + 1 :]
        with pytest.raises(Refused):
            small.chain.accept(changed, at_ms=AT_MS)
        with pytest.raises(Refused):
            small.chain.accept(raw[:place], at_ms=AT_MS)
    assert len(small.chain.mempool) == 0
    small.chain.accept(raw, at_ms=AT_MS)


def test_locks_of_hash_and_time_open_when_they_should(small):
    secret = b"open sesame"
    locks: list[tuple[bytes, bytes, dict[str, int]]] = [
        (code(f"SHA256 <{steps.hash160(b'').hex()}> EQUAL NOT"), steps.push(secret), {}),
        (code("100 CHECKLOCKTIMEVERIFY"), b"", {"locktime": 100, "sequence": 0}),
        (code("1 CHECKSEQUENCEVERIFY"), b"", {"sequence": 1}),
        (code("IF 3 ADD 5 EQUAL ELSE 'ab' 'cd' CAT 'abcd' EQUAL ENDIF"), code("2 1"), {}),
        (code("'ab' 'cd' CAT EQUAL"), code("'abcd'"), {}),
    ]
    for inner, unlocking, more in locks:
        coin = small.locked(inner)
        small.accept(small.unlock(coin, unlocking + steps.push(inner), **more))


def test_a_lock_of_time_stays_shut_as_what_is_relayed_only(small):
    inner = code("100 CHECKLOCKTIMEVERIFY")
    early = small.unlock(small.locked(inner), steps.push(inner), locktime=99, sequence=0)
    why = "non-mandatory-script-verify-flag (Locktime requirement not satisfied) (code 64)"
    assert small.refusal(early) == why


# Other people's transactions -----------------------------------------------------------------------------------------


def theirs(small: SmallChain, number: int) -> tuple[bitcash.PrivateKeyTestnet, list[Unspent]]:
    """A key of theirs with three outputs of the chain."""
    key = bitcash.PrivateKeyTestnet.from_int(number)
    locking = bytes.fromhex(key.scriptcode.hex())
    made = small.accept(small.pay(*kept(small, *[Output(COIN_SAT, locking)] * 3)))
    small.mine()
    return key, [Unspent(COIN_SAT, 1, locking.hex(), made.txid, n) for n in range(3)]


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(number=st.integers(1, 2**200), shares=st.lists(st.integers(546, 50_000_000), min_size=1, max_size=4))
def test_payments_of_another_library_are_taken(number, shares):
    small = SmallChain()
    key, unspents = theirs(small, number)
    outputs = [(bitcash.PrivateKeyTestnet.from_int(7).address, each, "satoshi") for each in shares]
    raw = key.create_transaction(outputs, fee=2, unspents=unspents, message="hello")
    made = small.chain.accept(bytes.fromhex(raw), at_ms=AT_MS)
    assert small.chain.mempool.get(made.txid_bytes).fee_sat >= made.size
    assert made.txid == calc_txid(raw)


def test_a_multisig_signed_by_another_library_is_taken(small):
    keys = [coincurve.PrivateKey.from_int(number) for number in (3, 4, 5)]
    inner = steps.multisig(2, [each.public_key.format() for each in keys])
    coin = small.locked(inner)
    bare = small.unlock(coin, bytes(100))
    digest = Digests(bare).digest(0, script_code=inner, value_sat=COIN_SAT)
    signatures = [steps.push(each.sign(digest, hasher=None) + b"\x41") for each in keys]
    for chosen in ((0,), (1, 0), (0, 0), (0, 1, 2)):
        unlocking = b"\x00" + b"".join(signatures[each] for each in chosen) + steps.push(inner)
        assert "script-verify-flag" in small.refusal(small.unlock(coin, unlocking))
    small.accept(small.unlock(coin, b"\x00" + signatures[0] + signatures[2] + steps.push(inner)))


HASH_TYPES = st.sampled_from([0x41, 0x42, 0x43, 0xC1, 0xC2, 0xC3])


@given(st.lists(HASH_TYPES, min_size=1, max_size=5), st.integers(1, 4), st.randoms(use_true_random=False))
def test_each_input_signed_by_another_library_as_it_likes(hash_types, outputs, dice):
    """Whatever each of them signs; and nothing with one bit changed in a signature, or with two exchanged."""
    key = coincurve.PrivateKey.from_int(int(CHAIN.owner.key.secret.reveal(), 16))
    spent = [Input(*coin, b"", dice.randrange(2**31, 2**32)) for coin in dice.sample(CHAIN.coins, len(hash_types))]
    shares = [Output(len(spent) * 10 * COIN_SAT // outputs - FEE_SAT, CHAIN.other.script)] * outputs
    bare = transactions.build(inputs=spent, outputs=shares)
    digests = Digests(bare)

    def unlocked(signatures: list[bytes]) -> Transaction:
        tail = steps.push(key.public_key.format())
        return transactions.build(
            inputs=[
                Input(each.txid_bytes, each.index, steps.push(signature) + tail, each.sequence)
                for each, signature in zip(spent, signatures, strict=True)
            ],
            outputs=shares,
        )

    signatures = []
    for index, hash_type in enumerate(hash_types):
        code_signed, value_sat = CHAIN.owner.script, 10 * COIN_SAT
        digest = digests.digest(index, script_code=code_signed, value_sat=value_sat, hash_type=hash_type)
        signatures.append(key.sign(digest, hasher=None) + bytes([hash_type]))
    assert (
        acceptance.check(CHAIN.chain, unlocked(signatures)) == FEE_SAT * outputs + len(spent) * 10 * COIN_SAT % outputs
    )
    which = dice.randrange(len(spent))
    bent = bytearray(signatures[which])
    bent[dice.randrange(len(bent))] ^= 1 << dice.randrange(8)
    with pytest.raises(Refused):
        acceptance.check(CHAIN.chain, unlocked([*signatures[:which], bytes(bent), *signatures[which + 1 :]]))
    if len(spent) > 1:
        with pytest.raises(Refused):
            acceptance.check(CHAIN.chain, unlocked([*signatures[1:], signatures[0]]))


@given(st.binary(max_size=400))
def test_any_bytes_are_refused(raw):
    with pytest.raises(Refused):
        CHAIN.chain.accept(raw, at_ms=AT_MS)


@given(st.integers(0, 225), st.sampled_from([0x00, 0x01, 0x7F, 0x80, 0xFD, 0xFE, 0xFF]), st.integers(0, 3))
def test_bytes_changed_cut_or_repeated_are_refused(place, byte, cut):
    raw = RAW[:place] + bytes([byte]) + RAW[place + cut :]
    if raw != RAW:
        with pytest.raises(Refused):
            CHAIN.chain.accept(raw, at_ms=AT_MS)


CHAIN = SmallChain()
RAW = CHAIN.pay().raw
