"""The people of the desk with roles, second factors, sessions and open changes, for the list and a person's page."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from desk import models
from desk.people import factors, own_sessions, roles, scopes
from desk.staff import states
from desk.staff.models import Invitation, PersonChange

if TYPE_CHECKING:
    from desk.models import Person

ACTIVE, INVITED, DEACTIVATED = "active", "invited", "deactivated"
STATES = {ACTIVE: "Active", INVITED: "Invited", DEACTIVATED: "Deactivated"}


@dataclass(slots=True)
class Line:
    """One person of the list. `state` is active, invited (no password yet) or deactivated.

    `until` is the end of roles given for some time, `roles_then` what the person has from then on.
    """

    person: "Person"
    state: str
    roles: list[str]
    email: str
    has_factor: bool
    last_seen: datetime | None
    sessions: int
    until: datetime | None = None
    roles_then: list[str] = field(default_factory=list)
    change: PersonChange | None = None
    invitation: Invitation | None = field(default=None)

    @property
    def state_label(self) -> str:
        """The state as a word."""
        return STATES[self.state]


def everybody(*, reader: "Person", now: datetime, role: str = "", state: str = "", words: str = "") -> list[Line]:
    """Everybody by name, filtered by role, state, or text in name or address."""
    people = list(models.Person.objects.prefetch_related("groups").order_by("username", "pk"))
    enrolled = factors.those_with_one([person.pk for person in people])
    sessions = own_sessions.last_seen(now=now)
    open_changes = PersonChange.objects.filter(state=states.REQUESTED).select_related("requested_by")
    changes = {row.person_id: row for row in open_changes}
    links = {row.person_id: row for row in Invitation.objects.filter(used_at=None, ended_at=None)}
    lines = [
        Line(
            person=person,
            state=state_of(person),
            roles=scopes.words(person.grants),
            until=None if person.is_past_grants else person.grants_until,
            roles_then=scopes.words(person.grants_after or ()),
            email=shown_email(person, reader),
            has_factor=person.pk in enrolled,
            last_seen=sessions[person.pk][1] if person.pk in sessions else person.last_login,
            sessions=sessions[person.pk][0] if person.pk in sessions else 0,
            change=changes.get(person.pk),
            invitation=links.get(person.pk),
        )
        for person in people
    ]
    text = words.strip().lower()
    return [
        line
        for line in lines
        if (not role or role in line.person.roles)
        and (not state or state == line.state)
        and (not text or text in f"{line.person.username} {line.email}".lower())
    ]


def state_of(person: "Person") -> str:
    """Active, invited (there is no password yet) or deactivated."""
    if not person.is_active:
        return DEACTIVATED
    return ACTIVE if person.has_usable_password() else INVITED


def shown_email(person: "Person", reader: "Person") -> str:
    """The whole address for administrators; for others its first letter and its host."""
    name, at, host = person.email.rpartition("@")
    if reader.has_role(roles.ADMIN) or not at:
        return str(person.email)
    return f"{name[:1]}\u2022\u2022\u2022@{host}"
