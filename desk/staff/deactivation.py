"""Deactivates a person: their sessions end, and their votes on open requests are void.

One administrator does so at once, where enough administrators and enough of treasury remain. Where they would not, it
becomes a change of the person that a second administrator confirms (`rules.why_two`).
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from django.conf import settings
from django.db import transaction

from desk import rooms
from desk.audit import trail
from desk.machines.decisions import Act, Acts
from desk.people import roles
from desk.staff import changes, rules, states
from desk.staff.models import PersonChange
from desk.staff.rules import CannotChange

if TYPE_CHECKING:
    from desk.models import Person

PURPOSE = "deactivate-person"
DEACTIVATIONS: Final = Acts(PURPOSE, CannotChange)


def open_words(person: "Person") -> list[rooms.OpenWord]:
    """This person's votes on what is not decided yet, which a deactivation voids."""
    return rooms.open_words(person)


def digest_of(person: "Person") -> str:
    """What a deactivation is about: the person and what they are now. It is signed together with the reason."""
    return changes.digest_of(person, states.DEACTIVATE, ())


def why_two(person: "Person") -> str:
    """Why a second administrator has to confirm it, or an empty text. In the demo one is enough."""
    return "" if settings.DEMO else rules.why_two(person)


def deactivate(
    *,
    person_id: int,
    reason: str,
    actor: "Person",
    digest: str,
    answer: Mapping[str, Any],
    session_key: str,
    now: datetime,
) -> PersonChange | None:
    """Deactivate the person, or request it where two are needed; then the request is returned.

    Raises CannotChange, or `stepup.CannotConfirm`.
    """
    act = Act(actor, now, session_key, digest=digest, answer=answer)
    with transaction.atomic():
        trail.take_turn()
        person = changes.read(person_id)
        if not rules.may_keep(changes.read(actor.pk)):
            raise CannotChange("Only active administrators can manage people.")
        rules.refuse_oneself(actor, person)
        if not person.is_active:
            raise CannotChange("This account is already deactivated.")
        if roles.ADMIN in person.grants:
            rules.refuse_last_admin(person)
        if digest != digest_of(person):
            raise CannotChange("No changes made: this account changed after you opened the page. Refresh the page.")
        act = replace(act, comment=changes.clean_reason(reason))
        confirmation = DEACTIVATIONS.confirm(changes.with_reason(act))
        if why_two(person):
            changes.withdraw_others(person, states.DEACTIVATE, now=now)
            return changes.ask(person, states.DEACTIVATE, (), act=act, confirmation=confirmation)
        changes.deactivate(person, act=act, evidence=confirmation.evidence())
    return None
