"""Messages to browsers: hints ("this changed, read it again") and ticks (the newest values of the public market).

They are sent after the commit, may be lost without harm, and are never waited for. All sends of a process go through
one event loop in one background thread, because a client of the broker belongs to one loop: a loop per call would mean
a new connection per hint. Every web process is one member of the group (desk/live/group.py) for all its browsers. It
gets batches of texts ready for browsers, numbered from 1 for each sender, without gaps unless something was lost.
"""

import asyncio
import atexit
import json
import os
import threading
import time
import uuid
from typing import Any

import structlog
from django.conf import settings
from django.db import transaction
from prometheus_client import Counter
from redis.asyncio import Redis

from desk import topics
from desk.live import group

SEND_SECONDS = 1.0
LONGEST_HINT = 2000
LONGEST_TICK = 16_000
MOST_WAITING = 500
MOST_TICKS_WAITING = 5_000
BATCH_CHARACTERS = 250_000
TICK_PAUSE_SECONDS = 0.02
_LARGEST_EXACT = 2**53 - 1

HINTS = Counter("countersign_hints_total", "Hints to browsers, by outcome", ["outcome"])
TICKS = Counter("countersign_ticks_total", "Ticks to browsers, by outcome", ["outcome"])
_log = structlog.get_logger(__name__)


def announce(topic: str, **hint: Any) -> None:
    """Notify the followers of a topic that it changed, once the current transaction is committed.

    The hint is small and says nothing that only some may know (at most 2,000 characters as JSON; text, whole numbers,
    booleans, None). Never raises for a broker that is away and never waits for it; a hint that can't be sent is logged.
    A malformed topic or hint is a mistake in the calling code and raises ValueError at once, a number beyond 2^53
    TypeError.
    """
    if topics.split(topic) is None:
        raise ValueError(f"{topic!r} is not a topic.")
    text = json.dumps({"topic": topic, "hint": hint}, separators=(",", ":"), allow_nan=False)
    if len(text) > LONGEST_HINT:
        raise ValueError(f"Hints can be up to {LONGEST_HINT} characters; this one for {topic} is {len(text)}.")
    json.loads(text, parse_int=_exact_number)
    transaction.on_commit(lambda: _sender().hints.put(text, topic, text), robust=True)


def tick(topic: str, **values: Any) -> None:
    """Show the newest values of a public market topic to its followers, once the current transaction is committed.

    Only the latest of a topic matters: an older one may be dropped anywhere on its way. Values are text, whole numbers,
    booleans, None, and lists and objects of those; decimals and numbers beyond 2^53 are exact text. At most 16,000
    characters as JSON. Lost, like a hint, without a word. A topic that is malformed or not registered for ticks, and
    values that can't be sent, are mistakes in the calling code and raise ValueError or TypeError at once.
    """
    if not topics.takes_ticks(topic):
        raise ValueError(f"{topic!r} does not accept ticks.")
    text = json.dumps({"topic": topic, "tick": values}, separators=(",", ":"), allow_nan=False)
    if len(text) > LONGEST_TICK:
        raise ValueError(f"Ticks can be up to {LONGEST_TICK} characters; this one for {topic} is {len(text)}.")
    json.loads(text, parse_float=_refuse_float, parse_int=_exact_number)
    transaction.on_commit(lambda: _sender().ticks.put(topic, topic, text), robust=True)


def _refuse_float(figure: str) -> None:
    raise TypeError(f"Decimals in ticks must be strings; {figure} is a float.")


def _exact_number(figure: str) -> int:
    """The whole number, if a browser reads it exactly: it has floating point only."""
    number = int(figure)
    if abs(number) > _LARGEST_EXACT:
        raise TypeError(f"Numbers beyond 2^53 must be sent to browsers as strings; {figure} is a number.")
    return number


