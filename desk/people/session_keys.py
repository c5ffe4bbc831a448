"""A new key for a session that goes on: after a second factor was given, and after a change of factors.

A copy of the old key is worthless from then on. What was bound to the session moves along: passkey challenges of other
tabs, the count of wrong codes, and that it has sent a right one.
"""

from collections.abc import Collection
from contextvars import ContextVar
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import connection, transaction

from desk import models
from desk.audit import trail

if TYPE_CHECKING:
    from desk.models import Person

# For so long, requests that left before the new key arrived are told apart from sessions that ended.
UNDER_WAY = timedelta(seconds=60)

_confirmed: ContextVar[list[bool] | None] = ContextVar("step_up_confirmed", default=None)


def renew(session: Any, *, person: "Person", now: datetime) -> None:
    """Go on under a new key. A session that was ended meanwhile is emptied and not brought back."""
    old = session.session_key or ""
    with transaction.atomic():
        rows = Session.objects.filter(session_key=old)
        if connection.features.has_select_for_update:
            rows = rows.select_for_update()
        if rows.first() is None:
            session.flush()
            return
        session.cycle_key()
        _carry_over(person, trail.digest_of(old), trail.digest_of(session.session_key), now)


def is_renewed(session_key: str, *, now: datetime) -> bool:
    """Whether this key was replaced by a new one a moment ago."""
    digest = trail.digest_of(session_key)
    return models.SessionKeyChange.objects.filter(old_digest=digest, at__gt=now - UNDER_WAY).exists()


def those_renewed(keys: Collection[str], *, now: datetime) -> set[str]:
    """Those of these keys that were replaced a moment ago."""
    digests = {trail.digest_of(key): key for key in keys if key}
    rows = models.SessionKeyChange.objects.filter(old_digest__in=digests, at__gt=now - UNDER_WAY)
    return {digests[digest] for digest in rows.values_list("old_digest", flat=True)}


def note_confirmation() -> None:
    """A second factor was accepted and its decision is committed: this request's session gets a new key at its end."""
    noted = _confirmed.get()
    if noted is not None:
        noted.append(True)


class Confirmations:
    """Wrapped around a request: whether a second factor was accepted in it."""

    def __enter__(self) -> list[bool]:
        noted: list[bool] = []
        self._token = _confirmed.set(noted)
        return noted

    def __exit__(self, *_: object) -> None:
        _confirmed.reset(self._token)


def _carry_over(person: "Person", old: str, new: str, now: datetime) -> None:
    changes = models.SessionKeyChange.objects
    changes.filter(at__lt=now - timedelta(seconds=settings.SESSION_COOKIE_AGE)).delete()
    changes.create(person=person, old_digest=old, new_digest=new, at=now)
    models.StepUpChallenge.objects.filter(person=person, session_digest=old, used_at=None).update(session_digest=new)
    models.StepUpFailure.objects.filter(person=person, session_digest=old).update(session_digest=new)
