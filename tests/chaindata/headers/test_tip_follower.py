"""The tip is followed: headers are checked and kept, reorganisations are found, and what they touch is asked again."""

from contextlib import nullcontext
from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction

from chaindata import tip_follower
from chaindata.cache import answers, fetching
from chaindata.cache import service as ways
from chaindata.cache.models import ChainAnswer
from chaindata.cache.service import TimeBudget
from chaindata.headers import chain as header_chain
from chaindata.headers import tips
from chaindata.headers.models import ChainHeader, ChainReorganisation, ChainTip
from chaindata.wire import headers
from desk.live import announcements
from tests.chaindata.conftest import NOW, unhurried
from tests.chaindata.small_chain import SmallChain, mined

pytestmark = pytest.mark.django_db
SECOND = timedelta(seconds=1)


@pytest.fixture
def chain(service):
    return SmallChain(blocks=30).serve(service)


@pytest.fixture
def announced(monkeypatch):
    """The topics that were announced."""
    topics = []
    monkeypatch.setattr(announcements, "announce", lambda topic, **hint: topics.append(topic))
    return topics


def follow(now=NOW):
    return tip_follower.follow(now=now, open_client=ways.open_client, budget=unhurried())


def is_the_chain(chain):
    kept = ChainHeader.objects.filter(is_active=True).order_by("height").values_list("height", "hash")
    return list(kept) == [(block.height, block.hash) for block in chain.blocks]


def test_a_new_desk_takes_the_whole_of_a_short_chain(chain, announced):
    assert tips.tip(NOW) is None
    assert follow()
    assert is_the_chain(chain)
    found = tips.tip(NOW)
    assert (found.height, found.hash, found.problem, found.is_current) == (29, chain.blocks[-1].hash, "", True)
    assert announced == ["chain:tip"]
    assert ChainHeader.objects.get(height=29).chainwork == headers.chainwork_text(60)


def test_a_long_chain_is_taken_from_near_its_tip_on_the_word_of_the_service(chain, service, monkeypatch):
    monkeypatch.setattr("chaindata.headers.reading.WINDOW", 10)
    assert follow()
    assert header_chain.lowest().height == 20
    assert ChainHeader.objects.get(height=29).chainwork == headers.chainwork_text(60)


def test_a_new_block_costs_two_calls_and_an_old_tip_one(chain, service, announced):
    follow()
    announced.clear()
    service.calls.clear()
    assert not follow(NOW + SECOND)
    assert service.calls == ["GET /blockchain/getBlockchainInfo"]
    assert announced == []
    assert tips.tip(NOW).read_at == NOW + SECOND
    chain.mine()
    service.calls.clear()
    assert follow(NOW + 2 * SECOND)
    assert service.calls == ["GET /blockchain/getBlockchainInfo", "POST /blockchain/getBlockHeader"]
    assert is_the_chain(chain)
    assert announced == ["chain:tip"]


def test_many_blocks_at_once_are_caught_up(chain, service):
    follow()
    for _ in range(45):
        chain.mine()
    service.calls.clear()
    assert follow(NOW + SECOND)
    assert is_the_chain(chain)
    assert len(service.calls) == 1 + 3 + 3


def test_a_slow_service_is_caught_up_with_in_rounds(chain, monkeypatch):
    monkeypatch.setattr("chaindata.headers.reading.MOST_AT_ONCE", 10)
    moments = iter(range(0, 10**12, 8 * 10**9))
    slow = TimeBudget(monotonic_ns=lambda: next(moments))
    assert tip_follower.follow(now=NOW, open_client=ways.open_client, budget=slow)
    assert tips.tip(NOW).height == 20, "two rounds, the first from the genesis block"
    assert follow(NOW + SECOND)
    assert is_the_chain(chain)


