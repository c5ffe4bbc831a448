"""Answers that no service should give: nothing of them is kept, what was known before stays, and it is told."""

import json
from datetime import timedelta

import pytest

from chaindata.cache import answers, fetching, lookups
from chaindata.cache import service as ways
from chaindata.cache.models import ChainAnswer
from chaindata.cache.service import TimeBudget
from desk import clock
from tests.chaindata.conftest import NOW
from tests.chaindata.small_chain import SmallChain, payment

pytestmark = pytest.mark.django_db
SECOND = timedelta(seconds=1)
CHAIN = SmallChain(blocks=3)
PAID = payment(1, [(1_000, b"\x51")])
CHAIN.mine(PAID)
GOOD = CHAIN.transaction_details(PAID.txid)
PATH = f"/transaction/details/{PAID.txid}"
LATER = NOW + 31 * SECOND
BODIES = {
    "empty": b"",
    "null": b"null",
    "a list": b"[]",
    "a page": b"<!DOCTYPE html><html><body>Sign in</body></html>",
    "cut": json.dumps(GOOD).encode()[:-20],
    "two": json.dumps(GOOD).encode() * 2,
    "a wrong type": json.dumps({**GOOD, "confirmations": "many"}).encode(),
    "a number without end": json.dumps(GOOD).encode().replace(b'"version": 2', b'"version": NaN'),
    "a large number": json.dumps({**GOOD, "size": 10**30}).encode(),
    "an amount of a thousand digits": json.dumps({**GOOD, "valueOut": "9" * 1000}).encode(),
    "a missing member": json.dumps({name: value for name, value in GOOD.items() if name != "vout"}).encode(),
    "another transaction": json.dumps({**GOOD, "txid": "ab" * 32}).encode(),
    "too deep": b'{"txid":' + b"[" * 100_000,
    "no text": b"\xff\xfe\x00",
    "too large": json.dumps({**GOOD, "more": "x" * lookups.MOST_BYTES}).encode(),
}


def details(now):
    return answers.read("get_transaction_details", now=now, txid=PAID.txid)


@pytest.fixture
def known(service, run_worker):
    """The answer is known, and old."""
    service.answers[PATH] = GOOD
    details(NOW)
    run_worker()
    assert details(NOW).freshness == "fresh"
    details(LATER)


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_an_answer_that_can_not_be_read_leaves_the_old_one(service, run_worker, body):
    kept = ChainAnswer.objects.get().body
    service.answers[PATH] = (200, body)
    assert run_worker(LATER) == 1
    reading = details(LATER)
    assert (reading.freshness, reading.read_at, reading.record.txid) == ("failed", NOW, PAID.txid)
    assert reading.problem.startswith("No data from the chain-data service at the moment")
    assert len(reading.problem) <= 300
    assert ChainAnswer.objects.get().body == kept
    service.answers[PATH] = GOOD
    details(LATER + 5 * SECOND)
    run_worker(LATER + 5 * SECOND)
    assert (details(LATER + 5 * SECOND).freshness, details(LATER + 5 * SECOND).problem) == ("fresh", "")


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("status", [201, 204, 301, 307, 401, 418, 500])
def test_another_status_leaves_the_old_one_and_is_followed_nowhere(service, run_worker, status):
    service.headers = {"Location": f"{service.url}/v2{PATH}"}
    service.answers[PATH] = (status, b"")
    calls = len(service.calls)
    run_worker(LATER)
    assert details(LATER).freshness == "failed"
    assert f"status {status}" in details(LATER).problem
    assert service.calls[calls:] == [f"GET {PATH}"]


@pytest.mark.usefixtures("known")
def test_an_unknown_transaction_takes_the_old_answer_away(service, run_worker):
    """It was there, and it is not any more: that is news, not a failure."""
    del service.answers[PATH]
    run_worker(LATER)
    reading = details(LATER)
    assert (reading.freshness, reading.record, reading.read_at) == ("missing", None, LATER)


