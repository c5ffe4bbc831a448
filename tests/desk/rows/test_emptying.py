"""Between tests: what one filled is gone, what a fresh desk has is back, and the guards stand, on both databases."""

import os
import time
from collections.abc import Callable
from threading import Thread
from typing import Any

import psycopg
import pytest
from django.contrib.auth.models import Group, Permission
from django.db import DatabaseError, connection, transaction

from desk import clock
from desk.audit import trail, triggers
from desk.models import AuditEvent, Person
from desk.people import roles
from tests import rows

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.engine("SQL of our own")]


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


WAITS = """SELECT count(*) FROM pg_locks JOIN pg_class ON pg_class.oid = relation
    WHERE relname = 'mfa_authenticator' AND NOT granted"""


@pytest.mark.skipif(os.environ["TEST_DATABASE"] != "postgres", reason="SQLite has one lock for all tables")
def test_who_holds_what_is_wanted_last_and_wants_what_is_held_is_let_by(empty: Callable[[], None]) -> None:
    address = os.environ["DATABASE_URL"].rsplit("/", 1)[0] + f"/{connection.settings_dict['NAME']}"
    ended = []

    def write(other: psycopg.Connection[Any]) -> None:
        while other.execute(WAITS).fetchone() == (0,):
            time.sleep(0.01)
        other.execute("LOCK TABLE account_emailaddress IN ROW EXCLUSIVE MODE")
        other.commit()
        ended.append("written")

    with psycopg.connect(address) as other:
        # Whoever looks first for a circle of locks is refused: not this one.
        other.execute("SET deadlock_timeout = '1min'")
        other.execute("LOCK TABLE mfa_authenticator IN ROW EXCLUSIVE MODE")
        writing = Thread(target=write, args=(other,))
        writing.start()
        empty()
        writing.join()
    assert ended == ["written"]
