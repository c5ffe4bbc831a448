"""Headers, targets and work, against published blocks and another library."""

from decimal import Decimal

import bitcoin.core
import bitcoin.core.serialize
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaindata.wire import headers
from chaindata.wire.hashing import from_display_hex
from chaindata.wire.headers import Header, NotAHeader
from tests.chaindata.wire import vectors

MAIN, REGTEST = headers.EASIEST_TARGET["main"], headers.EASIEST_TARGET["regtest"]
GENESIS = headers.build(
    version=1,
    previous_bytes=bytes(32),
    merkle_root_bytes=from_display_hex("4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b"),
    time=1_296_688_602,
    bits=headers.REGTEST_BITS,
    nonce=2,
)
every = st.builds(
    Header,
    st.integers(-(2**31), 2**31 - 1),
    st.binary(min_size=32, max_size=32),
    st.binary(min_size=32, max_size=32),
    st.integers(0, 2**32 - 1),
    st.integers(0, 2**32 - 1),
    st.integers(0, 2**32 - 1),
)


def test_the_first_block_of_regtest_has_its_published_hash():
    assert GENESIS.hash == "0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206"
    headers.check_work(GENESIS, easiest_target=REGTEST)
    assert (GENESIS.work, headers.chainwork_text(2)) == (2, "0" * 63 + "2")


@pytest.mark.parametrize("proof", vectors.PROOFS, ids=lambda proof: proof["blockhash"][:16])
def test_published_headers_have_their_hash_and_their_work(proof):
    raw = bytes.fromhex(proof["proof"])[: headers.BYTES]
    header = headers.read(raw)
    assert (header.hash, header.raw) == (proof["blockhash"], raw)
    headers.check_work(header, easiest_target=MAIN)
    for _, changed in vectors.every_single_byte_change(raw):
        with pytest.raises(NotAHeader):
            headers.check_work(headers.read(changed), easiest_target=MAIN)


@given(every)
def test_another_library_reads_the_same_header(header):
    theirs = bitcoin.core.CBlockHeader.deserialize(header.raw)
    assert (theirs.GetHash(), theirs.hashMerkleRoot) == (header.hash_bytes, header.merkle_root_bytes)
    assert (theirs.nVersion, theirs.nTime, theirs.nBits, theirs.nNonce) == (
        header.version,
        header.time,
        header.bits,
        header.nonce,
    )
    assert headers.read(header.raw) == header


@given(st.integers(1, 2**255 - 1))
def test_another_library_writes_the_same_bits(target):
    bits = headers.bits_of(target)
    assert bits == bitcoin.core.serialize.compact_from_uint256(target)
    assert headers.target_of(bits) == bitcoin.core.serialize.uint256_from_compact(bits)
    assert headers.bits_of(headers.target_of(bits)) == bits
    assert headers.target_of(bits) <= target


@pytest.mark.parametrize("raw", [b"", bytes(79), bytes(81), bytes(8000)])
def test_a_header_has_eighty_bytes(raw):
    with pytest.raises(NotAHeader, match="80 bytes"):
        headers.read(raw)


@pytest.mark.parametrize("bits", [0, 0x01000000, 0x04800001, 0x20FFFFFF, 0x23000001, 0xFF7FFFFF, -1, 2**32, 0x02000000])
def test_bits_that_are_no_target_are_refused(bits):
    with pytest.raises(NotAHeader):
        headers.target_of(bits)
    with pytest.raises(NotAHeader):
        headers.difficulty_of(bits)


@pytest.mark.parametrize("target", [0, -1, 2**256])
def test_what_is_no_target_has_no_bits(target):
    with pytest.raises(NotAHeader):
        headers.bits_of(target)


@pytest.mark.parametrize(
    ("bits", "difficulty"),
    [
        (0x1D00FFFF, "1"),
        (0x207FFFFF, "4.6565423739069247E-10"),
        (0x1B0404CB, "16307.420938523983"),
        (0x18018D8C, "707943932963.13648"),
    ],
)
def test_difficulty_is_told_to_seventeen_digits(bits, difficulty):
    """The second from supplement 5.3, the third a figure everybody quotes."""
    exact = Decimal(0xFFFF << 208) / headers.target_of(bits)
    assert abs(headers.difficulty_of(bits) / exact - 1) < Decimal("1e-16")
    if bits != 0x18018D8C:
        assert headers.difficulty_of(bits) == Decimal(difficulty)


def test_an_easier_target_than_the_networks_is_refused():
    with pytest.raises(NotAHeader, match="easier"):
        headers.check_work(GENESIS, easiest_target=MAIN)
    lazy = [Header(1, bytes(32), bytes(32), 0, GENESIS.bits, nonce) for nonce in range(50)]
    with pytest.raises(NotAHeader, match="proof of work"):
        headers.check_work(next(each for each in lazy if not each.meets_target), easiest_target=REGTEST)


def mined(previous):
    """The first header after another one that has its work."""
    for nonce in range(100):
        header = Header(1, previous.hash_bytes, bytes(32), previous.time + 600, headers.REGTEST_BITS, nonce)
        if header.meets_target:
            return header
    raise AssertionError


def test_a_chain_is_headers_that_follow_each_other():
    chain = [GENESIS]
    for _ in range(5):
        chain.append(mined(chain[-1]))
    headers.check_chain(chain, easiest_target=REGTEST)
    for spoiled in ([*chain[:2], *chain[3:]], chain[::-1], [chain[0], chain[0]]):
        with pytest.raises(NotAHeader, match="does not follow"):
            headers.check_chain(spoiled, easiest_target=REGTEST)


def test_the_median_is_of_the_last_eleven():
    assert headers.median_time([5]) == 5
    assert headers.median_time([1, 9, 2]) == 2
    assert headers.median_time([10_000, *range(20, 9, -1)]) == 15
    assert headers.median_time([1, 2]) == 2
    with pytest.raises(NotAHeader):
        headers.median_time([])


@pytest.mark.parametrize(
    "changed",
    [{"time": -1}, {"time": 2**32}, {"bits": 2**32}, {"nonce": -1}, {"version": 2**31}, {"previous_bytes": bytes(31)}],
)
def test_parts_without_bytes_are_refused(changed):
    parts = {
        "version": 1,
        "previous_bytes": bytes(32),
        "merkle_root_bytes": bytes(32),
        "time": 0,
        "bits": 0,
        "nonce": 0,
    }
    with pytest.raises(NotAHeader):
        headers.build(**{**parts, **changed})


def test_hashes_are_shown_reversed():
    after = mined(GENESIS)
    assert after.previous_hash == GENESIS.hash
    assert GENESIS.merkle_root == "4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b"


def test_each_network_has_its_easiest_target():
    bits = {network: headers.bits_of(target) for network, target in headers.EASIEST_TARGET.items()}
    assert bits == {"main": 0x1D00FFFF, "test": 0x1D00FFFF, "regtest": 0x207FFFFF}
    assert all(headers.target_of(bits[network]) == target for network, target in headers.EASIEST_TARGET.items())
