"""What people do about an incident: take it on, hand it back, close it with a reason. None of this moves money.

A critical one is closed with a second factor, one about money by two people, each with theirs (`closings`).
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from django.db import transaction

from desk.audit import trail
from desk.incidents import closings, kinds, machine, states
from desk.incidents.models import LONGEST_REASON, Incident
from desk.live import announcements
from desk.machines.decisions import Act, Acts

if TYPE_CHECKING:
    from desk.models import Person


class CannotDecide(Exception):
    """Nothing was changed; the text is the sentence for the person."""


CLOSINGS: Final = Acts(closings.PURPOSE, CannotDecide)


def acknowledge(*, incident_id: int, person: "Person", now: datetime, session_key: str = "") -> Incident:
    """Take it on. Where somebody else works on it, `hand_back` comes first."""
    row = _read(incident_id, person)
    if row.state == states.ACKNOWLEDGED:
        raise CannotDecide(f"This incident is already assigned to {row.taken_by}.")
    return _move(row, person, now, session_key, event="acknowledged", to=states.ACKNOWLEDGED, taken_by=person)


def hand_back(*, incident_id: int, person: "Person", now: datetime, session_key: str = "") -> Incident:
    """Record that nobody works on it any more. Whoever may act on it can do so, also for a colleague who is away."""
    row = _read(incident_id, person)
    if row.state == states.OPEN:
        raise CannotDecide("This incident is not assigned.")
    return _move(row, person, now, session_key, event="handed_back", to=states.OPEN, taken_by=None)


def close(
    *,
    incident_id: int,
    person: "Person",
    reason: str,
    now: datetime,
    session_key: str = "",
    digest: str = "",
    answer: Mapping[str, Any] | None = None,
) -> Incident:
    """Close it even where its cause goes on; it is not opened again for the same cause.

    One that is critical or about money needs the second factor `answer` for `digest`. Where two people have to close
    it, the first one's word is recorded and it stays open. Raises CannotDecide, or `stepup.CannotConfirm`.
    """
    row = _read(incident_id, person)
    kind = kinds.by_name(row.kind)
    if not kind.closable:
        raise CannotDecide(f"This incident can't be closed manually. {kind.ends}")
    reason = reason.strip()
    if not reason:
        raise CannotDecide("Enter a reason: what you checked and what was done.")
    if len(reason) > LONGEST_REASON:
        raise CannotDecide(f"Reasons can be up to {LONGEST_REASON} characters; this one is {len(reason)}.")
    if not closings.needs_factor(row):
        return _move(row, person, now, session_key, event="closed", to=states.RESOLVED, reason=reason)
    act = Act(person, now, session_key, reason, digest, answer or {})
    with transaction.atomic():
        trail.take_turn()
        return _close_with_factor(_read(incident_id, person), act)


def _close_with_factor(row: Incident, act: Act) -> Incident:
    if act.digest != closings.digest_of(row):
        raise CannotDecide("Not closed: the incident changed after you opened the page. Refresh the page.")
    first = closings.first_of(row, but=act.person)
    if closings.needs_two(row):
        CLOSINGS.refuse_while_cooling_off(act)
        if first is None and closings.first_of(row) is not None:
            raise CannotDecide("Your finding is already recorded. A second person must close the incident.")
    confirmation = CLOSINGS.confirm(replace(act, digest=closings.signed_digest(row, act.comment)))
    if closings.needs_two(row) and first is None:
        closings.keep(row, act.comment, confirmation=confirmation, session_key=act.session_key, now=act.now)
        for topic in (f"{Incident.name}:{row.pk}", machine.TOPIC):
            announcements.announce(topic, id=row.pk)
        return row
    closed: dict[str, Any] = {"event": "closed", "to": states.RESOLVED, "reason": act.comment}
    return _move(row, act.person, act.now, act.session_key, evidence=confirmation.evidence(), **closed)


def may_act(person: "Person", row: Incident) -> bool:
    """Whether this person may take it on, hand it back or close it."""
    return row.state in states.UNRESOLVED and kinds.by_name(row.kind).may_act(person, row.scope)


def _read(incident_id: int, person: "Person") -> Incident:
    row = Incident.objects.select_related("taken_by").filter(pk=incident_id).first()
    if row is None:
        raise CannotDecide("Incident not found.")
    kind = kinds.by_name(row.kind)
    if not kind.may_act(person, row.scope):
        raise CannotDecide(f"Only {' and '.join(kind.acts)} can act on this incident.")
    if row.state == states.RESOLVED:
        raise CannotDecide(f"This incident was already resolved at {row.updated_at:%H:%M:%S} UTC.")
    return row


def _move(
    row: Incident, person: "Person", now: datetime, session_key: str, *, event: str, to: str, **changes: Any
) -> Incident:
    try:
        with transaction.atomic():
            trail.take_turn()
            machine.move(row, event=event, to=to, now=now, actor=person, session_key=session_key, **changes)
    except machine.CannotMove:
        raise CannotDecide("Someone else acted on this incident at the same time. Refresh the page.") from None
    return row
