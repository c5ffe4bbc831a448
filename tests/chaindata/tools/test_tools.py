"""Addresses, transactions, scripts and proofs from their bytes alone: what is read, and each way to be wrong."""

import pytest

from chaindata.shared import meanings
from chaindata.tools import tools
from chaindata.wire import proofs, transactions
from chaindata.wire.addresses import Network
from chaindata.wire.scripts import steps
from chaindata.wire.tokens import slp
from chaindata.wire.transactions import Output
from tests.chaindata import paying, small_chain

HASH = "76a04053bda0a88bda5177b86a15c3b29f559873"
CASH, SLP, LEGACY = (
    "bchtest:qpm2qsznhks23z7629mms6s4cwef74vcwvqcw003ap",
    "slptest:qpm2qsznhks23z7629mms6s4cwef74vcwvmvf54x0u",
    "mrLC19Je2BuWQDkWSTriGYPyQJXKkkBmCx",
)
KEY = paying.key(11)


@pytest.fixture(autouse=True)
def _test_networks(settings):
    settings.CHAIN_NETWORKS = ("regtest", "test")


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        (CASH, "cash address"),
        (CASH.partition(":")[2], "cash address"),
        (CASH.upper(), "cash address"),
        ("bchreg:qpm2qsznhks23z7629mms6s4cwef74vcwv6ycwvz78", "cash address"),
        (SLP, "SLP address"),
        (SLP.partition(":")[2], "SLP address"),
        ("slpreg:qpm2qsznhks23z7629mms6s4cwef74vcwv8yzl8w8w", "SLP address"),
        (LEGACY, "legacy address"),
    ],
)
def test_every_spelling_of_an_address_is_one_hash(text, spelled):
    found = tools.convert(text=text)
    assert (found.address.hash.hex(), found.spelled, found.is_ours) == (HASH, spelled, True)
    assert found.script == f"76a914{HASH}88ac"
    assert found.asm == f"OP_DUP OP_HASH160 {HASH} OP_EQUALVERIFY OP_CHECKSIG"
    assert [each.network for each in found.elsewhere] == [each for each in Network if each != found.address.network]


def test_an_address_of_the_main_network_is_shown_as_a_strangers():
    found = tools.convert(text="1DeLbv5EMzLEFDvQ8wZiKeSuPGGtSSz5HP")
    assert (found.is_ours, str(found.address.network)) == (False, "main")
    assert found.address.slp_address == "simpleledger:qz9tzs6d5097ejpg279rg0rnlhz546q4fsnck9wh5m"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (CASH[:-1] + "q", "checksum"),
        (CASH[:-1], "checksum"),
        (CASH[:9].upper() + CASH[9:], "uses only one"),
        ("bitcoin:" + CASH.partition(":")[2], "prefix"),
        ("", ""),
        ("q" * 400, ""),
        ("\u0661" * 40, ""),
        (LEGACY[:-1] + "y", ""),
    ],
)
def test_what_is_no_address_is_told_in_a_sentence(text, sentence):
    with pytest.raises(tools.CannotRead) as problem:
        tools.convert(text=text)
    assert sentence in str(problem.value)
    assert str(problem.value).endswith(".")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("0xabcd", "0x"),
        ("abc", "one is missing"),
        ("zz", "Not hexadecimal"),
        ("\u0661\u0662", "Not hexadecimal"),
        ("ab" * (tools.MOST_HEX // 2 + 1), "longer"),
    ],
)
def test_what_is_not_hexadecimal_is_told_in_a_sentence(text, sentence):
    with pytest.raises(tools.CannotRead) as problem:
        tools.raw_of(text)
    assert sentence in str(problem.value)


def test_bytes_are_read_in_either_case_and_over_several_lines():
    assert tools.raw_of(" aB\n Cd\t01 ") == bytes.fromhex("abcd01")


def a_payment():
    funded = paying.funding(KEY, 100_000)
    note = steps.returning([b"hello"])
    return paying.signed(KEY, funded, 1, [(90_000, steps.locking(paying.key(12).address)), (0, note)])


def test_a_transaction_is_told_output_by_output():
    made = a_payment()
    found = tools.decode(text=made.raw.hex().upper())
    assert (found.txid, found.problem) == (made.txid, "")
    paid, note = found.outputs
    assert (paid.value_sat, paid.kind, paid.message) == (90_000, "pubkeyhash", None)
    assert paid.addresses[0].startswith("bchtest:"), "a regtest prints the addresses of the test network"
    assert (note.kind, note.message.layer, note.message.lines) == ("nulldata", "OP_RETURN", (("data", "hello"),))


