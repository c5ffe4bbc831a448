"""Slows down guessing of one-time codes, without ever locking out the person whose name is used.

A session that sends wrong codes waits longer after each one. An attacker with the password could open session after
session, so all sessions of a person that have never sent a right code share a budget of ten wrong ones a minute.
Passkeys can't be guessed and are never slowed down.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime, timedelta
from math import ceil
from typing import TYPE_CHECKING

from django.db import connection

from desk import clock, models

if TYPE_CHECKING:
    from desk.models import Person

REMEMBERED = timedelta(minutes=15)
FREE_TRIES = 3
LONGEST_WAIT_S = 300
SHARED_WINDOW = timedelta(minutes=1)
SHARED_TRIES = 10

_collected: ContextVar[list[models.StepUpFailure] | None] = ContextVar("step_up_failures", default=None)


def seconds_to_wait(*, person: "Person", session_digest: str, now: datetime) -> int:
    """The seconds until this session may send the next code; 0 when it may now."""
    recent_ones = clock.recent("at", now - REMEMBERED, now=now)
    failures = models.StepUpFailure.objects.filter(recent_ones, person=person).order_by("at")
    times = list(failures.values_list("at", "session_digest"))
    own = [at for at, digest in times if digest == session_digest]
    waits = [0.0]
    if len(own) >= FREE_TRIES:
        pause = min(2 ** (len(own) - FREE_TRIES + 1), LONGEST_WAIT_S)
        waits.append(pause - (now - own[-1]).total_seconds())
    recent = [at for at, _ in times if at > now - SHARED_WINDOW]
    if len(recent) >= SHARED_TRIES and not _is_known(person, session_digest):
        waits.append((recent[-SHARED_TRIES] + SHARED_WINDOW - now).total_seconds())
    return max(0, ceil(max(waits)))


def note_failure(*, person: "Person", session_digest: str, now: datetime) -> None:
    """Count a wrong code.

    The caller's transaction is about to be rolled back, so within a request the count is written only at its end
    (`collecting`).
    """
    failure = models.StepUpFailure(person=person, session_digest=session_digest, at=now)
    kept_aside = _collected.get()
    if kept_aside is not None:
        kept_aside.append(failure)
    elif not connection.in_atomic_block:
        _write([failure])


def forget(*, person: "Person", session_digest: str) -> None:
    """Forget the wrong codes of this session, after a right one."""
    models.StepUpFailure.objects.filter(person=person, session_digest=session_digest).delete()


@contextmanager
def collecting() -> Iterator[None]:
    """Wrapped around every request: writes the wrong codes of the request after its transactions have ended."""
    failures: list[models.StepUpFailure] = []
    token = _collected.set(failures)
    try:
        yield
    finally:
        _collected.reset(token)
        if failures:
            _write(failures)


def _write(failures: list[models.StepUpFailure]) -> None:
    models.StepUpFailure.objects.filter(at__lt=failures[0].at - timedelta(days=1)).delete()
    models.StepUpFailure.objects.bulk_create(failures)


def _is_known(person: "Person", session_digest: str) -> bool:
    """Whether this session has sent a right code, under this key or its previous one."""
    renewed = models.SessionKeyChange.objects.filter(person=person, new_digest=session_digest)
    return renewed.exists() or models.StepUp.objects.filter(person=person, session_digest=session_digest).exists()
