"""Worker processes that can be killed anywhere: it reads orders and forks a worker for each.

It has everything loaded and no connection open, so that a worker is there in milliseconds. A worker counts what it does
that others could notice: writes and commits of the database, connections, bytes sent and answers awaited. Right before
one of these points it can be made to send itself SIGKILL, to stand still, or to lose its database. Nothing of the
product knows about this: replaced are the worker's own sockets, its connection to the database and its clock.

Orders are lines of JSON on standard input, answers lines on standard output; `Nursery` in `workers` speaks it.
"""

import gc
import importlib
import json
import os
import re
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import django

# What a worker imports when it first needs it.
LATE = ("tests.money.acts", "celery.backends.base", "celery.events.receiver")
LATE += ("redis.asyncio", "cryptography.fernet", "django.db.models.sql.compiler")
# Bytes: an answer's first line and not much more.
BEGINNING = 40
WRITES = re.compile(r"^\s*(INSERT|UPDATE|DELETE)", re.IGNORECASE)


class Points:
    """Counts the points a worker passes, and does what was asked for before the one that was named.

    `at` is `{"number": 7}`, or `{"kind": "sql", "like": regex, "after": regex, "nth": 1}`: before the nth such point,
    counted from the first one that `after` fits.
    """

    def __init__(self, at: dict[str, Any] | None, act: Callable[[], None]) -> None:
        self.passed: list[str] = []
        self._at = at or {}
        self._act = act
        self._matching = 0

    def reach(self, kind: str, what: str) -> None:
        """About to do this. Does not return when the worker is to die here or to lose its database."""
        self.passed.append(f"{kind} {what[:90]}")
        self.pass_by(kind, what)

    def pass_by(self, kind: str, what: str) -> None:
        """A point that changes nothing by itself: it can be named, and is not counted."""
        if self._is_the_one(kind, what):
            self._act()

    def _is_the_one(self, kind: str, what: str) -> bool:
        if "number" in self._at:
            return kind not in {"begin", "committed"} and len(self.passed) == self._at["number"]
        if kind != self._at.get("kind") or not re.search(self._at.get("like", ""), what):
            return False
        if not any(re.search(self._at.get("after", ""), one) for one in self.passed):
            return False
        self._matching += 1
        return bool(self._matching == self._at.get("nth", 1))


def watch_database(points: Points) -> None:
    """Every statement that writes, and every commit, of this process's connection."""
    from django.db import connection

    def noticing(execute: Any, sql: str, parameters: Any, many: bool, context: Any) -> Any:
        if WRITES.match(sql):
            points.reach("sql", sql)
        return execute(sql, parameters, many, context)

    commit, set_autocommit = connection._commit, connection.set_autocommit

    def committing() -> None:
        points.reach("commit", "")
        commit()
        points.pass_by("committed", "")

    def switching(autocommit: bool, *arguments: Any, **more: Any) -> Any:
        if not autocommit:
            points.pass_by("begin", "")
        return set_autocommit(autocommit, *arguments, **more)

    connection.ensure_connection()
    connection.execute_wrappers.append(noticing)
    connection._commit, connection.set_autocommit = committing, switching


def lose_the_database() -> None:
    """The server is gone in the middle of a statement: nobody here learns whether it still took effect."""
    from django.db import OperationalError, connection

    if connection.vendor == "postgresql":
        connection.connection.close()
    raise OperationalError("The server closed the connection unexpectedly.")


def watch_sockets(points: Points) -> None:
    """Connections, bytes that leave and answers that are awaited, of whatever in this process uses Python's sockets.

    With the broker, on its socket file, only the connection counts: nothing about money depends on what is said there.
    The first read after a send gets the beginning of the answer only, however much has come: so every answer can be
    half heard.
    """
    plain, sent = socket.socket, set[int]()
    connect, sendall, recv_into = plain.connect, plain.sendall, plain.recv_into

    def connecting(self: Any, address: Any) -> None:
        points.reach("connect", str(address))
        connect(self, address)

    def sending(self: Any, content: Any, *flags: Any) -> None:
        if self.family != socket.AF_UNIX:
            points.reach("send", bytes(content[:120]).decode("latin-1"))
            sent.add(self.fileno())
        sendall(self, content, *flags)

    def awaiting(self: Any, buffer: Any, size: int = 0, *flags: Any) -> int:
        if self.family != socket.AF_UNIX:
            points.reach("recv", "")
        if self.fileno() in sent:
            sent.discard(self.fileno())
            size = min(BEGINNING, size or len(buffer))
        return recv_into(self, buffer, size, *flags)

    for name, changed in (("connect", connecting), ("sendall", sending), ("recv_into", awaiting)):
        setattr(plain, name, changed)


