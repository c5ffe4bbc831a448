"""What wakes the workers of the chain, what they do when they are woken, and who may hear of it."""

import pytest

from chaindata.cache import answers, tasks
from chaindata.cache.models import ChainAnswer
from chaindata.explorer import tasks as tip
from chaindata.headers import tips
from desk import clock, outbox, topics
from tests.chaindata.small_chain import SmallChain

pytestmark = pytest.mark.django_db


@pytest.fixture
def woken(monkeypatch):
    """The wake-up calls that were sent."""
    calls = []
    monkeypatch.setattr(outbox, "wake", lambda task, *arguments: calls.append((task, *arguments)))
    return calls


def test_a_look_wakes_a_worker_once_and_the_worker_answers(service, woken):
    chain = SmallChain(blocks=3).serve(service)
    now = clock.now()
    for _ in range(3):
        assert answers.read("get_block_by_height", now=now, height=1).freshness == "absent"
    row = ChainAnswer.objects.get()
    assert woken == [("chaindata.fetch", row.pk)]
    tasks.fetch(row.pk)
    assert answers.read("get_block_by_height", now=clock.now(), height=1).record.hash == chain.blocks[1].hash


def test_many_looks_of_one_kind_wake_one_worker(service, woken):
    now = clock.now()
    answers.read_many([("get_block_by_height", {"height": height}) for height in range(30)], now=now)
    assert len(woken) == 1, "it takes the others along"
    woken.clear()
    answers.read_many([("get_property", {"propertyId": number}) for number in (1, 3, 4)], now=now)
    assert len(woken) == 3, "each has a call of its own"
    answers.read_many([("get_property", {"propertyId": number}) for number in (1, 3, 4)], now=now + answers.WOKEN_EVERY)
    assert len(woken) == 6, "a call may have been lost"


def test_a_sweep_finds_what_no_call_was_heard_for(service):
    SmallChain(blocks=3).serve(service)
    answers.read("get_block_by_height", now=clock.now(), height=1)
    tasks.fetch_answers()
    assert ChainAnswer.objects.get().standing == "found"
    tasks.purge()
    assert ChainAnswer.objects.count() == 1


def test_a_new_tip_wakes_a_sweep(service, woken):
    SmallChain(blocks=3).serve(service)
    tip.follow_tip()
    assert tips.tip(clock.now()).height == 2
    assert tips.confirmations(1, tips.tip(clock.now())) == 2
    assert tips.confirmations(1, None) == 0
    assert woken == [("chaindata.sweep",)]
    tip.follow_tip()
    assert len(woken) == 1


def test_an_answer_of_an_operation_that_is_gone_is_left_alone(service):
    row = ChainAnswer.objects.create(key="0.gone.x", operation="gone", arguments={}, asked_at=clock.now())
    ChainAnswer.objects.update(due_at=clock.now())
    tasks.fetch(row.pk)
    tasks.fetch(row.pk + 1)
    tasks.fetch_answers()
    assert service.calls == []


def test_everybody_with_a_role_may_follow_the_chain(make_person):
    auditor, nobody = make_person("auditor"), make_person()
    for topic in ("chain:tip", "chain-answer:1.get_block_count.0123456789abcdef"):
        assert topics.admits(auditor, topic)
        assert not topics.admits(nobody, topic)
    for topic in ("chain", "chain:else", "chain-answer", "chain-answer:", "chain-answer:a b"):
        assert not topics.admits(auditor, topic)