def test_one_bad_element_of_a_bulk_spoils_only_itself(service, run_worker):
    txids = [f"{n:064x}" for n in range(5)]
    service.answers["/slp/validateTxid"] = (400, {"error": "This is not a txid"})
    for txid in txids[1:]:
        service.answers[f"/slp/validateTxid/{txid}"] = {"txid": txid, "valid": True}
    service.answers[f"/slp/validateTxid/{txids[0]}"] = (400, {"error": "This is not a txid"})
    wanted = [("validate_slp_transaction", {"txid": txid}) for txid in txids]
    answers.read_many(wanted, now=NOW)
    run_worker()
    found = answers.read_many(wanted, now=NOW)
    assert [reading.freshness for reading in found] == ["refused", "fresh", "fresh", "fresh", "fresh"]
    assert len(service.calls) == 6


@pytest.mark.parametrize("elements", [[], [[]], [1, 2], [{"txid": "00" * 32}], "text", None])
def test_an_odd_bulk_is_asked_for_singly(service, run_worker, elements):
    txids = [f"{n:064x}" for n in range(3)]
    service.answers["/slp/validateTxid"] = (200, elements)
    for txid in txids:
        service.answers[f"/slp/validateTxid/{txid}"] = {"txid": txid, "valid": False, "invalidReason": "no"}
    wanted = [("validate_slp_transaction", {"txid": txid}) for txid in txids]
    answers.read_many(wanted, now=NOW)
    run_worker()
    found = answers.read_many(wanted, now=NOW)
    assert [(reading.freshness, reading.is_final) for reading in found] == [("fresh", False)] * 3


def test_a_service_that_is_busy_is_asked_when_it_says_and_no_later_than_in_two_minutes(service, run_worker):
    now = clock.now().replace(microsecond=0)
    for reset_s, again in ((40, 40), (9_000, 120)):
        service.headers = {"X-RateLimit-Reset": f"{now.timestamp() + reset_s:.0f}"}
        service.answers["/blockchain/getBlockCount"] = (429, {"error": "Too many requests."})
        ChainAnswer.objects.all().delete()
        answers.read("get_block_count", now=now)
        run_worker(now)
        assert ChainAnswer.objects.get().due_at == now + again * SECOND


def test_a_text_of_the_service_can_do_nothing_on_a_page(service, run_worker):
    service.answers["/blockchain/getBlockCount"] = (400, {"error": "\x1b[2J<script>alert(1)</script>" + "x" * 999})
    answers.read("get_block_count", now=NOW)
    run_worker()
    reading = answers.read("get_block_count", now=NOW)
    assert reading.freshness == "refused"
    assert "\x1b" not in reading.problem
    assert len(reading.problem) <= 300


class Clock:
    """A clock that each look at it moves on by some seconds."""

    def __init__(self, seconds):
        self.step_ns, self.now_ns = seconds * 1_000_000_000, 0

    def __call__(self):
        self.now_ns += self.step_ns
        return self.now_ns


def test_a_service_that_is_away_is_asked_once_for_many(service, run_worker):
    service.answers["/slp/validateTxid"] = (500, b"")
    answers.read_many([("validate_slp_transaction", {"txid": f"{n:064x}"}) for n in range(20)], now=NOW)
    assert run_worker() == 20
    assert service.calls == ["POST /slp/validateTxid"]
    assert {row.failures for row in ChainAnswer.objects.all()} == {1}


def test_a_slow_service_is_not_asked_for_longer_than_a_worker_lives(service):
    """Each look at the clock costs seven seconds: no call is begun after fifteen, and what is left has failed."""
    service.answers["/slp/validateTxid"] = []
    wanted = [("validate_slp_transaction", {"txid": f"{n:064x}"}) for n in range(6)]
    for _, arguments in wanted:
        service.answers[f"/slp/validateTxid/{arguments['txid']}"] = {**arguments, "valid": True}
    answers.read_many(wanted, now=NOW)
    slow = TimeBudget(monotonic_ns=Clock(7))
    fetching.fetch_due(now=NOW, open_client=ways.open_client, budget=slow)
    standings = [reading.freshness for reading in answers.read_many(wanted, now=NOW)]
    assert standings == ["fresh"] * 2 + ["failed"] * 4
    assert fetching.fetch_due(now=NOW + 5 * SECOND, open_client=ways.open_client, budget=slow) == 0
