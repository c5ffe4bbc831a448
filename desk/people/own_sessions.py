"""Where a person is signed in, and ending one of those sessions, for example one left open on another machine.

Pages name a session by a digest; the key that opens it is on no page.
"""

import hmac
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.models import Session
from django.db import transaction

from desk.audit import trail
from desk.people import presence, session_life

if TYPE_CHECKING:
    from desk.models import Person

_BROWSERS = (("Edg", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("Chrome/", "Chrome"), ("Safari/", "Safari"))
_SYSTEMS = (
    ("Windows", "Windows"),
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)


@dataclass(frozen=True, slots=True)
class OwnSession:
    """One session of a person. `handle` names it; `is_this` marks the one that asks; `device` is browser and system."""

    handle: str
    is_this: bool
    signed_in_at: datetime
    seen_at: datetime
    device: str


def sessions(person: "Person", *, session_key: str, now: datetime) -> list[OwnSession]:
    """The living sessions of the person, the newest sign-in first."""
    rows = [_own(key, content, session_key) for key, content in _good(person, now)]
    return sorted(rows, key=lambda one: one.signed_in_at, reverse=True)


def last_seen(*, now: datetime) -> dict[int, tuple[int, datetime]]:
    """By person: how many living sessions there are, and when the latest of them was seen."""
    rows = list(Session.objects.filter(expire_date__gt=now))
    people = presence.people_of([row.session_key for row in rows], now=now)
    counts: dict[int, tuple[int, datetime]] = {}
    for row in rows:
        if (person := people.get(row.session_key)) is None:
            continue
        at = datetime.fromtimestamp(int(row.get_decoded()[session_life.SEEN_AT]), UTC)
        count, newest = counts.get(person.pk, (0, at))
        counts[person.pk] = (count + 1, max(newest, at))
    return counts


def end_session(
    person: "Person", *, handle: str, session_key: str, now: datetime, actor: "Person | None" = None
) -> bool:
    """End one session of the person; False when it was over already. Its sockets close within five seconds.

    `actor` ends it, where it is not the person.
    """
    for key, _ in _good(person, now):
        if hmac.compare_digest(trail.digest_of(key).encode(), handle.encode()):
            with transaction.atomic():
                Session.objects.filter(session_key=key).delete()
                trail.record(
                    actor=actor or person,
                    action="person.session_ended",
                    subject=f"person:{person.pk}",
                    before={},
                    after={"session": handle},
                    now=now,
                    session_key=session_key,
                )
            return True
    return False


def device_of(agent: str) -> str:
    """A browser and its system by the names people know, from what the browser calls itself."""
    browser = next((name for sign, name in _BROWSERS if sign in agent), "")
    system = next((name for sign, name in _SYSTEMS if sign in agent), "")
    return " on ".join(part for part in (browser or "A browser", system) if part)


def _good(person: "Person", now: datetime) -> Iterator[tuple[str, dict[str, Any]]]:
    for row in Session.objects.filter(expire_date__gt=now).iterator():
        content = row.get_decoded()
        mine = content.get(SESSION_KEY) == str(person.pk)
        if mine and presence.person_of(row.session_key, now=now) == person:
            yield row.session_key, content


def _own(key: str, content: dict[str, Any], session_key: str) -> OwnSession:
    return OwnSession(
        handle=trail.digest_of(key),
        is_this=key == session_key,
        signed_in_at=datetime.fromtimestamp(int(content[session_life.SIGNED_IN_AT]), UTC),
        seen_at=datetime.fromtimestamp(int(content[session_life.SEEN_AT]), UTC),
        device=str(content.get(session_life.DEVICE, "")) or device_of(""),
    )
