"""Wake-up calls to the workers, by task name, after the commit. The rows are the queue; a lost call costs one sweep."""

import contextlib
import os
import threading
import time
from typing import Any

import structlog
from django.conf import settings
from django.db import transaction
from django.utils.module_loading import import_string
from prometheus_client import Counter

from desk.processes import request_ids

# After a failure the broker is not tried again for so long: each try may cost most of a second.
REST_SECONDS = 3.0
# Without the limit on tries the library below would sleep two seconds and more between them, six in all.
_PATIENCE = {"max_retries": 0, "socket_timeout": 0.5, "socket_connect_timeout": 0.5}

WAKES = Counter("countersign_wakes_total", "Wake-up calls to workers, by outcome", ["outcome"])
_log = structlog.get_logger(__name__)


def wake(task: str, *arguments: int | str) -> None:
    """Ask a worker to run `task` (its registered name) once the current transaction is committed.

    Arguments are row ids, nothing else. A dead broker costs less than a second, is logged and never raised: the sweep
    finds the row.
    """
    if not all(isinstance(argument, int | str) for argument in arguments):
        raise TypeError("A wake-up call can only carry row IDs.")
    request_id = request_ids.current_id()
    transaction.on_commit(lambda: _send(task, arguments, request_id), robust=True)


def _send(task: str, arguments: tuple[int | str, ...], request_id: str) -> None:
    WAKES.labels(_caller().call(task, list(arguments), {"request_id": request_id})).inc()


class _Caller:
    """The one connection of this process to the broker for wake-up calls, used by one thread at a time."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self._lock = threading.Lock()
        self._connection: Any = None
        self._resting_until = 0.0

    def call(self, task: str, arguments: list[int | str], headers: dict[str, str]) -> str:
        """Send one message and tell what became of it: sent, lost or skipped."""
        with self._lock:
            if time.monotonic() < self._resting_until:
                return "skipped"
            was_open = self._connection is not None
            try:
                try:
                    self._send(task, arguments, headers)
                except Exception:
                    if not was_open:
                        raise
                    # The broker may have been started anew since the last call: one try on a fresh connection.
                    self._send(task, arguments, headers)
            except Exception as error:  # the libraries below raise a dozen kinds for one broker that is away
                self._resting_until = time.monotonic() + REST_SECONDS
                _log.warning("outbox.wake_lost", task=task, reason=type(error).__name__)
                return "lost"
        return "sent"

    def _send(self, task: str, arguments: list[int | str], headers: dict[str, str]) -> None:
        if self._connection is None:
            self._connection = application().connection_for_write(transport_options=_PATIENCE)
        try:
            application().send_task(task, args=arguments, headers=headers, retry=False, connection=self._connection)
        except Exception:
            broken, self._connection = self._connection, None
            with contextlib.suppress(Exception):
                broken.release()
            raise


_current: _Caller | None = None


def _caller() -> _Caller:
    """This process's caller; a forked worker opens its own connection."""
    global _current  # noqa: PLW0603
    if _current is None or _current.pid != os.getpid():
        _current = _Caller()
    return _current


def application() -> Any:
    """The Celery application of the house."""
    return import_string(settings.CELERY_APPLICATION)