def test_a_transaction_that_is_cut_anywhere_or_goes_on_is_none():
    raw = a_payment().raw
    for size in range(len(raw)):
        with pytest.raises(tools.CannotRead):
            tools.decode(text=raw[:size].hex())
    with pytest.raises(tools.CannotRead, match="follow the end"):
        tools.decode(text=raw.hex() + "00")


def test_a_transaction_that_no_node_takes_says_which_rule_it_breaks():
    made = a_payment()
    twice = transactions.build(inputs=[*made.inputs, *made.inputs], outputs=made.outputs)
    assert tools.decode(text=twice.raw.hex()).problem == "bad-txns-inputs-duplicate"
    assert tools.decode(text=transactions.build(inputs=[], outputs=made.outputs).raw.hex()).problem


@pytest.mark.parametrize(
    ("text", "kind", "cut"),
    [
        (f"76a914{HASH}88ac", "pubkeyhash", False),
        (f"a914{HASH}87", "scripthash", False),
        ("6a0568656c6c6f", "nulldata", False),
        ("4c", "nonstandard", True),
        ("", "nonstandard", False),
    ],
)
def test_a_script_is_told_in_words(text, kind, cut):
    found = tools.decode_script(text=text)
    assert (found.kind, found.is_cut_short, bool(found.p2sh)) == (kind, cut, kind != "scripthash")


def test_a_script_longer_than_can_run_is_refused():
    with pytest.raises(tools.CannotRead, match="10,000"):
        tools.decode_script(text="00" * 10_001)


def a_proof():
    chain = small_chain.SmallChain(blocks=2)
    body = [small_chain.payment(mark, [(1_000, b"\x51")]) for mark in range(1, 6)]
    block = chain.mine(*body)
    ids = [each.txid_bytes for each in block.body]
    return proofs.build(block.header, ids, {body[2].txid_bytes}), body[2]


def test_a_proof_holds_and_shows_its_transaction():
    proof, wanted = a_proof()
    found = tools.check_proof(text=proof.raw.hex())
    assert found.holds
    assert [(each.txid, each.position) for each in found.proven] == [(wanted.txid, 3)]
    assert found.header.hash == proof.header.hash
    assert int(found.target, 16) == 0x7FFFFF << 232


def test_every_changed_byte_of_a_proof_is_noticed():
    proof, wanted = a_proof()
    for place in range(len(proof.raw)):
        changed = bytearray(proof.raw)
        changed[place] ^= 1
        try:
            found = tools.check_proof(text=bytes(changed).hex())
        except tools.CannotRead:
            continue
        figures = ([each.txid for each in found.proven], found.header.hash, found.proof.transactions)
        assert not found.holds or figures != ([wanted.txid], proof.header.hash, proof.transactions), place


def test_a_header_without_work_does_not_count():
    proof, _ = a_proof()
    raw = bytearray(proof.raw)
    raw[72:76] = (0x1D00FFFF).to_bytes(4, "little")
    found = tools.check_proof(text=bytes(raw).hex())
    assert not found.holds
    assert "invalid proof of work" in found.work_problem


def test_messages_of_the_layers_are_told_and_broken_ones_say_why():
    here = Network.TEST
    genesis = slp.Genesis(b"TKR", b"Name", b"", b"", 2, None, 100)
    message = meanings.message_of(Output(0, slp.script_of(genesis)), 0, network=here)
    assert (message.layer, message.what, message.problem) == ("SLP", "GENESIS", "")
    assert dict(message.lines)["minting baton"] == "none: the supply is final"
    assert meanings.message_of(Output(0, slp.script_of(genesis)), 1, network=here).problem, "only output 0 counts"
    broken = meanings.message_of(Output(0, bytes.fromhex("6a04534c500001010747454e45534953")), 0, network=here)
    assert (broken.what, bool(broken.problem)) == ("Unreadable", True)
    payload = meanings.message_of(Output(0, bytes.fromhex("6a080877686300000044")), 0, network=here)
    assert (payload.layer, payload.what) == ("Property tokens", "Burn BCH Get WHC")
    assert meanings.message_of(Output(0, bytes.fromhex("6a0608776863ffff")), 0, network=here).problem
    assert meanings.message_of(Output(1, b"\x51"), 0, network=here) is None
