"""Coming in, staying in, being sent out: who may, for how long, and what it leaves in the trail."""

import re
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from http.cookies import SimpleCookie
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from django.conf import settings
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.models import Group
from django.core.cache import cache
from django.http import HttpRequest
from django.test import Client
from django.urls import reverse

from desk import clock, models
from desk.models import AuditEvent, Person
from desk.people import roles, session_life, totp
from tests.bounds import stretched
from wire.values import Secret

pytestmark = pytest.mark.django_db
SECRET = Secret("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
START = datetime(2026, 11, 20, 9, 0, 0, tzinfo=UTC)


@pytest.fixture(autouse=True)
def fresh_limits(db: None) -> None:
    cache.clear()


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Callable[[datetime], None]:
    """Put the desk's clock to a moment."""

    def put(moment: datetime) -> None:
        monkeypatch.setattr(clock, "now", lambda: moment)

    return put


def sign_in(client: Client, name: str, password: str) -> Any:
    return client.post(reverse("account_login"), {"login": name, "password": password})


def is_in(client: Client) -> bool:
    return "_auth_user_id" in client.session and client.get(reverse("mfa_index")).status_code == 200


def test_nobody_signs_up(client: Client) -> None:
    assert client.get("/sign-up/").status_code in {302, 404}
    assert client.post("/sign-up/", {"username": "x", "password1": "a long password", "password2": "a long password"})
    assert not Person.objects.exists()


def test_every_page_wants_a_sign_in(client: Client) -> None:
    answer = client.get("/")
    assert (answer.status_code, answer["Location"]) == (302, "/sign-in/?next=/")


def test_in_the_demo_the_password_opens_the_door(client: Client, treasury: Person, password: str) -> None:
    totp.enrol(treasury, SECRET)
    assert sign_in(client, "treasury", password)["Location"] == "/"
    assert is_in(client)
    event = AuditEvent.objects.get()
    assert (event.action, event.subject, event.actor) == ("person.signed_in", f"person:{treasury.pk}", treasury)


def test_the_door_opens_while_the_broker_is_away(
    client: Client, operator: Person, password: str, use_broker: Callable[[str], None]
) -> None:
    use_broker("redis://10.255.255.1:6379/0")
    started = time.monotonic()
    sign_in(client, "operator", password)
    assert is_in(client)
    assert time.monotonic() - started < stretched(2)


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("treasury", "wrong"),
        ("nobody", "a long demo sentence"),
        ("", ""),
        ("treasury", ""),
        ("TREASURY' OR 1=1 --", "x"),
        ("x" * 10_000, "x"),
        ("tre\x00asury", "x"),
    ],
)
def test_a_wrong_name_or_password_stays_outside(client: Client, treasury: Person, name: str, word: str) -> None:
    answer = sign_in(client, name, word)
    assert answer.status_code == 200
    assert not is_in(client)
    assert not AuditEvent.objects.exists()


def test_somebody_switched_off_stays_outside(client: Client, treasury: Person, password: str) -> None:
    Person.objects.update(is_active=False)
    sign_in(client, "treasury", password)
    assert not is_in(client)


def test_wrong_passwords_are_limited_and_others_still_get_in(
    client: Client, treasury: Person, operator: Person, password: str
) -> None:
    for _ in range(6):
        answer = sign_in(client, "treasury", "wrong")
    assert "Too many failed" in answer.content.decode() or answer.status_code == 429
    sign_in(client, "treasury", password)
    assert not is_in(client), "the right password does not help while the limit is on"
    elsewhere = Client(REMOTE_ADDR="10.1.2.3")
    sign_in(elsewhere, "operator", password)
    assert is_in(elsewhere)


