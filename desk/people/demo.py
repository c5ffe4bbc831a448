"""The demo desk: people with a published password and one shared second factor, on a machine cut off from others.

Loading twice changes nothing. Rooms declare what they add; `manage.py load_demo` loads it all.
"""

from django.conf import settings
from django.contrib.auth.hashers import check_password
from django.contrib.auth.models import Group
from django.db import transaction

from desk import models, rooms
from desk.people import roles, totp
from wire.values import Secret

# Published on purpose: the demo runs only against the sandbox of this machine.
DEMO_PASSWORD = "countersign-demo"  # noqa: S105
DEMO_TOTP_SECRET = "COUNTERSIGNDEMOSECRET234567ABCDE"  # noqa: S105

PEOPLE: dict[str, tuple[str, ...]] = {
    "operator": (roles.OPERATOR,),
    "operator2": (roles.OPERATOR,),
    "treasury": (roles.TREASURY,),
    "treasury2": (roles.TREASURY,),
    "treasury3": (roles.TREASURY,),
    "admin": (roles.ADMIN,),
    "auditor": (roles.AUDITOR,),
}


class CannotLoad(Exception):
    """The demo is not loaded here; the text says why."""


def load() -> list[str]:
    """People first, then what every room adds; the names of what was loaded."""
    load_people()
    loaders = rooms.demo_loaders()
    for loader in loaders.values():
        loader()
    return ["people", *loaders]


def load_people() -> None:
    """Make the demo people, or reset their password, roles and second factor to what is published."""
    if not settings.DEMO:
        raise CannotLoad("Demo users have published passwords. They are created only when DEMO is on.")
    if settings.REHEARSAL:
        raise CannotLoad("A rehearsal has people of its own, and no demo users.")
    mark = models.DatabaseMark.objects.first()
    if mark is not None and not mark.is_demo:
        raise CannotLoad("This database belongs to a real desk. The demo would give its users published passwords.")
    roles.ensure_groups()
    for username, held in PEOPLE.items():
        _load_person(username, held)


@transaction.atomic
def _load_person(username: str, held: tuple[str, ...]) -> None:
    person, is_new = models.Person.objects.get_or_create(username=username, defaults={"email": f"{username}@demo.test"})
    # Hashing is slow on purpose, and a new hash would end the person's sessions: only when it is needed.
    if is_new or not check_password(DEMO_PASSWORD, person.password):
        person.set_password(DEMO_PASSWORD)
        person.save(update_fields=["password"])
    if person.roles != frozenset(held):
        person.groups.set(Group.objects.filter(name__in=held))
    enrolled = totp.secret_of(person)
    if enrolled is None or enrolled != Secret(DEMO_TOTP_SECRET):
        totp.enrol(person, Secret(DEMO_TOTP_SECRET))
