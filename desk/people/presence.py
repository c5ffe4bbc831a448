"""Whether sessions and tokens are still valid, and whose they are. Sockets, which outlive a request, ask repeatedly.

All of them are checked at once: one query for the sessions, two for their people, and the same for tokens. A token's
key has a type of its own, since the key of a session is whatever a cookie said.
"""

import hmac
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.models import Session

from desk import models, topics
from desk.people import factors, session_life, tokens


@dataclass(frozen=True, slots=True)
class TokenKey:
    """What a socket has instead of a session: a token's number, and the grants that its person had when it connected.

    A session ends when its person's roles change; a token does not. So the key is invalid once the grants differ.
    """

    token_id: int
    grants: tuple[str, ...]


Key = str | TokenKey


def person_of(session_key: str, *, now: datetime) -> models.Person | None:
    """The person signed in with this session, or None when it ended, grew too old, or its epoch is over."""
    return _people_of([session_key], now).get(session_key)


def people_of(session_keys: Collection[str], *, now: datetime) -> dict[str, models.Person]:
    """The same for many sessions at once, by key; invalid ones are left out."""
    return _people_of(session_keys, now)


def listener(session_key: str, *, now: datetime) -> models.Person | None:
    """The person of this session if it may open a socket: not where it reaches nothing but enrolment."""
    return _people_of([session_key], now, entered=True).get(session_key)


def holder(text: str, *, now: datetime) -> tuple[TokenKey, models.Person] | None:
    """The key of a socket for this token, and its person; None for an invalid token."""
    token = tokens.living_token(text, now=now)
    if token is None:
        return None
    tokens.note_use(token, now=now)
    return TokenKey(token.pk, _grants(token.person)), token.person


def admitted(key: Key, requested: Collection[str], *, now: datetime) -> list[str] | None:
    """Those of the requested topics that this session or token may follow now; None where it is no longer valid."""
    return admitted_all({key: requested}, now=now)[key]


def admitted_all(requested: Mapping[Key, Collection[str]], *, now: datetime) -> dict[Key, list[str] | None]:
    """By key, those of the requested topics that it may follow now; None where it is no longer valid.

    A session that reaches nothing but enrolment follows nothing and counts as invalid here.
    """
    signed_in = _people_of([key for key in requested if isinstance(key, str)], now, entered=True)
    holders = _holders_of([key for key in requested if isinstance(key, TokenKey)], now)
    people: dict[Key, models.Person] = dict([*signed_in.items(), *holders.items()])
    return {key: _may(people[key], topics) if key in people else None for key, topics in requested.items()}


def _may(person: models.Person, requested: Collection[str]) -> list[str]:
    return [topic for topic in requested if topics.admits(person, topic)]


def _grants(person: models.Person) -> tuple[str, ...]:
    return tuple(person.grants)


def _holders_of(keys: Collection[TokenKey], now: datetime) -> dict[TokenKey, models.Person]:
    """The people of the tokens, by key. Left out are tokens that ended or whose person has other grants now."""
    people = tokens.people_of([key.token_id for key in keys], now=now) if keys else {}
    holders = {key: people[key.token_id] for key in keys if key.token_id in people}
    return {key: person for key, person in holders.items() if _grants(person) == key.grants}


def _people_of(session_keys: Collection[str], now: datetime, *, entered: bool = False) -> dict[str, models.Person]:
    """The people who are signed in, by session key. Left out are sessions that ended, are too old or of an older epoch.

    With `entered` also those that reach nothing but enrolment (`factors.may_enter`).
    """
    rows = Session.objects.filter(session_key__in=[key for key in session_keys if key], expire_date__gt=now)
    contents = {row.session_key: row.get_decoded() for row in rows}
    alive = {key: content for key, content in contents.items() if SESSION_KEY in content}
    alive = {key: content for key, content in alive.items() if not session_life.is_over(content, now)}
    numbers = {content[SESSION_KEY] for content in alive.values()}
    if entered:
        alive = {key: content for key, content in alive.items() if not content.get(factors.RECOVERING)}
    active = models.Person.objects.filter(pk__in=numbers, is_active=True).prefetch_related("groups")
    people = {str(person.pk): person for person in active}
    if entered:
        enrolled = factors.enrolled(people.values())
        people = {number: person for number, person in people.items() if person.pk in enrolled}
    signed = {key: (people.get(str(content[SESSION_KEY])), content) for key, content in alive.items()}
    return {key: person for key, (person, content) in signed.items() if person is not None and _signed(person, content)}


def _signed(person: models.Person, content: Mapping[str, Any]) -> bool:
    signature = content.get(HASH_SESSION_KEY, "")
    valid = [person.get_session_auth_hash(), *person.get_session_auth_fallback_hash()]
    return any(hmac.compare_digest(signature, one) for one in valid)
