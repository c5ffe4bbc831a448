"""The audit trail in words, newest first: who did what to which object, with the state of the chain's end."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django import forms
from django.db.models import Q, QuerySet

from desk import rooms
from desk.audit import trail as audit
from desk.audit import words
from desk.lists.declared import LISTS, Column, List, Rows, Value
from desk.lists.filters import DatedForm
from desk.lists.listing import Listing
from desk.models import AuditEvent, Person
from desk.people import roles, trail_readers
from desk.web.requests import DeskRequest

DECISIONS, FILES = "decisions", "files"


def _kinds() -> Iterator[tuple[str, str]]:
    yield "", "Any kind"
    yield DECISIONS, "Decisions"
    yield from sorted(((each.name, each.title) for each in words.declared()), key=lambda one: one[1])
    yield FILES, "Files exported"


class TrailFilter(DatedForm):
    """Which events to list."""

    dated, dated_label = "at", "Date"

    actor = forms.CharField(label="Person", required=False, max_length=150)
    subject = forms.CharField(label="Object", required=False, max_length=120)
    kind = forms.ChoiceField(label="Kind", required=False, choices=_kinds)
    action = forms.CharField(label="Event name", required=False, max_length=60)

    def clean_subject(self) -> str:
        """The object as it was written. Raises ValidationError for a text that names none."""
        text = str(self.cleaned_data["subject"]).strip()
        if text and not subjects_of(text):
            raise forms.ValidationError("Not found. Enter a reference, for example W-2, or a person's name.")
        return text

    def narrow(self, rows: QuerySet[AuditEvent]) -> QuerySet[AuditEvent]:
        """Only the events that every filter which is set lets through."""
        chosen = self.chosen()
        if "subject" in chosen:
            rows = rows.filter(subject__in=subjects_of(chosen["subject"]))
        if "kind" in chosen:
            rows = rows.filter(_of_kind(chosen["kind"]))
        if "action" in chosen:
            rows = rows.filter(action__startswith=chosen["action"])
        if "actor" not in chosen:
            return rows
        is_system = chosen["actor"].strip().casefold() == words.SYSTEM.casefold()
        return rows.filter(actor=None) if is_system else rows.filter(actor__username=chosen["actor"].strip())


def subjects_of(text: str) -> list[str]:
    """The subjects that a text names: an object by its reference, a person by name, or as the trail has them."""
    if named := words.subjects_named(text):
        return named
    numbers = Person.objects.filter(username=text).values_list("pk", flat=True)
    is_recorded = AuditEvent.objects.filter(subject=text).exists()
    return [f"person:{number}" for number in numbers] + ([text] if is_recorded else [])


def _of_kind(kind: str) -> Q:
    if kind == DECISIONS:
        return Q(action__in=words.decisions())
    return Q(action__endswith=words.EXPORTED) if kind == FILES else Q(action__startswith=f"{kind}.")


def _rows(request: DeskRequest) -> Rows:
    person = request.user
    rows = trail_readers.readable(person).select_related("actor")
    is_whole = trail_readers.reads_all(person)
    names = list(Person.objects.order_by("username").values_list("username", flat=True)) if is_whole else []

    def context(listing: Listing) -> Mapping[str, Any]:
        chosen = listing.filters.chosen().get("subject", "")
        newest = AuditEvent.objects.order_by("-seq").first() if is_whole else None
        return {
            "is_whole": is_whole,
            "decides": person.has_role(roles.TREASURY),
            "head": audit.head() if is_whole else "",
            "last": newest,
            "approvers": approvers_of(chosen, person) if chosen else None,
            "object_name": chosen,
        }

    return Rows(rows, suggested={"actor": [words.SYSTEM, *names]}, context=context)


def approvers_of(text: str, reader: Person) -> list[Person] | None:
    """Who may still approve the request that a text names; None where it waits for no approval, or not for readers.

    Those who asked, who approved already or whose approvals don't count yet are left out.
    """
    subjects = words.subjects_named(text)
    name, _, key = subjects[0].partition(":") if subjects else ("", "", "")
    approvals = next((each for each in rooms.approvals() if each.model.name == name), None)
    if approvals is None or not (key.isascii() and key.isdigit() and len(key) < 19):
        return None
    waiting = approvals.waiting()
    if not (approvals.shows(reader, int(key)) and waiting.rows.filter(pk=int(key)).exists()):
        return None
    people = Person.objects.filter(is_active=True, groups__name=roles.TREASURY).prefetch_related("groups")
    return [
        person
        for person, rows in waiting.for_each(people.order_by("username"))
        if any(row.pk == int(key) for row in rows)
    ]


@dataclass(frozen=True, slots=True)
class Details:
    """What stands behind the sentence of an event, worked out where it is shown."""

    event: AuditEvent

    @property
    def changes(self) -> list[tuple[str, str, str]]:
        """Every member that changed: its name, what it was and what it became."""
        return list(_changes(self.event.before, self.event.after))

    @property
    def is_intact(self) -> bool:
        """Whether the hash of the event is that of its content."""
        return audit.hash_of(self.event) == self.event.hash


def tell(events: Sequence[Any]) -> None:
    """Give each event its sentence, who did it, its object's name and its details."""
    telling = words.telling(events, lists={each.name: each.title for each in LISTS.values()})
    for event in events:
        event.sentence, event.who = telling.sentence(event), telling.who(event)
        event.object_name, event.details = words.name_of(event.subject), Details(event)


def newest_of(subject: str, *, most: int) -> list[AuditEvent]:
    """The newest events of one object with their sentences, for its page."""
    events = list(AuditEvent.objects.filter(subject=subject).order_by("-seq")[:most])
    tell(events)
    return events


def _changes(before: dict[str, Any], after: dict[str, Any]) -> list[tuple[str, str, str]]:
    """What is different, member by member, as text."""
    names = sorted({*before, *after}, key=lambda name: (name not in before, name))
    return [
        (name, _text(before.get(name)), _text(after.get(name))) for name in names if before.get(name) != after.get(name)
    ]


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)


TRAIL: Final = List(
    name="trail",
    route="audit",
    title="Audit trail",
    one="event",
    many="events",
    path="audit/",
    template="desk/trail.html",
    css="trail",
    rows=_rows,
    prepare=tell,
    may_see=trail_readers.may_read,
    refusal="Only people with a role can read the audit trail.",
    filters=TrailFilter,
    order=("seq",),
    columns=(
        Column("number", "No.", Value("number", "seq"), css="t-no", order=("seq",), is_end=True, is_mono=True),
        Column("at", "Time", Value("at ({zone})", "at"), css="t-when", is_time=True),
        Column("who", "Who", Value("person", "who"), css="t-who"),
        Column("what", "What", Value("what", "sentence"), css="t-what"),
        Column("changed", "Details", css="t-changed"),
        Value("action"),
        Value("subject"),
        Value("before", "before_text"),
        Value("after", "after_text"),
        Column("request", "Request", Value("request", "request_id"), is_shown=False, is_mono=True),
        Value("previous hash", "prev"),
        Column("hash", "Hash", Value("hash"), css="t-hash", is_mono=True),
    ),
    page="number at who what changed hash request",
)
