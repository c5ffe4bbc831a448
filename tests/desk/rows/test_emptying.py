"""Between tests: what one filled is gone, what a fresh desk has is back, and the guards stand, on both databases."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission
from django.db import DatabaseError, connection, transaction

from desk import clock
from desk.audit import trail, triggers
from desk.models import AuditEvent, Person
from desk.people import roles
from tests import rows

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.rows]


class _Case:
    """What Django's own emptying asks about the test that ended."""

    available_apps = None
    serialized_rollback = False

    @staticmethod
    def _databases_names(*, include_mirrors: bool = True) -> list[str]:
        return ["default"]


@pytest.fixture
def empty() -> Callable[[], None]:
    """Empties the tables as the end of a test does; what a fresh desk has was noted before."""
    rows._empty(_Case())
    return lambda: rows._empty(_Case())


def note(person: Any) -> None:
    with transaction.atomic():
        trail.record(actor=person, action="a.b", subject="person:1", before={}, after={}, now=clock.now())


def test_what_a_test_filled_is_gone_although_it_is_guarded(empty: Callable[[], None], make_person: Any) -> None:
    note(make_person(roles.OPERATOR))
    empty()
    assert (AuditEvent.objects.count(), Person.objects.count()) == (0, 0)
    note(make_person(roles.OPERATOR))
    assert AuditEvent.objects.count() == 1


def test_what_a_fresh_desk_has_is_back(empty: Callable[[], None]) -> None:
    before = [set(Group.objects.values_list("id", "name")), set(Permission.objects.values_list("id", "codename"))]
    assert all(before)
    Group.objects.filter(name=roles.ADMIN).delete()
    Group.objects.filter(name=roles.OPERATOR).update(name="another")
    Permission.objects.all().delete()
    empty()
    now = [set(Group.objects.values_list("id", "name")), set(Permission.objects.values_list("id", "codename"))]
    assert now == before
    assert Group.objects.create(name="one more").pk not in {number for number, _ in before[0]}


@pytest.mark.parametrize("taken_away", [False, True])
def test_the_guards_stand_again(empty: Callable[[], None], make_person: Any, taken_away: bool) -> None:
    if taken_away:
        triggers.remove(connection)
    empty()
    note(make_person(roles.OPERATOR))
    with pytest.raises(DatabaseError, match="never changed"), transaction.atomic():
        AuditEvent.objects.update(action="b.c")
    with pytest.raises(DatabaseError, match="never changed"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("DELETE FROM desk_auditevent")
