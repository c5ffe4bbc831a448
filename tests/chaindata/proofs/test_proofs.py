"""A payment is proven from its own bytes to a header of the chain that is followed, and by nothing less."""

import json
from datetime import timedelta

import pytest

from chaindata import tip_follower
from chaindata.cache import service as ways
from chaindata.headers import chain as header_chain
from chaindata.headers.models import ChainHeader
from chaindata.proofs import verification
from chaindata.proofs.verification import Outcome
from chaindata.wire import addresses, transactions
from chaindata.wire.addresses import Kind, Network
from chaindata.wire.scripts import steps
from chaindata.wire.transactions import Input, Output
from tests.chaindata.conftest import NOW, unhurried
from tests.chaindata.small_chain import SmallChain, payment
from wire.errors import CallFailed, Unreachable

pytestmark = pytest.mark.django_db
SECOND = timedelta(seconds=1)
OURS = addresses.Address(Network.REGTEST, Kind.KEY, bytes(range(20)))
THEIRS = addresses.Address(Network.REGTEST, Kind.SCRIPT, bytes(range(20)))
OUTPUTS = [(70_000, steps.locking(THEIRS)), (123_456_789, steps.locking(OURS)), (5, b"\x6a")]
PAID = payment(1, OUTPUTS)
PROOF, RAW, DETAILS = (
    f"/{path}/{PAID.txid}"
    for path in ("blockchain/getTxOutProof", "rawtransactions/getRawTransaction", "transaction/details")
)


@pytest.fixture
def chain(service):
    chain = SmallChain(blocks=8)
    chain.mine(payment(2, OUTPUTS), PAID, payment(3, OUTPUTS), payment(4, OUTPUTS))
    chain.mine()
    chain.serve(service)
    follow()
    return chain


def follow(now=NOW):
    return tip_follower.follow(now=now, open_client=ways.open_client, budget=unhurried())


def prove(txid=PAID.txid, address=OURS.cash_address, amount_sat=123_456_789):
    client = ways.open_client()
    try:
        return verification.prove(txid=txid, address=address, amount_sat=amount_sat, client=client, now=NOW)
    finally:
        client.close()


def lie(chain, service, **answers):
    """Let the service answer these paths with something else."""
    service.respond = lambda path, body: (
        (200, json.dumps(answers[path]).encode()) if path in answers else chain.respond(path, body)
    )


@pytest.mark.parametrize("form", ["cash_address", "legacy_address", "slp_address"])
def test_a_payment_is_proven_step_by_step(chain, form):
    verdict = prove(address=getattr(OURS, form))
    assert verdict.is_proven
    assert (verdict.outcome, verdict.output, verdict.height, verdict.depth) == (Outcome.PROVEN, 1, 8, 2)
    assert verdict.block_hash == chain.blocks[8].hash
    assert [step.name for step in verdict.steps] == ["found", "bytes", "output", "proof", "work", "chain"]
    assert all(step.holds for step in verdict.steps)
    assert verdict.steps[2].sentence == "Output 1 pays exactly 1.23456789 to the address."
    assert "transaction 2 in its block" in verdict.steps[3].sentence
    assert verdict.sentence == (
        "The transaction's block, 8, is in the chain tracked here and has 1 block on top of it."
    )
    assert verification.depth_of(verdict.block_hash) == 2
    assert verification.depth_of("0" * 64) == 0


@pytest.mark.parametrize(
    ("address", "amount_sat", "sentence"),
    [
        (OURS.cash_address, 123_456_788, "The transaction pays the address 1.23456789, not 1.23456788."),
        (OURS.cash_address, 123_526_789, "The transaction pays the address 1.23456789, not 1.23526789."),
        (THEIRS.cash_address, 123_456_789, "The transaction pays the address 0.00070000, not 1.23456789."),
        (
            addresses.Address(Network.REGTEST, Kind.KEY, bytes(20)).cash_address,
            123_456_789,
            "None of the transaction's outputs pays this address.",
        ),
    ],
)
def test_another_value_or_address_is_not_this_payment(chain, address, amount_sat, sentence):
    verdict = prove(address=address, amount_sat=amount_sat)
    assert (verdict.outcome, verdict.sentence, verdict.depth) == (Outcome.WRONG, sentence, 0)


