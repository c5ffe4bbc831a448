"""Scripts in words, their kinds and addresses, against the node's published text and another library."""

import bitcoin.core.script as peers
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaindata.wire import decoding, transactions
from chaindata.wire.addresses import Address, Network
from chaindata.wire.addresses import Kind as AddressKind
from chaindata.wire.scripts import signature_form, steps
from chaindata.wire.scripts.steps import Kind, NotAScript
from tests.chaindata.wire import vectors

HASH = bytes.fromhex("76a04053bda0a88bda5177b86a15c3b29f559873")
KEY = bytes.fromhex("0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798")
LONG_KEY = b"\x04" + bytes(64)
SIGNATURE = vectors.TRANSACTION[43 : 43 + 71]
SLP_SEND = bytes.fromhex(
    "6a04534c500001010453454e4420df808a41672a0a0ae6475b44f272a107bc9961b90f29dc918d71301f24fe92fb"
    "080000000005f5e10008000001638de34bc0"
)

# Text ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "text"),
    [
        ("", ""),
        ("00", "0"),
        ("4f", "-1"),
        ("5160", "1 16"),
        ("50", "OP_RESERVED"),
        ("0101", "1"),
        ("0181", "-1"),
        ("0180", "0"),
        ("028000", "128"),
        ("04ffffffff", "-2147483647"),
        ("04ffffff7f", "2147483647"),
        ("050102030405", "0102030405"),
        ("4c00", "0"),
        ("4c0101", "1"),
        ("4d0100ff", "-127"),
        ("4e0100000001", "1"),
        ("76a914" + HASH.hex() + "88ac", f"OP_DUP OP_HASH160 {HASH.hex()} OP_EQUALVERIFY OP_CHECKSIG"),
        (
            "b1b2babbbc7e7f8081",
            "OP_CHECKLOCKTIMEVERIFY OP_CHECKSEQUENCEVERIFY OP_CHECKDATASIG OP_CHECKDATASIGVERIFY "
            "OP_REVERSEBYTES OP_CAT OP_SPLIT OP_NUM2BIN OP_BIN2NUM",
        ),
        ("bdfe", "OP_UNKNOWN OP_UNKNOWN"),
        ("ff", "OP_INVALIDOPCODE"),
        ("02ff", "[error]"),
        ("5102", "1 [error]"),
        ("4c", "[error]"),
        ("4d01", "[error]"),
        ("4effffffff", "[error]"),
        ("4cff01", "[error]"),
    ],
)
def test_a_script_has_the_text_that_nodes_print(script, text):
    assert steps.asm(bytes.fromhex(script)) == text


def test_the_published_token_script_has_its_published_text():
    words = steps.asm(SLP_SEND).split()
    assert words[:4] == ["OP_RETURN", "5262419", "1", "1145980243"]
    assert words[5:] == ["0000000005f5e100", "000001638de34bc0"]


def test_the_type_of_hash_is_told_after_a_signature_where_one_unlocks():
    unlocking = steps.push(SIGNATURE) + steps.push(KEY)
    assert steps.asm(unlocking, unlocks=True) == f"{SIGNATURE[:-1].hex()}[ALL|FORKID] {KEY.hex()}"
    assert steps.asm(unlocking) == f"{SIGNATURE.hex()} {KEY.hex()}"
    assert steps.asm(b"\x6a" + unlocking, unlocks=True) == f"OP_RETURN {SIGNATURE.hex()} {KEY.hex()}"


@pytest.mark.parametrize(
    ("last", "words"),
    [
        (0x01, "[ALL]"),
        (0x42, "[NONE|FORKID]"),
        (0x43, "[SINGLE|FORKID]"),
        (0xC1, "[ALL|FORKID|ANYONECANPAY]"),
        (0xC3, "[SINGLE|FORKID|ANYONECANPAY]"),
        (0x82, "[NONE|ANYONECANPAY]"),
        (0x00, ""),
        (0x44, ""),
        (0x61, ""),
        (0x40, ""),
    ],
)
def test_every_type_of_hash_has_its_words(last, words):
    assert signature_form.hash_type_words(SIGNATURE[:-1] + bytes([last])) == words


