"""Invites people: an account without a password, and a link that sets one, once, within a day.

The link goes by mail to the person and is shown to nobody. Without a mail server it is shown once to an administrator
who did not invite the person, and who hands it over. It is bound to an e-mail address that the person who opens it has
to enter, so a forwarded link opens nothing. Roles come with a change of the person, which outside the demo needs a
second administrator; in treasury nobody's approvals count before a colleague has confirmed them (`colleagues`).
"""

import hashlib
import hmac
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from django.contrib.auth.validators import ASCIIUsernameValidator
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.db.models import F

from desk import models
from desk.audit import trail
from desk.live import announcements
from desk.machines.decisions import Act, Acts
from desk.staff import changes, links, machine, notices, rules, states
from desk.staff.models import MOST_WRONG_ADDRESSES, Invitation, PersonChange
from desk.staff.rules import CannotChange
from wire.values import Secret

if TYPE_CHECKING:
    from desk.models import Person, StepUp

PURPOSE = "invite-person"
LINK_PURPOSE = "make-link"
LINK = "link"
INVITATIONS: Final = Acts(PURPOSE, CannotChange)
LINKS: Final = Acts(LINK_PURPOSE, CannotChange)
GOOD_FOR = timedelta(hours=24)
_REASON = "Invited with these roles."


def digest_of(*, name: str, email: str, grants: Collection[str]) -> str:
    """What is signed: whom the link is for, and the roles they are to get."""
    content = ["countersign-invite-1", name, email.lower(), sorted(grants)]
    return hashlib.sha256(trail.canonical(content).encode()).hexdigest()


def name_of(email: str) -> str:
    """The username of a person invited without one: the part before the @ of their address."""
    return email.partition("@")[0]


def problems(*, name: str, email: str, grants: Collection[str]) -> dict[str, str]:
    """Why the invitation is refused, by field; empty when it is not."""
    sentences = {}
    try:
        ASCIIUsernameValidator()(name)
    except ValidationError:
        sentences["name"] = "Use letters, digits and @ . + - _ without spaces."
    if len(name) > 150:
        sentences["name"] = "Use at most 150 characters."
    elif models.Person.objects.filter(username__iexact=name).exists():
        sentences["name"] = "This username is taken. Usernames are never reused."
    try:
        validate_email(email)
    except ValidationError:
        sentences["email"] = "Enter a valid e-mail address."
    else:
        if models.Person.objects.filter(email__iexact=email).exists():
            sentences["email"] = "This e-mail address is already in use."
    if not grants:
        sentences["roles"] = "Choose at least one role: without a role the person can't see anything."
    elif problem := rules.role_problem(grants):
        sentences["roles"] = problem
    return sentences


def invite(
    *,
    name: str,
    email: str,
    grants: Collection[str],
    actor: "Person",
    digest: str,
    answer: Mapping[str, Any],
    session_key: str,
    now: datetime,
) -> "Person":
    """Make the account and, where there is a mail server, mail its link.

    Raises CannotChange, or `stepup.CannotConfirm`.
    """
    act = Act(actor, now, session_key, _REASON, digest, answer)
    with transaction.atomic():
        trail.take_turn()
        if not rules.may_keep(changes.read(actor.pk)):
            raise CannotChange("Only active administrators can invite people.")
        if refusals := problems(name=name, email=email, grants=grants):
            raise CannotChange(f"Invitation not created. {' '.join(refusals.values())}")
        if digest != digest_of(name=name, email=email, grants=grants):
            raise CannotChange(
                "Invitation not created: the details changed after you opened the page. Refresh the page."
            )
        confirmation = INVITATIONS.confirm(act)
        person = models.Person.objects.create_user(username=name, email=email)
        changes.ask(person, states.ROLES, grants, act=act, confirmation=confirmation)
        if notices.goes_by_mail():
            _make_link(person, act=act, confirmation=confirmation)
    return person


def make_link(
    *,
    person_id: int,
    reason: str,
    actor: "Person",
    digest: str,
    answer: Mapping[str, Any],
    session_key: str,
    now: datetime,
) -> tuple[Invitation, Secret | None]:
    """Another link for a person without a password; the older link ends.

    The code to hand over comes with it where there is no mail server, else None. Raises CannotChange, or
    `stepup.CannotConfirm`.
    """
    act = Act(actor, now, session_key, digest=digest, answer=answer)
    with transaction.atomic():
        trail.take_turn()
        if not rules.may_keep(changes.read(actor.pk)):
            raise CannotChange("Only active administrators can invite people.")
        person = changes.read(person_id)
        rules.refuse_oneself(actor, person)
        if problem := link_obstacle(person, actor):
            raise CannotChange(f"Link not created. {problem}")
        if digest != changes.digest_of(person, LINK, ()):
            raise CannotChange("Link not created: this account changed after you opened the page. Refresh the page.")
        act = replace(act, comment=changes.clean_reason(reason))
        confirmation = LINKS.confirm(changes.with_reason(act))
        row, code = _make_link(person, act=act, confirmation=confirmation)
    return row, None if notices.goes_by_mail() else code


