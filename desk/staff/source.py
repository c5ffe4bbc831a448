"""Changes of people that wait for a second administrator, as entries of the list of what needs action."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from django.db.models import QuerySet
from django.urls import reverse

from desk.actions.entries import MOST, Entry, Source
from desk.people import roles
from desk.staff import rules, states
from desk.staff.machine import TOPIC
from desk.staff.models import PersonChange

if TYPE_CHECKING:
    from desk.models import Person


def _rows(person: "Person") -> QuerySet[PersonChange]:
    rows = PersonChange.objects.select_related("person", "requested_by", "decided_by")
    return rows if rules.may_read(person) else rows.none()


def _waiting(person: "Person", now: datetime) -> Sequence[Entry]:
    return [_entry(row, person, now) for row in _rows(person).filter(state=states.REQUESTED).order_by("pk")[:MOST]]


def _done(person: "Person", now: datetime) -> Sequence[Entry]:
    entries = []
    for row in _rows(person).exclude(state=states.REQUESTED).order_by("-updated_at", "-pk")[:MOST]:
        entry = _entry(row, person, now)
        entry.mine, entry.deadline, entry.done_at, entry.outcome = False, None, row.updated_at, row.label.lower()
        entry.done_by = row.decided_by.get_username() if row.decided_by is not None else ""
        entries.append(entry)
    return entries


def _count(person: "Person", scope: str) -> int:
    if not rules.may_keep(person):
        return 0
    waiting = PersonChange.objects.filter(state=states.REQUESTED)
    return waiting.exclude(requested_by=person).exclude(person=person).count()


def _recipients(people: "Sequence[Person]") -> "Iterator[tuple[Person, tuple[str, str]]]":
    for row in PersonChange.objects.filter(state=states.REQUESTED).order_by("pk"):
        for person in people:
            if rules.may_keep(person) and not _concerns(row, person):
                yield person, (row.subject, "")


def _concerns(row: PersonChange, person: "Person") -> bool:
    return person.pk in {row.person_id, row.requested_by_id}


def _entry(row: PersonChange, person: "Person", now: datetime) -> Entry:
    return Entry(
        subject=row.subject,
        reference=row.reference,
        title=f"{row.title}: {row.person.get_username()}",
        sentence=f"{row.sentence} {_roles_sentence(row)}Requested by {row.requested_by.get_username()}: {row.reason}",
        url=reverse("person", args=[row.person_id]),
        since=row.created_at,
        tone=row.tone,
        label=row.label,
        icon=states.STATES[row.state].icon,
        deadline=row.expires_at,
        clock=now,
        mine=rules.may_keep(person) and not _concerns(row, person),
        own=row.requested_by_id == person.pk,
        who="another administrator",
        lapse="nothing changes and the request expires",
        row=None,
    )


def _roles_sentence(row: PersonChange) -> str:
    """The requested roles with their accounts, as a sentence."""
    if row.kind != states.ROLES:
        return ""
    until = f" until {row.until:%Y-%m-%d %H:%M} UTC" if row.until else ""
    return f"New roles{until}: {', '.join(row.wanted_in_words) or 'none'}. "


def _page(person: "Person", number: int) -> str:
    row = PersonChange.objects.filter(pk=number).first()
    return reverse("person", args=[row.person_id]) if row is not None and rules.may_read(person) else ""


SOURCE: Final = Source(
    name="people",
    label="People",
    waiting=_waiting,
    done=_done,
    count=_count,
    subjects=lambda: {PersonChange.name: _page},
    topics=lambda: TOPIC,
    empty="No user changes need your approval.",
    acts=(roles.ADMIN,),
    recipients=_recipients,
)
