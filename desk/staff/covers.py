"""Roles that somebody has for some time, to cover for a colleague who is away: at the end they go by themselves.

They are given like all roles, by two administrators, and count until their end even if no process of the desk runs
then (`Person.is_past_grants`). What is done here is the rest: the row, the sessions, the votes and the audit trail.
"""

from datetime import datetime

from django.db import transaction

from desk.audit import trail
from desk.live import announcements
from desk.models import Person
from desk.people import scopes
from desk.staff import changes, machine


def end_due(now: datetime) -> int:
    """Take back the roles whose end has come; from how many people."""
    due = Person.objects.filter(grants_until__lte=now).order_by("pk").values_list("pk", flat=True)
    return sum(_end(number, now) for number in due)


def _end(number: int, now: datetime) -> bool:
    with transaction.atomic():
        trail.take_turn()
        person = Person.objects.get(pk=number)
        if person.grants_until is None or person.grants_until > now:
            return False
        until, before, after = person.grants_until, _stored(person), person.grants_after or []
        scopes.set_grants(person, after)
        if scopes.lost_grants(before, after):
            changes.void_words(person, now=now)
        trail.record(
            actor=None,
            action="person.roles_ended",
            subject=f"person:{number}",
            before={"roles": ",".join(before)},
            after={"roles": ",".join(after), "until": until.isoformat()},
            now=now,
        )
        announcements.announce(machine.TOPIC, id=number)
    return True


def _stored(person: Person) -> list[str]:
    """The grants that the row has, although their time is over."""
    limited = person.limits.split()
    names = {group.name for group in person.groups.all()} - scopes.roles_of(limited)
    return sorted([*names, *limited])
