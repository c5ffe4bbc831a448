"""What signatures sign and how keys are written, against published digests and other libraries."""

import base58
import bitcash
import bitcoin.core
import bitcoin.core.script as peers
import coincurve
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaindata.wire import keys, transactions
from chaindata.wire.addresses import Network
from chaindata.wire.scripts import steps
from chaindata.wire.scripts.sighash import ALL_FORKID, CannotDigest, Digests
from chaindata.wire.transactions import Input, Output
from tests.chaindata.wire import vectors
from tests.chaindata.wire.test_transactions import any_script, inputs
from wire.values import Secret

KEY = keys.of_number(0xC0FFEE, Network.REGTEST)
outputs = st.builds(Output, value_sat=st.integers(0, transactions.MOST_SAT), script=any_script)
paying = st.builds(
    transactions.build,
    inputs=st.lists(inputs, min_size=1, max_size=3),
    outputs=st.lists(outputs, max_size=3),
    version=st.integers(-(2**31), 2**31 - 1),
    locktime=st.integers(0, 2**31 - 1),  # more than their library writes
)
hash_types = st.sampled_from([0x41, 0x42, 0x43, 0xC1, 0xC2, 0xC3])


@given(paying, hash_types, any_script, st.integers(0, transactions.MOST_SAT), st.integers(0, 2))
def test_another_library_computes_the_same_digest(transaction, hash_type, script_code, value_sat, which):
    index = which % len(transaction.inputs)
    theirs = peers.SignatureHash(
        peers.CScript(script_code),
        bitcoin.core.CTransaction.deserialize(transaction.raw),
        index,
        hash_type,
        amount=value_sat,
        sigversion=peers.SIGVERSION_WITNESS_V0,
    )
    mine = Digests(transaction).digest(index, script_code=script_code, value_sat=value_sat, hash_type=hash_type)
    assert mine == theirs


def test_every_part_is_signed_that_the_type_of_hash_names():
    spent = [Input(bytes([n]) * 32, n, b"", 7 + n) for n in range(2)]
    whole = transactions.build(inputs=spent, outputs=[Output(5, b"\x51"), Output(6, b"\x52")])

    def digest(hash_type, *, changed=whole, script_code=b"\x51", value_sat=9):
        return Digests(changed).digest(0, script_code=script_code, value_sat=value_sat, hash_type=hash_type)

    other_output = transactions.build(inputs=spent, outputs=[Output(5, b"\x51"), Output(7, b"\x52")])
    own_output = transactions.build(inputs=spent, outputs=[Output(4, b"\x51"), Output(6, b"\x52")])
    other_input = transactions.build(inputs=[spent[0], Input(bytes(32), 3, b"", 8)], outputs=whole.outputs)
    other_sequence = transactions.build(inputs=[spent[0], Input(b"\x01" * 32, 1, b"", 3)], outputs=whole.outputs)
    changes = {
        "other output": {"changed": other_output},
        "own output": {"changed": own_output},
        "other input": {"changed": other_input},
        "other sequence": {"changed": other_sequence},
        "amount": {"value_sat": 10},
        "script": {"script_code": b"\x52"},
        "locktime": {"changed": transactions.build(inputs=spent, outputs=whole.outputs, locktime=1)},
        "version": {"changed": transactions.build(inputs=spent, outputs=whole.outputs, version=1)},
    }
    always = {"amount", "script", "locktime", "version"}
    signed = {
        0x41: {"other output", "own output", "other input", "other sequence"},
        0x42: {"other input"},
        0x43: {"own output", "other input"},
        0xC1: {"other output", "own output"},
        0xC2: set(),
        0xC3: {"own output"},
    }
    for hash_type, names in signed.items():
        seen = {name for name, change in changes.items() if digest(hash_type, **change) != digest(hash_type)}
        # The outpoints of other inputs carry their sequence with NONE and SINGLE no more.
        assert seen == names | always, hex(hash_type)


def test_the_published_digest_differs_from_ours_by_the_forks_flag_alone():
    """The example of BIP 143 has the type 01, which this chain refuses; with it the digest is the published one."""
    transaction = transactions.read(vectors.BIP143_TRANSACTION)
    script_code = bytes.fromhex("76a9141d0f172a0ecb48aee1be1f2687d2963ae33f71a188ac")
    theirs = peers.SignatureHash(
        peers.CScript(script_code),
        bitcoin.core.CTransaction.deserialize(vectors.BIP143_TRANSACTION),
        1,
        1,
        amount=600_000_000,
        sigversion=peers.SIGVERSION_WITNESS_V0,
    )
    assert theirs.hex() == "c37af31116d1b27caf68aae9e3ac82f1477929014d5b917657d0eb49478cb670"
    ours = Digests(transaction).digest(1, script_code=script_code, value_sat=600_000_000)
    forked = peers.SignatureHash(
        peers.CScript(script_code),
        bitcoin.core.CTransaction.deserialize(vectors.BIP143_TRANSACTION),
        1,
        0x41,
        amount=600_000_000,
        sigversion=peers.SIGVERSION_WITNESS_V0,
    )
    assert ours == forked
    assert ours != theirs


