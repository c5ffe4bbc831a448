"""Roles that somebody holds at some accounts only: what is granted, as text, and who of many may at one account.

A grant is `role`, for every account and the desk itself, or `role:account`, by the account's number. Which accounts
there are the rooms above declare (`desk.rooms.Room.scopes`). The limits stand in the person's own row, so they are read
with it, change in one step, and are witnessed like the roles.
"""

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from django.contrib.auth.models import Group
from django.db.models import Q

from desk import models, rooms
from desk.people import roles

if TYPE_CHECKING:
    from desk.models import Person


def split(grant: str) -> tuple[str, str]:
    """The role, and the account that it is limited to; empty where it is not."""
    role, _, scope = grant.partition(":")
    return role, scope


def roles_of(grants: Iterable[str]) -> set[str]:
    """The roles that these grants are of."""
    return {split(grant)[0] for grant in grants}


def limits_of(grants: Iterable[str]) -> str:
    """The same grants as `Person.limits` keeps them."""
    limited = sorted(grant for grant in grants if split(grant)[1])
    return f" {' '.join(limited)} " if limited else ""


def lost_grants(before: Collection[str], after: Collection[str]) -> set[str]:
    """Those of the grants before that those after don't cover: a role for every account covers one for some."""
    return {grant for grant in before if grant not in after and split(grant)[0] not in after}


def names() -> dict[str, str]:
    """What each account is called, by its number as text, in their order."""
    return dict(rooms.scopes())


def holding(role: str, scope: str, *, of: str = "") -> Q:
    """Who holds the role at the account, for a query over people, or over rows that name one as `of`."""
    before = f"{of}__" if of else ""
    limits = f"{before}limits__contains"
    where = ~Q(**{limits: f" {role}:"})
    if scope:
        where |= Q(**{limits: f" {role}:{scope} "})
    return Q(**{f"{before}is_active": True, f"{before}groups__name": role}) & where


def set_grants(person: "Person", grants: Collection[str]) -> None:
    """Make these the person's roles. Their sessions end, and their sockets with them. Inside a transaction."""
    person.limits = limits_of(grants)
    models.Person.objects.filter(pk=person.pk).update(limits=person.limits)
    if roles_of(grants) == set(person.roles):
        models.end_sessions([person.pk])  # a change of groups does so by itself
        person.refresh_from_db(fields=["session_epoch"])
    else:
        person.groups.set(Group.objects.filter(name__in=roles_of(grants)))


def enter(person: "Person", scope: str) -> bool:
    """Ask of the roles at this account from now on, while this request is answered; False where none is held there."""
    person.here = scope
    return person.has_role(*roles.ALL)


def may_see(person: "Person", scope: str) -> bool:
    """Whether something of this account is shown to the person at all; what is of none is shown to every role."""
    held = person.scopes(*roles.ALL)
    return held is None or (scope in held if scope else bool(held))


def hidden_names(person: "Person") -> list[str]:
    """What the accounts are called of which this person is shown nothing; none for whoever is not limited."""
    if not person.limits:
        return []
    return [name for scope, name in rooms.scopes() if not may_see(person, scope)]


def words(grants: Iterable[str]) -> list[str]:
    """What these grants are called, a role each in the usual order: "treasury", or "treasury for Main desk only"."""
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
