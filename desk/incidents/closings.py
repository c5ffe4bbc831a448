"""Second factors for closing a critical incident, and the first of two people where money is involved.

A second factor for the digest of an incident is that person's word that it can be closed. The incident is closed by the
first word, or by the second person's where its kind asks for two (`kinds.Kind.by_two`).
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

if TYPE_CHECKING:
    from desk.models import Person, StepUp

PURPOSE: Final = "close-incident"
_ACTION: Final = "incident.closing_requested"


@dataclass(frozen=True, slots=True)
class Word:
    """Somebody's word that an incident can be closed, with the reason."""

    person: "Person"
    at: datetime
    reason: str


def digest_of(row: Incident) -> str:
    """What is signed: the incident with its cause."""
    content = ["countersign-incident-1", row.pk, row.kind, row.cause, row.created_at]
    return hashlib.sha256(trail.canonical(content).encode()).hexdigest()


def needs_factor(row: Incident) -> bool:
    """Whether closing it takes a second factor."""
    return row.severity == kinds.Severity.CRITICAL


def needs_two(row: Incident) -> bool:
    """Whether two people have to close it."""
    return kinds.by_name(row.kind).by_two


def by_person(rows: Iterable[Incident]) -> set[tuple[int, int]]:
    """The number of the incident and of the person for every word on those that two people close. One query."""
    numbers = {digest_of(row): row.pk for row in rows if needs_two(row)}
    if not numbers:
        return set()
    words = models.StepUp.objects.filter(purpose=PURPOSE, digest__in=numbers)
    return {(numbers[digest], person) for digest, person in words.values_list("digest", "person_id")}


def first_of(row: Incident, *, but: "Person | None" = None) -> Word | None:
    """The word of the first of two people, if it counts: of somebody other than `but` who may still act."""
    if not needs_two(row):
        return None
    digest, kind, proofs = digest_of(row), kinds.by_name(row.kind), stepup.Proofs()
    for word in models.StepUp.objects.filter(purpose=PURPOSE, digest=digest).select_related("person").order_by("pk"):
        is_own = but is not None and word.person_id == but.pk
        if is_own or not kind.may_act(word.person, row.scope):
            continue
        if proofs.holds(word, person_id=word.person_id, purpose=PURPOSE, digests={digest}):
            return Word(word.person, word.at, _reason(row, word))
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


def _reason(row: Incident, word: "StepUp") -> str:
    events = models.AuditEvent.objects.filter(subject=_subject(row), action=_ACTION, actor=word.person_id)
    event = events.order_by("-seq").first()
    return str(event.after["reason"]) if event is not None else ""
