"""The audit trail for those who audit: read only, newest first, with the state of the chain's end."""

import json
from collections.abc import Sequence
from typing import Any, Final

from django import forms
from django.db.models import QuerySet

from desk.audit import trail as audit
from desk.lists.declared import Column, List, Rows, Value
from desk.lists.filters import DatedForm
from desk.models import AuditEvent
from desk.people import roles
from desk.web.requests import DeskRequest


class TrailFilter(DatedForm):
    """Which events to list."""

    dated, dated_label = "at", "Happened"

    subject = forms.CharField(label="Subject", required=False, max_length=120)
    action = forms.CharField(label="Action starts with", required=False, max_length=60)
    actor = forms.CharField(label="Person", required=False, max_length=150)

    def narrow(self, rows: QuerySet[AuditEvent]) -> QuerySet[AuditEvent]:
        """Only the events that every filter which is set lets through."""
        chosen = self.chosen()
        if "subject" in chosen:
            rows = rows.filter(subject=chosen["subject"])
        if "action" in chosen:
            rows = rows.filter(action__startswith=chosen["action"])
        return rows.filter(actor__username=chosen["actor"]) if "actor" in chosen else rows


def _rows(request: DeskRequest) -> Rows:
    rows = AuditEvent.objects.select_related("actor")
    newest = AuditEvent.objects.order_by("-seq")
    return Rows(rows, context=lambda listing: {"head": audit.head(), "last": newest.first()})


def _compare(events: Sequence[Any]) -> None:
    """Give each event what it changed, and whether its hash is that of its content."""
    for event in events:
        event.changes = list(_changes(event.before, event.after))
        event.is_intact = audit.hash_of(event) == event.hash


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
    prepare=_compare,
    may_see=lambda person: person.has_role(roles.AUDITOR, roles.ADMIN, scope=""),
    refusal="Auditors and administrators read the audit trail.",
    filters=TrailFilter,
    order=("seq",),
    columns=(
        Column("number", "No.", Value("number", "seq"), css="t-no", order=("seq",), is_end=True, is_mono=True),
        Column("at", "When", Value("at ({zone})", "at"), css="t-when", is_time=True),
        Column("who", "Who", Value("person", "actor.username"), css="t-who"),
        Column("what", "What", Value("action"), css="t-what"),
        Column("changed", "Changed", css="t-changed"),
        Value("subject"),
        Value("before", "before_text"),
        Value("after", "after_text"),
        Column("request", "Request", Value("request", "request_id"), is_shown=False, is_mono=True),
        Value("previous hash", "prev"),
        Column("hash", "Hash", Value("hash"), css="t-hash", is_mono=True),
    ),
    page="number at who what changed hash request",
)
