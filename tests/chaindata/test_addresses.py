"""The three forms of a chain address against the published vectors, and against mistakes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaindata.wire import addresses
from chaindata.wire.addresses import Address, Kind, Network, NotAnAddress, OtherNetwork

HASH = bytes.fromhex("76a04053bda0a88bda5177b86a15c3b29f559873")
FORMS = {
    Network.MAIN: (
        "bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a",
        "simpleledger:qpm2qsznhks23z7629mms6s4cwef74vcwvg3pncxyr",
        "1BpEi6DfDAUFd7GtittLSdBeYJvcoaVggu",
    ),
    Network.TEST: (
        "bchtest:qpm2qsznhks23z7629mms6s4cwef74vcwvqcw003ap",
        "slptest:qpm2qsznhks23z7629mms6s4cwef74vcwvmvf54x0u",
        "mrLC19Je2BuWQDkWSTriGYPyQJXKkkBmCx",
    ),
    Network.REGTEST: (
        "bchreg:qpm2qsznhks23z7629mms6s4cwef74vcwv6ycwvz78",
        "slpreg:qpm2qsznhks23z7629mms6s4cwef74vcwv8yzl8w8w",
        "mrLC19Je2BuWQDkWSTriGYPyQJXKkkBmCx",
    ),
}


@pytest.mark.parametrize("network", Network)
def test_each_form_of_a_hash_is_written_as_published(network):
    address = Address(network, Kind.KEY, HASH)
    assert (address.cash_address, address.slp_address, address.legacy_address) == FORMS[network]


@pytest.mark.parametrize(("network", "form"), [(network, form) for network, forms in FORMS.items() for form in forms])
def test_each_form_is_read_back_with_and_without_prefix_and_in_capitals(network, form):
    expected = Address(network, Kind.KEY, HASH)
    assert addresses.read(form, networks=[network]) == expected
    assert addresses.read(form.rpartition(":")[2], networks=[network]) == expected
    if ":" in form:
        assert addresses.read(form.upper(), networks=[network]) == expected


# Vectors of the format's specification: sizes 20, 24, 32 and 64 bytes.
@pytest.mark.parametrize(
    ("text", "kind", "payload"),
    [
        (
            "bitcoincash:qr6m7j9njldwwzlg9v7v53unlr4jkmx6eylep8ekg2",
            Kind.KEY,
            "F5BF48B397DAE70BE82B3CCA4793F8EB2B6CDAC9",
        ),
        (
            "bchtest:pr6m7j9njldwwzlg9v7v53unlr4jkmx6eyvwc0uz5t",
            Kind.SCRIPT,
            "F5BF48B397DAE70BE82B3CCA4793F8EB2B6CDAC9",
        ),
        (
            "bitcoincash:q9adhakpwzztepkpwp5z0dq62m6u5v5xtyj7j3h2ws4mr9g0",
            Kind.KEY,
            "7ADBF6C17084BC86C1706827B41A56F5CA32865925E946EA",
        ),
    ],
)
def test_hashes_of_every_size_are_read(text, kind, payload):
    read = addresses.read(text)
    assert (read.kind, read.hash) == (kind, bytes.fromhex(payload))
    assert read.cash_address == text


@given(st.sampled_from(Network), st.sampled_from(Kind), st.sampled_from([20, 24, 28, 32, 40, 48, 56, 64]), st.randoms())
def test_every_address_is_read_back_from_every_form_it_has(network, kind, size, dice):
    address = Address(network, kind, dice.randbytes(size))
    for form in filter(None, (address.cash_address, address.slp_address, address.legacy_address)):
        assert addresses.read(form, networks=[network]) == address
    assert bool(address.legacy_address) == (size == 20)


@given(st.integers(min_value=12, max_value=53), st.sampled_from("qpzry9x8gf2tvdw0s3jn54khce6mua7l"))
def test_one_mistyped_character_never_passes(place, letter):
    address = FORMS[Network.MAIN][0]
    if address[place] == letter:
        return
    with pytest.raises(NotAnAddress):
        addresses.read(address[:place] + letter + address[place + 1 :])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "characters"),
        (":", "checksum"),
        ("bitcoincash:", "checksum"),
        ("bitcoincash:qpm2", "checksum"),
        ("bitcoincash:Qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a", "mixed"),
        ("BITCOINCASH:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a", "mixed"),
        ("litecoin:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a", "prefix"),
        ("bitcoincash:bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a", "prefix"),
        ("bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6b", "Character"),
        ("bitcoincash:" + "q" * 10_000, "too long"),
        ("1BpEi6DfDAUFd7GtittLSdBeYJvcoaVgg", "checksum"),
        ("DDogepartyxxxxxxxxxxxxxxxxxxw1dfzr", "a different coin"),
        ("bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", "not used"),
        ("qpm2qsznhks23z7629mms6s4cwef74vcwvy22gd\u04456a", "Character"),  # a Cyrillic letter that looks like x
        ("bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a\u200b", "Character"),
    ],
)
def test_what_is_no_address_is_refused_with_a_sentence(text, sentence):
    with pytest.raises(NotAnAddress, match=sentence):
        addresses.read(text)


def test_an_address_of_another_network_is_named_as_such():
    with pytest.raises(OtherNetwork, match="main network; this desk uses the regtest network"):
        addresses.read(FORMS[Network.MAIN][0], networks=[Network.REGTEST])
    with pytest.raises(OtherNetwork, match="test or regtest network"):
        addresses.read(FORMS[Network.TEST][2], networks=[Network.MAIN])