class _Line:
    """What waits to be sent, one batch after the other: while one is on its way, the next one collects."""

    def __init__(
        self, kind: str, *, most: int, pause: float, outcomes: Counter, loop: asyncio.AbstractEventLoop, client: Redis
    ) -> None:
        self.kind, self.most, self.pause, self.outcomes = kind, most, pause, outcomes
        self._client = client
        self.is_busy = False
        self._waiting: dict[str, tuple[str, str]] = {}
        self._lock = threading.Lock()
        self._loop = loop
        self._sender = uuid.uuid4().hex
        self._number = 0

    def put(self, key: str, topic: str, text: str) -> None:
        """Queue a text; one that waits under the same key is replaced. When too many wait, this one is dropped."""
        with self._lock:
            if key not in self._waiting and len(self._waiting) >= self.most:
                self.outcomes.labels("dropped").inc()
                self._number += 1  # a gap, by which the other end learns of it
                return
            self._waiting[key] = (topic, text)
            if self.is_busy:
                return
            self.is_busy = True
        asyncio.run_coroutine_threadsafe(self._send(), self._loop)

    async def _send(self) -> None:
        while batch := self._next_batch():
            await self._deliver(batch)
            if self.pause:
                await asyncio.sleep(self.pause)

    def _next_batch(self) -> group.Batch | None:
        """The next batch, in order; None when nothing waits, and then the next `put` has to start sending again."""
        with self._lock:
            texts, room = [], BATCH_CHARACTERS
            while self._waiting and room > 0:
                texts.append(self._waiting.pop(next(iter(self._waiting))))
                room -= len(texts[-1][1])
            if not texts:
                self.is_busy = False
                return None
            self._number += 1
            return group.Batch(kind=self.kind, sender=self._sender, number=self._number, texts=texts)

    async def _deliver(self, batch: group.Batch) -> None:
        outcome = "lost"
        try:
            await asyncio.wait_for(group.publish(self._client, batch), SEND_SECONDS)
            outcome = "sent"
        except Exception as error:  # whatever the broker's library raises: a lost hint is worth a log line at most
            _log.warning("live.lost", kind=self.kind, texts=len(batch.texts), reason=type(error).__name__)
        finally:
            self.outcomes.labels(outcome).inc(len(batch.texts))


class _Sender:
    """The one background loop of this process, with a line for hints and one for ticks.

    There is a short pause between two batches of ticks: on busy markets most are replaced meanwhile and never sent.
    """

    def __init__(self) -> None:
        self.pid = os.getpid()
        loop = asyncio.new_event_loop()
        client = group.connection(settings.REDIS_URL, retries=group.PUBLISHER_RETRIES)
        shared: dict[str, Any] = {"loop": loop, "client": client}
        self.hints = _Line("hint", most=MOST_WAITING, pause=0, outcomes=HINTS, **shared)
        self.ticks = _Line("tick", most=MOST_TICKS_WAITING, pause=TICK_PAUSE_SECONDS, outcomes=TICKS, **shared)
        self._thread = threading.Thread(target=loop.run_forever, name="hints", daemon=True)
        self._thread.start()

    def settle(self, seconds: float) -> bool:
        """Wait until nothing is on its way, at most so long; for orderly shutdown and tests."""
        deadline = time.monotonic() + seconds
        while self.hints.is_busy or self.ticks.is_busy:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.005)
        return True


_guard = threading.Lock()
_current: _Sender | None = None


def _sender() -> _Sender:
    """This process's sender; a forked worker makes its own, because threads do not survive a fork."""
    global _current  # noqa: PLW0603
    with _guard:
        if _current is None or _current.pid != os.getpid():
            _current = _Sender()
        return _current


def settle(seconds: float = 2.0) -> bool:
    """Wait until every hint and tick has left the process; whether that happened in time."""
    return _current is None or _current.settle(seconds)


def _forget_after_fork() -> None:
    global _guard, _current
    _guard, _current = threading.Lock(), None


os.register_at_fork(after_in_child=_forget_after_fork)
# A short command may end while its hints are still on their way.
atexit.register(settle, 1.0)
