"""Invites people: an account without a password, and a link that sets one, once, within a day.

The link is bound to an e-mail address that the person who opens it has to enter, so a forwarded link opens nothing.
Roles come with a change of the person, which outside the demo needs a second administrator.
"""

import hashlib
import hmac
import secrets
from collections.abc import Collection, Mapping
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
from desk.staff import changes, machine, rules, states
from desk.staff.models import MOST_WRONG_ADDRESSES, Invitation
from desk.staff.rules import CannotChange
from wire.values import Secret

if TYPE_CHECKING:
    from desk.models import Person

PURPOSE = "invite-person"
INVITATIONS: Final = Acts(PURPOSE, CannotChange)
PREFIX = "inv_"
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
        sentences["name"] = "Letters, digits and @ . + - _ make a name, without blanks."
    if len(name) > 150:
        sentences["name"] = "A name has 150 characters at most."
    elif models.Person.objects.filter(username__iexact=name).exists():
        sentences["name"] = "Somebody has this name already. Names are never given twice."
    try:
        validate_email(email)
    except ValidationError:
        sentences["email"] = "This is no e-mail address."
    else:
        if models.Person.objects.filter(email__iexact=email).exists():
            sentences["email"] = "Somebody has this address already."
    if not grants:
        sentences["roles"] = "Choose at least one role: without one the person sees nothing."
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
) -> tuple[Invitation, Secret]:
    """Make the account and its link; the link is shown once. Raises CannotChange, or `stepup.CannotConfirm`."""
    act = Act(actor, now, session_key, _REASON, digest, answer)
    with transaction.atomic():
        trail.take_turn()
        if not rules.may_keep(changes.read(actor.pk)):
            raise CannotChange("Only active administrators invite people.")
        if refusals := problems(name=name, email=email, grants=grants):
            raise CannotChange(f"Nobody was invited. {' '.join(refusals.values())}")
        if digest != digest_of(name=name, email=email, grants=grants):
            raise CannotChange("Nobody was invited: this is not what you saw. Read the page again.")
        confirmation = INVITATIONS.confirm(act)
        person = models.Person.objects.create_user(username=name, email=email)
        link = _make_link(person, actor=actor, session_key=session_key, now=now)
        changes.ask(person, states.ROLES, grants, act=act, confirmation=confirmation)
    return link


def invite_again(*, person_id: int, actor: "Person", session_key: str, now: datetime) -> tuple[Invitation, Secret]:
    """Another link for a person without a password; the older link ends."""
    with transaction.atomic():
        trail.take_turn()
        if not rules.may_keep(changes.read(actor.pk)):
            raise CannotChange("Only active administrators invite people.")
        person = changes.read(person_id)
        rules.refuse_oneself(actor, person)
        if not person.is_active or person.has_usable_password():
            raise CannotChange("No link was made: it is for active people without a password alone.")
        if not person.email:
            raise CannotChange("No link was made: this person has no e-mail address that it could be bound to.")
        return _make_link(person, actor=actor, session_key=session_key, now=now)


def _make_link(person: "Person", *, actor: "Person", session_key: str, now: datetime) -> tuple[Invitation, Secret]:
    end_open(person, now=now)
    text = PREFIX + secrets.token_urlsafe(32)
    row = Invitation.objects.create(
        person=person,
        email=person.email,
        code_digest=_digest(text),
        made_by=actor,
        made_at=now,
        expires_at=now + GOOD_FOR,
    )
    trail.record(
        actor=actor,
        action="person.invited",
        subject=f"person:{person.pk}",
        before={},
        after={"name": person.username, "invitation": row.pk, "expires_at": row.expires_at},
        now=now,
        session_key=session_key,
    )
    announcements.announce(machine.TOPIC, id=person.pk)
    return row, Secret(text)


def end_open(person: "Person", *, now: datetime) -> None:
    """End the unused links of this person. Inside a transaction."""
    Invitation.objects.filter(person=person, used_at=None, ended_at=None).update(ended_at=now)


def shown_once(code: Secret, *, address: str) -> str:
    """The whole link, for the one page that shows it; `address` is that of the page that it opens."""
    return f"{address}?code={code.reveal()}"


def good_invitation(code: str, *, now: datetime) -> Invitation | None:
    """The invitation of this code, if it can still be used."""
    if not code.startswith(PREFIX) or len(code) > 200:
        return None
    rows = Invitation.objects.select_related("person").filter(person__is_active=True, used_at=None, ended_at=None)
    return rows.filter(code_digest=_digest(code), expires_at__gt=now).first()


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
    announcements.announce(machine.TOPIC, id=row.person_id)
    return True


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
