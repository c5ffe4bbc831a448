"""Tokens of the desk's own interface: shown once, kept as a digest, over when they are over."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.http import HttpRequest
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request
from rest_framework.test import APIRequestFactory

from desk import clock
from desk.models import ApiToken, AuditEvent, Person
from desk.people import tokens

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 20, 12, 0, 0, tzinfo=UTC)


def asking(header: str | None) -> Request:
    made: HttpRequest = APIRequestFactory().get("/api/v1/", headers={"Authorization": header} if header else None)
    return Request(made)


def enter(header: str | None) -> Any:
    return tokens.TokenAuthentication().authenticate(asking(header))


@pytest.fixture(autouse=True)
def moment(monkeypatch: pytest.MonkeyPatch) -> Callable[[datetime], None]:
    def put(at: datetime) -> None:
        monkeypatch.setattr(clock, "now", lambda: at)

    put(NOW)
    return put


def test_a_token_names_its_person_and_is_kept_as_a_digest(operator: Person) -> None:
    row, secret = tokens.create(person=operator, name="reports", now=NOW)
    assert enter(f"Bearer {secret.reveal()}") == (operator, row)
    kept = ApiToken.objects.values().get()
    assert secret.reveal() not in str(kept)
    assert secret.reveal()[4:] not in str(kept)
    assert kept["hint"] == secret.reveal()[-4:]
    assert kept["expires_at"] == NOW + timedelta(days=90)


@pytest.mark.parametrize("header", [None, "", "Basic abc", "Token abc"])
def test_other_schemes_are_left_to_others(header: str | None) -> None:
    assert enter(header) is None


@pytest.mark.parametrize("text", ["", " ", "csn_", "csn_wrong", "x" * 100_000, "csn_\x00", "' OR 1=1", "Bearer"])
def test_what_is_no_token_is_refused(operator: Person, text: str) -> None:
    tokens.create(person=operator, name="reports", now=NOW)
    with pytest.raises(AuthenticationFailed, match="invalid, expired"):
        enter(f"Bearer {text}")


@pytest.mark.parametrize("event", ["revoked", "expired", "switched off", "digest", "erased"])
def test_a_token_that_is_over_is_refused(operator: Person, moment: Callable[[datetime], None], event: str) -> None:
    row, secret = tokens.create(person=operator, name="reports", now=NOW, days=1)
    text = secret.reveal()
    if event == "revoked":
        assert tokens.revoke(token_id=row.pk, now=NOW)
        assert not tokens.revoke(token_id=row.pk, now=NOW)
    elif event == "expired":
        moment(NOW + timedelta(days=1))
    elif event == "switched off":
        Person.objects.update(is_active=False)
    elif event == "erased":
        operator.delete()
    else:
        text = row.digest
    with pytest.raises(AuthenticationFailed, match="invalid, expired"):
        enter(f"Bearer {text}")


def test_the_last_use_is_noted_once_a_minute(
    operator: Person, moment: Callable[[datetime], None], django_assert_num_queries: Any
) -> None:
    _, secret = tokens.create(person=operator, name="reports", now=NOW)
    with django_assert_num_queries(2):
        enter(f"Bearer {secret.reveal()}")
    moment(NOW + timedelta(seconds=59))
    with django_assert_num_queries(1):
        enter(f"Bearer {secret.reveal()}")
    moment(NOW + timedelta(seconds=61))
    enter(f"Bearer {secret.reveal()}")
    assert ApiToken.objects.get().last_used_at == NOW + timedelta(seconds=61)


@pytest.mark.parametrize("days", [0, -1, 367, 10**9])
def test_a_token_has_a_bounded_life(operator: Person, days: int) -> None:
    with pytest.raises(ValueError, match="between 1 and 366"):
        tokens.create(person=operator, name="reports", now=NOW, days=days)


def test_the_command_shows_the_token_once(operator: Person, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("create_token", "operator", "--name", "reports", "--days", "7")
    output = capsys.readouterr()
    text = output.out.strip()
    assert enter(f"Bearer {text}")[0] == operator
    assert "not shown again" in output.err
    assert text not in output.err


@pytest.mark.parametrize(("name", "days"), [("nobody", 7), ("operator", 0)])
def test_the_command_refuses_with_one_sentence(operator: Person, name: str, days: int) -> None:
    with pytest.raises(CommandError):
        call_command("create_token", name, "--days", str(days))
    assert not ApiToken.objects.exists()


def test_making_and_ending_a_token_is_in_the_trail(operator: Person, admin: Person) -> None:
    row, secret = tokens.create(person=operator, name="reports", now=NOW, actor=admin)
    tokens.revoke(token_id=row.pk, now=NOW, actor=admin)
    events = AuditEvent.objects.filter(subject=f"token:{row.pk}")
    assert [(event.action, event.actor) for event in events] == [("token.created", admin), ("token.revoked", admin)]
    assert events[0].after["hint"] == secret.reveal()[-4:]
    assert secret.reveal() not in events[0].after_text
