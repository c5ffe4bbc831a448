"""Cash addresses and base58 against another library and published texts; hashes and their written form."""

import hashlib

import base58
import pytest
from bitcash.cashaddress import Address as TheirAddress
from hypothesis import given
from hypothesis import strategies as st

from chaindata.wire import addresses, cashaddr, hashing
from chaindata.wire.addresses import Address, Kind, Network, NotAnAddress
from wire.encodings import NotEncoded, base58_decode, base58_encode, base58check_decode, base58check_encode

THEIR_VERSION = {
    (Network.MAIN, Kind.KEY): "P2PKH",
    (Network.MAIN, Kind.SCRIPT): "P2SH20",
    (Network.TEST, Kind.KEY): "P2PKH-TESTNET",
    (Network.TEST, Kind.SCRIPT): "P2SH20-TESTNET",
    (Network.REGTEST, Kind.KEY): "P2PKH-REGTEST",
    (Network.REGTEST, Kind.SCRIPT): "P2SH20-REGTEST",
}

# Of the format's specification: payloads of every size, their version bits and their text.
PUBLISHED = [
    (20, 0, "bitcoincash:qr6m7j9njldwwzlg9v7v53unlr4jkmx6eylep8ekg2", "F5BF48B397DAE70BE82B3CCA4793F8EB2B6CDAC9"),
    (20, 1, "bchtest:pr6m7j9njldwwzlg9v7v53unlr4jkmx6eyvwc0uz5t", "F5BF48B397DAE70BE82B3CCA4793F8EB2B6CDAC9"),
    (20, 1, "pref:pr6m7j9njldwwzlg9v7v53unlr4jkmx6ey65nvtks5", "F5BF48B397DAE70BE82B3CCA4793F8EB2B6CDAC9"),
    (
        24,
        0,
        "bitcoincash:q9adhakpwzztepkpwp5z0dq62m6u5v5xtyj7j3h2ws4mr9g0",
        "7ADBF6C17084BC86C1706827B41A56F5CA32865925E946EA",
    ),
]

BURN = {
    "bitcoincash:qqqqqqqqqqqqqqqqqqqqqqqqqqqqqu08dsyxz98whc": Network.MAIN,
    "bchtest:qqqqqqqqqqqqqqqqqqqqqqqqqqqqqdmwgvnjkt8whc": Network.TEST,
    "bchreg:pqqqqqqqqqqqqqqqqqqqqqqqqqqqqp0kvc457r8whc": Network.REGTEST,
}


@given(st.sampled_from(Network), st.sampled_from(Kind), st.binary(min_size=20, max_size=20))
def test_another_library_writes_the_same_address(network, kind, hash_bytes):
    address = Address(network, kind, hash_bytes)
    theirs = TheirAddress(THEIR_VERSION[network, kind], list(hash_bytes))
    assert address.cash_address == theirs.cash_address()
    assert addresses.read(theirs.cash_address(), networks=[network]) == address
    version = bytes([addresses.LEGACY_VERSION[network, kind]])
    assert address.legacy_address == base58.b58encode_check(version + hash_bytes).decode()


@pytest.mark.parametrize(("size", "kind", "text", "payload"), PUBLISHED)
def test_published_payloads_have_their_text(size, kind, text, payload):
    prefix, _, symbols = text.partition(":")
    assert len(bytes.fromhex(payload)) == size
    assert cashaddr.encode(prefix, kind << 3, bytes.fromhex(payload)) == text
    assert cashaddr.decode(["other", prefix], symbols) == (
        prefix,
        bytes([kind << 3 | cashaddr.HASH_SIZES.index(size)]) + bytes.fromhex(payload),
    )


@given(st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=12), st.sampled_from(cashaddr.HASH_SIZES), st.data())
def test_every_payload_is_read_back(prefix, size, drawn):
    payload = drawn.draw(st.binary(min_size=size, max_size=size))
    text = cashaddr.encode(prefix, 8, payload)
    assert cashaddr.decode([prefix], text.partition(":")[2])[1][1:] == payload


@pytest.mark.parametrize(("text", "network"), BURN.items())
def test_the_burn_addresses_are_addresses(text, network):
    address = addresses.read(text)
    assert (address.network, address.cash_address) == (network, text)


def test_one_or_two_wrong_symbols_never_pass():
    symbols = PUBLISHED[0][2].partition(":")[2]
    passing = [
        (place, letter)
        for place in range(len(symbols))
        for letter in "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
        if letter != symbols[place] and is_read(symbols[:place] + letter + symbols[place + 1 :])
    ]
    swapped = [n for n in range(41) if symbols[n] != symbols[n + 1] and is_read(with_swapped(symbols, n))]
    assert passing == swapped == []
    assert is_read(symbols)


def with_swapped(symbols, place):
    return symbols[:place] + symbols[place + 1] + symbols[place] + symbols[place + 2 :]


def is_read(symbols):
    try:
        addresses.read("bitcoincash:" + symbols)
    except NotAnAddress:
        return False
    return True


@pytest.mark.parametrize(
    ("symbols", "sentence"),
    [("q" * 113, "too long"), ("qb", "Character 2"), ("Q", "Character 1"), ("", "checksum"), ("q" * 8, "checksum")],
)
def test_what_is_no_payload_is_refused(symbols, sentence):
    with pytest.raises(NotEncoded, match=sentence):
        cashaddr.decode(["bitcoincash"], symbols)


@pytest.mark.parametrize("version", [0x10, 0x18, 0x40, 0x78, 0x80])
def test_kinds_that_nobody_knows_are_refused(version):
    with pytest.raises(NotAnAddress, match="Unknown address type"):
        addresses.read(cashaddr.encode("bitcoincash", version, bytes(20)))


@given(st.binary(max_size=40))
def test_base58_is_what_another_library_writes(raw):
    assert base58_encode(raw) == base58.b58encode(raw).decode()
    assert base58check_encode(raw) == base58.b58encode_check(raw).decode()
    if raw:
        assert base58_decode(base58_encode(raw)) == raw
        assert base58check_decode(base58check_encode(raw)) == raw


# Hashes --------------------------------------------------------------------------------------------------------------


@given(st.binary(max_size=200))
def test_hashes_are_those_of_other_libraries(raw):
    import bitcoin.core

    assert hashing.double_sha256(raw) == bitcoin.core.Hash(raw)
    assert hashing.hash160(raw) == bitcoin.core.Hash160(raw)
    digest = hashlib.sha256(raw).digest()
    assert hashing.from_display_hex(hashing.display_hex(digest)) == digest
    assert hashing.display_hex(digest) == bitcoin.core.b2lx(digest)
    assert hashing.from_hex(raw.hex().upper(), most_bytes=200) == raw


@pytest.mark.parametrize("text", ["0", "zz", "0 ", " 00", "0x00", "00\n", "٠٠", "00" * 11])
def test_what_is_not_hexadecimal_is_refused(text):
    with pytest.raises(hashing.NotHexadecimal):
        hashing.from_hex(text, most_bytes=10)
