"""Hints to browsers: "this changed, read it again". Sent after commit, lost without harm, never waited for.

All sends of a process go through one event loop in one background thread, because the channel layer keeps one
connection per loop: a loop per call would mean a new Redis connection per hint.
"""

import asyncio
import atexit
import hashlib
import json
import os
import threading
from collections.abc import Mapping
from typing import Any

import structlog
from channels.layers import get_channel_layer
from django.db import transaction
from prometheus_client import Counter

from desk import topics

SEND_SECONDS = 1.0
LONGEST_HINT = 2000
LONGEST_TICK = 16_000
MOST_WAITING = 500

HINTS = Counter("countersign_hints_total", "Hints to browsers, by what became of them", ["outcome"])
_log = structlog.get_logger(__name__)


def announce(topic: str, **hint: Any) -> None:
    """Tell the followers of a topic that it changed, once the current transaction is committed.

    The hint is small and says nothing that needs a right (at most 2,000 characters as JSON; text, whole numbers,
    booleans, None). Never raises for a broker that is away and never waits for it; a hint that can't be sent is logged.
    A malformed topic or hint is a mistake in the calling code and raises ValueError at once.
    """
    if topics.split(topic) is None:
        raise ValueError(f"{topic!r} is not a topic.")
    text = json.dumps({"topic": topic, "hint": hint}, separators=(",", ":"), allow_nan=False)
    if len(text) > LONGEST_HINT:
        raise ValueError(f"A hint has at most {LONGEST_HINT} characters; this one for {topic} has {len(text)}.")
    transaction.on_commit(lambda: _sender().send(group_name(topic), {"type": "relay.hint", "text": text}), robust=True)


def tick(topic: str, **values: Any) -> None:
    """Show the newest values of a public market topic to its followers, once the current transaction is committed.

    Only the latest of a topic matters: an older one may be dropped anywhere on its way. Values are text, whole numbers,
    booleans, None, and lists and objects of those; decimals are exact text, so a float is refused. At most 16,000
    characters as JSON. Lost, like a hint, without a word. A topic that is malformed or not registered for ticks, and
    values that can't be sent, are mistakes in the calling code and raise ValueError or TypeError at once.
    """
    if not topics.takes_ticks(topic):
        raise ValueError(f"{topic!r} is not a topic that takes ticks.")
    text = json.dumps({"topic": topic, "tick": values}, separators=(",", ":"), allow_nan=False)
    if len(text) > LONGEST_TICK:
        raise ValueError(f"A tick has at most {LONGEST_TICK} characters; this one for {topic} has {len(text)}.")
    json.loads(text, parse_float=_refuse_float)
    transaction.on_commit(lambda: _sender().send(group_name(topic), {"type": "relay.tick", "text": text}), robust=True)


def _refuse_float(figure: str) -> None:
    raise TypeError(f"A tick carries decimals as text; {figure} came as a float.")


def group_name(topic: str) -> str:
    """The channel-layer group of a topic. A digest, so that no topic can reach another group by its spelling."""
    return "topic." + hashlib.sha256(topic.encode()).hexdigest()[:48]


class _Sender:
    """The one background loop of this process."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self._waiting = 0
        self._lock = threading.Lock()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="hints", daemon=True)
        self._thread.start()

    def send(self, group: str, message: Mapping[str, Any]) -> None:
        """Hand the message to the loop; when too many wait already, this one is dropped."""
        with self._lock:
            if self._waiting >= MOST_WAITING:
                HINTS.labels("dropped").inc()
                return
            self._waiting += 1
        asyncio.run_coroutine_threadsafe(self._deliver(group, message), self._loop)

    async def _deliver(self, group: str, message: Mapping[str, Any]) -> None:
        outcome = "lost"
        try:
            layer = get_channel_layer()
            if layer is not None:
                await asyncio.wait_for(layer.group_send(group, dict(message)), SEND_SECONDS)
                outcome = "sent"
        except Exception as error:  # whatever the broker's library raises: a hint is never worth more than a line
            _log.warning("live.hint_lost", group=group, reason=type(error).__name__)
        finally:
            with self._lock:
                self._waiting -= 1
            HINTS.labels(outcome).inc()

    def settle(self, seconds: float) -> bool:
        """Wait until nothing is on its way, at most so long; for orderly shutdown and tests."""
        end = threading.Event()
        deadline = seconds
        while self._waiting and deadline > 0:
            end.wait(0.01)
            deadline -= 0.01
        return not self._waiting


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
    """Wait until every announced hint left the process; True when it did."""
    return _current is None or _current.settle(seconds)


def _forget_after_fork() -> None:
    global _guard, _current
    _guard, _current = threading.Lock(), None


os.register_at_fork(after_in_child=_forget_after_fork)
# A short command may end while its hints are still on their way.
atexit.register(settle, 1.0)
