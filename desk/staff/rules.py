"""Who may change people, and which roles go together.

Nobody changes themselves. Only an admin of the whole desk changes people; an admin of some accounts does not. An
administrator moves no money, so the role excludes the roles that do; an auditor only reads. One active administrator of
the whole desk always remains.
"""

from collections.abc import Collection
from datetime import datetime
from typing import TYPE_CHECKING, Final

from desk import models, rooms
from desk.people import roles, scopes
from desk.staff import states

if TYPE_CHECKING:
    from desk.models import Person


FEWEST_ADMINS: Final = 2


class CannotChange(Exception):
    """Nothing was changed; the text is the sentence for the person."""


def may_keep(person: "Person") -> bool:
    """Whether this person may invite and change people."""
    return person.has_role(roles.ADMIN, scope="")


def may_read(person: "Person") -> bool:
    """Whether this person may see who has which role."""
    return person.has_role(roles.ADMIN, roles.AUDITOR, scope="")


def role_problem(grants: Collection[str]) -> str:
    """Why these roles can't be held together or at these accounts, or an empty text."""
    held, accounts = scopes.roles_of(grants), {"", *scopes.names()}
    if any(scopes.split(grant)[1] not in accounts or grant.endswith(":") for grant in grants):
        return "Account not found."
    if both := [grant for grant in grants if ":" in grant and scopes.split(grant)[0] in grants]:
        return f"For {scopes.split(both[0])[0]}, choose either all accounts or specific accounts."
    if unknown := held - set(roles.ALL):
        return f"Unknown role: {sorted(unknown)[0]!r}."
    if roles.ADMIN in held and held & {roles.TREASURY, roles.OPERATOR}:
        return "Administrators manage people and keys and can't move money. Remove Operator and Treasury."
    if roles.AUDITOR in held and len(held) > 1:
        return "Auditors have read access only. The role can't be combined with others."
    return ""


def refuse_oneself(actor: "Person", person: "Person") -> None:
    """Raise CannotChange for somebody who would change their own account."""
    if actor.pk == person.pk:
        raise CannotChange(
            "No changes made: you can't change your own roles, factors or account. Ask another administrator."
        )


def refuse_last_admin(person: "Person") -> None:
    """Raise CannotChange where no other active administrator has a password. Call it after `trail.take_turn`."""
    others = models.Person.objects.filter(scopes.holding(roles.ADMIN, "")).exclude(pk=person.pk)
    if not any(other.has_usable_password() for other in others):
        raise CannotChange("No changes made: at least one administrator must remain. Appoint another first.")


def why_two(person: "Person") -> str:
    """Why one administrator alone can't deactivate this person, or an empty text."""
    if roles.ADMIN in person.grants:
        others = models.Person.objects.filter(scopes.holding(roles.ADMIN, "")).exclude(pk=person.pk)
        if sum(other.has_usable_password() for other in others) < FEWEST_ADMINS:
            return "Only one administrator would be left, so a second administrator must confirm this."
    names = scopes.names()
    for scope, most in rooms.quorums().items():
        treasury = models.Person.objects.filter(scopes.holding(roles.TREASURY, scope))
        able = {each.pk for each in treasury if each.has_usable_password()}
        if person.pk in able and len(able) - 1 < most:
            return (
                f"{names.get(scope, 'The account')} would be left with {len(able) - 1} in treasury, but its policy "
                f"requires up to {most} approvals, so a second administrator must confirm this."
            )
    return ""


def obstacle(
    kind: str, person: "Person", grants: Collection[str] = (), *, until: datetime | None = None, now: datetime
) -> str:
    """Why this change of the person can't be requested now, or an empty text."""
    if kind == states.REACTIVATE:
        return "This account is already active." if person.is_active else ""
    if not person.is_active:
        return "This account is deactivated. Reactivate it first."
    if kind == states.ROLES:
        if problem := role_problem(grants):
            return problem
        if set(grants) == set(person.grants):
            return "The person already has these roles."
        if until is not None:
            return _end_problem(person, grants, until, now)
    return ""


def _end_problem(person: "Person", grants: Collection[str], until: datetime, now: datetime) -> str:
    """Why these roles can't be given until this moment, or an empty text."""
    if until <= now:
        return "The end must be in the future."
    if until > now + states.LONGEST_FOR_SOME_TIME:
        return f"Roles can be given for up to {states.LONGEST_FOR_SOME_TIME.days} days. Choose an earlier end."
    if scopes.lost_grants(person.grants, grants):
        return "Only additional roles can have an end. Keep the current roles ticked, or leave the end empty."
    return ""
