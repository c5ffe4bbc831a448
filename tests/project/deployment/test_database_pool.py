"""All processes together fit the hundred connections of a PostgreSQL as it is installed, with ten accounts.

A pool is its process's: no task of a worker closes it under the threads of the lanes.
"""

from types import SimpleNamespace
from typing import Any

import pytest
from celery import signals

from project import database_pool
from project.celery import app
from project.deployment.processes import WEB, WORK

POSTGRESQL = 100 - 3  # three are reserved for its administrator
WEB_THREADS = 4


def test_every_process_at_its_most_fits_the_default_of_postgresql() -> None:
    total = WEB_THREADS + database_pool.SPARE  # pages run in as many threads, each with one
    for process in WORK:
        most = database_pool.most(process.arguments, web_threads=WEB_THREADS)
        if "worker" in process.arguments:
            children = int(process.arguments[process.arguments.index("--concurrency") + 1])
            total += children * most + 1  # and the one that starts them, which looks at the database once
        elif process.name != "beat":
            total += most
    assert total <= POSTGRESQL


def test_the_follower_has_one_for_each_of_its_threads_with_ten_accounts() -> None:
    sweepers, streams_of_an_account, itself_and_the_market = 4, 2, 2
    assert 10 * streams_of_an_account + sweepers + itself_and_the_market < database_pool.OTHERS


def test_a_web_process_with_many_threads_has_one_for_each() -> None:
    assert database_pool.most(WEB.arguments, web_threads=64) > 64
    assert database_pool.most(["manage.py"], web_threads=4) == database_pool.OTHERS


class Connection:
    """One that counts how often it and its pool were closed."""

    alias = "default"
    connection = None

    def __init__(self) -> None:
        self.closed = self.pool_closed = 0

    def close(self) -> None:
        self.closed += 1

    def close_pool(self) -> None:
        self.pool_closed += 1


class Task:
    """One whose signals are sent by hand."""

    def __init__(self, *, is_eager: bool) -> None:
        self.request = SimpleNamespace(is_eager=is_eager)


@pytest.fixture
def connection(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Connection:
    """The one of a worker that begins on PostgreSQL and has not forked yet."""
    for name in ("beat_embedded_init", "task_prerun", "task_postrun", "worker_process_init"):
        monkeypatch.setattr(getattr(signals, name), "receivers", [])
    connection = Connection()
    monkeypatch.setattr("django.db.connections.all", lambda **_: [connection])
    monkeypatch.setitem(settings.DATABASES["default"], "OPTIONS", {"pool": {"max_size": 8}})
    for fixup in app._fixups:  # type: ignore[attr-defined]
        fixup.on_worker_init(sender=SimpleNamespace(app=app, pool_cls="celery.concurrency.prefork:TaskPool"))
    return connection


def test_a_fork_gives_the_parents_pool_up_and_no_task_closes_that_of_the_child(connection: Connection) -> None:
    assert connection.pool_closed == 1  # that of the parent, before it forks
    signals.worker_process_init.send(sender=None)
    assert connection.pool_closed == 2  # what was inherited: its threads were not
    closed = connection.closed
    task = Task(is_eager=False)
    for signal in (signals.task_prerun, signals.task_postrun):
        signal.send(sender=task)
    assert (connection.closed, connection.pool_closed) == (closed + 2, 2)


def test_a_task_that_runs_within_a_request_leaves_its_connection(connection: Connection) -> None:
    closed = connection.closed
    task = Task(is_eager=True)
    for signal in (signals.task_prerun, signals.task_postrun):
        signal.send(sender=task)
    assert connection.closed == closed
