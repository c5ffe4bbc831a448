"""Simple-ledger messages against the public vectors, and their bookkeeping."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaindata.wire.tokens import slp, slp_rules
from chaindata.wire.tokens.slp import CannotWrite, Commit, Genesis, Mint, NotAMessage, Problem, Send
from chaindata.wire.tokens.slp_rules import Holding
from tests.chaindata.wire import vectors
from tests.chaindata.wire.test_scripts import SLP_SEND

TOKEN, OTHER = "df808a41672a0a0ae6475b44f272a107bc9961b90f29dc918d71301f24fe92fb", "ab" * 32
OVER_64_BITS = [Holding(TOKEN, 2**64 - 100), Holding(TOKEN, 1_000_000)]
GENESIS = Genesis(b"TST", b"Test", b"https://example.test", bytes(32), 8, 2, 10**10)
quantities = st.integers(0, slp.MOST_QUANTITY)
batons = st.one_of(st.none(), st.integers(2, 255))
messages = st.one_of(
    st.builds(
        Genesis,
        st.binary(max_size=20),
        st.binary(max_size=20),
        st.binary(max_size=60),
        st.one_of(st.just(b""), st.binary(min_size=32, max_size=32)),
        st.integers(0, 9),
        batons,
        quantities,
    ),
    st.builds(Mint, st.just(TOKEN), batons, quantities),
    st.builds(Send, st.just(TOKEN), st.lists(quantities, min_size=1, max_size=15).map(tuple)),
)


@pytest.mark.parametrize("vector", vectors.SLP_SCRIPTS, ids=lambda vector: vector["case"])
def test_a_public_script_is_read_or_refused_by_its_number(vector):
    script = bytes.fromhex(vector["script"])
    if vector["code"] is None:
        assert isinstance(slp.read(script), Genesis | Mint | Send)
        return
    with pytest.raises(NotAMessage) as refused:
        slp.read(script)
    assert refused.value.problem == vector["code"]
    assert str(refused.value).endswith(".")


def test_the_documented_send_is_read_and_written_to_the_byte():
    send = slp.read(SLP_SEND)
    assert send == Send(TOKEN, (100_000_000, 1_527_093_873_600))
    assert slp.script_of(send) == SLP_SEND


@given(messages)
def test_what_is_written_is_read_again(message):
    assert slp.read(slp.script_of(message)) == message


@given(st.binary(max_size=100))
def test_any_bytes_are_refused_with_a_reason(raw):
    for script in (raw, b"\x6a" + raw, SLP_SEND[:6] + raw):
        try:
            found = slp.read(script)
        except NotAMessage as problem:
            assert isinstance(problem.problem, Problem)  # noqa: PT017
        else:
            assert isinstance(found, slp.Message)


def test_every_cut_is_refused_and_every_change_is_another_message():
    whole = slp.script_of(GENESIS)
    for script in (whole, SLP_SEND):
        for length in range(len(script)):
            if length == len(SLP_SEND) - 9 and script is SLP_SEND:  # the second amount is gone, and a push with it
                assert slp.read(script[:length]) == Send(TOKEN, (100_000_000,))
                continue
            with pytest.raises(NotAMessage):
                slp.read(script[:length])
        for place, changed in vectors.every_single_byte_change(script):
            try:
                read = slp.read(changed)
            except NotAMessage:
                continue
            assert read != slp.read(script), place


def test_a_checkpoint_is_read_and_does_nothing():
    commit = slp.read(bytes.fromhex("6a04534c50000101") + b"\x06COMMIT" + b"\x01\x05")
    assert commit == Commit((b"\x05",))
    assert slp.read(slp.script_of(commit)) == commit
    assert slp_rules.reason_invalid(commit, []) == slp_rules.IGNORED
    assert slp_rules.holdings(commit, txid=OTHER, outputs=5) == {}


@pytest.mark.parametrize(
    "message",
    [
        Genesis(b"T", b"N", b"", bytes(31), 0, None, 1),
        Genesis(b"T", b"N", b"", b"", 10, None, 1),
        Genesis(b"T", b"N", b"", b"", -1, None, 1),
        Genesis(b"T", b"N", b"", b"", 0, 1, 1),
        Genesis(b"T", b"N", b"", b"", 0, 256, 1),
        Genesis(b"T", b"N", b"", b"", 0, None, -1),
        Genesis(b"T", b"N", b"", b"", 0, None, 2**64),
        Genesis(b"T" * 300, b"N", b"", b"", 0, None, 1),
        Mint("ab", None, 1),
        Mint("zz" * 32, None, 1),
        Mint(TOKEN, 0, 1),
        Send(TOKEN, ()),
        Send(TOKEN, (1,) * 20),
        Send(TOKEN, (-1,)),
        Send(TOKEN + "00", (1,)),
    ],
)
def test_what_would_not_be_valid_is_not_written(message):
    with pytest.raises(CannotWrite):
        slp.script_of(message)


def test_the_texts_of_a_token_may_be_any_bytes():
    assert slp.text_of(b"\xe4\xb8\xad") == "中"
    assert slp.text_of(b"a\xc0") == "a\ufffd"


# Bookkeeping ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "spent", "reason"),
    [
        (GENESIS, [], None),
        (Mint(TOKEN, 2, 5), [Holding(TOKEN, is_baton=True)], None),
        (Mint(TOKEN, 2, 5), [Holding(TOKEN, 5)], slp_rules.NO_BATON),
        (Mint(TOKEN, 2, 5), [Holding(OTHER, is_baton=True)], slp_rules.NO_BATON),
        (Mint(TOKEN, 2, 5), [], slp_rules.NO_BATON),
        (Send(TOKEN, (3, 4)), [Holding(TOKEN, 7)], None),
        (Send(TOKEN, (3, 4)), [Holding(TOKEN, 3), Holding(TOKEN, 4)], None),
        (Send(TOKEN, (3, 4)), [Holding(TOKEN, 8)], None),
        (Send(TOKEN, (3, 4)), [Holding(TOKEN, 6)], slp_rules.TOO_LITTLE),
        (Send(TOKEN, (3, 4)), [Holding(TOKEN, 6), Holding(OTHER, 1)], slp_rules.TOO_LITTLE),
        (Send(TOKEN, (0, 0)), [], None),
        # From the public vectors: the sums exceed 64 bits.
        (
            Send(TOKEN, (2**64 - 1_000_100 + 900, 2_000_000 - 900 + 0)),
            [Holding(TOKEN, 2**64 - 100), Holding(TOKEN, 10**6)],
            None,
        ),
        (Send(TOKEN, (2**64 - 1, 2**64 - 1)), [Holding(TOKEN, 2**64 - 2)], slp_rules.TOO_LITTLE),
    ],
)
def test_outputs_need_inputs(message, spent, reason):
    assert slp_rules.reason_invalid(message, spent) == reason


def test_outputs_hold_what_the_message_says_as_far_as_they_exist():
    assert slp_rules.holdings(GENESIS, txid=OTHER, outputs=3) == {
        1: Holding(OTHER, 10**10),
        2: Holding(OTHER, is_baton=True),
    }
    assert slp_rules.holdings(GENESIS, txid=OTHER, outputs=2) == {1: Holding(OTHER, 10**10)}
    assert slp_rules.holdings(GENESIS, txid=OTHER, outputs=1) == {}
    assert slp_rules.holdings(Mint(TOKEN, None, 0), txid=OTHER, outputs=3) == {}
    assert slp_rules.holdings(Send(TOKEN, (0, 5, 6)), txid=OTHER, outputs=3) == {2: Holding(TOKEN, 5)}


@given(quantities, st.integers(0, 9))
def test_amounts_are_exact_both_ways(quantity, decimals):
    assert slp_rules.in_base_units(slp_rules.in_tokens(quantity, decimals), decimals) == quantity


@pytest.mark.parametrize(
    ("amount", "decimals"),
    [("0.1", 0), ("0.001", 2), ("-1", 8), ("NaN", 8), ("Infinity", 8), ("1E+999999", 8), ("1E-999999", 8), ("1", 10)],
)
def test_amounts_that_a_token_has_no_units_for_are_refused(amount, decimals):
    with pytest.raises(slp_rules.NotAQuantity):
        slp_rules.in_base_units(Decimal(amount), decimals)
