"""Changes of a person by two administrators: requested, confirmed, rejected, withdrawn, expired.

The confirmation signs a digest over the person as they are now and the change; a person who was changed in between has
to be reviewed again. Taking roles away, or limiting them to fewer accounts, voids the votes that were given with them
(`Person.words_from`).
"""

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Q

from desk import models, rooms
from desk.audit import trail
from desk.live import announcements
from desk.machines.decisions import TOPIC as DECISIONS_TOPIC
from desk.machines.decisions import Act, Acts, InTurn
from desk.people import factors, roles, scopes, tokens
from desk.people.signing import signed_fields
from desk.staff import machine, rules, states
from desk.staff.models import LONGEST_REASON, Invitation, PersonChange
from desk.staff.rules import CannotChange

if TYPE_CHECKING:
    from desk.models import Person, StepUp

ASK, CONFIRM = "change-person", "confirm-person"
DEACTIVATED: Final = "person.deactivated"
CHANGED_SINCE: Final = (
    "No changes made: this account has changed since the request, or Countersign was upgraded. Reject "
    "the request and make a new one."
)
UNDONE_BY_ONE_FOR: Final = timedelta(hours=24)
REQUESTS: Final = Acts(ASK, CannotChange)
DECISIONS: Final = InTurn(
    CONFIRM,
    CannotChange,
    machine.MACHINE,
    missing="Change not found.",
    why_over=lambda row: "No changes made: someone else acted first. Refresh the page.",
    read_with=("person", "requested_by"),
)


def digest_of(person: "Person", kind: str, grants: Collection[str], until: datetime | None = None) -> str:
    """What a change is about: the person, what they are now, what they are to become, and until when.

    It is signed together with the reason; whoever confirms the change signs the reason of the request.
    """
    enrolled = sorted(factors.by_number(person).items())
    now = [person.pk, person.username, person.email, person.grants, person.is_active, [list(each) for each in enrolled]]
    content = ["countersign-person-2", kind, now, sorted(grants)]
    if person.grants_until or until:
        content.append([moment and moment.isoformat() for moment in (person.grants_until, until)])
    return hashlib.sha256(trail.canonical(content).encode()).hexdigest()


def with_reason(act: Act) -> Act:
    """The act as it is signed: its digest together with its reason."""
    return replace(act, digest=signed_fields.bind(act.digest, {signed_fields.REASON: act.comment}))


def request(
    *,
    person_id: int,
    kind: str,
    grants: Collection[str] = (),
    until: datetime | None = None,
    reason: str,
    actor: "Person",
    digest: str,
    answer: Mapping[str, Any],
    session_key: str,
    now: datetime,
) -> PersonChange:
    """Request a change; in the demo it is made at once. Raises CannotChange, or `stepup.CannotConfirm`."""
    act = Act(actor, now, session_key, digest=digest, answer=answer)
    with transaction.atomic():
        trail.take_turn()
        person = read(person_id)
        _check(act, person, kind, grants, until)
        if digest != digest_of(person, kind, grants, until):
            raise CannotChange("No changes made: this account changed after you opened the page. Refresh the page.")
        act = replace(act, comment=clean_reason(reason))
        confirmation = REQUESTS.confirm(with_reason(act))
        return ask(person, kind, grants, until=until, act=act, confirmation=confirmation)


def ask(
    person: "Person",
    kind: str,
    grants: Collection[str],
    *,
    until: datetime | None = None,
    act: Act,
    confirmation: "StepUp",
) -> PersonChange:
    """Request a change with a second factor that was checked already, in a transaction that has the trail's turn."""
    row = PersonChange(
        person=person,
        kind=kind,
        wanted=",".join(sorted(grants)),
        before=",".join(person.grants) if kind == states.ROLES else "",
        until=until,
        reason=act.comment,
        digest=digest_of(person, kind, grants, until),
        requested_by=act.person,
        requested_with=confirmation,
        alone=is_alone(person, kind, now=act.now),
        expires_at=act.now + states.OPEN_FOR,
    )
    try:
        with transaction.atomic():
            machine.create(row, event="requested", evidence=confirmation.evidence(), **act.moved)
    except IntegrityError:
        raise CannotChange("No changes made: another change for this person is pending.") from None
    if row.alone:
        _apply(row, person, act)
        machine.move(row, event="applied_alone", to=states.DONE, **act.moved)
    return row


