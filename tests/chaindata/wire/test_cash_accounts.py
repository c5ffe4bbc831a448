"""Cash accounts against the published registrations, and every malformed one."""

import base58
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaindata.wire import cash_accounts, transactions
from chaindata.wire.addresses import Network
from chaindata.wire.cash_accounts import Identifier, NotAnIdentifier, NotARegistration, Payment, Registration
from chaindata.wire.hashing import NotHexadecimal
from chaindata.wire.scripts import steps
from chaindata.wire.transactions import Input, Output
from tests.chaindata.wire import vectors

NILAC, CGCARDONA = vectors.CASH_ACCOUNTS
SCRIPT = bytes.fromhex(NILAC["op_return"])
HASH = Payment(1, bytes(range(20)))
NAMES = st.text("abcXYZ019_", min_size=1, max_size=99)
PAYMENTS = st.lists(
    st.sampled_from(list(cash_accounts.KINDS)).flatmap(
        lambda kind: st.builds(
            Payment,
            st.sampled_from([kind, kind | 0x80]),
            st.binary(min_size=cash_accounts.KINDS[kind][1], max_size=cash_accounts.KINDS[kind][1]),
        )
    ),
    min_size=1,
    max_size=2,
).map(tuple)


@pytest.mark.parametrize("published", vectors.CASH_ACCOUNTS, ids=lambda published: published["name"])
def test_a_published_account_has_its_number_hash_and_emoji(published):
    block_hash, txid = published["blockhash"], published["txid"]
    assert cash_accounts.number_at(published["height"]) == published["number"]
    assert cash_accounts.collision_hash(block_hash, txid) == published["collision_hash"]
    expected = published.get("emoji") or chr(published["emoji_codepoint"])
    assert cash_accounts.emoji(block_hash, txid) == expected


def test_the_emoji_are_the_published_hundred():
    assert [ord(each) for each in cash_accounts.EMOJI] == vectors.PUBLISHED["emoji_codepoints"]
    assert len(set(cash_accounts.EMOJI)) == 100


def test_a_published_registration_is_read_and_written_to_the_byte():
    registration = cash_accounts.read(SCRIPT)
    assert (registration.name, registration.payments[0].words) == ("NilacTheGrim", "Key Hash")
    assert registration.payments[0].text(Network.MAIN) == NILAC["address"]
    assert cash_accounts.script_of(registration) == SCRIPT


def test_a_published_transaction_registers_one_account():
    transaction = transactions.read(vectors.TRANSACTION)
    registration = cash_accounts.registration_of(transaction)
    assert registration.name == CGCARDONA["name"]
    assert registration.payments[0].text(Network.MAIN) == "bitcoincash:qrhncn6hgkhljqg4fuq4px5qg74sjz9fqqj64s9la9"


@pytest.mark.parametrize("outputs", [[], [b"\x51"], [SCRIPT, SCRIPT], [SCRIPT, SCRIPT[:-1]]])
def test_a_transaction_with_none_or_two_registrations_registers_none(outputs):
    made = transactions.build(inputs=[Input(bytes(32), 0, b"")], outputs=[Output(0, script) for script in outputs])
    with pytest.raises(NotARegistration, match="only one is allowed"):
        cash_accounts.registration_of(made)


@given(NAMES, PAYMENTS)
def test_what_is_written_is_read_again(name, payments):
    registration = Registration(name, payments)
    try:
        script = cash_accounts.script_of(registration)
    except NotARegistration as problem:
        assert "nodes relay up to" in str(problem)  # noqa: PT017
    else:
        assert cash_accounts.read(script) == registration
        assert len(script) <= steps.MOST_RETURN_BYTES


def registering(*fields):
    return steps.returning([cash_accounts.MARKER, *fields])


KEY_HASH = b"\x01" + bytes(20)


@pytest.mark.parametrize(
    "script",
    [
        b"",
        b"\x6a",
        SCRIPT[1:],
        SCRIPT[:-1],
        SCRIPT + b"\x51",
        SCRIPT + b"\xac",
        registering(),
        registering(b"name"),
        registering(b"", KEY_HASH),
        registering(b"na me", KEY_HASH),
        registering("näme".encode(), KEY_HASH),
        registering(b"name\n", KEY_HASH),
        registering(b"name\x00", KEY_HASH),
        registering(b"a" * 100, KEY_HASH),
        registering(b"name", b""),
        registering(b"name", b"\x01" + bytes(19)),
        registering(b"name", b"\x01" + bytes(21)),
        registering(b"name", b"\x00" + bytes(20)),
        registering(b"name", b"\x05" + bytes(20)),
        registering(b"name", b"\x85" + bytes(20)),
        registering(b"name", b"\x03" + bytes(20)),
        registering(b"name", KEY_HASH, b""),
        registering(b"name", *[KEY_HASH] * 101),
        steps.returning([b"\x02\x01\x01\x01", b"name", KEY_HASH]),
        b"\x6a\x4c" + SCRIPT[1:],
    ],
)
def test_a_malformed_registration_is_refused(script):
    with pytest.raises(NotARegistration, match=r"\.$"):
        cash_accounts.read(script)