def test_what_the_chain_does_not_know_is_absent(chain):
    verdict = prove(txid="ab" * 32)
    assert (verdict.outcome, [step.name for step in verdict.steps]) == (Outcome.ABSENT, ["found"])


def test_a_payment_that_waits_is_told_so(chain):
    waiting = payment(9, OUTPUTS)
    chain.waiting = [waiting]
    verdict = prove(txid=waiting.txid)
    assert (verdict.outcome, verdict.output, verdict.steps[-1].name) == (Outcome.WAITING, 1, "block")


def test_a_block_that_is_not_followed_yet_is_waited_for(chain):
    late = payment(9, OUTPUTS)
    chain.mine(late)
    assert prove(txid=late.txid).outcome is Outcome.WAITING
    follow(NOW + SECOND)
    assert prove(txid=late.txid).depth == 1


def test_a_reorganisation_takes_the_proof_away_and_gives_it_back(chain):
    block = prove().block_hash
    old = list(chain.blocks)
    chain.reorganise(2)
    follow(NOW + SECOND)
    assert verification.depth_of(block) == 0
    assert prove().outcome is Outcome.ABSENT
    chain.blocks, gone = old, chain.blocks
    assert prove().outcome is Outcome.OFF_CHAIN, "the service has not told us of its chain"
    chain.mine()
    chain.mine()
    follow(NOW + 2 * SECOND)
    assert (prove().outcome, verification.depth_of(block)) == (Outcome.PROVEN, 4)
    assert gone[-1].hash != chain.blocks[-1].hash


def test_a_payment_in_another_block_after_a_reorganisation_is_proven_there(chain):
    first = prove()
    chain.reorganise(2, keep=True)
    follow(NOW + SECOND)
    again = prove()
    assert (again.outcome, again.height, again.depth) == (Outcome.PROVEN, 8, 3)
    assert again.block_hash != first.block_hash


def test_an_old_payment_is_connected_downwards(service, monkeypatch):
    monkeypatch.setattr("chaindata.headers.reading.WINDOW", 5)
    chain = SmallChain(blocks=3)
    chain.mine(PAID)
    for _ in range(30):
        chain.mine()
    chain.serve(service)
    follow()
    assert header_chain.lowest().height == 29
    verdict = prove()
    assert (verdict.outcome, verdict.height, verdict.depth) == (Outcome.PROVEN, 3, 31)
    kept = ChainHeader.objects.filter(is_active=True).order_by("height")
    assert [row.hash for row in kept] == [block.hash for block in chain.blocks[3:]]
    assert [int(row.chainwork, 16) for row in kept] == [2 * (row.height + 1) for row in kept]


def test_a_payment_older_than_every_header_is_not_called_lost(service, monkeypatch):
    monkeypatch.setattr("chaindata.headers.reading.WINDOW", 5)
    monkeypatch.setattr("chaindata.proofs.verification.MOST_BELOW", 10)
    chain = SmallChain(blocks=3)
    chain.mine(PAID)
    for _ in range(30):
        chain.mine()
    chain.serve(service)
    follow()
    verdict = prove()
    assert (verdict.outcome, verdict.depth) == (Outcome.WAITING, 0)
    assert (
        verdict.sentence == "The transaction's block is older than the headers stored here, which start at height 29."
    )


# Changed and forged ---------------------------------------------------------------------------------------------------


def test_every_changed_byte_of_a_proof_is_refused(chain, service):
    good = bytes.fromhex(chain.blockchain_getTxOutProof(PAID.txid))
    changed = bytearray(good)
    service.respond = lambda path, body: (
        (200, f'"{changed.hex()}"'.encode()) if path == PROOF else chain.respond(path, body)
    )
    assert prove().is_proven
    for place in range(len(good)):
        changed[place] ^= 1 << place % 8
        assert prove().outcome is Outcome.NOT_PROVEN, place
        changed[place] = good[place]