class TestOutsideTheDemo:
    """There, whoever has a second factor gives it at sign-in."""

    @pytest.fixture(autouse=True)
    def second_factor(self, settings: Any) -> None:
        settings.SIGN_IN_SECOND_FACTOR = True

    def code(self) -> str:
        return totp.code_at(SECRET, totp.step_at(clock.now()))

    def test_the_password_alone_is_not_enough(self, client: Client, treasury: Person, password: str) -> None:
        totp.enrol(treasury, SECRET)
        assert sign_in(client, "treasury", password)["Location"] == reverse("mfa_authenticate")
        assert not is_in(client)
        client.post(reverse("mfa_authenticate"), {"code": "000000"})
        assert not is_in(client)
        client.post(reverse("mfa_authenticate"), {"code": self.code()})
        assert is_in(client)

    def test_the_code_is_spent_by_the_sign_in(self, client: Client, treasury: Person, password: str) -> None:
        totp.enrol(treasury, SECRET)
        code = self.code()
        sign_in(client, "treasury", password)
        client.post(reverse("mfa_authenticate"), {"code": code})
        cache.clear()  # what the library remembers; what we remember is in a row
        second = Client()
        sign_in(second, "treasury", password)
        second.post(reverse("mfa_authenticate"), {"code": code})
        assert not is_in(second)
        step = models.SpentTotpStep.objects.get(person=treasury).step
        assert totp.code_at(SECRET, step) == code

    def test_a_recovery_code_opens_the_door_once(self, client: Client, treasury: Person, password: str) -> None:
        totp.enrol(treasury, SECRET)
        code = RecoveryCodes.activate(treasury).get_unused_codes()[0]
        for opened in (True, False):
            visitor = Client()
            sign_in(visitor, "treasury", password)
            visitor.post(reverse("mfa_authenticate"), {"code": code})
            assert is_in(visitor) is opened

    def test_guessing_codes_is_limited(self, client: Client, treasury: Person, password: str) -> None:
        totp.enrol(treasury, SECRET)
        sign_in(client, "treasury", password)
        for _ in range(6):
            client.post(reverse("mfa_authenticate"), {"code": "000000"})
        client.post(reverse("mfa_authenticate"), {"code": self.code()})
        assert not is_in(client)

    def test_without_a_factor_the_password_opens_the_door(
        self, client: Client, operator: Person, password: str
    ) -> None:
        sign_in(client, "operator", password)
        assert is_in(client)


# Staying in -----------------------------------------------------------------------------------------------------------


def test_a_session_ends_when_nobody_acts(client: Client, operator: Person, at: Callable[[datetime], None]) -> None:
    at(START)
    client.force_login(operator)
    at(START + timedelta(minutes=14, seconds=59))
    assert is_in(client)
    at(START + timedelta(minutes=29, seconds=30))
    assert is_in(client)
    at(START + timedelta(minutes=44, seconds=40))
    assert not is_in(client)
    assert AuditEvent.objects.filter(action="person.signed_out").count() == 1


def test_re_reads_of_a_page_keep_no_session_alive(
    client: Client, operator: Person, at: Callable[[datetime], None]
) -> None:
    at(START)
    client.force_login(operator)
    for minute in range(1, 15):
        at(START + timedelta(minutes=minute))
        assert client.get(reverse("mfa_index"), headers={"X-Background": "1"}).status_code == 200
    at(START + timedelta(minutes=15, seconds=1))
    assert client.get(reverse("mfa_index"), headers={"X-Background": "1"}).status_code == 302
    assert not is_in(client)


def test_a_session_ends_after_eight_hours_of_work(
    client: Client, operator: Person, at: Callable[[datetime], None]
) -> None:
    at(START)
    client.force_login(operator)
    for minute in range(0, 481, 12):
        at(START + timedelta(minutes=minute))
        assert is_in(client)
    at(START + timedelta(hours=8, seconds=1))
    assert not is_in(client)


def test_a_session_without_marks_is_over(client: Client, operator: Person) -> None:
    client.force_login(operator)
    session = client.session
    for mark in (session_life.SIGNED_IN_AT, session_life.SEEN_AT):
        del session[mark]
    session.save()
    assert not is_in(client)


def test_a_part_of_a_page_sends_the_browser_to_the_sign_in_as_a_whole(client: Client) -> None:
    answer = client.get("/", headers={"HX-Request": "true"})
    assert (answer.status_code, answer["HX-Redirect"]) == (204, "/sign-in/?ended=yes")


