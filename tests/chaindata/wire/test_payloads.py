"""Property-token payloads: the documented examples to the byte, and every bound."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaindata.wire import refusals
from chaindata.wire.scripts import steps
from chaindata.wire.tokens import amounts, payloads
from chaindata.wire.tokens.payloads import CannotWrite, NotAPayload
from tests.chaindata.wire import vectors

TEXTS = {
    "name": "luzhiyao",
    "category": "company",
    "subcategory": "compute",
    "url": "www.ludete.com",
    "data": "hello world",
}
STRINGS = "636f6d70616e7900636f6d70757465006c757a686979616f007777772e6c75646574652e636f6d0068656c6c6f20776f726c6400"
FROZEN = "bchtest:qr46wzv0cuma6gskh6swxlpvqdcdrjnzjggqt4exvp"
UNITS = amounts.units_of

# Supplement 2, worked examples: the operation with amounts as people write them, and its bytes.
EXAMPLES = [
    (payloads.SimpleSend(115, UNITS("100", 3)), "000000000000007300000000000186a0"),
    (payloads.SimpleSend(1, UNITS("10", 8)), "0000000000000001000000003b9aca00"),
    (payloads.SendToOwners(115, UNITS("1000", 3), 1), "000000030000007300000000000f424000000001"),
    (payloads.SendAll(), "0000000401"),
    (payloads.Participate(UNITS("100", 8)), "000000010000000100000002540be400"),
    (payloads.Grant(115, UNITS("1242", 3)), "0000003700000073000000000012f39000"),
    (payloads.Revoke(115, UNITS("100", 3)), "000000380000007300000000000186a000"),
    (
        payloads.Grant(8, 1000, "First Milestone Reached!"),
        "000000370000000800000000000003e84669727374204d696c6573746f6e6520526561636865642100",
    ),
    (payloads.Grant(196, UNITS("111.00000000", 8)), "00000037000000c400000002959c8f0000"),
    (payloads.ChangeIssuer(115), "0000004600000073"),
    (payloads.CloseCrowdsale(11), "000000350000000b"),
    (
        payloads.CreateFixed(precision=3, amount=UNITS("10082936279.232", 3), **TEXTS),
        f"0000003201000300000000{STRINGS}0000092b9dd5d0c0",
    ),
    (payloads.CreateManaged(precision=3, **TEXTS), f"0000003601000300000000{STRINGS}"),
    (
        payloads.CreateCrowdsale(
            precision=3,
            tokens_per_unit=UNITS("1002", 8),
            deadline=1_536_565_622,
            early_bonus=1,
            total=UNITS("21231242131", 3),
            **TEXTS,
        ),
        f"0000003301000300000000{STRINGS}00000001000000175462aa00000000005b96217601000000134f48a53638",
    ),
    (
        payloads.Freeze(4, amounts.frozen_amount(2), FROZEN),
        f"000000b9000000040000000000002710{FROZEN.encode().hex()}00",
    ),
    (
        payloads.Unfreeze(4, amounts.frozen_amount(2), FROZEN),
        f"000000ba000000040000000000002710{FROZEN.encode().hex()}00",
    ),
    (payloads.Burn(), "00000044"),
    # Collectibles: numbers of 32 bytes, the lowest first.
    (payloads.IssueCollectibles("Cats", "CAT", "", "u", 5), "0000000901" + "436174730043415400007500" + f"{5:016x}"),
    (
        payloads.IssueCollectible(1, 0, 258, "u"),
        "0000000902" + "01" + "00" * 31 + "00" * 32 + "0201" + "00" * 30 + "7500",
    ),
    (payloads.TransferCollectible(1, 2), "0000000903" + "01" + "00" * 31 + "02" + "00" * 31),
    (payloads.DestroyCollectible(1, 2), "0000000904" + "01" + "00" * 31 + "02" + "00" * 31),
]
IDS = [f"{place} {type(payload).__name__}" for place, (payload, _) in enumerate(EXAMPLES)]


def test_every_operation_has_an_example():
    assert {type(payload) for payload, _ in EXAMPLES} == set(payloads.KINDS.values())
    assert len([key for key in payloads.KINDS if len(key) == 1]) == 14


@pytest.mark.parametrize(("payload", "text"), EXAMPLES, ids=IDS)
def test_an_operation_has_its_documented_bytes(payload, text):
    raw = bytes.fromhex(text)
    assert payload.raw == raw
    assert payloads.read(raw) == payload
    assert type(payloads.read(raw)) is type(payload)


@pytest.mark.parametrize(("payload", "text"), EXAMPLES, ids=IDS)
def test_every_cut_and_addition_is_refused_and_every_change_means_something_else(payload, text):
    raw = bytes.fromhex(text)
    for length in range(len(raw)):
        if isinstance(payload, payloads.SendToOwners) and length == 16:
            continue  # without its last field, which then repeats the first
        with pytest.raises(NotAPayload):
            payloads.read(raw[:length])
    with pytest.raises(NotAPayload, match="1 bytes follow"):
        payloads.read(raw + b"\x00")
    undefined = len(raw) - 9 if isinstance(payload, payloads.CreateCrowdsale) else None
    for place, changed in vectors.every_single_byte_change(raw):
        try:
            read = payloads.read(changed)
        except NotAPayload:
            continue
        assert (read == payload) == (place == undefined)


@given(st.binary(max_size=120))
def test_any_bytes_are_a_payload_or_refused_with_a_sentence(raw):
    for each in (raw, b"\x00\x00\x00" + raw):
        try:
            found = payloads.read(each)
        except NotAPayload as problem:
            assert str(problem)[-1] == "."  # noqa: PT017
        else:
            assert type(found) in payloads.KINDS.values()


def test_no_operation_is_a_kind_of_another():
    """So that asking for one with isinstance or match never finds its sibling."""
    kinds = list(payloads.KINDS.values())
    assert not [(one, two) for one in kinds for two in kinds if one is not two and issubclass(one, two)]


@pytest.mark.parametrize("raw", ["", "000000", "00010000", "0000ffff", "00000009", "0000000905"])
def test_unknown_versions_types_and_actions_are_refused(raw):
    with pytest.raises(NotAPayload):
        payloads.read(bytes.fromhex(raw))


def test_a_text_of_255_bytes_is_read_and_no_longer_one():
    head = bytes.fromhex("000000370000000100000000000000") + b"\x01"
    assert payloads.read(head + b"x" * 255 + b"\x00").memo == "x" * 255
    for text in (b"x" * 256 + b"\x00", b"x" * 100_000 + b"\x00", b"x" * 255):
        with pytest.raises(NotAPayload, match="does not end within 255 bytes"):
            payloads.read(head + text)


def test_an_omitted_property_of_a_send_to_owners_is_the_sent_one():
    assert payloads.read(bytes.fromhex("000000030000007300000000000f4240")) == payloads.SendToOwners(115, 10**6, 115)


def crowdsale(**changed):
    return payloads.CreateCrowdsale(
        **{"precision": 8, "name": "x", "tokens_per_unit": 1, "deadline": 1, "early_bonus": 0, "total": 1, **changed}
    )


@pytest.mark.parametrize(
    ("payload", "refusal"),
    [
        (payloads.SimpleSend(0, 1), refusals.PROPERTY_OUT_OF_RANGE),
        (payloads.SimpleSend(-1, 1), refusals.PROPERTY_OUT_OF_RANGE),
        (payloads.SimpleSend(2**32, 1), refusals.PROPERTY_OUT_OF_RANGE),
        (payloads.SimpleSend(True, 1), refusals.PROPERTY_OUT_OF_RANGE),
        (payloads.SimpleSend(1, 0), refusals.INVALID_AMOUNT),
        (payloads.SimpleSend(1, -5), refusals.INVALID_AMOUNT),
        (payloads.SimpleSend(1, 2**63), refusals.INVALID_AMOUNT),
        (payloads.SimpleSend(1, "1"), refusals.INVALID_AMOUNT),
        (payloads.SendAll(2), refusals.ECOSYSTEM_NOT_MAIN),
        (payloads.SendAll(256), refusals.ECOSYSTEM_NOT_MAIN),
        (payloads.Grant(1, 1, "x" * 256), refusals.TEXT_TOO_LONG),
        (payloads.Grant(1, 1, "é" * 128), refusals.TEXT_TOO_LONG),
        (payloads.Grant(1, 1, "a\0b"), refusals.TEXT_TOO_LONG),
        (payloads.CreateManaged(precision=9, name="x"), refusals.INVALID_PRECISION),
        (payloads.CreateManaged(precision=0, name=""), refusals.NAME_EMPTY),
        (payloads.CreateFixed(precision=0, name="x", amount=0), refusals.INVALID_AMOUNT),
        (crowdsale(desired_id=2), refusals.ONLY_FIRST_PROPERTY),
        (crowdsale(tokens_per_unit=0), refusals.TOKEN_PRICE),
        (crowdsale(tokens_per_unit=10**16 + 1), refusals.TOKEN_PRICE),
        (crowdsale(deadline=0), refusals.DEADLINE),
        (crowdsale(deadline=-1), refusals.DEADLINE),
        (crowdsale(early_bonus=256), refusals.EARLY_BONUS),
        (crowdsale(total=0), refusals.INVALID_AMOUNT),
        (payloads.IssueCollectible(0, 0, 0, ""), refusals.COLLECTIBLE_PROPERTY_UNKNOWN),
        (payloads.TransferCollectible(1, 2**256), refusals.COLLECTIBLE_UNKNOWN),
    ],
)
def test_what_a_node_refuses_is_not_written(payload, refusal):
    with pytest.raises(CannotWrite) as refused:
        _ = payload.raw
    assert refused.value.refusal is refusal


def test_the_bounds_themselves_are_written():
    for payload in (
        payloads.SimpleSend(2**32 - 1, 2**63 - 1),
        payloads.Grant(1, 1, "x" * 255),
        crowdsale(tokens_per_unit=10**16, early_bonus=255, total=2**63 - 1, precision=0),
    ):
        assert payloads.read(payload.raw) == payload


# The carrier ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("payload", "text"), EXAMPLES, ids=IDS)
def test_a_payload_travels_in_one_push_after_the_marker(payload, text):
    script = payloads.carrier(payload.raw)
    assert payloads.carried_by(script).hex() == text
    assert steps.kind_of(script) is steps.Kind.RETURN
    assert "08776863" + text in script.hex()


@pytest.mark.parametrize(
    "script",
    [
        "",
        "6a",
        "6a00",
        "6a51",
        "6a0408776862",
        "6a03087768",
        "6a04087768",
        "08776863",
        "6a040877686300",
        "6a0408776863" + "0100",
        "6b0408776863",
        "6a" + "ff" * 10,
    ],
)
def test_other_scripts_carry_nothing(script):
    assert payloads.carried_by(bytes.fromhex(script)) is None


def test_a_marker_alone_carries_an_empty_payload():
    assert payloads.carried_by(bytes.fromhex("6a0408776863")) == b""
    with pytest.raises(NotAPayload):
        payloads.read(b"")


# Amounts -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "precision", "units"),
    [
        ("1", 0, 1),
        ("1.", 0, 1),
        ("1.9", 0, 1),
        (".5", 1, 5),
        ("0.00000001", 8, 1),
        ("9223372036854775807", 0, 2**63 - 1),
    ],
)
def test_amounts_are_read_as_nodes_do(text, precision, units):
    assert amounts.units_of(text, precision) == units


@pytest.mark.parametrize(
    ("text", "precision"),
    [
        *(("", 0), (".", 0), (".", 8), ("-1", 0), ("1-", 0), ("1.-5", 0), ("0", 8), ("0.000000001", 8), ("1.2.3", 8)),
        *(("1e5", 8), ("+1", 8), (" 1", 8), ("٣", 0), ("9223372036854775808", 0), ("9" * 5000, 0), ("0.001", 2)),
        *(("1_0", 0), ("0x1", 0), ("NaN", 8), ("92233720368.54775808", 8)),
    ],
)
def test_other_amounts_are_refused(text, precision):
    with pytest.raises(CannotWrite, match="Invalid amount"):
        amounts.units_of(text, precision)


@given(st.integers(1, 2**63 - 1), st.integers(0, 8))
def test_amounts_have_exactly_the_places_of_their_property(units, precision):
    text = amounts.amount_text(units, precision)
    assert amounts.units_of(text, precision) == units
    assert len(text.partition(".")[2]) == precision
    assert ("." in text) == (precision > 0)
