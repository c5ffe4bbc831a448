"""Answers of the chain as pages read them: what is asked, when again, and what is shown meanwhile."""

from datetime import timedelta

import pytest

from chaindata.cache import answers
from chaindata.cache.models import ChainAnswer
from tests.chaindata.conftest import NOW
from wire.operation import BadArgument

pytestmark = pytest.mark.django_db
HASH = "00" * 31 + "ab"
TXID = "fe28050b93faea61fa88c4c630f0e1f0a1c24d0082dd0e10d369e13212128f33"
SECOND = timedelta(seconds=1)


def height(now):
    return answers.read("get_block_count", now=now)


def test_a_page_never_calls_and_a_worker_answers_what_was_looked_at(service, run_worker):
    service.answers["/blockchain/getBlockCount"] = 211
    first = height(NOW)
    assert (first.freshness, first.record, first.is_known) == ("absent", None, False)
    assert service.calls == []
    assert run_worker() == 1
    second = height(NOW)
    assert (second.freshness, second.record, second.read_at) == ("fresh", 211, NOW)
    assert second.topic == f"chain-answer:{second.key}" == first.topic
    assert service.calls == ["GET /blockchain/getBlockCount"]
    assert run_worker() == 0, "it is fresh"


def test_what_is_stale_is_shown_with_its_age_until_the_new_answer_is_there(service, run_worker):
    service.answers["/blockchain/getBlockCount"] = 211
    height(NOW)
    run_worker()
    later = NOW + 4 * SECOND
    reading = height(later)
    assert (reading.freshness, reading.record, reading.read_at) == ("stale", 211, NOW)
    service.answers["/blockchain/getBlockCount"] = 212
    assert run_worker(later) == 1
    assert (height(later).record, height(later).freshness) == (212, "fresh")


def test_nobody_asks_for_what_nobody_looks_at(service, run_worker):
    service.answers["/blockchain/getBlockCount"] = 211
    height(NOW)
    run_worker()
    assert run_worker(NOW + 61 * SECOND) == 0


def test_a_failure_is_told_beside_the_old_value(service, run_worker):
    service.answers["/blockchain/getBlockCount"] = 211
    height(NOW)
    run_worker()
    later = NOW + 4 * SECOND
    height(later)
    service.answers["/blockchain/getBlockCount"] = (500, {"error": "node is warming up"})
    run_worker(later)
    reading = height(later)
    assert (reading.freshness, reading.record, reading.read_at) == ("failed", 211, NOW)
    assert "node is warming up" in reading.problem
    assert run_worker(later + 4 * SECOND) == 0, "a failure is not repeated at once"
    height(later + 5 * SECOND)
    assert run_worker(later + 5 * SECOND) == 1
    height(later + 14 * SECOND)
    assert run_worker(later + 14 * SECOND) == 0, "and then after a longer pause"


def test_no_such_thing_is_believed_for_a_moment_only(service, run_worker):
    answers.read("get_transaction_details", now=NOW, txid=TXID)
    assert run_worker() == 1
    reading = answers.read("get_transaction_details", now=NOW, txid=TXID)
    assert (reading.freshness, reading.record) == ("missing", None)
    assert "Not found" in reading.problem
    assert run_worker(NOW + 9 * SECOND) == 0
    answers.read("get_transaction_details", now=NOW + 10 * SECOND, txid=TXID)
    assert run_worker(NOW + 10 * SECOND) == 1


def test_a_refused_question_is_told_and_rests_for_a_minute(service, run_worker):
    service.answers["/dataRetrieval/property/7"] = (400, {"error": "Property identifier is out of range"})
    answers.read("get_property", now=NOW, propertyId=7)
    run_worker()
    reading = answers.read("get_property", now=NOW, propertyId=7)
    assert (reading.freshness, reading.record) == ("refused", None)
    assert "out of range" in reading.problem
    answers.read("get_property", now=NOW + 59 * SECOND, propertyId=7)
    assert run_worker(NOW + 59 * SECOND) == 0


def test_another_service_has_answers_of_its_own(service, run_worker, settings):
    service.answers["/blockchain/getBlockCount"] = 211
    height(NOW)
    run_worker()
    settings.CHAINDATA_URL = "http://127.0.0.1:9"
    assert height(NOW).freshness == "absent"


def test_what_is_not_kept_or_can_not_be_asked_is_said_at_once(service):
    for name in ("send_raw_transaction", "create_slp_token", "get_details_of_transactions"):
        with pytest.raises(answers.CannotAsk):
            answers.read(name, now=NOW, hex="00")
    with pytest.raises(BadArgument):
        answers.read("get_property", now=NOW, propertyId="seven")
    assert not ChainAnswer.objects.exists()


def test_many_are_looked_up_with_few_queries_and_asked_for_in_pieces_of_twenty(
    service, run_worker, django_assert_max_num_queries
):
    wanted = [("validate_slp_transaction", {"txid": f"{n:064x}"}) for n in range(45)]
    service.answers["/slp/validateTxid"] = lambda body: [
        {"txid": txid, "valid": True} for txid in reversed(body["txids"])
    ]
    with django_assert_max_num_queries(8):
        assert {reading.freshness for reading in answers.read_many(wanted, now=NOW)} == {"absent"}
    assert run_worker() == 45
    assert [len(body["txids"]) for body in service.bodies] == [20, 20, 5]
    found = answers.read_many(wanted, now=NOW)
    assert [reading.record.txid for reading in found] == [arguments["txid"] for _, arguments in wanted]
    assert all(reading.is_final for reading in found)
    with django_assert_max_num_queries(1):
        answers.read_many(wanted, now=NOW)