@pytest.mark.parametrize(
    "changed",
    [
        {"index": 2},
        {"index": -1},
        {"hash_type": 0x01},
        {"hash_type": 0x40},
        {"hash_type": 0x44},
        {"hash_type": 0x61},
        {"hash_type": 0x141},
        {"value_sat": -1},
        {"value_sat": transactions.MOST_SAT + 1},
    ],
)
def test_there_is_nothing_to_sign(changed):
    arguments = {"index": 0, "script_code": b"", "value_sat": 0, "hash_type": ALL_FORKID, **changed}
    with pytest.raises(CannotDigest):
        Digests(transactions.read(vectors.BIP143_TRANSACTION)).digest(arguments.pop("index"), **arguments)


def test_a_payment_that_another_library_signed_verifies():
    """Keys, digest and script together: bitcash signs a payment of this chain, and we say that it is signed."""
    theirs = bitcash.PrivateKeyTestnet.from_int(0xC0FFEE)
    unspent = bitcash.network.meta.Unspent(100_000, 6, steps.locking(KEY.address).hex(), "11" * 32, 1)
    raw = theirs.create_transaction(
        [("bchtest:qr46wzv0cuma6gskh6swxlpvqdcdrjnzjggqt4exvp", 5_000, "satoshi")], unspents=[unspent]
    )
    transaction = transactions.read(bytes.fromhex(raw))
    signature, public_key = (step.pushed for step in steps.steps(transaction.inputs[0].script))
    locking = steps.locking(KEY.address)
    digest = Digests(transaction).digest(0, script_code=locking, value_sat=100_000, hash_type=signature[-1])
    assert public_key == KEY.public_key
    assert keys.is_signed(digest, signature=signature[:-1], public_key=public_key)
    for value_sat in (99_999, 100_001):
        wrong = Digests(transaction).digest(0, script_code=locking, value_sat=value_sat, hash_type=signature[-1])
        assert not keys.is_signed(wrong, signature=signature[:-1], public_key=public_key)


# Keys ----------------------------------------------------------------------------------------------------------------


@given(st.integers(1, keys.ORDER - 1), st.sampled_from(Network), st.binary(min_size=32, max_size=32))
def test_other_libraries_agree_on_keys_and_signatures(number, network, digest):
    key, theirs = keys.of_number(number, network), coincurve.PrivateKey.from_int(number)
    assert key.public_key == theirs.public_key.format()
    assert key.sign(digest) == theirs.sign(digest, hasher=None)
    assert keys.is_signed(digest, signature=key.sign(digest), public_key=key.public_key)
    assert keys.read(key.wif, network).secret == key.secret
    payload = base58.b58decode_check(key.wif.reveal())
    assert payload == bytes([keys.WIF_VERSION[network]]) + number.to_bytes(32, "big") + b"\x01"


def test_every_change_of_a_signature_digest_or_key_is_noticed():
    digest = bytes(range(32))
    signature = KEY.sign(digest)
    assert keys.is_signed(digest, signature=signature, public_key=KEY.public_key)
    for _, changed in vectors.every_single_byte_change(signature):
        assert not keys.is_signed(digest, signature=changed, public_key=KEY.public_key)
    for _, changed in vectors.every_single_byte_change(digest):
        assert not keys.is_signed(changed, signature=signature, public_key=KEY.public_key)
    for _, changed in vectors.every_single_byte_change(KEY.public_key):
        assert not keys.is_signed(digest, signature=signature, public_key=changed)
    assert not keys.is_signed(digest, signature=b"", public_key=KEY.public_key)
    assert not keys.is_signed(digest, signature=signature, public_key=b"")
    assert not keys.is_signed(digest[:31], signature=signature, public_key=KEY.public_key)


def test_the_higher_of_two_signatures_is_refused():
    from cryptography.hazmat.primitives.asymmetric import utils

    r, s = utils.decode_dss_signature(KEY.sign(bytes(32)))
    high = utils.encode_dss_signature(r, keys.ORDER - s)
    assert not keys.is_signed(bytes(32), signature=high, public_key=KEY.public_key)


@pytest.mark.parametrize("number", [0, -1, keys.ORDER, 2**256])
def test_a_number_off_the_curve_is_no_key(number):
    with pytest.raises(keys.NotAKey):
        keys.of_number(number, Network.MAIN)


def test_a_private_key_is_read_in_its_compressed_form_of_its_network_and_never_shown():
    wif = KEY.wif.reveal()
    assert keys.read(Secret(wif), Network.TEST).public_key == KEY.public_key
    spoiled = [
        wif[:-1],
        wif + "1",
        "0" + wif[1:],
        wif[:20] + ("a" if wif[20] != "a" else "b") + wif[21:],
        base58.b58encode_check(b"\xef" + bytes(31) + b"\x07").decode(),
        base58.b58encode_check(b"\xef" + bytes(31) + b"\x07\x02").decode(),
        base58.b58encode_check(b"\xef" + bytes(32) + b"\x01").decode(),
        "é" * 52,
        "1" * 5000,
    ]
    for text in spoiled:
        with pytest.raises(keys.NotAKey) as refused:
            keys.read(Secret(text), Network.TEST)
        assert text not in str(refused.value)
    with pytest.raises(keys.NotAKey, match="main network"):
        keys.read(Secret(wif), Network.MAIN)
    assert wif not in repr(KEY)
    assert KEY.secret.reveal() not in repr(KEY)
    assert str(0xC0FFEE) not in repr(KEY)


@pytest.mark.parametrize("value_sat", [0, transactions.MOST_SAT])
def test_the_bounds_of_the_amount_are_included(value_sat):
    digests = Digests(transactions.read(vectors.BIP143_TRANSACTION))
    assert len(digests.digest(1, script_code=b"", value_sat=value_sat)) == 32
