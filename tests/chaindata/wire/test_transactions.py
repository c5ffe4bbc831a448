"""Raw transactions against published bytes, another library, and what hostile bytes try."""

import bitcoin.core
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaindata.wire import transactions
from chaindata.wire.transactions import Input, InvalidTransaction, NotATransaction, Output
from tests.chaindata.wire import vectors

any_script = st.one_of(st.binary(max_size=80), st.binary(min_size=250, max_size=260))
inputs = st.builds(
    Input,
    txid_bytes=st.binary(min_size=32, max_size=32),
    index=st.integers(0, 2**32 - 1),
    script=any_script,
    sequence=st.integers(0, 2**32 - 1),
)
outputs = st.builds(Output, value_sat=st.integers(-(2**63), 2**63 - 1), script=any_script)
every = st.builds(
    transactions.build,
    inputs=st.lists(inputs, max_size=4),
    outputs=st.lists(outputs, max_size=4),
    version=st.integers(-(2**31), 2**31 - 1),
    locktime=st.integers(0, 2**32 - 1),
)


def payment(**changed):
    parts = {
        "inputs": [Input(bytes(range(32)), 1, b"\x00" * 40)],
        "outputs": [Output(5_000, b"\x51")],
    }
    return transactions.build(**{**parts, **changed})


def test_a_published_transaction_is_read_and_written_to_the_byte():
    read = transactions.read(vectors.TRANSACTION)
    assert read.txid == vectors.TRANSACTION_ID
    assert (read.version, read.locktime, read.size, read.is_coinbase) == (1, 0, 238, False)
    assert read.inputs[0].txid == "8e40092b20f752d03b92577c57ef43949949bd62e111068cc0824029641242a8"
    assert [output.value_sat for output in read.outputs] == [0, 1_168_780]
    again = transactions.build(inputs=read.inputs, outputs=read.outputs, version=1)
    assert again == read


@given(every)
def test_another_library_reads_the_same(transaction):
    if len(transaction.inputs) == 0:  # which it takes for the mark of segregated witnesses
        return
    theirs = bitcoin.core.CTransaction.deserialize(transaction.raw)
    assert theirs.GetTxid() == transaction.txid_bytes
    assert [(i.prevout.hash, i.prevout.n, bytes(i.scriptSig), i.nSequence) for i in theirs.vin] == [
        (i.txid_bytes, i.index, i.script, i.sequence) for i in transaction.inputs
    ]
    assert [(o.nValue, bytes(o.scriptPubKey)) for o in theirs.vout] == [
        (o.value_sat, o.script) for o in transaction.outputs
    ]
    assert (theirs.nVersion, theirs.nLockTime) == (transaction.version, transaction.locktime)


@given(every)
def test_what_is_written_is_read_again(transaction):
    assert transactions.read(transaction.raw) == transaction
    read, end = transactions.read_at(b"\x07" * 5 + transaction.raw + b"\x07", 5)
    assert (read, end) == (transaction, 5 + len(transaction.raw))


@pytest.mark.parametrize("length", [0, 1, 252, 253, 254, 65_535, 65_536, 70_000])
def test_every_length_of_a_script_is_written_and_read(length):
    transaction = payment(inputs=[Input(bytes(32), 0, bytes(length))], outputs=[Output(1, bytes(length))] * 2)
    assert transactions.read(transaction.raw) == transaction
    assert bitcoin.core.CTransaction.deserialize(transaction.raw).GetTxid() == transaction.txid_bytes


def test_every_single_byte_change_is_refused_or_another_transaction():
    for place, changed in vectors.every_single_byte_change(vectors.TRANSACTION):
        try:
            read = transactions.read(changed)
        except NotATransaction:
            continue
        assert read.txid != vectors.TRANSACTION_ID, place
        assert read.raw == changed


def test_every_cut_and_every_addition_is_refused():
    for length in range(len(vectors.TRANSACTION)):
        with pytest.raises(NotATransaction):
            transactions.read(vectors.TRANSACTION[:length])
    with pytest.raises(NotATransaction, match="1 bytes follow"):
        transactions.read(vectors.TRANSACTION + b"\x00")


@given(st.binary(max_size=300))
def test_any_bytes_are_a_transaction_or_refused_with_a_sentence(raw):
    try:
        read = transactions.read(raw)
    except NotATransaction as problem:
        sentence = str(problem)
        assert sentence.endswith(".")
    else:
        assert read.raw == raw


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        (b"", "cut short"),
        (b"\x01\x00\x00\x00" + b"\xff" * 9, "do not fit"),
        (b"\x01\x00\x00\x00\xfe\xff\xff\xff\x7f", "do not fit"),
        (b"\x01\x00\x00\x00\xfd\x01\x00", "not minimally encoded"),
        (b"\x01\x00\x00\x00\xff" + b"\xff" * 4 + b"\x00" * 4, "not minimally encoded"),
        (b"\x01\x00\x00\x00\x01" + b"\x00" * 36 + b"\xfe\xff\xff\xff\xff" + b"\x00" * 10, "cut short"),
        (b"\x01\x00\x00\x00\x00\x01" + b"\x00" * 8 + b"\xff" + b"\xff" * 8, "does not fit"),
        (b"\x01\x00\x00\x00\x00\x01" + b"\x00" * 8 + b"\x05\x00", "does not fit"),
    ],
)
def test_counts_that_promise_too_much_are_refused_before_they_are_followed(raw, sentence):
    with pytest.raises(NotATransaction, match=sentence):
        transactions.read(raw)


