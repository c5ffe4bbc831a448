"""What the desk says of the chain: the age of the tip, reorganisations, and figures of the cache."""

from datetime import timedelta

import pytest
from django.urls import reverse

from chaindata import tip_follower
from chaindata.cache import answers
from chaindata.cache import service as ways
from desk import clock, health
from tests.chaindata.conftest import unhurried
from tests.chaindata.small_chain import SmallChain

pytestmark = pytest.mark.django_db


def look():
    return health.states()["chain"]


def follow(now):
    return tip_follower.follow(now=now, open_client=ways.open_client, budget=unhurried())


def test_a_new_desk_says_that_the_tip_was_not_heard(service):
    assert (look().ok, "No block received yet" in look().sentence) == (False, True)
    follow(clock.now())
    assert "Not found" in look().sentence, "the service has no such path"


def test_the_age_of_the_tip_is_told_and_an_old_one_is_unwell(service, standing_clock):
    chain = SmallChain(blocks=4).serve(service)
    follow(clock.now() - timedelta(seconds=29))
    assert (look().ok, "Latest block 3, received 29 s ago" in look().sentence) == (True, True)
    chain.mine()
    service.respond = lambda path, body: (500, b"")
    follow(clock.now() - timedelta(seconds=2))
    assert look().ok, "one failure is no reason yet"
    from chaindata.headers.models import ChainTip

    ChainTip.objects.update(read_at=clock.now() - timedelta(seconds=31))
    found = look()
    assert (found.ok, round(found.age_s)) == (False, 31)
    assert "No data from the chain-data service" in found.sentence


def test_a_reorganisation_is_mentioned_for_an_hour(service):
    chain = SmallChain(blocks=5).serve(service)
    now = clock.now()
    follow(now - timedelta(minutes=59))
    chain.reorganise(2)
    follow(now - timedelta(minutes=58))
    follow(now)
    assert look().ok
    assert "2 blocks above 2 were recently reorganised" in look().sentence


def test_figures_come_from_rows(service, client, run_worker, standing_clock):
    SmallChain(blocks=3).serve(service)
    now = clock.now()
    follow(now)
    answers.read("get_blockchain_info", now=now)
    run_worker(now)
    answers.read("get_network_info", now=now)
    text = client.get(reverse("metrics")).content.decode()
    assert "countersign_chain_height 2.0" in text
    assert 'countersign_chain_answers{standing="found"} 1.0' in text
    assert "countersign_chain_answers_due 1.0" in text
    assert "countersign_chain_reorganisations_total 0.0" in text
    assert 'countersign_health_ok{check="chain"} 1.0' in text
