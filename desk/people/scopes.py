"""Roles that a person holds at some accounts only: grants as text, and who holds a role at an account.

A grant is `role`, for every account and the desk itself, or `role:account` with the account's number. The rooms declare
the accounts (`desk.rooms.Room.scopes`). The limits are a column of the person's own row, so they are read with it,
change in one step, and are witnessed like the roles.
"""

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import TYPE_CHECKING

from django.contrib.auth.models import Group
from django.db.models import Q

from desk import clock, models, rooms
from desk.people import roles

if TYPE_CHECKING:
    from desk.models import Person


def split(grant: str) -> tuple[str, str]:
    """The role, and the account that it is limited to; empty where it is not limited."""
    role, _, scope = grant.partition(":")
    return role, scope


def roles_of(grants: Iterable[str]) -> set[str]:
    """The roles of these grants."""
    return {split(grant)[0] for grant in grants}


def limits_of(grants: Iterable[str]) -> str:
    """The text for `Person.limits`: the grants that are limited to an account."""
    limited = sorted(grant for grant in grants if split(grant)[1])
    return f" {' '.join(limited)} " if limited else ""


def lost_grants(before: Collection[str], after: Collection[str]) -> set[str]:
    """The grants that are lost from before to after. A role for every account covers the role for some."""
    return {grant for grant in before if grant not in after and split(grant)[0] not in after}


def names() -> dict[str, str]:
    """What each account is called, by its number as text, in their order."""
    return dict(rooms.scopes())


def holding(role: str, scope: str, *, of: str = "") -> Q:
    """The condition that a person holds the role at the account, on people, or on rows whose field `of` is a person.

    Somebody whom treasury has not confirmed yet (`Person.unconfirmed_since`) does not count as treasury, and nobody
    counts between the end of roles given for some time and the moment at which the desk takes them back.
    """
    before = f"{of}__" if of else ""
    limits = f"{before}limits__contains"
    where = ~Q(**{limits: f" {role}:"})
    if scope:
        where |= Q(**{limits: f" {role}:{scope} "})
    if role == roles.TREASURY:
        where &= Q(**{f"{before}unconfirmed_since__isnull": True})
    where &= Q(**{f"{before}grants_until": None}) | Q(**{f"{before}grants_until__gt": clock.now()})
    return Q(**{f"{before}is_active": True, f"{before}groups__name": role}) & where


def set_grants(person: "Person", grants: Collection[str], *, until: datetime | None = None) -> None:
    """Give the person these roles in place of their own. Ends their sessions and sockets. Inside a transaction.

    With `until` those of now come back then (`desk.staff.covers`).
    """
    after = person.grants if until else None
    before = frozenset(person.groups.values_list("name", flat=True))
    person.limits, person.grants_until, person.grants_after = limits_of(grants), until, after
    models.Person.objects.filter(pk=person.pk).update(limits=person.limits, grants_until=until, grants_after=after)
    if roles_of(grants) == before:
        models.end_sessions([person.pk])  # a change of groups does so by itself
        person.refresh_from_db(fields=["session_epoch"])
    else:
        person.groups.set(Group.objects.filter(name__in=roles_of(grants)))


def enter(person: "Person", scope: str) -> bool:
    """Check roles at this account for the rest of the request; False where the person has none there."""
    person.here = scope
    return person.has_role(*roles.ALL)


def may_see(person: "Person", scope: str) -> bool:
    """Whether the person may see things of this account; what belongs to no account is for every role."""
    held = person.scopes(*roles.ALL)
    return held is None or (scope in held if scope else bool(held))


def hidden_names(person: "Person") -> list[str]:
    """The names of the accounts that this person may not see; none for a person without limits."""
    if not person.limits:
        return []
    return [name for scope, name in rooms.scopes() if not may_see(person, scope)]


def words(grants: Iterable[str]) -> list[str]:
    """The grants in words, role by role in the usual order: "treasury", or "treasury for Main desk only"."""
    ordered = sorted(set(grants))
    called = names() if limits_of(ordered) else {}
    phrases = []
    for role in roles.ALL:
        places = [
            called.get(scope, f"account {scope}") for name, scope in map(split, ordered) if name == role and scope
        ]
        if role in ordered:
            phrases.append(role)
        elif places:
            phrases.append(
                f"{role} for {' and '.join([', '.join(places[:-1]), places[-1]] if places[1:] else places)} only"
            )
    return phrases
