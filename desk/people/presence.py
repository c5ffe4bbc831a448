"""Whether sessions are still somebody's: asked again and again by sockets, which outlive their first request.

However many there are, it is asked about all of them at once: one query for the sessions, two for their people.
"""

import hmac
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from django.conf import settings
from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.models import Session

from desk import models, topics
from desk.people import factors, session_life


def person_of(session_key: str, *, now: datetime) -> models.Person | None:
    """The person signed in with this session, or None when it ended, grew too old, or its epoch is over."""
    return _people_of([session_key], now).get(session_key)


def people_of(session_keys: Collection[str], *, now: datetime) -> dict[str, models.Person]:
    """The same for many sessions at once, by key; those that are nobody's any more are left out."""
    return _people_of(session_keys, now)


def listener(session_key: str, *, now: datetime) -> models.Person | None:
    """The person who may have a socket with this session: as above, and not where it reaches nothing but enrolment."""
    return _people_of([session_key], now, entered=True).get(session_key)


def admitted(session_key: str, wanted: Collection[str], *, now: datetime) -> list[str] | None:
    """Those of the wanted topics that this session may follow now; None when it is nobody's any more."""
    return admitted_all({session_key: wanted}, now=now)[session_key]


def admitted_all(wanted: Mapping[str, Collection[str]], *, now: datetime) -> dict[str, list[str] | None]:
    """By session key, those of the wanted topics that it may follow now; None where it is nobody's any more.

    A session that reaches nothing but enrolment follows nothing: it is nobody's here.
    """
    people = _people_of(wanted.keys(), now, entered=True)
    return {key: _may(people[key], topics) if key in people else None for key, topics in wanted.items()}


def _may(person: models.Person, wanted: Collection[str]) -> list[str]:
    return [topic for topic in wanted if topics.admits(person, topic)]


def _people_of(session_keys: Collection[str], now: datetime, *, entered: bool = False) -> dict[str, models.Person]:
    """Who is signed in, by session key. Left out are sessions that ended, grew too old, or whose epoch is over.

    With `entered` also those that reach nothing but enrolment (`factors.may_enter`).
    """
    rows = Session.objects.filter(session_key__in=[key for key in session_keys if key], expire_date__gt=now)
    contents = {row.session_key: row.get_decoded() for row in rows}
    alive = {key: content for key, content in contents.items() if SESSION_KEY in content}
    alive = {key: content for key, content in alive.items() if not session_life.is_over(content, now)}
    numbers = {content[SESSION_KEY] for content in alive.values()}
    if entered:
        alive = {key: content for key, content in alive.items() if not content.get(factors.RECOVERING)}
    found = models.Person.objects.filter(pk__in=numbers, is_active=True).prefetch_related("groups")
    people = {str(person.pk): person for person in found}
    if entered and settings.SECOND_FACTOR_REQUIRED:
        enrolled = factors.those_with_one([person.pk for person in people.values()])
        people = {number: person for number, person in people.items() if person.pk in enrolled}
    signed = {key: (people.get(str(content[SESSION_KEY])), content) for key, content in alive.items()}
    return {key: person for key, (person, content) in signed.items() if person is not None and _signed(person, content)}


def _signed(person: models.Person, content: Mapping[str, Any]) -> bool:
    signature = content.get(HASH_SESSION_KEY, "")
    valid = [person.get_session_auth_hash(), *person.get_session_auth_fallback_hash()]
    return any(hmac.compare_digest(signature, one) for one in valid)
