"""Roles that require a passkey: codes of their people confirm nothing, and without one they only add one."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.db import transaction
from django.test import Client

from desk import clock
from desk.models import Person, StepUp
from desk.people import factors, presence, stepup, tokens, totp
from desk.people.by_role import required_passkeys
from tests.desk.authenticator import SoftKey
from tests.desk.people.conftest import SECRET

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 20, 12, 0, 5, tzinfo=UTC)
ON = {"purpose": "withdrawal.approve", "digest": "ab" * 32, "session_key": "session-of-treasury", "now": NOW}
ADD = "/account/second-factor/passkeys/add/"
CONFIRM = "/account/second-factor/confirm"
WHY = "your treasury role requires a passkey"


@pytest.fixture(autouse=True)
def required(settings: Any) -> None:
    settings.PASSKEY_ROLES = frozenset({"treasury"})


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Callable[[datetime], None]:
    def put(moment: datetime) -> None:
        monkeypatch.setattr(clock, "now", lambda: moment)

    return put


def code(at: datetime | None = None) -> str:
    return totp.code_at(SECRET, totp.step_at(at or clock.now()))


@transaction.atomic
def verify(person: Person, answer: dict[str, Any]) -> StepUp:
    return stepup.verify(person=person, answer=answer, **ON)  # type: ignore[arg-type]


def confirm(client: Client, change: str, target: int = 0) -> Any:
    place = f"{CONFIRM}/{change}/{target}/"
    digest = re.search(r'name="digest" value="(\w+)"', client.get(place).content.decode())
    assert digest
    return client.post(place, {"digest": digest[1], "code": code()})


# The step-up ----------------------------------------------------------------------------------------------------------


def test_a_code_confirms_nothing_and_is_not_spent(settings: Any, person: Person, key: SoftKey) -> None:
    with pytest.raises(stepup.CannotConfirm, match=f"Nothing was confirmed: {WHY}. Confirm with your passkey"):
        verify(person, {"kind": "totp", "code": code(NOW)})
    assert not StepUp.objects.exists()
    assert verify(person, key.answer(stepup.challenge(person=person, **ON))).kind == "passkey"  # type: ignore[arg-type]
    settings.PASSKEY_ROLES = frozenset({"admin"})
    assert verify(person, {"kind": "totp", "code": code(NOW)}).kind == "totp"


def test_roles_of_some_time_and_of_some_accounts_count(make_person: Any, at: Any) -> None:
    at(NOW)
    person = make_person("operator", username="cover")
    assert required_passkeys.reason(person) == ""
    person.grants_until, person.grants_after = NOW, ["admin", "treasury:3"]
    assert required_passkeys.reason(person) == WHY
    at(NOW - timedelta(seconds=1))
    assert required_passkeys.reason(person) == ""


def test_forms_offer_the_passkey_alone(settings: Any, client: Client, person: Person, key: SoftKey) -> None:
    client.force_login(person)
    page = client.get(f"{CONFIRM}/set-up-app/0/").content.decode()
    assert 'name="code"' not in page
    assert f"{WHY.capitalize()}: use the passkey button." in page
    refused = client.post(f"{CONFIRM}/set-up-app/0/", {"digest": "x"})
    assert "Nothing was confirmed: use the passkey button." in refused.content.decode()
    settings.PASSKEY_ROLES = frozenset()
    assert 'name="code"' in client.get(f"{CONFIRM}/set-up-app/0/").content.decode()


# Enrolment ------------------------------------------------------------------------------------------------------------


def test_without_a_passkey_there_is_nothing_but_enrolment(client: Client, person: Person, operator: Person) -> None:
    client.force_login(person)
    session = client.session.session_key or ""
    _, secret = tokens.create(person=person, name="feed", now=clock.now())
    assert client.get("/")["Location"] == "/account/second-factor/"
    page = client.get("/account/second-factor/").content.decode()
    assert f"{WHY.capitalize()}: add one here." in page
    assert "/withdrawals/" not in page
    assert f"Add a passkey first: {WHY}." in client.post("/").content.decode()
    assert presence.listener(session, now=clock.now()) is None
    assert tokens.living_token(secret.reveal(), now=clock.now()) is None
    assert factors.enrolled([person, operator]) == {operator.pk}
    SoftKey().enrol(person)
    assert client.get("/").status_code == 200
    assert f"{WHY.capitalize()}: codes from the app" in client.get("/account/second-factor/").content.decode()
    assert presence.listener(session, now=clock.now()) == person
    assert tokens.living_token(secret.reveal(), now=clock.now()) is not None


def test_a_code_confirms_the_first_passkey_and_nothing_else(client: Client, person: Person) -> None:
    client.force_login(person)
    refused = confirm(client, "set-up-app")
    assert (refused.status_code, WHY in refused.content.decode()) == (409, True)
    page = client.get(f"{CONFIRM}/add-passkey/0/").content.decode()
    assert 'name="code"' in page
    assert "/withdrawals/" not in page
    assert confirm(client, "add-passkey")["Location"] == ADD
    assert client.get(ADD).status_code == 200


def test_a_second_passkey_takes_the_first_one(client: Client, person: Person, key: SoftKey) -> None:
    client.force_login(person)
    with pytest.raises(stepup.CannotConfirm, match=WHY):
        factors.confirm(
            person=person,
            change="add-passkey",
            target="",
            digest=factors.digest_of(person=person, change="add-passkey", target=""),
            answer={"kind": "totp", "code": code(NOW)},
            session=client.session,
            now=NOW,
        )


def test_the_last_passkey_stays(settings: Any, person: Person, key: SoftKey) -> None:
    with pytest.raises(factors.CannotChange, match=f"No changes made: {WHY}, and this is your only one"):
        factors.refuse_last(person=person, change="remove-passkey")
    factors.refuse_last(person=person, change="remove-app")
    SoftKey().enrol(person)
    factors.refuse_last(person=person, change="remove-passkey")
    Authenticator.objects.filter(type="webauthn").first().delete()  # type: ignore[union-attr]
    settings.PASSKEY_ROLES = frozenset({"operator"})
    factors.refuse_last(person=person, change="remove-passkey")


# Sign-in --------------------------------------------------------------------------------------------------------------


def test_a_code_signs_in_only_to_add_a_passkey(settings: Any, person: Person, password: str) -> None:
    settings.SIGN_IN_SECOND_FACTOR = True

    def sign_in() -> tuple[bool, str]:
        visitor = Client()
        visitor.post("/sign-in/", {"login": person.username, "password": password})
        page = visitor.post("/sign-in/second-factor/", {"code": code()}).content.decode()
        return "_auth_user_id" in visitor.session, page

    SoftKey().enrol(person)
    is_in, page = sign_in()
    assert (is_in, f"Nothing was confirmed: {WHY}" in page) == (False, True)
    Authenticator.objects.filter(type="webauthn").delete()
    assert sign_in()[0]
