"""The chain against the sandbox: its tip is followed, questions are answered, a payment is proven."""

from datetime import timedelta

import pytest

from chaindata import tip_follower
from chaindata.cache import answers, questions
from chaindata.cache import service as ways
from chaindata.cache.freshness import FRESHNESS
from chaindata.headers import tips
from chaindata.headers.models import ChainHeader, ChainReorganisation
from chaindata.proofs import verification
from chaindata.wire import catalogue
from sandbox.serving import InProcessSandbox
from tests.chaindata.conftest import NOW, unhurried
from tests.sandbox.worlds import Ticking

pytestmark = pytest.mark.django_db
SECOND = timedelta(seconds=1)


@pytest.fixture
def own_sandbox(settings):
    """A sandbox whose time passes only when told, and its clock."""
    clock = Ticking()
    with InProcessSandbox(seed=1, still=True, now_ms=clock) as sandbox:
        settings.CHAINDATA_URL = sandbox.url
        yield sandbox, clock


@pytest.fixture
def client(request):
    request.getfixturevalue("own_sandbox" if "own_sandbox" in request.fixturenames else "sandbox")
    client = ways.open_client()
    yield client
    client.close()


def test_of_several_proofs_one_that_does_not_check_out_shows_nothing(sandbox, client):
    txid = client.call("get_block_by_height", height=150).tx[0]
    proof = client.call("get_tx_out_proof", txid=txid)
    changed = proof[:72] + ("0" if proof[72] != "0" else "1") + proof[73:]
    assert client.call("verify_tx_out_proofs", proofs=[changed, proof]) == [None, txid]


def follow(now=NOW):
    return tip_follower.follow(now=now, open_client=ways.open_client, budget=unhurried())


def test_the_sandboxs_chain_is_followed_through_blocks_and_a_reorganisation(sandbox, client):
    assert follow()
    tip = tips.tip(NOW)
    assert (tip.height, tip.hash) == (client.call("get_block_count"), client.call("get_best_block_hash"))
    assert ChainHeader.objects.filter(is_active=True).count() == tip.height + 1
    sandbox.control("chain/mine", {"blocks": 2})
    assert follow(NOW + SECOND)
    assert tips.tip(NOW).height == tip.height + 2
    sandbox.control("chain/reorg", {"depth": 3})
    assert follow(NOW + 2 * SECOND)
    row = ChainReorganisation.objects.get()
    assert row.old_height - row.common_height == 3
    assert tips.tip(NOW).hash == client.call("get_best_block_hash")


@pytest.mark.parametrize("blocks", [0, 300])
def test_a_world_that_begins_anew_has_a_chain_of_its_own(own_sandbox, client, blocks):
    """Of a short old chain the first block is known, of a long one nothing that the new one has.

    The new world begins a minute later: one of the same seed and the same second has the same blocks.
    """
    sandbox, clock = own_sandbox
    if blocks:
        sandbox.control("chain/mine", {"blocks": blocks})
    follow()
    old = tips.tip(NOW)
    clock.at_ms += 60_000
    sandbox.control("reset", {})
    sandbox.control("chain/mine", {"blocks": 1})
    assert follow(NOW + SECOND)
    new = tips.tip(NOW + SECOND)
    assert (new.hash, new.problem) == (client.call("get_best_block_hash"), "")
    assert ChainHeader.objects.filter(is_active=True).count() == new.height + 1
    assert ChainHeader.objects.filter(is_active=True, hash=old.hash).count() == 0
    row = ChainReorganisation.objects.get()
    assert (row.old_tip, row.common_height) == (old.hash, 0)
    assert ChainHeader.objects.get(hash=row.new_tip).is_active, "a hundred headers are taken in at once"


def test_every_operation_that_takes_nothing_is_answered_and_kept(sandbox, run_worker):
    wanted = [(each.name, {}) for each in catalogue.ALL if not each.params and FRESHNESS[each.name] is not None]
    answers.read_many(wanted, now=NOW)
    assert run_worker() == len(wanted) > 10
    found = answers.read_many(wanted, now=NOW)
    assert {reading.operation: reading.problem for reading in found if not reading.is_known} == {}


def test_a_payment_on_the_sandboxs_chain_is_proven_and_lost_and_proven_again(sandbox, client):
    address = "bchtest:qpm2qsznhks23z7629mms6s4cwef74vcwvqcw003ap"
    txid = sandbox.control("chain/pay", {"address": address, "amount": "0.12345678"})["txid"]
    sandbox.control("chain/mine", {"blocks": 1})
    follow()
    proof = {"txid": txid, "address": address, "amount_sat": 12_345_678, "client": client, "now": NOW}
    verdict = verification.prove(**proof)
    assert (verdict.is_proven, verdict.depth) == (True, 1), verdict.steps
    sandbox.control("chain/reorg", {"depth": 2})
    follow(NOW + SECOND)
    assert verification.depth_of(verdict.block_hash) == 0
    assert verification.prove(**proof).outcome is verification.Outcome.WAITING, "it is back in the mempool"
    sandbox.control("chain/mine", {"blocks": 1})
    follow(NOW + 2 * SECOND)
    again = verification.prove(**proof)
    assert (again.is_proven, again.depth) == (True, 1)
    assert again.block_hash != verdict.block_hash


def test_a_question_about_a_seeded_block_is_final_once_it_is_buried(sandbox, client, run_worker):
    follow()
    answers.read("get_block_by_height", now=NOW, height=101)
    run_worker()
    block = answers.read("get_block_by_height", now=NOW, height=101)
    assert (block.is_final, block.record.height) == (True, 101)
    details = [("get_transaction_details", {"txid": txid}) for txid in block.record.tx]
    answers.read_many(details, now=NOW)
    run_worker()
    assert all(reading.is_known for reading in answers.read_many(details, now=NOW))
    with pytest.raises(questions.CannotAsk):
        answers.read("send_raw_transaction", now=NOW, hex="00")
