"""What no longer waits: those who were notified are told so, and messages not yet sent are dropped."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from django.db.models import QuerySet

from desk.actions import entries
from desk.actions.entries import Entry
from desk.audit.words import SYSTEM
from desk.models import Person
from desk.notifications import audiences, outgoing, states
from desk.notifications.models import Channel, Delivery, Notification, Recipient, Stage

MOST_ASKED: Final = 3


def close_phase(rows: Sequence[Notification], people: Sequence[Person], *, is_over: bool, now: datetime) -> int:
    """Close the notifications of one phase of a subject; `is_over` says that no phase of the subject waits any more.

    Whoever decided knows the end. People are notified of ends without a decision: those of incidents, and of what the
    desk ended because nobody decided in time. Returns the number of notifications made.
    """
    Notification.objects.filter(pk__in=[row.pk for row in rows]).update(ended_at=now)
    first = rows[0]
    unheard = _unheard(rows)
    drop(rows, now=now)
    if not is_over:
        return 0
    hearers = set(Recipient.objects.filter(notification__in=rows).values_list("person_id", flat=True))
    audience = [person for person in people if person.pk in hearers]
    entry = _last_entry(first, audience, now)
    if not first.severity and (entry is None or entry.done_by != SYSTEM):
        return 0
    row = Notification(
        stage=Stage.ENDED,
        subject=first.subject,
        phase=first.phase,
        kind=first.kind,
        severity=first.severity,
        reference=first.reference,
        title=first.title,
        sentence=(entry.sentence if entry is not None else first.sentence)[:600],
        outcome=(entry.outcome if entry is not None else "no longer pending")[:80],
        url=first.url,
        facts=first.facts,
        created_at=now,
        ended_at=now,
    )
    routes = [
        replace(each, by_email=each.by_email and each.person.pk not in unheard["person"])
        for each in audiences.routes(row, audience)
    ]
    channels = [each for each in _channels(row) if each.pk not in unheard["channel"]]
    return outgoing.post(row, routes, channels, now=now)


def _unheard(rows: Sequence[Notification]) -> dict[str, set[int]]:
    """The people and channels to whom no message about this incident could be sent: its end is not sent to them.

    So an incident that comes and goes while a mail server is dead doesn't leave one message for each time.
    """
    every = Delivery.objects.filter(notification__in=rows, notification__severity__gt="")
    unsent = every.filter(state=states.QUEUED, attempts=0).exclude(last_problem="")
    sent = every.filter(attempts__gt=0)
    return {
        name: set(unsent.values_list(name, flat=True)) - set(sent.values_list(name, flat=True))
        for name in ("person", "channel")
    }


def drop(rows: Sequence[Notification], *, now: datetime) -> int:
    """Drop the deliveries of these that still wait. One that a worker is sending now is left to it."""
    unsent = Delivery.objects.filter(notification__in=rows, state=states.QUEUED)
    return unsent.update(state=states.DROPPED, next_action_at=None, updated_at=now)


def revive(rows: QuerySet[Notification], *, now: datetime) -> int:
    """Queue again the deliveries of these that were dropped."""
    dropped = Delivery.objects.filter(notification__in=rows, state=states.DROPPED)
    return dropped.update(state=states.QUEUED, next_action_at=now, updated_at=now)


def _last_entry(row: Notification, people: Sequence[Person], now: datetime) -> Entry | None:
    """The entry of the subject among what is done, as one of the recipients sees it."""
    for person in people[:MOST_ASKED]:
        for source in entries.sources():
            for entry in source.done(person, now):
                if entry.subject == row.subject:
                    return entry
    return None


def _channels(row: Notification) -> Iterable[Channel]:
    return audiences.channels_for(row, is_decision=not row.severity)
