"""Questions of a form: one row each, asked once while fresh, answered by a worker whatever the exchange says."""

import json
from datetime import timedelta
from decimal import Decimal

import pytest
import redis

from desk import clock, outbox
from exchange_ops.addresses import checks, tasks
from exchange_ops.addresses.models import AddressCheck, FeeEstimate
from exchange_ops.keys.models import ApiKey

ADDRESS = "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2"
pytestmark = [pytest.mark.django_db(transaction=True)]


class Woken:
    """What lies in the queue of the workers."""

    def __init__(self, broker):
        self.broker = broker

    def __len__(self):
        return self.broker.llen("money")

    @property
    def calls(self):
        headers = [json.loads(message)["headers"] for message in self.broker.lrange("money", 0, -1)]
        return [(header["task"], header["argsrepr"]) for header in headers]


@pytest.fixture
def woken(settings, monkeypatch):
    monkeypatch.setattr(outbox, "_current", None)
    with redis.Redis.from_url(settings.REDIS_URL) as broker:
        broker.delete("money")
        yield Woken(broker)
        broker.delete("money")


def ask_address(account, address=ADDRESS, *, now=None, person=None):
    return checks.ask_address(account=account, currency="BTC", address=address, person=person, now=now or clock.now())


def ask_fee(account, amount="1", *, now=None):
    return checks.ask_fee(account=account, currency="BTC", amount=Decimal(amount), person=None, now=now or clock.now())


def test_a_question_wakes_a_worker_once_and_the_answer_stays_fresh(account, demo_keys, sandbox, woken, operator):
    now = clock.now()
    rows = {ask_address(account, now=now, person=operator).pk for _ in range(3)}
    (row,) = rows
    assert woken.calls == [("exchange_ops.check_address", f"[{row}]")]
    tasks.check_address(row)
    answered = AddressCheck.objects.get()
    assert (answered.is_own, answered.problem, answered.requested_by) == (False, "", operator)
    assert ask_address(account, now=clock.now() + timedelta(minutes=9)).answered_at is not None
    assert len(woken) == 1
    assert ask_address(account, now=clock.now() + timedelta(minutes=11)).answered_at is None
    assert len(woken) == 2


def test_our_own_address_is_recognised(account, demo_keys, sandbox, woken, client_as):
    own = client_as().call("get_deposit_address", currency="BTC").address
    tasks.check_address(ask_address(account, own).pk)
    assert AddressCheck.objects.get().is_own is True


def test_a_fee_is_estimated_and_asked_for_again_after_a_minute(account, demo_keys, sandbox, woken):
    row = ask_fee(account)
    tasks.estimate_fee(row.pk)
    assert FeeEstimate.objects.get().fee == Decimal("0.0005")
    ask_fee(account)
    assert len(woken) == 1
    ask_fee(account, now=clock.now() + timedelta(seconds=61))
    assert len(woken) == 2
    assert ask_fee(account, "2").pk != row.pk


def test_a_question_whose_answer_never_came_is_asked_again_after_half_a_minute(account, woken):
    now = clock.now()
    ask_address(account, now=now)
    ask_address(account, now=now + timedelta(seconds=29))
    assert len(woken) == 1
    ask_address(account, now=now + timedelta(seconds=30))
    assert len(woken) == 2


def test_an_answered_question_is_not_put_to_the_exchange_again(account, demo_keys, sandbox, woken):
    row = ask_address(account)
    for _ in range(3):
        tasks.check_address(row.pk)
    assert len(sandbox.control("calls?operation=is_own_address")["calls"]) == 1
    tasks.check_address(10**9)
    tasks.estimate_fee(10**9)


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ({"kind": "refuse", "code": 2002}, "No response from the exchange: 2002"),
        ({"kind": "status", "status": 503}, "not reachable at the moment"),
        ({"kind": "html"}, "not reachable at the moment"),
        ({"kind": "drop_before"}, "not reachable at the moment"),
        ({"kind": "echo_differs", "field": "result", "value": "maybe"}, "not reachable at the moment"),
        ({"kind": "echo_differs", "field": "fee", "value": "NaN"}, "not reachable at the moment"),
        ({"kind": "echo_differs", "field": "fee", "value": "-1"}, "invalid fee"),
        ({"kind": "echo_differs", "field": "fee", "value": "1" + "0" * 50}, "invalid fee"),
    ],
)
def test_whatever_goes_wrong_is_said_and_may_be_asked_again_soon(
    *, account, demo_keys, sandbox, woken, fault, sentence
):
    is_fee = fault.get("field") == "fee"
    operation = "estimate_withdrawal" if is_fee else "is_own_address"
    sandbox.control("faults", {"operation": operation, "times": 9, **fault})
    ask, task = (ask_fee, tasks.estimate_fee) if is_fee else (ask_address, tasks.check_address)
    row = ask(account)
    task(row.pk)
    row.refresh_from_db()
    assert sentence in row.problem
    assert row.answered_at is not None
    sandbox.control("faults", method="DELETE")
    again = ask(account, now=clock.now() + timedelta(seconds=6))
    assert (again.answered_at, again.problem) == (None, "")
    task(row.pk)
    row.refresh_from_db()
    assert row.problem == ""


def test_without_a_key_the_question_is_answered_with_that(account, woken):
    ApiKey.objects.update(active=False)
    tasks.check_address(ask_address(account).pk)
    tasks.estimate_fee(ask_fee(account).pk)
    assert "no active key" in AddressCheck.objects.get().problem
    assert "no active key" in FeeEstimate.objects.get().problem


def test_many_asking_at_once_are_one_question(account, woken):
    from concurrent.futures import ThreadPoolExecutor

    from django.db import connection

    now = clock.now()
    ask_address(account, now=now)

    def ask(_):
        try:
            return ask_address(account, now=now + timedelta(minutes=1)).pk
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(ask, range(8)))) == 1
    assert len(woken) == 2
