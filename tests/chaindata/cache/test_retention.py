"""Answers are kept for a while, up to a number and a size; the last looked at stay."""

from datetime import timedelta

import pytest

from chaindata.cache import retention
from chaindata.cache.models import ChainAnswer
from chaindata.headers.models import ChainHeader
from tests.chaindata.conftest import NOW

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def kept(settings):
    settings.CHAIN_ANSWERS_KEPT_DAYS, settings.CHAIN_ANSWERS_KEPT, settings.CHAIN_ANSWERS_MEGABYTES = 10, 1_000, 10


def answers(count, *, days=0, size=0, first=0):
    ChainAnswer.objects.bulk_create(
        ChainAnswer(
            key=f"1.get_block_count.{first + n}",
            operation="get_block_count",
            arguments={},
            asked_at=NOW - timedelta(days=days, seconds=n),
            size=size,
        )
        for n in range(count)
    )


def left():
    return set(ChainAnswer.objects.values_list("key", flat=True))


def test_what_nobody_looked_at_for_long_goes_in_small_batches():
    answers(7, days=11)
    answers(2, days=9, first=100)
    assert retention.purge(now=NOW, batch=3, most_batches=2) == 6
    assert retention.purge(now=NOW, batch=3) == 1
    assert left() == {"1.get_block_count.100", "1.get_block_count.101"}
    assert retention.purge(now=NOW) == 0


def test_the_oldest_looks_go_when_there_are_too_many(settings):
    settings.CHAIN_ANSWERS_KEPT = 5
    answers(8)
    assert retention.purge(now=NOW) == 3
    assert left() == {f"1.get_block_count.{n}" for n in range(5)}


def test_the_oldest_looks_go_until_the_rest_is_small_enough():
    answers(120, size=2**17)
    assert retention.purge(now=NOW) == 50
    assert "1.get_block_count.0" in left()
    assert "1.get_block_count.119" not in left()


def test_headers_that_left_the_chain_go_after_a_quarter():
    for height, (active, days) in enumerate([(False, 91), (False, 89), (True, 1000)]):
        ChainHeader.objects.create(
            hash=f"{height:064x}",
            height=height,
            previous_hash="",
            raw="",
            time=0,
            chainwork="",
            is_active=active,
            seen_at=NOW - timedelta(days=days),
        )
    retention.purge(now=NOW)
    assert set(ChainHeader.objects.values_list("height", flat=True)) == {1, 2}