@pytest.mark.parametrize(("depth", "more"), [(1, 1), (3, 1), (12, 2), (2, 0), (5, -2)])
def test_a_reorganisation_is_found_and_told(chain, announced, depth, more):
    follow()
    old = chain.blocks[-1]
    chain.reorganise(depth, more=more)
    announced.clear()
    assert follow(NOW + SECOND)
    assert is_the_chain(chain)
    row = ChainReorganisation.objects.get()
    assert (row.common_height, row.old_tip, row.old_height) == (29 - depth, old.hash, 29)
    assert (row.new_tip, row.new_height) == (chain.blocks[-1].hash, 29 + more)
    assert announced == ["chain:tip"]
    assert ChainHeader.objects.filter(is_active=False).count() == depth


def test_the_chain_may_come_back(chain):
    follow()
    old = list(chain.blocks)
    chain.reorganise(2)
    follow(NOW + SECOND)
    chain.blocks = old
    chain.mine()
    chain.mine()
    assert follow(NOW + 2 * SECOND)
    assert is_the_chain(chain)
    assert [row.common_height for row in ChainReorganisation.objects.order_by("pk")] == [27, 27]


def test_a_reorganisation_takes_back_what_was_final(chain, run_worker, announced):
    deep, shallow = chain.blocks[5], chain.blocks[18]
    follow()
    for block in (deep, shallow):
        answers.read("get_block_by_hash", now=NOW, hash=block.hash)
    run_worker()
    readings = [answers.read("get_block_by_hash", now=NOW, hash=block.hash) for block in (deep, shallow)]
    assert [reading.is_final for reading in readings] == [True, True]
    chain.reorganise(13)
    announced.clear()
    follow(NOW + SECOND)
    assert readings[1].topic in announced
    assert readings[0].topic not in announced
    later = NOW + SECOND
    deep_now, shallow_now = (answers.read("get_block_by_hash", now=later, hash=block.hash) for block in (deep, shallow))
    assert (deep_now.is_final, deep_now.freshness) == (True, "fresh")
    assert (shallow_now.is_final, shallow_now.freshness) == (False, "stale")
    run_worker(NOW + SECOND)
    again = answers.read("get_block_by_hash", now=NOW, hash=shallow.hash)
    assert (again.is_final, again.record.is_main_chain) == (False, False)


def test_what_is_not_buried_is_asked_again_with_the_next_block(chain, service, run_worker):
    follow()
    young = chain.blocks[25]
    answers.read("get_block_by_hash", now=NOW, hash=young.hash)
    run_worker()
    assert not answers.read("get_block_by_hash", now=NOW, hash=young.hash).is_final
    assert run_worker(NOW + SECOND) == 0
    chain.mine()
    follow(NOW + SECOND)
    assert run_worker(NOW + SECOND) == 1
    for _ in range(4):
        chain.mine()
    follow(NOW + 2 * SECOND)
    assert run_worker(NOW + 2 * SECOND) == 1
    assert answers.read("get_block_by_hash", now=NOW, hash=young.hash).is_final


# What is not followed -------------------------------------------------------------------------------------------------


def test_a_header_without_work_or_with_another_parent_is_not_taken(chain):
    follow()
    good = mined(chain.blocks[-1], []).header
    parts = {name: getattr(good, name) for name in ("version", "previous_bytes", "merkle_root_bytes", "time", "bits")}
    idle = next(
        each for each in (headers.build(nonce=nonce, **parts) for nonce in range(1000)) if not each.meets_target
    )
    easier = headers.build(nonce=good.nonce, **{**parts, "bits": 0x2100FFFF})
    stranger = headers.build(nonce=0, **{**parts, "previous_bytes": bytes(31) + b"\x07"})
    for wrong in (idle, easier, stranger):
        with pytest.raises(header_chain.CannotFollow), transaction.atomic():
            header_chain.adopt(path=[wrong], first_height=30, first_work=None, now=NOW)
    with pytest.raises(header_chain.CannotFollow), transaction.atomic():
        header_chain.adopt(path=[good], first_height=31, first_work=None, now=NOW)
    assert is_the_chain(chain)
    assert header_chain.adopt(path=[good], first_height=30, first_work=None, now=NOW).tip.height == 30


