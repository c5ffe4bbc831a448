"""What administrators do, in one call each, for the tests about people."""

from desk import clock
from desk.models import Person
from desk.people import totp
from desk.staff import changes, deactivation
from wire.values import Secret

SECRET = Secret("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")


def answer_at(step):
    """A code of now, or of so many steps later."""
    return {"kind": "totp", "code": totp.code_at(SECRET, totp.step_at(clock.now()) + step)}


def requested(kind, person, actor, answer, *, grants=(), reason="Joined the team", **other):
    columns = {"actor": actor, "answer": answer, "session_key": "s", "now": clock.now(), "reason": reason}
    digest = other.pop("digest", None) or changes.digest_of(Person.objects.get(pk=person.pk), kind, grants)
    return changes.request(person_id=person.pk, kind=kind, grants=grants, digest=digest, **columns | other)


def confirmed(row, actor, answer, **other):
    columns = {"digest": row.digest, "answer": answer, "session_key": "s", "now": clock.now()}
    return changes.confirm(change_id=row.pk, actor=actor, **columns | other)


def deactivated_by_two(person, actors, answer):
    """By the first of these administrators, confirmed by the second one."""
    row = deactivated(person, actors[0], answer)
    confirmed(row, actors[1], answer)
    return row


def deactivated(person, actor, answer, **other):
    columns = {"reason": "Left", "actor": actor, "answer": answer, "session_key": "s", "now": clock.now()}
    digest = deactivation.digest_of(Person.objects.get(pk=person.pk))
    return deactivation.deactivate(person_id=person.pk, **{"digest": digest, **columns, **other})
