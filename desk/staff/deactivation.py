"""Deactivates a person: at once, by one administrator. Their sessions end, their votes on open requests are void."""

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from django.db import transaction

from desk import rooms
from desk.audit import trail
from desk.live import announcements
from desk.machines.decisions import Act, Acts
from desk.people import roles
from desk.staff import changes, invitations, machine, rules
from desk.staff.rules import CannotChange

if TYPE_CHECKING:
    from desk.models import Person

PURPOSE = "deactivate-person"
DEACTIVATIONS: Final = Acts(PURPOSE, CannotChange)


def open_words(person: "Person") -> list[rooms.OpenWord]:
    """This person's votes on what is not decided yet, which a deactivation voids."""
    return rooms.open_words(person)


def digest_of(person: "Person") -> str:
    """What is signed: the person and what they are now."""
    content = ["countersign-deactivate-1", person.pk, person.username, person.grants, person.is_active]
    return hashlib.sha256(trail.canonical(content).encode()).hexdigest()


def deactivate(
    *,
    person_id: int,
    reason: str,
    actor: "Person",
    digest: str,
    answer: Mapping[str, Any],
    session_key: str,
    now: datetime,
) -> "Person":
    """Deactivate the person. Raises CannotChange, or `stepup.CannotConfirm`."""
    act = Act(actor, now, session_key, digest=digest, answer=answer)
    with transaction.atomic():
        trail.take_turn()
        person = changes.read(person_id)
        if not rules.may_keep(changes.read(actor.pk)):
            raise CannotChange("Only active administrators change people.")
        rules.refuse_oneself(actor, person)
        if not person.is_active:
            raise CannotChange("This account is deactivated already.")
        if roles.ADMIN in person.grants:
            rules.refuse_last_admin(person)
        if digest != digest_of(person):
            raise CannotChange("Nothing was changed: the person is not what you saw. Read the page again.")
        words = changes.clean_reason(reason)
        confirmation = DEACTIVATIONS.confirm(act)
        void = [word.reference for word in open_words(person)]
        person.is_active = False
        person.save(update_fields=["is_active"])
        changes.void_words(person, now=now)
        changes.withdraw_all(concerning=person, now=now)
        invitations.end_open(person, now=now)
        trail.record(
            action="person.deactivated",
            subject=f"person:{person.pk}",
            before={"active": True},
            after={"active": False, "reason": words, "void": void, "evidence": confirmation.evidence()},
            **act.moved,
        )
        announcements.announce(machine.TOPIC, id=person.pk)
    return person