def test_every_changed_byte_of_a_header_is_refused(chain, service):
    follow()
    good = chain.mine().header.raw
    answer = chain.respond
    changed = bytearray(good)
    service.respond = lambda path, body: (
        (200, f'["{changed.hex()}"]'.encode()) if path == "/blockchain/getBlockHeader" else answer(path, body)
    )
    for place in range(headers.BYTES):
        changed[place] ^= 1 << place % 8
        assert not follow(NOW + SECOND)
        changed[place] = good[place]
    assert tips.tip(NOW).height == 29
    assert ChainHeader.objects.count() == 30
    assert follow(NOW + SECOND), "the whole header is taken"


def test_a_service_that_answers_with_other_headers_than_asked_is_not_believed(chain, service, announced):
    follow()
    block = chain.mine()
    other = mined(chain.blocks[-2], [], mark=9)
    answer = chain.respond

    def lie(path, body):
        if path == "/blockchain/getBlockHeader":
            return 200, f'["{other.header.raw.hex()}"]'.encode()
        return answer(path, body)

    service.respond = lie
    assert not follow(NOW + SECOND)
    assert tips.tip(NOW).height == 29
    assert "did not return every requested header" in tips.tip(NOW).problem
    assert announced[-1] == "chain:tip"
    service.respond = answer
    assert follow(NOW + 2 * SECOND)
    assert (tips.tip(NOW).hash, tips.tip(NOW).problem) == (block.hash, "")


def test_another_network_is_not_followed(chain):
    chain.chain = "main"
    assert not follow()
    assert tips.tip(NOW) is None
    assert "main network" in ChainTip.objects.get().problem


