"""Base58Check and bech32 against the published vectors, and against every single mistyped character."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wire import encodings
from wire.encodings import NotEncoded


@given(st.binary(max_size=40))
def test_base58_gives_back_what_it_was_given(raw):
    assert encodings.base58_decode(encodings.base58_encode(raw + b"\x01")) == raw + b"\x01"


@given(st.binary(min_size=1, max_size=32))
def test_base58check_gives_back_what_it_was_given_in_either_alphabet(raw):
    for alphabet in (encodings.BITCOIN_ALPHABET, encodings.RIPPLE_ALPHABET):
        text = encodings.base58check_encode(raw, alphabet=alphabet)
        assert encodings.base58check_decode(text, alphabet=alphabet) == raw


def test_leading_zero_bytes_are_leading_first_digits():
    assert encodings.base58_encode(b"\0\0\x01") == "112"
    assert encodings.base58_decode("112") == b"\0\0\x01"


@pytest.mark.parametrize("text", ["", "0OIl", "1" * 129, "é" * 30, "1BpEi6DfDAUFd7GtittLSdBeYJvcoaVggU", "1111"])
def test_what_is_no_base58check_is_refused_with_a_sentence(text):
    with pytest.raises(NotEncoded, match=r"\.$"):
        encodings.base58check_decode(text)


# Strings of BIP 350: the same data with a good and with a foreign checksum.
@pytest.mark.parametrize(
    ("text", "version", "program"),
    [
        ("BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4", 0, "751e76e8199196d454941c45d1b3a323f1433bd6"),
        (
            "tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7",
            0,
            "1863143c14c5166804bd19203356da136c985678cd4d27a1b8c6329604903262",
        ),
        (
            "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0",
            1,
            "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798",
        ),
    ],
)
def test_witness_programs_of_the_standard(text, version, program):
    assert encodings.witness_program(text)[1:] == (version, bytes.fromhex(program))


@pytest.mark.parametrize(
    "text",
    [
        "tc1qw508d6qejxtdg4y5r3zarvary0c5xw7kg3g4t",  # a letter lost
        "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd",  # bech32 checksum on version 1
        "BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7kv8f3t4",  # mixed case
        "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3tb",  # b is not in the character set
        "bc1zw508d6qejxtdg4y5r3zarvaryvqyzf3du",  # bech32 checksum on version 2
        "bc1gmk9yu",  # no data
        "1nwldj5",
        "bc1",
        "",
    ],
)
def test_what_is_no_witness_address_is_refused_with_a_sentence(text):
    with pytest.raises(NotEncoded, match=r"\.$"):
        encodings.witness_program(text)


@given(st.integers(min_value=3, max_value=41), st.sampled_from(encodings.BECH32_CHARSET))
def test_one_mistyped_character_never_passes(place, letter):
    address = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"
    if letter == address[place]:
        return
    with pytest.raises(NotEncoded):
        encodings.witness_program(address[:place] + letter + address[place + 1 :])