def test_a_signature_that_is_not_strict_is_no_signature():
    assert signature_form.is_sound(SIGNATURE)
    refused = 0
    for place in (0, 1, 2, 3, 4 + SIGNATURE[3], 5 + SIGNATURE[3]):
        refused += not signature_form.is_sound(
            SIGNATURE[:place] + bytes([SIGNATURE[place] ^ 1]) + SIGNATURE[place + 1 :]
        )
    assert refused == 6
    negative = SIGNATURE[:4] + b"\x80" + SIGNATURE[5:]
    padded = bytes.fromhex("3007020200010201") + b"\x01\x41"
    assert not signature_form.is_sound(negative)
    assert not signature_form.is_sound(padded)
    assert all(not signature_form.is_sound(SIGNATURE[:length]) for length in range(len(SIGNATURE)))
    assert not signature_form.is_sound(bytes(80))


@given(st.binary(max_size=120))
def test_any_bytes_have_steps_or_an_end_within_one(raw):
    text = steps.asm(raw, unlocks=True)
    try:
        found = list(steps.steps(raw))
    except NotAScript:
        assert text.endswith("[error]")
    else:
        assert len(text.split()) == len(found)
        theirs = list(peers.CScript(raw).raw_iter())
        assert [(step.opcode, step.pushed) for step in found] == [(int(code), pushed) for code, pushed, _ in theirs]
    assert isinstance(steps.kind_of(raw), Kind)
    assert decoding.script(raw, Network.REGTEST)["asm"] == steps.asm(raw)


# Kinds ---------------------------------------------------------------------------------------------------------------

MULTISIG = steps.multisig(2, [KEY, LONG_KEY, KEY])


@pytest.mark.parametrize(
    ("script", "kind", "signatures", "people"),
    [
        (steps.locking(Address(Network.MAIN, AddressKind.KEY, HASH)), Kind.KEY_HASH, 1, 1),
        (steps.locking(Address(Network.MAIN, AddressKind.SCRIPT, HASH)), Kind.SCRIPT_HASH, 1, 1),
        (steps.key_locking(KEY), Kind.KEY, 1, 1),
        (steps.key_locking(LONG_KEY), Kind.KEY, 1, 1),
        (MULTISIG, Kind.MULTISIG, 2, 3),
        (steps.returning([b"abc", b""]), Kind.RETURN, None, 0),
        (b"\x6a", Kind.RETURN, None, 0),
        (b"\x6a\x51\x4f", Kind.RETURN, None, 0),
        (b"\x6a\x02\x01", Kind.NONSTANDARD, None, 0),
        (b"\x6a\xac", Kind.NONSTANDARD, None, 0),
        (b"", Kind.NONSTANDARD, None, 0),
        (b"\xae", Kind.NONSTANDARD, None, 0),
        (b"\x51\xae", Kind.NONSTANDARD, None, 0),
        (b"\x51\x51\xae", Kind.NONSTANDARD, None, 0),
        (MULTISIG[:-2] + b"\x54\xae", Kind.NONSTANDARD, None, 0),
        (b"\x54" + MULTISIG[1:], Kind.NONSTANDARD, None, 0),
        (b"\x00" + MULTISIG[1:], Kind.NONSTANDARD, None, 0),
        (MULTISIG[:-1] + b"\x01\xae", Kind.NONSTANDARD, None, 0),
        (b"\x51" + steps.push(bytes(34)) + b"\x51\xae", Kind.NONSTANDARD, None, 0),
        (steps.locking(Address(Network.MAIN, AddressKind.KEY, HASH)) + b"\x61", Kind.NONSTANDARD, None, 0),
    ],
)
def test_a_locking_script_is_of_its_kind(script, kind, signatures, people):
    assert steps.kind_of(script) is kind
    assert steps.meaning_of(script, Network.MAIN).signatures == signatures
    assert len(steps.addresses_of(script, Network.MAIN)) == people
    members = decoding.script(script, Network.MAIN)
    assert members["type"] == kind
    assert ("addresses" in members) == ("reqSigs" in members) == (people > 0)
    assert ("p2sh" in members) == (kind is not Kind.SCRIPT_HASH)