def confirm(
    *, change_id: int, actor: "Person", digest: str, answer: Mapping[str, Any], session_key: str, now: datetime
) -> PersonChange:
    """Make the change, confirmed by a second administrator whose factors are older than a day.

    Raises CannotChange, or `stepup.CannotConfirm`.
    """
    act = Act(actor, now, session_key, digest=digest, answer=answer)
    with DECISIONS.transaction(change_id) as row:
        _refuse_unless_open(row, act)
        if row.requested_by_id == actor.pk:
            raise CannotChange("No changes made: you requested this change, so another administrator must confirm it.")
        person, grants = read(row.person_id), row.wanted_roles
        _check(act, person, row.kind, grants, row.until)
        if not (digest == row.digest == digest_of(person, row.kind, grants, row.until)):
            raise CannotChange(CHANGED_SINCE)
        DECISIONS.refuse_while_cooling_off(act)
        confirmation = DECISIONS.confirm(with_reason(replace(act, comment=row.reason)))
        _apply(row, person, act)
        machine.move(
            row,
            event="confirmed",
            to=states.DONE,
            evidence=confirmation.evidence(),
            decided_by=actor,
            decided_with=confirmation,
            **act.moved,
        )
    return row


def reject(*, change_id: int, actor: "Person", comment: str, session_key: str, now: datetime) -> PersonChange:
    """End the request without a change: another administrator rejects it, or its requester withdraws it."""
    act = Act(actor, now, session_key)
    with DECISIONS.transaction(change_id) as row:
        _refuse_unless_open(row, act)
        is_own = row.requested_by_id == actor.pk
        event, to = ("withdrawn", states.WITHDRAWN) if is_own else ("rejected", states.REJECTED)
        words = comment.strip() if is_own else clean_reason(comment)
        machine.move(row, event=event, to=to, decided_by=actor, comment=words[:LONGEST_REASON], **act.moved)
    return row


def is_alone(person: "Person", kind: str, *, now: datetime) -> bool:
    """Whether one administrator is enough: in the demo, and to take a deactivation of the last day back."""
    if settings.DEMO or kind != states.REACTIVATE:
        return bool(settings.DEMO)
    events = models.AuditEvent.objects.filter(subject=f"person:{person.pk}", action=DEACTIVATED)
    return events.filter(at__gt=now - UNDONE_BY_ONE_FOR).exists()


def deactivate(
    person: "Person", *, act: Act, evidence: Mapping[str, Any], confirms: PersonChange | None = None
) -> None:
    """Make the deactivation that was decided. Inside the transaction of the decision, in the trail's turn.

    `confirms` is the request that a second administrator confirmed, where two were needed.
    """
    void = [word.reference for word in rooms.open_words(person)]
    person.is_active = False
    person.save(update_fields=["is_active"])
    void_words(person, now=act.now)
    withdraw_all(concerning=person, but=confirms, now=act.now)
    Invitation.objects.filter(person=person, used_at=None, ended_at=None).update(ended_at=act.now)
    trail.record(
        action=DEACTIVATED,
        subject=f"person:{person.pk}",
        before={"active": True},
        after={"active": False, "reason": act.comment, "void": void, "evidence": dict(evidence)},
        **act.moved,
    )
    announcements.announce(machine.TOPIC, id=person.pk)


def withdraw_others(person: "Person", kind: str, *, now: datetime) -> None:
    """Withdraw the open request about this person where it is of another kind. Inside a transaction."""
    for row in PersonChange.objects.filter(person=person, state=states.REQUESTED).exclude(kind=kind):
        machine.move(row, event="withdrawn", to=states.WITHDRAWN, now=now)


def withdraw_all(*, concerning: "Person", now: datetime, but: PersonChange | None = None) -> int:
    """Withdraw the open requests about or by this person except `but`; how many there were. Inside a transaction."""
    rows = PersonChange.objects.filter(Q(person=concerning) | Q(requested_by=concerning), state=states.REQUESTED)
    concerned = list((rows if but is None else rows.exclude(pk=but.pk)).order_by("pk"))
    for row in concerned:
        machine.move(row, event="withdrawn", to=states.WITHDRAWN, now=now)
    return len(concerned)