def incident_of(order: dict[str, Any]) -> tuple[dict[str, Any] | None, Callable[[], None]]:
    """Where something is to happen to this worker, and what."""
    if order.get("loses"):
        return order["loses"], lose_the_database
    number = signal.SIGSTOP if order.get("stops") else signal.SIGKILL
    return order.get("stops") or order.get("dies"), lambda: os.kill(os.getpid(), number)


def work(order: dict[str, Any], answers: int, gate: int) -> None:
    """One worker's life: set its clock and its exchange, do one thing, tell what came of it."""
    from django.conf import settings

    from desk import clock
    from tests.money import acts

    settings.EXCHANGE_URL = order["exchange_url"]
    settings.CALL_DEADLINE_SECONDS = order.get("deadline_s", 5)
    settings.MFA_TOTP_TOLERANCE = 100
    ahead, real = timedelta(seconds=order.get("ahead_s", 0)), clock.now
    clock.now = lambda: real() + ahead
    points = Points(*incident_of(order))
    watch_database(points)
    watch_sockets(points)
    if gate >= 0:
        os.read(gate, 1)
    try:
        outcome: dict[str, Any] = {"result": acts.ALL[order["act"]](**order.get("arguments", {}))}
    except Exception as problem:
        outcome = {"raised": f"{type(problem).__name__}: {problem}", "trace": traceback.format_exc()}
    os.write(answers, json.dumps(outcome | {"passed": points.passed}).encode())


def bear(order: dict[str, Any], gate: int = -1, shut: int = -1) -> tuple[int, int]:
    """A new worker; its number and where its answer comes from."""
    answers, end = os.pipe()
    number = os.fork()
    if number:
        os.close(end)
        return number, answers
    try:
        os.close(answers)
        if shut >= 0:
            os.close(shut)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(2, 1)
        work(order, end, gate)
    finally:
        os._exit(0)


def until_it_stands_still(order: dict[str, Any]) -> tuple[dict[str, Any], tuple[int, int]]:
    """A worker that stops at its point, as a paused machine does; it goes on when it is told to."""
    born = bear(order)
    os.waitpid(born[0], os.WUNTRACED)
    return {"stopped": born[0]}, born


def outcome_of(number: int, answers: int) -> dict[str, Any]:
    """What became of a worker."""
    with os.fdopen(answers) as pipe:
        content = pipe.read()
    _, status = os.waitpid(number, 0)
    killed = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    return {"killed": killed, **(json.loads(content) if content else {})}


def all_at_once(orders: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Workers that begin together: each waits, connected, until the gate opens for all."""
    gate, opener = os.pipe()
    born = [bear(order, gate, opener) for order in orders]
    os.close(gate)
    os.close(opener)
    return [outcome_of(*one) for one in born]


def load_everything() -> None:
    """What a worker would load at its first use of it, once for all of them; no connection is opened.

    The garbage collector leaves it alone, so that a worker neither looks through it nor copies its memory.
    """
    from django.apps import apps

    from desk import outbox, rooms

    for name in LATE:
        importlib.import_module(name)
    rooms.work()
    application = outbox.application()
    # Each of them imports what it needs when it is first asked for.
    _ = application.connection_for_write().transport, application.amqp.queues, application.events, application.Task
    for model in apps.get_models():
        model._meta.get_fields()
    gc.collect()
    gc.freeze()


def main() -> None:
    """Read orders until there are no more: one a line, a list of them to be done at once, or `{"go_on": true}`."""
    django.setup()
    load_everything()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    paused: list[tuple[int, int]] = []
    for line in sys.stdin:
        order = json.loads(line)
        if isinstance(order, list):
            outcome: Any = all_at_once(order)
        elif order.get("go_on"):
            os.kill(paused[0][0], signal.SIGCONT)
            outcome = outcome_of(*paused.pop(0))
        elif order.get("stops"):
            outcome, born = until_it_stands_still(order)
            paused.append(born)
        else:
            outcome = outcome_of(*bear(order))
        sys.stdout.write(json.dumps(outcome) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
