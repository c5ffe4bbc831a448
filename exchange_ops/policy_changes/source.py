"""Changes of the rules in the list of what needs action: those that wait for a second person or for their day."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from django.db.models import QuerySet
from django.urls import reverse

from desk.actions.entries import MOST, Entry, Source
from desk.audit.words import SYSTEM
from exchange_ops.policy_changes import rules, states, workflow
from exchange_ops.policy_changes.machine import TOPIC
from exchange_ops.policy_changes.models import PolicyChange
from exchange_ops.shared import rules as shared_rules

if TYPE_CHECKING:
    from desk.models import Person

_OPEN: Final = (states.PROPOSED, states.AGREED)


def _rows() -> QuerySet[PolicyChange]:
    return PolicyChange.objects.select_related("proposed_by", "agreed_by", "ended_by")


def _waiting(person: "Person", now: datetime) -> Sequence[Entry]:
    rows = _rows().filter(state__in=_OPEN) if shared_rules.may_see(person) else _rows().none()
    return [_entry(row, person, now) for row in rows.order_by("pk")[:MOST]]


def _done(person: "Person", now: datetime) -> Sequence[Entry]:
    rows = _rows().exclude(state__in=_OPEN) if shared_rules.may_see(person) else _rows().none()
    entries = []
    for row in rows.order_by("-updated_at", "-pk")[:MOST]:
        entry = _entry(row, person, now)
        entry.mine, entry.is_followed = False, False
        entry.deadline, entry.done_at, entry.outcome = None, row.updated_at, row.label.lower()
        entry.done_by = str(row.ended_by or (row.agreed_by if row.state == states.PUBLISHED else None) or SYSTEM)
        entries.append(entry)
    return entries


def _count(person: "Person", scope: str) -> int:
    if not rules.may_keep(person):
        return 0
    rows = PolicyChange.objects.filter(state=states.PROPOSED).exclude(proposed_by=person)
    return sum(workflow.may_decide(person, row) for row in rows) if person.limits else rows.count()


def _recipients(people: "Sequence[Person]") -> "Iterator[tuple[Person, tuple[str, str]]]":
    for row in PolicyChange.objects.filter(state=states.PROPOSED).order_by("pk"):
        for person in people:
            if shared_rules.may_see(person) and _waits_for(person, row):
                yield person, (row.subject, row.state)


def _waits_for(person: "Person", row: PolicyChange) -> bool:
    return row.state == states.PROPOSED and row.proposed_by_id != person.pk and workflow.may_decide(person, row)


def _entry(row: PolicyChange, person: "Person", now: datetime) -> Entry:
    is_own = row.proposed_by_id == person.pk
    return Entry(
        subject=row.subject,
        reference=row.reference,
        title="Rule change",
        sentence=f"{row.sentence} Proposed by {row.proposed_by.get_username()}: {row.reason}",
        url=reverse("policy-change", args=[row.pk]),
        since=row.created_at,
        tone=row.tone,
        label=row.label,
        icon=states.STATES[row.state].icon,
        deadline=row.expires_at if row.state == states.PROPOSED else row.in_force_at,
        clock=now,
        mine=_waits_for(person, row),
        own=is_own,
        is_followed=row.state == states.AGREED,
        who="treasury or administrators",
        phase=row.state,
        row=None,
    )


def _page(person: "Person", number: int) -> str:
    there = shared_rules.may_see(person) and PolicyChange.objects.filter(pk=number).exists()
    return reverse("policy-change", args=[number]) if there else ""


SOURCE: Final = Source(
    name="policy",
    label="Rules",
    waiting=_waiting,
    done=_done,
    count=_count,
    subjects=lambda: {PolicyChange.name: _page},
    topics=lambda: TOPIC,
    empty="No rule change needs your approval.",
    acts=rules.WHO,
    recipients=_recipients,
)
