"""A database of a demo is never a real desk's, nor the other way round, and it remembers which it is."""

import secrets
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction

from desk import checks, clock, database_mark, models
from desk.models import DatabaseMark, Person
from desk.people import demo, totp
from wire.values import Secret

pytestmark = pytest.mark.django_db


def test_the_first_preparation_decides_for_good(settings: Any) -> None:
    database_mark.prepare(now=clock.now())
    assert DatabaseMark.objects.get().is_demo
    settings.DEMO = False
    with pytest.raises(database_mark.WrongDatabase, match=r"holds a demo desk.*its own database"):
        database_mark.prepare(now=clock.now())
    assert DatabaseMark.objects.get().is_demo
    with pytest.raises(IntegrityError), transaction.atomic():
        DatabaseMark.objects.create(pk=2, is_demo=False, made_at=clock.now())


def test_a_new_database_becomes_a_demo_only_where_it_is_asked_for_by_name(settings: Any) -> None:
    settings.DEMO_IS_NAMED = False
    with pytest.raises(database_mark.WrongDatabase, match=r"is new.*set DEMO=1"):
        database_mark.prepare(now=clock.now())
    assert not DatabaseMark.objects.exists()
    assert "because no address of a live system is set" in checks.demo_outside()[0].msg
    settings.DEMO_IS_NAMED = True
    database_mark.prepare(now=clock.now())
    settings.DEMO_IS_NAMED = False
    database_mark.prepare(now=clock.now())
    assert DatabaseMark.objects.get().is_demo, "commands beside a running demo need no name"


def test_a_real_database_takes_no_demo(settings: Any, operator: Person) -> None:
    settings.DEMO = False
    database_mark.prepare(now=clock.now())
    before = list(Person.objects.values())
    settings.DEMO = True
    with pytest.raises(database_mark.WrongDatabase, match=r"belongs to a real desk.*DEMO=0"):
        database_mark.prepare(now=clock.now())
    with pytest.raises(CommandError, match="belongs to a real desk"):
        call_command("load_demo")
    assert list(Person.objects.values()) == before, "nobody was reset"


@pytest.mark.parametrize("is_demo", [True, False])
def test_a_database_that_is_older_than_the_mark_is_what_its_people_say(
    settings: Any, operator: Person, is_demo: bool
) -> None:
    if is_demo:
        demo.load_people()
    settings.DEMO = not is_demo
    with pytest.raises(database_mark.WrongDatabase):
        database_mark.prepare(now=clock.now())
    assert DatabaseMark.objects.get().is_demo is is_demo


@pytest.mark.parametrize("left", ["password", "renamed, with the factor"])
def test_demo_people_in_a_real_database_stop_the_start(settings: Any, left: str) -> None:
    settings.DEMO = False
    database_mark.prepare(now=clock.now())
    person = Person.objects.create_user(username="treasury", password=demo.DEMO_PASSWORD)
    if left != "password":
        person.username = "somebody"
        person.set_password(secrets.token_urlsafe())
        person.save(update_fields=["username", "password"])
        totp.enrol(person, Secret(demo.DEMO_TOTP_SECRET))
    with pytest.raises(database_mark.WrongDatabase, match=f"Demo users can sign in here.*{person.username}"):
        database_mark.require()
    assert [found.id for found in checks.demo_outside()] == ["desk.E001"]
    person.set_password(secrets.token_urlsafe())
    person.save(update_fields=["password"])
    totp.enrol(person, Secret("JBSWY3DPEHPK3PXP"))
    database_mark.require()
    assert checks.demo_outside() == []


def test_the_deploy_check_names_the_demo_and_where_it_listens(settings: Any) -> None:
    assert [found.id for found in checks.demo_outside()] == ["desk.W001"]
    settings.LISTEN = "0.0.0.0"
    assert [found.id for found in checks.demo_outside()] == ["desk.W001", "desk.W002"]
    DatabaseMark.objects.create(pk=1, is_demo=True, made_at=clock.now())
    settings.DEMO = False
    assert [found.id for found in checks.demo_outside()] == ["desk.E001"]


def test_nothing_that_works_on_rows_starts_on_the_wrong_database(settings: Any) -> None:
    from project.serve import require_database

    DatabaseMark.objects.create(pk=1, is_demo=True, made_at=clock.now())
    settings.DEMO = False
    with pytest.raises(SystemExit, match="holds a demo desk"):
        require_database()
    with pytest.raises(CommandError, match="holds a demo desk"):
        call_command("follow")
    assert models.DatabaseMark.objects.count() == 1
