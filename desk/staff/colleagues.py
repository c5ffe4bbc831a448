"""Confirms a new colleague of treasury: until then none of their approvals counts.

Whoever arrived by a link, or got the role, may be somebody else than the person who was meant. A colleague of treasury
who knows them says so with a second factor. Where treasury has nobody yet who could, an administrator does, but never
the one who made the link.
"""

import hashlib
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from django.db import transaction

from desk import models
from desk.audit import trail
from desk.live import announcements
from desk.machines.decisions import TOPIC, Act, Acts
from desk.people import factors, roles
from desk.staff import changes, machine, rules
from desk.staff.models import Invitation
from desk.staff.rules import CannotChange

if TYPE_CHECKING:
    from desk.models import Person

PURPOSE: Final = "confirm-colleague"
CONFIRMATIONS: Final = Acts(PURPOSE, CannotChange)


def digest_of(person: "Person") -> str:
    """What is signed: the person, their address and roles, and since when they wait."""
    enrolled = sorted(factors.by_number(person).items())
    now = [person.pk, person.username, person.email, person.grants, [list(each) for each in enrolled]]
    content = ["countersign-colleague-1", now, person.unconfirmed_since]
    return hashlib.sha256(trail.canonical(content).encode()).hexdigest()


def waiting() -> "list[Person]":
    """The new colleagues of treasury who arrived and wait to be confirmed."""
    rows = models.Person.objects.filter(is_active=True, groups__name=roles.TREASURY)
    people = rows.exclude(unconfirmed_since=None).prefetch_related("groups").order_by("pk")
    return [person for person in people if not obstacle(person)]


def obstacle(person: "Person") -> str:
    """Why this person can't be confirmed now, or an empty text."""
    if person.unconfirmed_since is None or roles.TREASURY not in person.roles or not person.is_active:
        return "This person needs no confirmation."
    if not person.has_usable_password() or not factors.has_one(person):
        return "This person has not yet signed in and set up a second factor."
    return ""


def may_see(reader: "Person", person: "Person") -> bool:
    """Whether the reader may see that this person waits: whoever may confirm them, and those of the whole desk."""
    return reader.has_role(roles.TREASURY, roles.ADMIN, scope="") or may_confirm(reader, person)


def may_confirm(actor: "Person", person: "Person") -> bool:
    """Whether the actor may confirm this person.

    A colleague whose own approvals count wherever the person's are to count. Without any such colleague, an
    administrator of the whole desk who did not make the person's last link.
    """
    return bool(confirmers(person, [actor]))


def confirmers(person: "Person", people: "Iterable[Person]") -> "list[Person]":
    """Those of these people who may confirm the person (`may_confirm`)."""
    others = [each for each in people if each.pk != person.pk]
    if colleagues := _colleagues(person):
        return [each for each in others if each.pk in colleagues]
    link = _link_of(person)
    return [each for each in others if rules.may_keep(each) and (link is None or link.made_by_id != each.pk)]


def who_confirms(person: "Person") -> tuple[str, str]:
    """The role of those who may confirm this person, and who that is in words."""
    if _colleagues(person):
        return roles.TREASURY, "another treasurer"
    link = _link_of(person)
    but = "" if link is None else f" other than {link.made_by.get_username()}, who made the invitation link"
    return roles.ADMIN, f"an administrator{but}"


def confirm(
    *, person_id: int, actor: "Person", digest: str, answer: Mapping[str, Any], session_key: str, now: datetime
) -> "Person":
    """Let the person's approvals count from now on. Raises CannotChange, or `stepup.CannotConfirm`."""
    act = Act(actor, now, session_key, digest=digest, answer=answer)
    with transaction.atomic():
        trail.take_turn()
        person, actor = changes.read(person_id), changes.read(actor.pk)
        if problem := obstacle(person):
            raise CannotChange(f"Not confirmed. {problem}")
        if not may_confirm(actor, person):
            raise CannotChange(f"Not confirmed: this person must be confirmed by {who_confirms(person)[1]}.")
        CONFIRMATIONS.refuse_while_cooling_off(act)
        if digest != digest_of(person):
            raise CannotChange("Not confirmed: this account changed after you opened the page. Refresh the page.")
        confirmation = CONFIRMATIONS.confirm(act)
        since = person.unconfirmed_since
        models.Person.objects.filter(pk=person.pk).update(unconfirmed_since=None, words_from=now)
        trail.record(
            action="person.colleague_confirmed",
            subject=f"person:{person.pk}",
            before={"unconfirmed_since": since},
            after={"unconfirmed_since": None, "evidence": confirmation.evidence()},
            **act.moved,
        )
        announcements.announce(machine.TOPIC, id=person.pk)
        announcements.announce(TOPIC, subject=f"person:{person.pk}")
    return changes.read(person_id)


def _link_of(person: "Person") -> Invitation | None:
    """The link by which this person arrived last, if any."""
    links = Invitation.objects.filter(person=person).exclude(used_at=None).select_related("made_by")
    return links.order_by("-used_at").first()


def _colleagues(person: "Person") -> set[int]:
    """Those whose own approvals count at every account at which this person holds treasury, by number."""
    needed = person.scopes(roles.TREASURY)
    rows = models.Person.objects.filter(is_active=True, groups__name=roles.TREASURY, unconfirmed_since=None)
    return {
        each.pk
        for each in rows.exclude(pk=person.pk).prefetch_related("groups")
        if each.has_usable_password() and _covers(each.scopes(roles.TREASURY), needed)
    }


def _covers(held: frozenset[str] | None, needed: frozenset[str] | None) -> bool:
    return held is None or (needed is not None and needed <= held)
