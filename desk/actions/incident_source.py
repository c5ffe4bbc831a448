"""Incidents as entries of the list."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from django.urls import reverse

from desk.actions.entries import MOST, Entry, Source
from desk.incidents import kinds, queries, states, votes
from desk.incidents.models import Incident
from desk.people import roles

if TYPE_CHECKING:
    from desk.models import Person


def _waiting(person: "Person", now: datetime) -> Sequence[Entry]:
    rows = list(queries.unresolved(person)[:MOST])
    voted, entries = votes.by_person(rows), []
    for row in rows:
        decided = (row.pk, person.pk) in voted
        entry = _entry(row, mine=_is_for(person, row) and not decided)
        entry.decided = decided
        entries.append(entry)
    return entries


def _done(person: "Person", now: datetime) -> Sequence[Entry]:
    entries = []
    for row in queries.resolved(person)[:MOST]:
        entry = _entry(row, mine=False)
        entry.done_at = row.updated_at
        entry.outcome = "closed with a reason" if row.reason else "resolved automatically"
        entry.done_by = getattr(row, "closed_by", None) or ""
        entries.append(entry)
    return entries


def _count(person: "Person", scope: str) -> int:
    return queries.of_scope(queries.waiting_for(person), scope).count()


def _recipients(people: "Sequence[Person]") -> "Iterator[tuple[Person, tuple[str, str]]]":
    rows = list(queries.unresolved())
    voted = votes.by_person(rows)
    for person in people if rows else ():
        for row in rows:
            if _is_for(person, row) and (row.pk, person.pk) not in voted:
                yield person, (row.subject, "")


def _is_for(person: "Person", row: Incident) -> bool:
    """Whether this person may act on it, and nobody else has taken it on."""
    kind = kinds.by_name(row.kind)
    may = kind.may_act(person, row.scope) and kind.may_see(person, row.scope)
    return may and row.taken_by_id in {None, person.pk}


def _entry(row: Incident, *, mine: bool) -> Entry:
    return Entry(
        subject=row.subject,
        reference=row.reference,
        title=row.title,
        sentence=row.sentence,
        url=reverse("incident", args=[row.pk]),
        since=row.created_at,
        tone=row.tone,
        label=row.label,
        icon=states.STATES[row.state].icon,
        severity=row.severity,
        mine=mine,
        who=" or ".join(kinds.by_name(row.kind).acts),
        row=row,
        taken_by=row.taken_by,
        kind=row.kind,
        scope=row.scope,
    )


def _page(person: "Person", number: int) -> str:
    row = Incident.objects.filter(pk=number).first()
    return (
        reverse("incident", args=[number])
        if row is not None and kinds.by_name(row.kind).may_see(person, row.scope)
        else ""
    )


SOURCE: Final = Source(
    name="incidents",
    label="Incidents",
    waiting=_waiting,
    done=_done,
    count=_count,
    subjects=lambda: {Incident.name: _page},
    topics=lambda: "incidents",
    empty="No open incidents for your roles.",
    acts=(roles.OPERATOR, roles.TREASURY, roles.ADMIN),
    recipients=_recipients,
)