def test_every_change_of_a_registration_is_refused_or_another_account():
    for place, changed in vectors.every_single_byte_change(SCRIPT):
        try:
            read = cash_accounts.read(changed)
        except NotARegistration:
            continue
        assert read != cash_accounts.read(SCRIPT), place


@given(st.binary(max_size=100))
def test_any_bytes_are_a_registration_or_refused(raw):
    for script in (raw, SCRIPT[:6] + raw):
        try:
            found = cash_accounts.read(script)
        except NotARegistration:
            continue
        assert found.name


@pytest.mark.parametrize(
    "registration",
    [Registration("", (HASH,)), Registration("näme", (HASH,)), Registration("x", ()), Registration("x", (HASH,) * 11)],
)
def test_what_nobody_would_read_is_not_written(registration):
    with pytest.raises(NotARegistration):
        cash_accounts.script_of(registration)


def test_every_kind_of_payment_is_shown():
    assert {Payment(kind, b"").words for kind in (1, 0x82, 3, 0x84)} == {
        "Key Hash",
        "Script Hash",
        "Payment Code",
        "Stealth Keys",
    }
    assert Payment(2, bytes(20)).text(Network.REGTEST).startswith("bchreg:p")
    assert Payment(0x81, bytes(20)).text(Network.MAIN).startswith("simpleledger:q")
    code = Payment(3, b"\x01" + bytes(79)).text(Network.MAIN)
    assert code.startswith("PM8T")
    assert base58.b58decode_check(code) == b"\x47\x01" + bytes(79)
    assert Payment(4, bytes(66)).text(Network.MAIN) == "00" * 66


@pytest.mark.parametrize(
    ("height", "number"), [(563_720, 100), (563_719, None), (0, None), (-5, None), (10**9, 999_436_380)]
)
def test_numbers_begin_with_a_hundred(height, number):
    assert cash_accounts.number_at(height) == number
    assert cash_accounts.number_at(150, offset=50) == 100


def test_a_hash_is_filled_to_ten_digits():
    for n in range(300):
        digits = cash_accounts.collision_hash(f"{n:064x}", "ab" * 32)
        assert len(digits) == 10
        assert digits.isdecimal()


@pytest.mark.parametrize("bad", ["", "ab", "zz" * 32, "ab" * 33, "ab" * 31 + "a\n"])
def test_what_is_no_hash_has_no_digits(bad):
    with pytest.raises(NotHexadecimal):
        cash_accounts.collision_hash(bad, "ab" * 32)
    with pytest.raises(NotHexadecimal):
        cash_accounts.emoji("ab" * 32, bad)


@pytest.mark.parametrize(
    ("own", "others", "count", "length"),
    [
        ("1234567890", [], 0, 0),
        ("1234567890", ["2234567890"], 1, 1),
        ("1234567890", ["1299999999", "1233333333"], 2, 4),
        ("1234567890", ["1234567891"], 1, 10),
        ("1234567890", ["1234567890"], 1, 10),
    ],
)
def test_accounts_are_told_apart_by_as_few_digits_as_do(own, others, count, length):
    assert cash_accounts.collision(own, others) == cash_accounts.Collision(own, count, length)


@pytest.mark.parametrize(
    ("text", "identifier"),
    [
        ("Jonathan#100", Identifier("Jonathan", 100)),
        ("Jonathan#100;", Identifier("Jonathan", 100)),
        ("Jonathan#100.5876;", Identifier("Jonathan", 100, "5876")),
        ("a_1#999999999.0", Identifier("a_1", 999_999_999, "0")),
    ],
)
def test_an_identifier_is_read_and_written(text, identifier):
    assert cash_accounts.identifier(text) == identifier
    assert cash_accounts.identifier(identifier.text) == identifier


@pytest.mark.parametrize(
    "text",
    [
        *("", "Jonathan", "#100", "Jonathan#", "Jonathan#99", "Jonathan#12", "Jonathan#-100", "Jonathan#1e3"),
        *("Jonathan#100.", "Jonathan#100.a", "Jonathan#100.12345678901", "Jona than#100", "x" * 100 + "#100"),
        *("Jonathan#100\n", "Jonathan#٣٣٣", "Jonathan#099", "Jonathan#" + "9" * 5000),
    ],
)
def test_what_names_no_account_is_refused(text):
    with pytest.raises(NotAnIdentifier):
        cash_accounts.identifier(text)