def test_an_oversized_transaction_is_refused():
    large = payment(outputs=[Output(1, bytes(transactions.MOST_BYTES))])
    with pytest.raises(NotATransaction, match="exceeds 1000000 bytes"):
        transactions.read(large.raw)
    with pytest.raises(InvalidTransaction, match="bad-txns-oversize"):
        transactions.check(large)


@pytest.mark.parametrize(
    "parts",
    [
        {"version": 2**31},
        {"locktime": -1},
        {"locktime": 2**32},
        {"inputs": [Input(bytes(32), -1, b"")]},
        {"inputs": [Input(bytes(31), 0, b"")]},
        {"inputs": [Input(bytes(33), 0, b"")]},
        {"inputs": [Input(bytes(32), 0, b"", 2**32)]},
        {"outputs": [Output(2**63, b"")]},
    ],
)
def test_parts_without_bytes_are_refused(parts):
    with pytest.raises(NotATransaction):
        payment(**parts)


NULL = Input(transactions.NULL_TXID_BYTES, transactions.COINBASE_INDEX, b"\x51" * 50)


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ({"inputs": []}, "bad-txns-vin-empty"),
        ({"outputs": []}, "bad-txns-vout-empty"),
        ({"inputs": [Input(bytes(range(32)), 1, b"")]}, "bad-txns-undersize"),
        ({"outputs": [Output(-1, b"\x51" * 40)]}, "bad-txns-vout-negative"),
        ({"outputs": [Output(transactions.MOST_SAT + 1, b"\x51" * 40)]}, "bad-txns-vout-toolarge"),
        ({"outputs": [Output(transactions.MOST_SAT, b"\x51" * 40)] * 2}, "bad-txns-txouttotal-toolarge"),
        ({"inputs": [Input(bytes(range(32)), 1, b"")] * 2}, "bad-txns-inputs-duplicate"),
        ({"inputs": [Input(NULL.txid_bytes, NULL.index, b"\x51" * 101)]}, "bad-cb-length"),
        ({"inputs": [NULL, Input(bytes(range(32)), 1, b"")]}, "bad-txns-prevout-null"),
    ],
)
def test_what_breaks_a_rule_has_the_nodes_word_for_it(parts, reason):
    with pytest.raises(InvalidTransaction) as refused:
        transactions.check(payment(**parts))
    assert refused.value.reason == reason


def test_what_breaks_no_rule_passes():
    transactions.check(payment(outputs=[Output(transactions.MOST_SAT, b"\x51" * 40)]))
    coinbase = payment(inputs=[NULL])
    transactions.check(coinbase)
    assert coinbase.is_coinbase
    assert not payment().is_coinbase


@pytest.mark.parametrize(
    ("locktime", "sequence", "final"),
    [
        (0, 0, True),
        (99, 0, True),
        (100, 0, False),
        (100, 0xFFFFFFFF, True),
        (500_000_000, 0, True),
        (1_600_000_000, 0, False),
        (1_599_999_999, 0, True),
    ],
)
def test_a_locktime_is_a_height_or_a_time(locktime, sequence, final):
    waiting = payment(inputs=[Input(bytes(range(32)), 1, b"", sequence)], locktime=locktime)
    assert transactions.is_final(waiting, height=100, median_time=1_600_000_000) is final


def sized_exactly(size):
    """A payment of so many bytes."""
    filled = payment(outputs=[Output(1, bytes(max(0, size - 300_000)))])
    short = size - filled.size
    for length in range(len(filled.outputs[0].script) + short - 8, len(filled.outputs[0].script) + short + 1):
        if length >= 0 and (found := payment(outputs=[Output(1, bytes(length))])).size == size:
            return found
    raise AssertionError


@pytest.mark.parametrize(
    ("size", "reason"), [(transactions.LEAST_BYTES, None), (transactions.MOST_BYTES, None), (1_000_001, "oversize")]
)
def test_the_bounds_of_the_size_are_included(size, reason):
    made = sized_exactly(size)
    assert made.size == size
    if reason is None:
        transactions.check(made)
        return
    with pytest.raises(InvalidTransaction, match=reason):
        transactions.check(made)
