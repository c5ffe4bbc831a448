"""Second factors for closing an incident that is critical or about money, and the first of two people for money.

A second factor for the digest of an incident and a reason is that person's word that it can be closed. The incident is
closed by the first word, or by the second person's where its kind asks for two (`kinds.Kind.by_two`).
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from desk import models
from desk.audit import trail
from desk.incidents import kinds
from desk.incidents.models import Incident
from desk.people import stepup
from desk.people.signing import signed_fields

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from desk.models import AuditEvent, Person, StepUp

PURPOSE: Final = "close-incident"
_ACTION: Final = "incident.closing_requested"


@dataclass(frozen=True, slots=True)
class Word:
    """Somebody's word that an incident can be closed, with the reason."""

    person: "Person"
    at: datetime
    reason: str


def digest_of(row: Incident) -> str:
    """The digest of the incident with its cause, as the page shows it."""
    content = ["countersign-incident-1", row.pk, row.kind, row.cause, row.created_at]
    return hashlib.sha256(trail.canonical(content).encode()).hexdigest()


def needs_factor(row: Incident) -> bool:
    """Whether closing it takes a second factor: where it is critical, or where two people have to close it."""
    return row.severity == kinds.Severity.CRITICAL or needs_two(row)


def needs_two(row: Incident) -> bool:
    """Whether two people have to close it."""
    return kinds.by_name(row.kind).by_two


def signed_digest(row: Incident, reason: str) -> str:
    """What a person signs: the incident with its cause, and the reason for closing it."""
    return signed_fields.bind(digest_of(row), _fields(reason))


def by_person(rows: Iterable[Incident]) -> set[tuple[int, int]]:
    """The number of the incident and of the person for every word on those that two people close. One query."""
    numbers = {_subject(row): row.pk for row in rows if needs_two(row)}
    if not numbers:
        return set()
    words = models.AuditEvent.objects.filter(subject__in=numbers, action=_ACTION, actor__isnull=False)
    return {(numbers[subject], person) for subject, person in words.values_list("subject", "actor_id")}


def recorded(row: Incident) -> "QuerySet[AuditEvent]":
    """Every word that the trail records, whether or not it counts now, the first one first."""
    rows = models.AuditEvent.objects.filter(subject=_subject(row), action=_ACTION)
    return rows.select_related("actor").order_by("seq")


def first_of(row: Incident, *, but: "Person | None" = None) -> Word | None:
    """The word of the first of two people, if it counts: of somebody other than `but` who may still act.

    Their second factor has to be for this incident and the reason that the trail records with it.
    """
    if not needs_two(row):
        return None
    digest, kind, proofs = digest_of(row), kinds.by_name(row.kind), stepup.Proofs()
    events = list(models.AuditEvent.objects.filter(subject=_subject(row), action=_ACTION).order_by("seq"))
    factors = models.StepUp.objects.select_related("person").in_bulk([_number(event) for event in events])
    for event in events:
        word, reason = factors.get(_number(event)), str(event.after["reason"])
        is_own = but is not None and event.actor_id == but.pk
        if word is None or is_own or event.actor_id is None or not kind.may_act(word.person, row.scope):
            continue
        digests = signed_fields.countable(digest, _fields(reason))
        if proofs.holds(word, person_id=event.actor_id, purpose=PURPOSE, digests=digests):
            return Word(word.person, word.at, reason)
    return None


def keep(row: Incident, reason: str, *, confirmation: "StepUp", session_key: str, now: datetime) -> None:
    """Record the first person's word. Inside the transaction of the decision."""
    trail.record(
        actor=confirmation.person,
        action=_ACTION,
        subject=_subject(row),
        before={},
        after={"reason": reason, "evidence": confirmation.evidence()},
        now=now,
        session_key=session_key,
    )


def _subject(row: Incident) -> str:
    return f"closing:{row.pk}"


def _number(event: "AuditEvent") -> int:
    """The number of the second factor that the event of a word names."""
    return int(event.after["evidence"]["step_up"])


def _fields(reason: str) -> dict[str, str]:
    return {signed_fields.REASON: reason}
