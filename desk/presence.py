"""Whether a session is still somebody's: asked again and again by sockets, which outlive their first request."""

import hmac
from datetime import datetime
from importlib import import_module

from django.conf import settings
from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY

from desk import models, requests, topics


def person_of(session_key: str, *, now: datetime) -> models.Person | None:
    """The person signed in with this session, or None when it ended, grew too old, or its epoch is over."""
    if not session_key:
        return None
    content = import_module(settings.SESSION_ENGINE).SessionStore(session_key=session_key).load()
    person_id, signed = content.get(SESSION_KEY), content.get(HASH_SESSION_KEY, "")
    if not person_id or requests.is_over(content, now):
        return None
    person = models.Person.objects.filter(pk=person_id, is_active=True).first()
    if person is None:
        return None
    valid = [person.get_session_auth_hash(), *person.get_session_auth_fallback_hash()]
    return person if any(hmac.compare_digest(signed, one) for one in valid) else None


def admitted(session_key: str, wanted: list[str], *, now: datetime) -> list[str] | None:
    """Those of the wanted topics that this session may follow now; None when it is nobody's any more."""
    person = person_of(session_key, now=now)
    return None if person is None else [topic for topic in wanted if topics.admits(person, topic)]
