"""Wake-up calls: after commit, by name, carrying the request's id; a dead broker costs next to nothing."""

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import redis
from celery import Celery, signals
from django.conf import settings as django_settings
from django.db import transaction

from desk import outbox
from desk.processes import logs, request_ids
from tests import servers
from tests.bounds import stretched

pytestmark = pytest.mark.django_db(transaction=True)
QUEUE = "money"


@pytest.fixture
def broker() -> Iterator[Any]:
    """The Redis of this run, with an empty queue."""
    with redis.Redis.from_url(django_settings.REDIS_URL) as client:
        client.delete(QUEUE)
        yield client
        client.delete(QUEUE)


@pytest.fixture(autouse=True)
def fresh_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox, "_current", None)


@pytest.fixture
def broker_at(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Point the wake-up calls at another address."""

    def point(address: str) -> None:
        application = Celery("elsewhere", broker=address.replace("unix://", "redis+socket://"), set_as_current=False)
        application.conf.task_default_queue = QUEUE
        application.conf.task_ignore_result = True
        monkeypatch.setattr(outbox, "application", lambda: application)

    return point


def test_a_call_carries_the_name_the_row_and_the_request(broker: Any) -> None:
    token = request_ids.enter("request-0001")
    outbox.wake("exchange_ops.advance", 12)
    request_ids.leave(token)
    message = json.loads(broker.lpop(QUEUE))
    assert message["headers"]["task"] == "exchange_ops.advance"
    assert message["headers"]["request_id"] == "request-0001"
    assert message["headers"]["argsrepr"] == "[12]"
    assert broker.llen(QUEUE) == 0


def test_calls_leave_after_commit_and_not_after_rollback(broker: Any) -> None:
    with transaction.atomic():
        outbox.wake("exchange_ops.advance", 1)
        assert broker.llen(QUEUE) == 0
    assert broker.llen(QUEUE) == 1
    with transaction.atomic():
        outbox.wake("exchange_ops.advance", 2)
        transaction.set_rollback(True)
    assert broker.llen(QUEUE) == 1


def test_many_calls_use_one_connection(broker: Any) -> None:
    before = broker.info("stats")["total_connections_received"]
    for number in range(100):
        outbox.wake("exchange_ops.advance", number)
    assert broker.llen(QUEUE) == 100
    assert broker.info("stats")["total_connections_received"] - before <= 3


@pytest.mark.parametrize("argument", [1.5, None, {"id": 1}, [1], object()])
def test_only_row_ids_travel(argument: Any) -> None:
    with pytest.raises(TypeError):
        outbox.wake("exchange_ops.advance", argument)


@pytest.mark.parametrize(
    "address", ["unix:///nowhere/redis.sock", "redis://127.0.0.1:9/0", "redis://10.255.255.1:6379/0"]
)
def test_a_dead_broker_holds_nobody_up_and_raises_nothing(broker_at: Callable[[str], None], address: str) -> None:
    broker_at(address)
    started = time.monotonic()
    outbox.wake("exchange_ops.advance", 1)
    assert time.monotonic() - started < stretched(5)
    started = time.monotonic()
    for number in range(50):
        outbox.wake("exchange_ops.advance", number)
    assert time.monotonic() - started < stretched(5), "while it rests it is not asked again"


def test_calls_go_through_again_once_the_broker_is_back(
    broker_at: Callable[[str], None], tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "REST_SECONDS", 0.0)
    first = servers.Redis(tmp_path)
    broker_at(first.url)
    outbox.wake("exchange_ops.advance", 1)
    first.stop()
    outbox.wake("exchange_ops.advance", 2)
    second = servers.Redis(tmp_path)
    try:
        outbox.wake("exchange_ops.advance", 3)
        with redis.Redis.from_url(second.url) as client:
            assert client.llen(QUEUE) >= 1
        second.stop()
        third = servers.Redis(tmp_path)
        outbox.wake("exchange_ops.advance", 4)  # the connection of call 3 is dead; the call itself is not lost
        with redis.Redis.from_url(third.url) as client:
            assert any("[4]" in item.decode() for item in client.lrange(QUEUE, 0, -1))
        third.stop()
    finally:
        second.stop()


def test_a_task_works_under_the_id_of_its_request() -> None:
    application = Celery("inside", set_as_current=False)
    application.conf.task_always_eager = False
    seen: list[str] = []

    @application.task(name="inside.look")
    def look() -> None:
        seen.append(request_ids.current_id())

    logs.connect_celery()
    for header in ("request-0002", None, "not\nan id"):
        look.push_request(request_id=header)
        signals.task_prerun.send(sender=look, task=look)
        look.run()
        signals.task_postrun.send(sender=look, task=look)
        look.pop_request()
    assert seen[0] == "request-0002"
    assert all(len(found) == 32 for found in seen[1:])
    assert request_ids.current_id() == ""
