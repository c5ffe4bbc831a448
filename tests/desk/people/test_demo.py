"""The demo people: as published, made once, and only in the demo."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from desk.models import Person
from desk.people import demo, totp
from wire.values import Secret

pytestmark = pytest.mark.django_db


def test_everybody_is_there_with_their_role_and_the_published_factor() -> None:
    demo.load_people()
    assert {person.username: set(person.roles) for person in Person.objects.all()} == {
        "operator": {"operator"},
        "operator2": {"operator"},
        "treasury": {"treasury"},
        "treasury2": {"treasury"},
        "treasury3": {"treasury"},
        "admin": {"admin"},
        "auditor": {"auditor"},
    }
    for person in Person.objects.all():
        assert person.check_password("countersign-demo")
        assert totp.secret_of(person) == Secret(demo.DEMO_TOTP_SECRET)
        assert not person.is_superuser
        assert not person.is_staff


def test_loading_again_changes_nothing_and_keeps_sessions(client: Client) -> None:
    demo.load_people()
    client.post(reverse("account_login"), {"login": "treasury", "password": "countersign-demo"})
    before = list(Person.objects.order_by("pk").values())
    demo.load_people()
    assert [{**row, "last_login": None} for row in Person.objects.order_by("pk").values()] == [
        {**row, "last_login": None} for row in before
    ]
    assert client.get(reverse("mfa_index")).status_code == 200


def test_what_was_changed_comes_back() -> None:
    demo.load_people()
    person = Person.objects.get(username="treasury")
    person.set_password("something else entirely")
    person.save(update_fields=["password"])
    person.groups.clear()
    totp.enrol(person, Secret("JBSWY3DPEHPK3PXP"))
    demo.load_people()
    person = Person.objects.get(username="treasury")
    assert person.check_password("countersign-demo")
    assert person.roles == {"treasury"}
    assert totp.secret_of(person) == Secret(demo.DEMO_TOTP_SECRET)


def test_outside_the_demo_nothing_is_made(settings: Any) -> None:
    settings.DEMO = False
    with pytest.raises(CommandError, match="only when DEMO is on"):
        call_command("load_demo")
    assert not Person.objects.exists()


def test_the_command_loads_what_every_room_adds(
    one_room: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    ran: list[int] = []
    one_room(demo={"rooms": lambda: ran.append(Person.objects.count())})
    call_command("load_demo")
    assert ran == [7], "people come first"
    assert "people, rooms" in capsys.readouterr().out
