"""Wake-up calls to the workers, after commit and by name. The row is the queue: a lost call costs one sweep."""

import threading
import time
from typing import Any

import structlog
from django.conf import settings
from django.db import transaction
from django.utils.module_loading import import_string
from prometheus_client import Counter

from desk import requests

# A broker that just failed is not asked again for so long: each try may cost most of a second.
REST_SECONDS = 3.0

WAKES = Counter("countersign_wakes_total", "Wake-up calls to workers, by what became of them", ["outcome"])
_log = structlog.get_logger(__name__)
_resting_until = 0.0
_lock = threading.Lock()


def wake(task: str, *arguments: int | str) -> None:
    """Ask a worker to run `task` (its registered name) once the current transaction is committed.

    Arguments are row ids, nothing else. A dead broker costs less than a second, is logged and never raised: the sweep
    finds the row.
    """
    if not all(isinstance(argument, int | str) for argument in arguments):
        raise TypeError("A wake-up call carries row ids only.")
    request_id = requests.current_id()
    transaction.on_commit(lambda: _send(task, arguments, request_id), robust=True)


def _send(task: str, arguments: tuple[int | str, ...], request_id: str) -> None:
    global _resting_until  # noqa: PLW0603
    if time.monotonic() < _resting_until:
        WAKES.labels("skipped").inc()
        return
    try:
        with _lock:
            application().send_task(task, args=list(arguments), headers={"request_id": request_id}, retry=False)
    except Exception as error:  # the libraries below raise a dozen kinds for one broker that is away
        _resting_until = time.monotonic() + REST_SECONDS
        WAKES.labels("lost").inc()
        _log.warning("outbox.wake_lost", task=task, reason=type(error).__name__)
        return
    WAKES.labels("sent").inc()


def application() -> Any:
    """The Celery application of the house."""
    return import_string(settings.CELERY_APPLICATION)
