"""One question goes out once, however many workers are woken for it, on either database."""

import subprocess
import sys
import threading
from datetime import timedelta
from functools import partial

import pytest
from django.db import connection

from chaindata import tip_follower
from chaindata.cache import answers, fetching
from chaindata.cache import service as ways
from chaindata.cache.models import ChainAnswer
from chaindata.headers.models import ChainHeader, ChainTip
from desk import clock
from tests.chaindata.conftest import NOW, unhurried
from tests.chaindata.small_chain import SmallChain

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.engine("two transactions at once")]
SECOND = timedelta(seconds=1)


def together(act, count):
    """Run the act in so many threads that begin at the same moment; what each gave, or its exception."""
    ready, found = threading.Barrier(count), []

    def run():
        ready.wait(10)
        try:
            found.append(act())
        except Exception as problem:
            found.append(problem)
        finally:
            connection.close()

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    return found


def fetch(row, now=NOW):
    return fetching.fetch(answer_id=row.pk, now=now, open_client=ways.open_client)


def test_threads_that_are_woken_together_ask_once(service):
    service.answers["/blockchain/getBlockCount"] = 7
    answers.read("get_block_count", now=NOW)
    row = ChainAnswer.objects.get()
    assert sorted(together(lambda: fetch(row), 6)) == [0, 0, 0, 0, 0, 1]
    assert service.calls == ["GET /blockchain/getBlockCount"]
    assert answers.read("get_block_count", now=NOW).record == 7


def test_pages_that_look_together_make_one_row(service):
    found = together(lambda: answers.read("get_block_count", now=NOW).freshness, 6)
    assert found == ["absent"] * 6
    assert ChainAnswer.objects.count() == 1


def test_two_workers_share_the_rows_of_a_bulk_and_ask_for_none_twice(service):
    wanted = [("validate_slp_transaction", {"txid": f"{n:064x}"}) for n in range(50)]
    service.answers["/slp/validateTxid"] = lambda body: [{"txid": txid, "valid": True} for txid in body["txids"]]
    for _, arguments in wanted:
        service.answers[f"/slp/validateTxid/{arguments['txid']}"] = {**arguments, "valid": True}
    answers.read_many(wanted, now=NOW)
    first, last = ChainAnswer.objects.order_by("pk").first(), ChainAnswer.objects.order_by("pk").last()
    rows = iter([first, last])
    lock = threading.Lock()

    def act():
        with lock:
            row = next(rows)
        return fetch(row)

    together(act, 2)
    fetching.fetch_due(now=NOW, open_client=ways.open_client)
    txids = [
        txid
        for body, call in zip(service.bodies, service.calls, strict=True)
        if call.startswith("POST")
        for txid in body["txids"]
    ] + [call.rpartition("/")[2] for call in service.calls if call.startswith("GET")]
    assert sorted(txids) == sorted(arguments["txid"] for _, arguments in wanted)
    assert {row.standing for row in ChainAnswer.objects.all()} == {"found"}


def test_a_process_that_dies_while_it_asks_loses_its_claim(service, run_worker):
    service.answers["/blockchain/getBlockCount"] = 7
    answers.read("get_block_count", now=NOW)
    ChainAnswer.objects.update(claimed_by="dead", claimed_until=NOW + answers.CLAIMED_FOR)
    assert run_worker(NOW) == 0
    later = NOW + answers.CLAIMED_FOR
    answers.read("get_block_count", now=later)
    assert run_worker(later) == 1


def test_an_answer_that_comes_after_the_claim_was_lost_is_dropped(service):
    """A slow worker wakes up when another has asked already: the newer answer stays."""
    answers.read("get_block_count", now=NOW)
    row = ChainAnswer.objects.get()

    def overtaken(body):
        ChainAnswer.objects.filter(pk=row.pk).update(claimed_by="", claimed_until=None)
        service.answers["/blockchain/getBlockCount"] = 8
        fetch(row, NOW + SECOND)
        return 7

    service.answers["/blockchain/getBlockCount"] = overtaken
    fetch(row)
    reading = answers.read("get_block_count", now=NOW + SECOND)
    assert (reading.record, reading.read_at) == (8, NOW + SECOND)


@pytest.mark.thorough("a claim is a row, so threads with connections of their own prove the same")
def test_processes_ask_once(service, child_environment):
    service.answers["/blockchain/getBlockCount"] = 7
    answers.read("get_block_count", now=clock.now())
    row = ChainAnswer.objects.get()
    script = (
        "import django; django.setup(); import sys; from desk import clock;"
        "from chaindata.cache import fetching, service; sys.stdout.write('ready\\n'); sys.stdout.flush();"
        "sys.stdin.readline();"
        f"print(fetching.fetch(answer_id={row.pk}, now=clock.now(), open_client=service.open_client))"
    )
    environment = {**child_environment, "CHAINDATA_URL": service.url}
    workers = [
        subprocess.Popen(  # our own interpreter and script
            [sys.executable, "-c", script], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    for worker in workers:
        assert worker.stdout.readline() == "ready\n"
    outputs = [worker.communicate("go\n", timeout=60)[0].strip() for worker in _gone(workers)]
    assert sorted(outputs) == ["0", "1"]
    assert service.calls == ["GET /blockchain/getBlockCount"]


def _gone(workers):
    """The workers, once all of them were told to go."""
    for worker in workers:
        worker.stdin.write("go\n")
        worker.stdin.flush()
    return workers


def look(now):
    return tip_follower.follow(now=now, open_client=ways.open_client, budget=unhurried())


def test_one_of_many_followers_takes_a_new_block(service):
    chain = SmallChain(blocks=12).serve(service)
    found = together(partial(look, NOW), 4)
    assert sorted(found) == [False, False, False, True]
    assert ChainHeader.objects.filter(is_active=True).count() == 12
    chain.reorganise(3)
    found = together(lambda: tip_follower.follow(now=NOW + SECOND, open_client=ways.open_client, budget=unhurried()), 4)
    assert sorted(found) == [False, False, False, True]
    assert ChainTip.objects.get().header_id == chain.blocks[-1].hash
    kept = ChainHeader.objects.filter(is_active=True).order_by("height")
    assert [row.hash for row in kept] == [block.hash for block in chain.blocks]