def link_obstacle(person: "Person", actor: "Person") -> str:
    """Why this administrator can't make a link for the person now, or an empty text."""
    if not person.is_active or person.has_usable_password():
        return "Links are only available for active people without a password."
    if not person.email:
        return "This person has no e-mail address, and every link is tied to one."
    if not notices.goes_by_mail() and _asked_by(person) == actor.pk:
        return (
            "You requested this access and no mail server is set up, so another administrator must hand over the link."
        )
    return ""


def _asked_by(person: "Person") -> int | None:
    """The administrator who asked for the access that the link gives: the last reset, else the invitation."""
    rows = PersonChange.objects.filter(person=person)
    resets = rows.filter(kind=states.ACCESS, state=states.DONE).order_by("-pk")
    row = resets.first() or rows.order_by("pk").first()
    return row.requested_by_id if row is not None else None


def _make_link(person: "Person", *, act: Act, confirmation: "StepUp") -> tuple[Invitation, Secret]:
    Invitation.objects.filter(person=person, used_at=None, ended_at=None).update(ended_at=act.now)
    row = Invitation(
        person=person,
        email=person.email,
        made_by=act.person,
        made_at=act.now,
        expires_at=act.now + GOOD_FOR,
    )
    code = links.new_code(row)
    row.code_digest = links.digest_of(code.reveal())
    row.save(force_insert=True)
    is_mailed = notices.goes_by_mail()
    if is_mailed:
        notices.mail_link(row, now=act.now)
    trail.record(
        action="person.invited",
        subject=f"person:{person.pk}",
        before={},
        after={
            "name": person.username,
            "invitation": row.pk,
            "expires_at": row.expires_at,
            "by_mail": is_mailed,
            "reason": act.comment,
            "evidence": confirmation.evidence(),
        },
        **act.moved,
    )
    announcements.announce(machine.TOPIC, id=person.pk)
    return row, code


def shown_once(code: Secret, *, address: str) -> str:
    """The whole link, for the one page that shows it; `address` is that of the page that it opens."""
    return f"{address}?code={code.reveal()}"


def good_invitation(code: str, *, now: datetime) -> Invitation | None:
    """The invitation of this code, if it can still be used."""
    if not code.startswith(links.PREFIX) or len(code) > 200:
        return None
    rows = Invitation.objects.select_related("person").filter(person__is_active=True, used_at=None, ended_at=None)
    return rows.filter(code_digest=links.digest_of(code), expires_at__gt=now).first()


def is_for(row: Invitation, email: str, *, now: datetime) -> bool:
    """Whether the link is bound to this address. Wrong addresses are counted; after five the link ends."""
    if hmac.compare_digest(row.email.strip().lower().encode(), email.strip().lower().encode()):
        return True
    with transaction.atomic():
        open_rows = Invitation.objects.filter(pk=row.pk, used_at=None, ended_at=None)
        open_rows.update(wrong_addresses=F("wrong_addresses") + 1)
        open_rows.filter(wrong_addresses__gte=MOST_WRONG_ADDRESSES).update(ended_at=now)
    return False


def use(row: Invitation, *, now: datetime) -> bool:
    """Use up the link; False when somebody was faster. Inside the transaction that sets the password."""
    rows = Invitation.objects.filter(pk=row.pk, used_at=None, ended_at=None)
    if not rows.update(used_at=now):
        return False
    trail.record(
        actor=row.person,
        action="person.invitation_used",
        subject=f"person:{row.person_id}",
        before={},
        after={"invitation": row.pk},
        now=now,
    )
    arrived(row.person, now=now)
    return True


def arrived(person: "Person", *, now: datetime) -> None:
    """Note that somebody chose a password by a link, so that people hear of it and treasury confirms who it is.

    Inside the transaction that sets the password.
    """
    models.Person.objects.filter(pk=person.pk).update(unconfirmed_since=now)
    person.unconfirmed_since = now
    notices.announce_arrival(person, now=now)
    announcements.announce(machine.TOPIC, id=person.pk)