def test_every_changed_byte_of_the_transaction_is_refused(chain, service):
    changed = bytearray(PAID.raw)
    service.respond = lambda path, body: (
        (200, f'"{changed.hex()}"'.encode()) if path == RAW else chain.respond(path, body)
    )
    for place in range(len(changed)):
        changed[place] ^= 1 << place % 8
        verdict = prove()
        assert (verdict.outcome, verdict.sentence.startswith("The chain-data service")) == (
            Outcome.NOT_PROVEN,
            True,
        ), place
        changed[place] = PAID.raw[place]
    assert prove().is_proven


def test_every_cut_of_a_proof_or_transaction_is_refused(chain, service):
    for path, whole in ((PROOF, chain.blockchain_getTxOutProof(PAID.txid)), (RAW, PAID.raw.hex())):
        for length in range(0, len(whole), 7):
            lie(chain, service, **{path: whole[:length]})
            assert prove().outcome is Outcome.NOT_PROVEN
        lie(chain, service, **{path: whole + "00"})
        assert prove().outcome is Outcome.NOT_PROVEN
        lie(chain, service, **{path: "zz" * 80})
        assert prove().outcome is Outcome.NOT_PROVEN


def test_a_transaction_of_sixty_four_bytes_proves_nothing(service):
    small = transactions.build(
        inputs=[Input(bytes(32), 7, b"", 0xFFFFFFFF)], outputs=[Output(1_000, b"\x51\x51\x51\x51")]
    )
    assert small.size == 64
    chain = SmallChain(blocks=2)
    chain.mine(small)
    chain.serve(service)
    follow()
    verdict = prove(txid=small.txid)
    assert (verdict.outcome, "two hashes" in verdict.sentence) == (Outcome.NOT_PROVEN, True)


def test_a_proof_of_another_transaction_or_in_another_block_is_refused(chain, service):
    other = payment(3, OUTPUTS)
    lie(chain, service, **{PROOF: chain.blockchain_getTxOutProof(other.txid)})
    assert prove().outcome is Outcome.NOT_PROVEN
    named = chain.transaction_details(PAID.txid) | {"blockhash": chain.blocks[9].hash}
    lie(chain, service, **{DETAILS: named})
    assert "a different block" in prove().sentence
    lie(chain, service, **{DETAILS: chain.transaction_details(other.txid)})
    assert "a different transaction" in prove().sentence


def test_a_block_of_its_own_chain_proves_nothing(chain, service):
    """Whoever mines a cheap block with a payment in it has a proof with work, and no place in the chain."""
    forged = SmallChain(blocks=8)
    forged.mine(PAID, mark=5)
    lie(
        chain,
        service,
        **{
            PROOF: forged.blockchain_getTxOutProof(PAID.txid),
            DETAILS: forged.transaction_details(PAID.txid),
        },
    )
    verdict = prove()
    assert (verdict.outcome, verdict.steps[-1].name) == (Outcome.OFF_CHAIN, "chain")
    assert [step.holds for step in verdict.steps] == [True] * 5 + [False]


def test_a_service_that_can_not_be_asked_leaves_the_question_open(chain, service):
    service.respond = lambda path, body: (500, b"")
    with pytest.raises(Unreachable):
        prove()


@pytest.mark.parametrize(
    "body", [b"", b"null", b"[]", b"{}", b"0.5", b'{"error":"x"}', b"<html>", b"[" * 5000, b"\xff"]
)
def test_an_answer_of_another_shape_is_never_a_proof(chain, service, body):
    for wrong in (DETAILS, RAW, PROOF):
        service.respond = lambda path, value, wrong=wrong: (200, body) if path == wrong else chain.respond(path, value)
        with pytest.raises(CallFailed):
            prove()


def test_a_service_that_sends_elsewhere_is_not_followed_there(chain, service):
    service.headers = {"Location": f"{service.url}/v2{DETAILS}"}
    service.respond = lambda path, body: (302, b"")
    service.calls.clear()
    with pytest.raises(CallFailed):
        prove()
    assert service.calls == [f"GET {DETAILS}"]
