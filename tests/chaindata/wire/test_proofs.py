"""Merkle trees and proofs, against published blocks, another library, and every way to spoil one."""

import hashlib
import time

import bitcoin.core
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chaindata.wire import headers, merkle, proofs
from chaindata.wire.hashing import from_display_hex
from chaindata.wire.headers import Header
from chaindata.wire.merkle import NotATree
from chaindata.wire.proofs import NotAProof, Proof
from tests.chaindata.wire import vectors

MAIN = headers.EASIEST_TARGET["main"]


def leaves(count):
    return [hashlib.sha256(str(n).encode()).digest() for n in range(count)]


def header_over(ids):
    """The first header over these transactions that has its work."""
    made = (Header(1, bytes(32), merkle.root(ids), 0, headers.REGTEST_BITS, nonce) for nonce in range(1000))
    return next(header for header in made if header.meets_target)


# Trees ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [*range(1, 20), 31, 32, 33, 100, 482])
def test_another_library_computes_the_same_root(count):
    ids = leaves(count)
    assert merkle.root(ids) == bitcoin.core.CBlock.build_merkle_tree_from_txids(list(ids))[-1]


@pytest.mark.parametrize("count", [*range(1, 12), 33])
def test_every_branch_leads_to_the_root_and_no_other_place_does(count):
    ids = leaves(count)
    root = merkle.root(ids)
    for index in range(count):
        branch = merkle.branch(ids, index)
        assert merkle.root_of_branch(ids[index], index, branch) == root
        for other in range(1 << len(branch)):
            same_leaf_again = other >= count  # the last one is paired with itself
            assert (merkle.root_of_branch(ids[index], other, branch) == root) == (other == index) or same_leaf_again
    with pytest.raises(NotATree):
        merkle.branch(ids, count)
    with pytest.raises(NotATree):
        merkle.root_of_branch(ids[0], 1 << len(merkle.branch(ids, 0)), merkle.branch(ids, 0))
    with pytest.raises(NotATree):
        merkle.root_of_branch(ids[0], -1, merkle.branch(ids, 0))


def test_a_block_of_repeated_transactions_has_no_root():
    """CVE-2012-2459: five transactions have the root of six, the last two of them equal."""
    ids = leaves(5)
    with pytest.raises(NotATree, match="adjacent"):
        merkle.root([*ids, ids[-1]])
    with pytest.raises(NotATree, match="at least one"):
        merkle.root([])


# Published proofs ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("published", vectors.PROOFS, ids=lambda published: str(published["block_tx_count"]))
def test_a_published_proof_holds(published):
    proof = proofs.read(bytes.fromhex(published["proof"]))
    found = proofs.check(proof, easiest_target=MAIN, transactions=published["block_tx_count"])
    assert [each.txid for each in found] == published["txids"]
    assert (proof.header.hash, proof.transactions) == (published["blockhash"], published["block_tx_count"])
    assert proof.raw.hex() == published["proof"]


def test_a_published_proof_names_the_place():
    (found,) = proofs.proven(proofs.read(bytes.fromhex(vectors.PROOFS[1]["proof"])))
    assert found.position == 354


@pytest.mark.parametrize("published", vectors.PROOFS, ids=lambda published: str(published["block_tx_count"]))
def test_every_single_byte_change_of_a_published_proof_is_refused(published):
    """Given the number of the block's transactions, which a proof itself binds only along the tree's right edge."""
    known = {"easiest_target": MAIN, "transactions": published["block_tx_count"]}
    wanted = {from_display_hex(txid) for txid in published["txids"]}
    unnoticed = [
        place
        for place, changed in vectors.every_single_byte_change(bytes.fromhex(published["proof"]))
        if not is_refused(changed, txids_bytes=wanted, **known)
    ]
    assert unnoticed == []


def is_refused(raw, **known):
    try:
        proofs.check(proofs.read(raw), **known)
    except NotAProof:
        return True
    return False


def test_a_neighbour_marked_as_proven_stands_in_the_block():
    """One bit more in the third proof marks the next leaf: true, and not what was asked for."""
    raw = bytes.fromhex(vectors.PROOFS[2]["proof"])
    two = proofs.read(raw[:-1] + b"\x01")
    first, second = proofs.proven(two)
    assert (first.txid, second.position) == (vectors.TRANSACTION_ID, first.position + 1)
    with pytest.raises(NotAProof, match="different transactions"):
        proofs.check(two, easiest_target=MAIN, txids_bytes={from_display_hex(vectors.TRANSACTION_ID)})


@pytest.mark.parametrize("published", vectors.PROOFS, ids=lambda published: str(published["block_tx_count"]))
def test_every_cut_and_addition_is_refused(published):
    raw = bytes.fromhex(published["proof"])
    for spoiled in [raw[:length] for length in range(len(raw))] + [raw + b"\x00", raw * 2]:
        with pytest.raises(NotAProof):
            proofs.read(spoiled)


# Any proof -----------------------------------------------------------------------------------------------------------