@pytest.mark.parametrize(
    ("page", "way_back"),
    [
        ("http://testserver/withdrawals/7/?list=mine", "?next=%2Fwithdrawals%2F7%2F%3Flist%3Dmine"),
        ("http://testserver/approvals/#top", "?next=%2Fapprovals%2F"),
        ("https://elsewhere.example/withdrawals/7/", ""),
        ("http://testserver//elsewhere.example/", ""),
        ("http://testserver/\\elsewhere.example/", ""),
        ("javascript:alert(1)", ""),
        ("http://testserver/" + "a" * 2_000, ""),
        ("", ""),
    ],
)
def test_signing_in_again_leads_back_to_the_page_that_was_read(client: Client, page: str, way_back: str) -> None:
    answer = client.get("/", headers={"HX-Request": "true", "HX-Current-URL": page})
    assert answer["HX-Redirect"] == f"/sign-in/{f'{way_back}&' if way_back else '?'}ended=yes"
    said = "You were signed out. Nothing was sent."
    assert said in client.get(answer["HX-Redirect"]).text
    assert said not in client.get("/sign-in/").text


@pytest.mark.django_db
def test_the_page_that_was_read_opens_after_signing_in(client: Client, operator: Person, password: str) -> None:
    sent = {"login": "operator", "password": password}
    assert client.post("/sign-in/?next=/ledger/", {**sent, "next": "/ledger/"})["Location"] == "/ledger/"
    for elsewhere in ("https://elsewhere.example/", "//elsewhere.example/", "javascript:alert(1)"):
        client.logout()
        assert client.post("/sign-in/", {**sent, "next": elsewhere})["Location"] == "/"


def test_a_change_of_roles_ends_every_session_at_the_next_request(client: Client, operator: Person) -> None:
    others = [Client(), Client()]
    for visitor in (client, *others):
        visitor.force_login(operator)
        assert is_in(visitor)
    operator.groups.add(Group.objects.get(name=roles.TREASURY))
    assert not any(is_in(visitor) for visitor in (client, *others))


@pytest.mark.parametrize("way", ["remove", "clear", "set", "reverse add", "reverse remove", "reverse clear"])
def test_every_way_to_change_roles_counts(client: Client, operator: Person, treasury: Person, way: str) -> None:
    group, other = Group.objects.get(name=roles.OPERATOR), Group.objects.get(name=roles.AUDITOR)
    client.force_login(operator)
    bystander = Client()
    bystander.force_login(treasury)
    change = {
        "remove": lambda: operator.groups.remove(group),
        "clear": operator.groups.clear,
        "set": lambda: operator.groups.set([other]),
        "reverse add": lambda: other.user_set.add(operator),
        "reverse remove": lambda: group.user_set.remove(operator),
        "reverse clear": group.user_set.clear,
    }
    change[way]()
    assert not is_in(client)
    assert is_in(bystander)


def test_a_new_password_ends_the_other_sessions(client: Client, operator: Person) -> None:
    client.force_login(operator)
    operator.set_password("another long sentence")
    operator.save(update_fields=["password"])
    assert not is_in(client)


@pytest.mark.django_db(transaction=True)
def test_a_factor_added_ends_the_other_sessions_and_is_in_the_trail(
    client: Client, operator: Person, password: str
) -> None:
    other = Client()
    sign_in(other, "operator", password)
    sign_in(client, "operator", password)
    page = client.get(reverse("mfa_activate_totp"))
    assert page["Location"].startswith(reverse("account_reauthenticate")), "one's password is asked for again"
    client.post(page["Location"], {"password": password})
    client.get(reverse("mfa_activate_totp"))
    secret = Secret(client.session["mfa.totp.secret"])
    client.post(reverse("mfa_activate_totp"), {"code": totp.code_at(secret, totp.step_at(clock.now()))})
    assert Authenticator.objects.filter(user=operator, type="totp").exists()
    assert totp.secret_of(operator) == secret
    assert secret.reveal() not in str(Authenticator.objects.values_list("data", flat=True))
    assert is_in(client)
    assert not is_in(other)
    event = AuditEvent.objects.get(action="person.factor_added", after_text__contains="totp")
    assert event.actor == operator