def test_on_the_main_network_less_work_is_never_followed(chain, settings):
    follow()
    old = chain.blocks[-1].hash
    settings.CHAIN_NETWORKS = ["main", "regtest"]
    header_chain_target = headers.EASIEST_TARGET["regtest"]
    ChainTip.objects.update(world=tip_follower._world())
    chain.reorganise(3, more=-1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(headers.EASIEST_TARGET, "main", header_chain_target)
        assert not follow(NOW + SECOND)
        assert tips.tip(NOW).hash == old
        assert "less work" in tips.tip(NOW).problem
        chain.mine(mark=1)
        assert not follow(NOW + 2 * SECOND), "as much work as ours: the one that was seen first stays"
        assert (tips.tip(NOW).hash, tips.tip(NOW).problem) == (old, "")
        chain.mine(mark=1)
        assert follow(NOW + 3 * SECOND)
    assert is_the_chain(chain)


def harder(previous, *, easier=0):
    """The next header, with 64 times the work that the test network asks for, halved so many times."""
    parts = {
        "version": 4,
        "previous_bytes": previous.hash_bytes if previous else bytes(32),
        "merkle_root_bytes": bytes(32),
        "time": 1_600_000_000,
        "bits": headers.bits_of((1 << 249 + easier) - 1),
    }
    return next(made for made in (headers.build(nonce=nonce, **parts) for nonce in range(10**6)) if made.meets_target)


@pytest.mark.parametrize(("network", "is_followed"), [("main", False), ("regtest", True)])
def test_on_the_main_network_no_block_is_followed_that_is_suddenly_easy(settings, monkeypatch, network, is_followed):
    settings.CHAIN_NETWORKS = [network]
    monkeypatch.setitem(headers.EASIEST_TARGET, network, headers.EASIEST_TARGET["regtest"])
    ChainTip.objects.create(pk=1, world="")
    first = harder(None)
    second = harder(first, easier=1)
    header_chain.adopt(path=[first], first_height=9, first_work=10**6, now=NOW)
    assert header_chain.adopt(path=[second], first_height=10, first_work=None, now=NOW)
    third = harder(second)
    for path in ([harder(second, easier=3)], [third, harder(third, easier=2)]):
        with nullcontext() if is_followed else pytest.raises(header_chain.CannotFollow, match="far less work"):
            header_chain.adopt(path=path, first_height=11, first_work=None, now=NOW)
        assert ChainHeader.objects.filter(hash=path[-1].hash).exists() == is_followed
    assert (ChainTip.objects.get().header.hash == second.hash) == (not is_followed)


def test_another_service_begins_a_chain_of_its_own(chain, service, settings):
    follow()
    settings.CHAINDATA_URL = service.url.replace("127.0.0.1", "localhost")
    other = SmallChain(blocks=0)
    for _ in range(3):
        other.mine(mark=7)
    other.serve(service)
    assert follow(NOW + SECOND)
    assert is_the_chain(other)
    assert not ChainReorganisation.objects.exists()


def test_one_worker_looks_at_a_time_and_a_dead_one_is_replaced(chain, service):
    ChainTip.objects.create(pk=1, world=tip_follower._world(), claimed_by="dead", claimed_until=NOW + SECOND)
    assert not follow()
    assert service.calls == []
    assert follow(NOW + SECOND)


def test_a_silent_service_is_told_and_the_tip_grows_old(chain, service):
    follow()
    service.respond = lambda path, body: (500, b"<html>down</html>")
    assert not follow(NOW + 31 * SECOND)
    found = tips.tip(NOW + 31 * SECOND)
    assert (found.height, found.read_at, found.is_current) == (29, NOW, False)
    assert "No data from the chain-data service" in found.problem


def test_a_service_that_is_back_is_asked_at_once_for_what_failed_meanwhile(chain, service, run_worker, announced):
    follow()
    answers.read("get_blockchain_info", now=NOW)
    service.respond = lambda path, body: (500, b"")
    for _ in range(3):
        ChainAnswer.objects.update(due_at=NOW)
        run_worker()
        follow()
    assert answers.read("get_blockchain_info", now=NOW).freshness == "failed"
    assert announced.count("chain:tip") == 2, "the first block, and that the service is away"
    chain.serve(service)
    assert run_worker(NOW + SECOND) == 0, "the pause after a failure has grown"
    assert not follow(NOW + SECOND)
    assert announced.count("chain:tip") == 3
    assert run_worker(NOW + SECOND) == 1
    assert answers.read("get_blockchain_info", now=NOW + SECOND).freshness == "fresh"


def test_the_database_keeps_one_active_header_of_a_height(chain):
    follow()
    with pytest.raises(IntegrityError), transaction.atomic():
        ChainHeader.objects.create(
            hash="f" * 64, height=29, previous_hash="0" * 64, raw="", time=0, chainwork="0", is_active=True, seen_at=NOW
        )


def test_answers_of_a_mempool_are_asked_again_with_the_next_block(chain, service, run_worker):
    follow()
    answers.read("get_token_layer", now=NOW)
    row = ChainAnswer.objects.get()
    ChainAnswer.objects.filter(pk=row.pk).update(due_at=NOW + 500 * SECOND)
    chain.mine()
    follow(NOW + SECOND)
    row.refresh_from_db()
    assert row.due_at == NOW + SECOND


# Nothing old stays ----------------------------------------------------------------------------------------------------


def test_a_worker_that_dies_over_a_reorganisation_leaves_nothing_final_behind(chain, run_worker, monkeypatch):
    follow()
    answers.read("get_block_by_hash", now=NOW, hash=chain.blocks[18].hash)
    run_worker()
    assert ChainAnswer.objects.get().is_final
    chain.reorganise(13)
    with monkeypatch.context() as broken:
        broken.setattr(tip_follower, "_take_back", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            follow(NOW + SECOND)
    follow(NOW + 60 * SECOND)
    assert is_the_chain(chain)
    assert ChainReorganisation.objects.count() == 1
    assert not ChainAnswer.objects.get().is_final


def test_an_answer_from_before_a_block_is_not_kept_as_one_from_after_it(chain, run_worker):
    """It was asked for before, and came after: what it says is of the chain as it was."""
    follow()
    chain.slp_list = lambda _: []
    answers.read("get_slp_tokens", now=NOW)
    row = ChainAnswer.objects.get()

    def meanwhile_a_block_comes():
        chain.mine()
        assert follow(NOW + SECOND)
        return ways.open_client()

    fetching.fetch(answer_id=row.pk, now=NOW, open_client=meanwhile_a_block_comes)
    assert answers.read("get_slp_tokens", now=NOW + SECOND).freshness != "fresh"
    assert run_worker(NOW + SECOND) == 1
    assert answers.read("get_slp_tokens", now=NOW + SECOND).freshness == "fresh"