@given(st.sampled_from(Network), st.sampled_from(AddressKind), st.binary(min_size=20, max_size=20))
def test_the_script_that_pays_an_address_names_it(network, kind, hash_bytes):
    address = Address(network, kind, hash_bytes)
    assert steps.addresses_of(steps.locking(address), network) == [address]


def test_nothing_pays_to_a_longer_hash():
    with pytest.raises(NotAScript, match="32 bytes"):
        steps.locking(Address(Network.MAIN, AddressKind.SCRIPT, bytes(32)))


@pytest.mark.parametrize(("signatures", "count"), [(0, 1), (2, 1), (1, 0), (17, 17), (-1, 3)])
def test_an_impossible_multisig_is_not_written(signatures, count):
    with pytest.raises(NotAScript):
        steps.multisig(signatures, [KEY] * count)


@pytest.mark.parametrize("key", [b"", bytes(33), b"\x05" + bytes(32), b"\x02" + bytes(64), b"\x04" + bytes(32)])
def test_what_is_no_public_key_is_not_written(key):
    with pytest.raises(NotAScript):
        steps.key_locking(key)


# Writing -------------------------------------------------------------------------------------------------------------


@given(st.lists(st.one_of(st.binary(max_size=80), st.binary(min_size=254, max_size=258)), max_size=5))
def test_pushes_come_back_as_they_were_pushed(pushes):
    script = steps.returning(pushes)
    assert [step.pushed for step in steps.steps(script[1:])] == pushes
    assert steps.is_push_only(script[1:])


@given(st.integers(-(2**40), 2**40))
def test_a_number_is_pushed_as_another_library_does(value):
    pushed = steps.push_number(value)
    assert pushed == bytes(peers.CScript([value]))
    if not -1 <= value <= 16:
        assert steps.number(next(steps.steps(pushed)).pushed) == value


def test_amounts_are_coins_with_eight_places():
    members = decoding.transaction(transactions.read(vectors.TRANSACTION), Network.MAIN)
    assert [str(output["value"]) for output in members["vout"]] == ["0E-8", "0.01168780"]
    assert members["vin"][0]["scriptSig"]["asm"].count("[ALL|FORKID]") == 1
    assert members["vout"][1]["scriptPubKey"]["addresses"] == ["bitcoincash:qzgejzzggvmyvnp2nyudys2f5sthvp35pu52juqs8r"]
    assert str(decoding.coins(-1)) == "-1E-8"
    assert decoding.coins(2**63 - 1) * 10**8 == 2**63 - 1


def test_a_coinbase_is_told_as_one():
    null = transactions.Input(transactions.NULL_TXID_BYTES, transactions.COINBASE_INDEX, b"\x51\x02")
    made = transactions.build(inputs=[null], outputs=[transactions.Output(50 * 10**8, b"")])
    assert decoding.transaction(made, Network.REGTEST)["vin"] == [{"coinbase": "5102", "sequence": 0xFFFFFFFF}]


def test_a_multisig_that_ends_within_a_push_is_none():
    assert steps.multisig_of(b"\x51" + steps.push(KEY) + b"\x05\xae") is None


@pytest.mark.parametrize(
    ("length", "head"), [(75, "4b"), (76, "4c4c"), (255, "4cff"), (256, "4d0001"), (65_536, "4e00000100")]
)
def test_a_push_is_as_short_as_can_be(length, head):
    assert steps.push(bytes(length)).hex() == head + "00" * length


@pytest.mark.parametrize("first", range(256))
def test_a_signature_of_any_promised_length_is_judged(first):
    for size in (9, 71, 73):
        signature = bytes([0x30, size - 3, 0x02, first]) + b"\x02" * (size - 4)
        assert signature_form.is_sound(signature) in (True, False)
        assert not signature_form.is_sound(signature) or first + 2 + 7 == size