def test_a_sign_out_is_a_post_and_ends_the_session(client: Client, operator: Person) -> None:
    client.force_login(operator)
    client.get(reverse("account_logout"))
    assert is_in(client)
    client.post(reverse("account_logout"))
    assert not is_in(client)
    assert list(AuditEvent.objects.values_list("action", flat=True)) == ["person.signed_in", "person.signed_out"]


def test_the_session_key_changes_at_sign_in(client: Client, operator: Person, password: str) -> None:
    client.get(reverse("account_login"))
    session = client.session
    session["planted"] = "by a stranger"
    session.save()
    planted = session.session_key
    sign_in(client, "operator", password)
    assert client.session.session_key != planted


def test_a_re_read_that_left_under_the_old_key_takes_no_cookie_away(
    client: Client, operator: Person, password: str
) -> None:
    """Its answer may arrive after the one that set the new key: the browser must keep that."""
    sign_in(client, "operator", password)
    late = Client()
    late.cookies = SimpleCookie(client.cookies.output(header=""))
    request = HttpRequest()
    request.session, request.user = client.session, operator
    update_session_auth_hash(request, operator)
    answer = late.get("/", headers={"X-Background": "1", "HX-Request": "true"})
    assert (answer.status_code, answer["HX-Redirect"]) == (204, f"{reverse('account_login')}?ended=yes")
    assert settings.SESSION_COOKIE_NAME not in answer.cookies


def test_a_sign_out_takes_the_cookie_away(client: Client, operator: Person) -> None:
    client.force_login(operator)
    assert client.post(reverse("account_logout")).cookies[settings.SESSION_COOKIE_NAME].value == ""


# Roles ----------------------------------------------------------------------------------------------------------------


def test_roles_are_read_from_groups_and_need_an_active_person(make_person: Callable[..., Any]) -> None:
    person = make_person("operator", "auditor", username="both")
    assert person.roles == {"operator", "auditor"}
    assert person.has_role(roles.TREASURY, roles.AUDITOR)
    assert not person.has_role(roles.TREASURY)
    assert not person.has_role()
    person.is_active = False
    assert not person.has_role(roles.OPERATOR)


def test_the_superuser_flag_gives_no_role(db: None) -> None:
    person = Person.objects.create_superuser("root", password="a long demo sentence")
    assert not person.has_role(*roles.ALL)


def test_every_role_has_its_group_after_migrate(db: None) -> None:
    assert set(Group.objects.values_list("name", flat=True)) == set(roles.ALL)


def test_passwords_are_hashed_slowly_outside_the_tests() -> None:
    """The tests and the houses they start have a quick hasher; the desk's own settings leave Django's first one."""
    from django.conf import global_settings

    from project import settings as of_the_desk

    assert not hasattr(of_the_desk, "PASSWORD_HASHERS")
    assert global_settings.PASSWORD_HASHERS[0] == "django.contrib.auth.hashers.PBKDF2PasswordHasher"


def test_somebody_without_a_factor_sees_enrolment_and_the_way_out_and_nothing_else(
    settings: Any, client: Client, treasury: Person
) -> None:
    settings.SECOND_FACTOR_REQUIRED = True
    client.force_login(treasury)
    page = client.get(reverse("mfa_index")).content.decode()
    led_to = set(re.findall(r'<a [^>]*href="([^"#]+)"', page)) - {"/"}
    own = {"mfa_activate_totp", "mfa_add_webauthn", "account_logout"}
    assert led_to == {reverse(name) for name in own}
    assert not re.search('data-socket|hx-get|type="search"|id="strip"', page), "nothing asks the desk by itself"
    assert "24 hours" in page
    totp.enrol(treasury, SECRET)
    assert 'type="search"' in client.get(reverse("mfa_index")).content.decode()