@given(st.integers(1, 70), st.sets(st.integers(0, 69), min_size=1))
def test_what_is_proven_is_what_was_wanted(count, places):
    ids = leaves(count)
    wanted = {place % count for place in places}
    proof = proofs.build(header_over(ids), ids, {ids[place] for place in wanted})
    assert proofs.read(proof.raw) == proof
    found = proofs.proven(proofs.read(proof.raw), transactions=count)
    assert {(each.position, each.txid_bytes) for each in found} == {(place, ids[place]) for place in wanted}
    assert [each.position for each in found] == sorted(wanted)


@given(st.integers(1, 40), st.integers(0, 39), st.integers(0, 10**6), st.integers(1, 255))
def test_any_changed_byte_is_refused(count, place, where, change):
    ids, wanted = leaves(count), {leaves(count)[place % count]}
    raw = bytearray(proofs.build(header_over(ids), ids, {ids[place % count]}).raw)
    # The header's other members are bound by its hash, not by the tree.
    bound = [*range(36, 68), *range(80, len(raw))]
    raw[bound[where % len(bound)]] ^= change
    assert is_refused(
        bytes(raw), easiest_target=headers.EASIEST_TARGET["regtest"], transactions=count, txids_bytes=wanted
    )


@given(st.binary(max_size=400))
def test_any_bytes_are_refused_with_a_sentence(raw):
    with pytest.raises(NotAProof, match=r"\.$"):
        proofs.proven(proofs.read(raw))


def forged(**changed):
    ids = leaves(5)
    proof = proofs.build(header_over(ids), ids, {ids[3]})
    parts = {"header": proof.header, "transactions": 5, "hashes": proof.hashes, "bits": proof.bits, **changed}
    return Proof(**parts)


@pytest.mark.parametrize(
    ("proof", "sentence"),
    [
        (forged(bits=b""), "too few bits"),
        (forged(bits=b"\x00"), "more hashes|merkle root"),
        (forged(hashes=()), "too few hashes"),
        (forged(hashes=(*forged().hashes, bytes(32))), "more hashes"),
        (forged(bits=forged().bits + b"\x00"), "more bits"),
        (forged(bits=bytes([forged().bits[0]]) + bytes([forged().bits[-1] | 0x80])), "more bits|equal|few|root"),
        (forged(hashes=forged().hashes[::-1]), "merkle root"),
        (forged(transactions=4), "more|few|root"),
        (Proof(forged().header, 1, (forged().header.merkle_root_bytes,), b"\x00"), "contains no transaction"),
    ],
)
def test_a_forged_proof_is_refused(proof, sentence):
    with pytest.raises(NotAProof, match=sentence):
        proofs.proven(proof)


def test_two_equal_halves_are_refused():
    """CVE-2012-2459 once more: six transactions, the last two equal, under the root of five."""
    ids = leaves(5)
    doubled = [*ids, ids[-1]]
    root = merkle.root(ids)
    assert root == bitcoin.core.CBlock.build_merkle_tree_from_txids(doubled)[-1]
    header = Header(1, bytes(32), root, 0, headers.REGTEST_BITS, 0)
    proof = proofs.build(header, doubled, {ids[-1]})
    with pytest.raises(NotAProof, match="identical"):
        proofs.proven(proof)


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [(set(), "No transactions requested"), ({bytes(32)}, "1 of the transactions are not in the block")],
)
def test_what_does_not_stand_in_the_block_is_not_proven(wanted, sentence):
    ids = leaves(3)
    with pytest.raises(NotAProof, match=sentence):
        proofs.build(header_over(ids), ids, wanted)
    with pytest.raises(NotAProof, match="does not belong to a block"):
        proofs.build(header_over(leaves(4)), ids, {ids[0]})


def raw_with(transactions, hashes, bits):
    return forged().header.raw + transactions.to_bytes(4, "little") + hashes + bits


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        (raw_with(0, b"\x00", b"\x00"), "0 transactions"),
        (raw_with(2**32 - 1, b"\x00", b"\x00"), "4294967295 transactions"),
        (raw_with(1, b"\xff" * 9, b"\x00"), "cut short"),
        (raw_with(1, b"\xfd\x01\x00" + bytes(32), b"\x01\x01"), "not minimally encoded"),
        (raw_with(1, b"\x02" + bytes(64), b"\x01\x01"), "can't have 2 hashes"),
        (raw_with(9, b"\x09" + bytes(288), b"\x01\x01"), "can't have 9 hashes"),
        (bytes(proofs.MOST_BYTES + 1), "up to"),
        (bytes.fromhex(vectors.PROOFS[0]["proof"])[:80], "cut short"),
    ],
)
def test_promises_of_a_proof_are_bounded(raw, sentence):
    with pytest.raises(NotAProof, match=sentence):
        proofs.read(raw)


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 2**16))
def test_the_largest_hostile_proof_takes_no_long_time(seed):
    """As many hashes and bits as fit: refused after one walk at most."""
    count = 31_000
    hashes = hashlib.shake_128(str(seed).encode()).digest(32 * count)
    bits = hashlib.shake_128(b"bits" + str(seed).encode()).digest(4_000)
    body = b"\xfd" + count.to_bytes(2, "little") + hashes + b"\xfd" + len(bits).to_bytes(2, "little") + bits
    began = time.process_time()
    with pytest.raises(NotAProof):
        proofs.proven(proofs.read(raw_with(proofs.MOST_TRANSACTIONS, body, b"")))
    assert time.process_time() - began < 2