def expire(now: datetime) -> int:
    """End the requests that nobody confirmed within a day; how many there were."""
    ended = 0
    for number in PersonChange.objects.filter(state=states.REQUESTED, expires_at__lte=now).values_list("pk", flat=True):
        with transaction.atomic():
            trail.take_turn()
            row = PersonChange.objects.get(pk=number)
            if row.state == states.REQUESTED:
                machine.move(row, event="expired", to=states.EXPIRED, now=now)
                ended += 1
    return ended


def read(person_id: int) -> "Person":
    """The person as they are now. Raises CannotChange when there is nobody of this number."""
    person = models.Person.objects.filter(pk=person_id).first()
    if person is None:
        raise CannotChange("Person not found.")
    return person


def clean_reason(text: str) -> str:
    """The reason, checked for its length. Raises CannotChange."""
    text = text.strip()
    if not text:
        raise CannotChange("Enter a reason.")
    if len(text) > LONGEST_REASON:
        raise CannotChange(f"Reasons can be up to {LONGEST_REASON} characters; this one is {len(text)}.")
    return text


def _check(act: Act, person: "Person", kind: str, grants: Collection[str], until: datetime | None) -> None:
    # Read again inside the turn: the actor may have lost the role a moment ago.
    if not rules.may_keep(read(act.person.pk)):
        raise CannotChange("Only active administrators can manage people.")
    rules.refuse_oneself(act.person, person)
    if problem := rules.obstacle(kind, person, grants, until=until, now=act.now):
        raise CannotChange(f"No changes made. {problem}")
    loses = kind in {states.ACCESS, states.DEACTIVATE} or (kind == states.ROLES and roles.ADMIN not in grants)
    if loses and roles.ADMIN in person.grants:
        rules.refuse_last_admin(person)


def _refuse_unless_open(row: PersonChange, act: Act) -> None:
    if not rules.may_keep(read(act.person.pk)):
        raise CannotChange("Only active administrators can manage people.")
    if row.person_id == act.person.pk:
        raise CannotChange("No changes made: changes to your own account need another administrator's approval.")
    if row.state != states.REQUESTED:
        raise CannotChange(f"No changes made: the request is already {row.label.lower()}.")
    if row.expires_at <= act.now:
        raise CannotChange("No changes made: the request expired after a day without confirmation.")


def _apply(row: PersonChange, person: "Person", act: Act) -> None:
    if row.kind == states.ROLES:
        lost = scopes.lost_grants(person.grants, row.wanted_roles)
        joins = roles.TREASURY in scopes.roles_of(row.wanted_roles) - person.roles
        scopes.set_grants(person, row.wanted_roles, until=row.until)
        if joins and person.unconfirmed_since is None:
            models.Person.objects.filter(pk=person.pk).update(unconfirmed_since=act.now)
        if lost:
            void_words(person, now=act.now)
    elif row.kind == states.REACTIVATE:
        person.is_active = True
        person.save(update_fields=["is_active"])
    elif row.kind == states.DEACTIVATE:
        deactivate(person, act=replace(act, comment=row.reason), evidence={"change": row.reference}, confirms=row)
    else:
        _reset(person, with_password=row.kind == states.ACCESS, now=act.now, actor=act.person)
    announcements.announce(machine.TOPIC, id=person.pk)


def void_words(person: "Person", *, now: datetime) -> None:
    """Void this person's votes on everything undecided, whatever roles they get later.

    Pages that show one of them count again.
    """
    for word in rooms.open_words(person):
        if word.topic:
            announcements.announce(word.topic, people=True)
    models.Person.objects.filter(pk=person.pk).update(words_from=now)
    announcements.announce(DECISIONS_TOPIC, people=True)


def _reset(person: "Person", *, with_password: bool, now: datetime, actor: "Person") -> None:
    before = factors.by_number(person)
    Authenticator.objects.filter(user=person).delete()
    if with_password:
        person.set_unusable_password()
        person.save(update_fields=["password"])
    tokens.revoke_all(person=person, now=now, actor=actor)
    models.end_sessions([person.pk])
    factors.note(person=person, before=before, device="an administrator", session_key="", now=now, actor=actor)
