"""Who does what to a person: as they are, with a change of them under way, to that change, and to oneself."""

from itertools import count
from typing import Any

from desk import clock
from desk.models import Person
from desk.people import roles
from desk.staff import changes, deactivation, directory, invitations, machine, states
from desk.staff.models import PersonChange
from tests.exchange_ops.permissions.shared_form import OWN, Subject, code_of_now, colleague, signed, walk

A = roles.ADMIN
AUDIT = {roles.ADMIN, roles.AUDITOR}
ROLES_WAIT, FACTORS_WAIT = "a change of roles waits", "a factor reset waits"
STATES = (*directory.STATES, ROLES_WAIT, FACTORS_WAIT)
WANTED = (roles.OPERATOR, roles.TREASURY)
_numbers = count(1)


def _words(actor: Any, digest: str) -> dict[str, Any]:
    return {"actor": actor, "digest": digest, "answer": code_of_now(), "session_key": "s", "now": clock.now()}


def _requested(member: Person, kind: str, actor: Any) -> PersonChange:
    wanted = WANTED if kind == states.ROLES else ()
    words = _words(actor, changes.digest_of(member, kind, wanted))
    return changes.request(person_id=member.pk, kind=kind, grants=wanted, reason="Joined the desk", **words)


def member(state: str, person: Any) -> Person:
    """An operator in the state; `person` is the administrator who brought them into it."""
    name = f"member{next(_numbers)}"
    if state == directory.INVITED:
        details = {"name": name, "email": f"{name}@desk.test", "grants": [roles.OPERATOR]}
        words = _words(person, invitations.digest_of(**details))
        row = invitations.invite(**details, **words)
        for waiting in PersonChange.objects.filter(person=row, state=states.REQUESTED):
            changes.confirm(change_id=waiting.pk, **_words(colleague(A), waiting.digest))
        return Person.objects.get(pk=row.pk)
    row = colleague(roles.OPERATOR, name)
    if state == directory.DEACTIVATED:
        words = _words(person, deactivation.digest_of(row))
        deactivation.deactivate(person_id=row.pk, reason="Left", **words)
        return Person.objects.get(pk=row.pk)
    if state != directory.ACTIVE:
        _requested(row, states.ROLES if state == ROLES_WAIT else states.FACTORS, person)
    return row


def state_of(row: Person) -> str:
    """The directory's word, or which change waits."""
    waiting = PersonChange.objects.filter(person=row, state=states.REQUESTED).first()
    if waiting is None:
        return directory.state_of(row)
    return ROLES_WAIT if waiting.kind == states.ROLES else FACTORS_WAIT


def _change(kind: str) -> Any:
    def fields(row: Person) -> dict[str, Any]:
        wanted = WANTED if kind == states.ROLES else ()
        return signed(row, digest=changes.digest_of(row, kind, wanted), role=list(wanted))

    return fields


CHANGES = {f"person-change:{kind}": _change(kind) for kind in (*states.KINDS, invitations.LINK)}


def change(state: str, person: Any) -> PersonChange:
    """A change of an operator's roles that the administrator asked for, in the state."""
    row = _requested(colleague(roles.OPERATOR, f"member{next(_numbers)}"), states.ROLES, person)
    if state == states.DONE:
        changes.confirm(change_id=row.pk, **_words(colleague(A), row.digest))
        return PersonChange.objects.get(pk=row.pk)
    return walk(machine.MACHINE, row, state, {})


MEMBERS = Subject(
    name="person",
    states=STATES,
    reach=member,
    state_of=state_of,
    routes=CHANGES,
    goes_through={
        ("active", "person-change:roles"): {A},
        ("active", "person-change:factors"): {A},
        ("active", "person-change:access"): {A},
        ("active", "person-change:deactivate"): {A},
        ("invited", "person-change:roles"): {A},
        ("invited", "person-change:factors"): {A},
        ("invited", "person-change:access"): {A},
        ("invited", "person-change:deactivate"): {A},
        ("invited", "person-change:link"): {A},
        ("deactivated", "person-change:reactivate"): {A},
        (ROLES_WAIT, "person-change:deactivate"): {A},
        (FACTORS_WAIT, "person-change:deactivate"): {A},
    },
    reads={"person": AUDIT},
    asked_by=A,
)
# The row is whoever is signed in. Everybody else meets an administrator.
ONESELF = Subject(
    name="oneself",
    states=("active",),
    reach=lambda state, person: person,
    state_of=directory.state_of,
    owners=(A,),
    routes=CHANGES,
    goes_through={("active", route): {A} for route in CHANGES if not route.endswith((":reactivate", ":link"))},
    reads={"person": AUDIT},
)
CHANGES_OF_MEMBERS = Subject(
    name="change of a person",
    states=states.STATES,
    reach=change,
    owners=(A,),
    routes={"person-confirm": signed, "person-reject": signed},
    goes_through={
        ("requested", "person-confirm"): {A},
        ("requested", "person-reject"): {A, OWN + A},
    },
)
