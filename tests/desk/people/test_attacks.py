"""The door and the factors as an attacker would try them, on a desk that is Not available in the demo, over TLS.

Somebody knows a password, has copied a cookie, floods a name, or was switched off; every test is one of them.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from http.cookies import SimpleCookie
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from django.conf import settings as django_settings
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from desk import clock, models
from desk.models import AuditEvent, FactorChange, Person
from desk.people import factors, presence, sign_in_limits, tokens, totp
from wire.values import Secret

pytestmark = pytest.mark.django_db(transaction=True)
SECRET = Secret("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
NEW = Secret("KRUGS4ZANFZSAYJAORSXG5BAONSWG4TF")
START = datetime(2026, 11, 20, 9, 0, 0, tzinfo=UTC)
CONFIRM = "/account/second-factor/confirm/"
APP = "/account/second-factor/app/activate/"


@pytest.fixture(autouse=True)
def real_desk(settings: Any) -> None:
    """What the settings are when DEMO is off; TLS ends before the desk, or the request is refused."""
    settings.DEMO = False
    settings.SIGN_IN_SECOND_FACTOR = settings.SECOND_FACTOR_REQUIRED = True
    settings.FACTOR_REST_SECONDS = 86_400
    settings.SECURE_COOKIES = settings.SESSION_COOKIE_SECURE = settings.CSRF_COOKIE_SECURE = True
    settings.SECURE_SSL_REDIRECT = True
    settings.DEVICE_COOKIE_NAME = "__Host-device"
    cache.clear()


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Callable[[datetime], None]:
    """Put the desk's clock to a moment, and the library's with it."""

    def put(moment: datetime) -> None:
        monkeypatch.setattr(clock, "now", lambda: moment)
        monkeypatch.setattr("time.time", moment.timestamp)

    put(START)
    return put


class Visitor(Client):
    """A browser over TLS."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"HTTP_X_FORWARDED_PROTO": "https", **options})

    def generic(self, *args: Any, **options: Any) -> Any:
        return super().generic(*args, **{**options, "secure": True})

    def copied(self) -> "Visitor":
        """Somebody who copied every cookie of this browser."""
        thief = Visitor()
        thief.cookies = SimpleCookie(self.cookies.output(header=""))
        return thief

    def try_password(self, name: str, password: str) -> Any:
        return self.post("/sign-in/", {"login": name, "password": password})

    def give_code(self, code: str) -> Any:
        return self.post("/sign-in/second-factor/", {"code": code})

    def is_in(self) -> bool:
        return bool(self.get("/approvals/").status_code == 200)


def code_of(secret: Secret) -> str:
    return totp.code_at(secret, totp.step_at(clock.now()))


def come_in(person: Person, password: str, secret: Secret = SECRET, **options: Any) -> Visitor:
    visitor = Visitor(**options)
    visitor.try_password(person.username, password)
    visitor.give_code(code_of(secret))
    assert visitor.is_in()
    return visitor


def hidden(page: Any, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', page.content.decode())
    assert found, name
    return found[1]


def confirm_change(visitor: Visitor, change: str, code: str, target: int = 0) -> Any:
    place = f"{CONFIRM}{change}/{target}/"
    return visitor.post(place, {"digest": hidden(visitor.get(place), "digest"), "code": code})


def later(at: Callable[[datetime], None], **gone: float) -> None:
    at(clock.now() + timedelta(**gone))


@pytest.fixture
def owner(treasury: Person) -> Person:
    totp.enrol(treasury, SECRET)
    return treasury


# The factor ---------------------------------------------------------------------------------------------------------


class TestWhoKnowsThePassword:
    """Of a session that is open, or of a session that a recovery code opened."""

    def test_changes_no_factor_with_it(self, at: Any, owner: Person, password: str) -> None:
        thief = come_in(owner, password)
        thief.post("/account/confirm/", {"password": password})
        places = [APP, "/account/second-factor/app/deactivate/", "/account/second-factor/passkeys/add/"]
        places += ["/account/second-factor/recovery-codes/generate/"]
        before = list(Authenticator.objects.values())
        for place in places:
            for answer in (thief.get(place), thief.post(place, {"code": code_of(NEW), "credential": "{}"})):
                assert answer.status_code == 302
                assert answer["Location"].startswith((CONFIRM, "/account/second-factor/")), place
        assert list(Authenticator.objects.values()) == before
        assert not FactorChange.objects.exists()

    def test_a_confirmation_is_for_one_change_alone(self, at: Any, owner: Person, password: str) -> None:
        visitor = come_in(owner, password)
        later(at, seconds=30)
        assert confirm_change(visitor, "set-up-app", code_of(SECRET))["Location"] == APP
        other = visitor.post("/account/second-factor/recovery-codes/generate/")
        assert other["Location"].startswith(CONFIRM)
        assert visitor.get(APP).status_code == 200
        later(at, seconds=factors.CONFIRMED_SECONDS)
        assert visitor.get(APP)["Location"].startswith(CONFIRM), "it holds for five minutes"

    @pytest.mark.parametrize("code", ["000000", "", "12345"])
    def test_a_wrong_code_confirms_nothing(self, at: Any, owner: Person, password: str, code: str) -> None:
        visitor = come_in(owner, password)
        later(at, seconds=30)
        assert confirm_change(visitor, "set-up-app", code).status_code == 409
        assert visitor.get(APP)["Location"].startswith(CONFIRM)

    def test_a_used_code_confirms_nothing(self, at: Any, owner: Person, password: str) -> None:
        visitor = come_in(owner, password)
        assert b"already been used" in confirm_change(visitor, "set-up-app", code_of(SECRET)).content

    def test_takes_no_last_factor_away(self, at: Any, owner: Person, password: str) -> None:
        visitor = come_in(owner, password)
        later(at, seconds=30)
        confirm_change(visitor, "remove-app", code_of(SECRET))
        assert visitor.post("/account/second-factor/app/deactivate/")["Location"] == reverse("mfa_index")
        assert Authenticator.objects.filter(user=owner, type="totp").exists()


def replace_app(visitor: Visitor, at: Any) -> None:
    later(at, seconds=30)
    confirm_change(visitor, "set-up-app", code_of(SECRET))
    visitor.get(APP)
    new = Secret(visitor.session["mfa.totp.secret"])
    visitor.post(APP, {"code": code_of(new)})
    person = Person.objects.get(username="treasury")
    assert totp.secret_of(person) == new


def test_a_change_is_shown_ends_the_other_sessions_and_rests_for_a_day(
    at: Any, owner: Person, password: str, another_room: Callable[..., None]
) -> None:
    other = come_in(owner, password)
    later(at, seconds=30)
    visitor = come_in(owner, password)
    another_room(topics={"open": lambda person, key: True})
    key = other.session.session_key or ""
    assert presence.admitted(key, ["open"], now=clock.now()) == ["open"]
    replace_app(visitor, at)

    assert visitor.is_in()
    assert not other.is_in()
    assert presence.admitted(key, ["open"], now=clock.now()) is None, "its socket closes at the next look"
    page = visitor.get("/").content.decode()
    assert "Your second factors changed: recovery codes added at" in page
    assert "authenticator app replaced at" in page
    assert "authenticator app replaced" in visitor.get(reverse("mfa_index")).content.decode().lower()
    event = AuditEvent.objects.get(action="person.factor_renewed")
    assert (event.actor, event.after["factor"]) == (owner, "totp")
    assert factors.cooling_off_until(owner, now=clock.now()) == clock.now() + timedelta(hours=24)
    later(at, hours=24)
    assert factors.cooling_off_until(owner, now=clock.now()) is None


def test_a_first_factor_rests_as_well(at: Any, treasury: Person, password: str) -> None:
    visitor = Visitor()
    visitor.try_password("treasury", password)
    visitor.post("/account/confirm/?next=" + APP, {"password": password})
    visitor.get(APP)
    visitor.post(APP, {"code": code_of(Secret(visitor.session["mfa.totp.secret"]))})
    assert factors.why_cooling_off(treasury, now=clock.now())


EVERYWHERE = ["/", "/approvals/", "/withdrawals/", "/audit/", "/system/", "/account/sessions/", "/account/password/"]


def test_somebody_without_a_factor_reaches_nothing_but_enrolment(at: Any, treasury: Person, password: str) -> None:
    visitor = Visitor()
    visitor.try_password("treasury", password)
    assert visitor.get(reverse("mfa_index")).status_code == 200
    assert b"/withdrawals/" not in visitor.get(reverse("mfa_index")).content
    for place in EVERYWHERE:
        assert visitor.get(place)["Location"] == reverse("mfa_index"), place
        assert visitor.post(place).status_code == 403, place
        assert visitor.get(place, headers={"HX-Request": "true"})["HX-Redirect"] == reverse("mfa_index")
    for place in ("/api/v1/withdrawals/", "/api/v1/schema/", "/api/v1/docs/"):
        assert visitor.get(place).status_code == 403, place
    assert visitor.post("/step-up/challenge", "{}", content_type="application/json").status_code == 403
    blocked = '[{"type": "csp-violation", "body": {"effectiveDirective": "script-src-elem"}}]'
    facts = visitor.post("/csp-reports", blocked, content_type="application/reports+json")
    assert facts.status_code == 204, "what a browser blocked on the page of enrolment is heard of as well"
    assert presence.admitted(visitor.session.session_key or "", [], now=clock.now()) is None
    assert presence.listener(visitor.session.session_key or "", now=clock.now()) is None, "not even a silent socket"
    _, secret = tokens.create(person=treasury, name="reports", now=clock.now())
    bearer = {"Authorization": f"Bearer {secret.reveal()}"}
    assert Visitor().get("/api/v1/withdrawals/", headers=bearer).status_code == 401


def test_a_recovery_code_opens_enrolment_and_nothing_else(at: Any, owner: Person, password: str) -> None:
    code = RecoveryCodes.activate(owner).get_unused_codes()[0]
    visitor = Visitor()
    visitor.try_password("treasury", password)
    visitor.give_code(code)
    assert visitor.get(reverse("mfa_index")).status_code == 200
    for place in EVERYWHERE:
        assert visitor.get(place)["Location"] == reverse("mfa_index"), place
    assert visitor.get("/api/v1/withdrawals/").status_code == 403
    assert presence.admitted(visitor.session.session_key or "", [], now=clock.now()) is None
    assert presence.listener(visitor.session.session_key or "", now=clock.now()) is None, "not even a silent socket"

    visitor.post("/account/confirm/?next=" + APP, {"password": password})
    visitor.get(APP)
    new = Secret(visitor.session["mfa.totp.secret"])
    visitor.post(APP, {"code": code_of(new)})
    assert totp.secret_of(owner) == new
    assert not visitor.is_in(), "the new factor opens the door, not the recovery code"
    later(at, seconds=30)
    assert come_in(owner, password, new).is_in()


# The door -----------------------------------------------------------------------------------------------------------


def looked_at(at: Any, *, times: int, seconds: float, address: Callable[[int], str]) -> list[datetime]:
    """Guesses at one name from these addresses; the moments at which one was really looked at."""
    moments = []
    for number in range(times):
        wanted = sign_in_limits.budgets(
            what=sign_in_limits.PASSWORD, name="treasury", address=address(number), device=""
        )
        if sign_in_limits.spend_try(wanted, now=clock.now()) == 0:
            moments.append(clock.now())
        later(at, seconds=seconds)
    return moments


def most_in_a_minute(moments: list[datetime]) -> int:
    return max(sum(start <= one < start + timedelta(minutes=1) for one in moments) for start in moments)


def flood(name: str, at: Any, *, times: int, address: Callable[[int], str], seconds: float = 0.5) -> Any:
    """Wrong passwords over the pages; the last answer."""
    for number in range(times):
        answer = Visitor(REMOTE_ADDR=address(number)).try_password(name, f"guess {number}")
        later(at, seconds=seconds)
    return answer


@pytest.mark.parametrize("how", ["one address", "a thousand addresses"])
def test_a_thousand_guesses_are_ten_a_minute(at: Any, db: None, how: str) -> None:
    address = (lambda number: "10.9.9.9") if how == "one address" else (lambda n: f"10.{n // 250}.{n % 250}.1")
    moments = looked_at(at, times=1_000, seconds=0.5, address=address)
    assert 0 < most_in_a_minute(moments) <= 10
    assert models.Tries.objects.count() <= 1 + 2 * len(moments)
    if how == "one address":
        assert len(moments) <= 12, "the pause doubles"


@pytest.mark.parametrize("how", ["the owner's address", "many addresses"])
def test_the_owner_of_a_flooded_name_comes_in_on_a_known_device(
    at: Any, owner: Person, password: str, how: str
) -> None:
    home = come_in(owner, password)
    home.post("/sign-out/")
    address = (lambda number: "127.0.0.1") if how == "the owner's address" else (lambda n: f"10.0.{n}.1")
    assert b"Too many failed" in flood("treasury", at, times=25, address=address).content
    assert b"Too many failed" in Visitor(REMOTE_ADDR=address(0)).try_password("treasury", password).content
    assert home.try_password("treasury", password)["Location"] == reverse("mfa_authenticate"), "victim lockout 0"
    later(at, seconds=30)
    home.give_code(code_of(SECRET))
    assert home.is_in()
    colleague = Visitor(REMOTE_ADDR="192.0.2.7").try_password("operator", "anything")
    assert b"Too many" not in colleague.content


def test_five_wrong_passwords_from_elsewhere_delay_nobody_at_another_address(
    at: Any, owner: Person, password: str
) -> None:
    flood("treasury", at, times=5, address=lambda _: "10.9.9.9")
    assert come_in(owner, password, REMOTE_ADDR="192.0.2.8").is_in()


def test_a_device_is_known_for_its_own_person_alone(at: Any, owner: Person, operator: Person, password: str) -> None:
    totp.enrol(operator, NEW)
    attacker = come_in(operator, password, NEW, REMOTE_ADDR="10.9.9.9")
    attacker.post("/sign-out/")
    for number in range(12):
        attacker.try_password("treasury", f"guess {number}")
    assert b"Too many" in attacker.try_password("treasury", password).content
    forged = Visitor(REMOTE_ADDR="10.9.9.9")
    forged.cookies["__Host-device"] = attacker.cookies["__Host-device"].value.replace("e", "f")
    assert b"Too many" in forged.try_password("treasury", password).content


def test_a_stolen_device_guesses_ten_a_minute_too(at: Any, owner: Person, password: str) -> None:
    thief = come_in(owner, password).copied()
    del thief.cookies[django_settings.SESSION_COOKIE_NAME]
    moments = []
    for number in range(60):
        if b"Too many failed" not in thief.try_password("treasury", f"guess {number}").content:
            moments.append(clock.now())
        later(at, seconds=0.5)
    assert 3 <= len(moments) <= 10


def test_who_knows_the_password_guesses_few_codes_and_locks_nobody_out(at: Any, owner: Person, password: str) -> None:
    home = come_in(owner, password)
    home.post("/sign-out/")
    moments = []
    for number in range(60):
        attacker = Visitor(REMOTE_ADDR=f"10.1.0.{number}")
        attacker.try_password("treasury", password)
        if b"Too many failed" not in attacker.give_code(f"{number:06d}").content:
            moments.append(clock.now())
        later(at, seconds=1)
    assert 3 <= len(moments) <= 10
    home.try_password("treasury", password)
    home.give_code(code_of(SECRET))
    assert home.is_in()


def test_a_flood_of_names_fills_nothing(at: Any, owner: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sign_in_limits, "MOST_BUDGETS", 30)
    for number in range(25):
        Visitor(REMOTE_ADDR=f"10.2.{number}.1").try_password(f"nobody-{number}", "x")
        assert models.Tries.objects.count() <= 30
    later(at, minutes=16)
    Visitor().try_password("nobody", "x")
    assert models.Tries.objects.count() == 3
    assert not AuditEvent.objects.exists()


def test_names_that_exist_are_refused_like_others(at: Any, owner: Person) -> None:
    facts = [
        [re.sub(r"\s+", " ", Visitor(REMOTE_ADDR=address).try_password(name, "x").content.decode()) for _ in range(6)]
        for name, address in (("treasury", "10.3.0.1"), ("nobody", "10.3.0.2"))
    ]
    plain = [[re.sub(r'value="[^"]*"|nonce="[^"]*"', "", page) for page in pages] for pages in facts]
    assert plain[0] == plain[1]


# Sessions -----------------------------------------------------------------------------------------------------------


def test_a_copied_cookie_is_worth_nothing_after_a_second_factor(at: Any, owner: Person, password: str) -> None:
    visitor = come_in(owner, password)
    thief, reread = visitor.copied(), visitor.copied()
    assert thief.is_in()
    old = visitor.session.session_key or ""
    later(at, seconds=30)
    confirm_change(visitor, "set-up-app", code_of(SECRET))
    assert visitor.session.session_key != old
    assert visitor.is_in()
    assert not thief.is_in()
    assert presence.person_of(old, now=clock.now()) is None

    # A re-read of another tab that left under the old key: nothing happens to that tab, nothing is told to a thief.
    late = reread.get("/", headers={"X-Background": "1", "HX-Request": "true"})
    assert (late.status_code, late.content) == (204, b"")
    assert "HX-Redirect" not in late
    assert django_settings.SESSION_COOKIE_NAME not in late.cookies


def test_a_new_key_keeps_the_challenge_of_another_tab_and_that_a_right_code_was_given(
    at: Any, owner: Person, password: str
) -> None:
    from desk.audit import trail
    from desk.people import code_limits, stepup
    from tests.desk.authenticator import SoftKey

    visitor = come_in(owner, password)
    key = SoftKey(django_settings.ALLOWED_HOSTS[0])
    key.enrol(owner)
    before = visitor.session.session_key or ""
    decision = {"person": owner, "purpose": "approve-withdrawal", "digest": "ab" * 32}
    options = stepup.challenge(**decision, session_key=before, now=clock.now())
    later(at, seconds=30)
    confirm_change(visitor, "set-up-app", code_of(SECRET))
    after = visitor.session.session_key or ""
    waiting = models.StepUpChallenge.objects.get(challenge=options["publicKey"]["challenge"])
    assert waiting.session_digest == trail.digest_of(after)
    for _ in range(code_limits.SHARED_TRIES):
        code_limits.note_failure(person=owner, session_digest="another session", now=clock.now())
    mine = trail.digest_of(after)
    assert code_limits.seconds_to_wait(person=owner, session_digest=mine, now=clock.now()) == 0
    assert code_limits.seconds_to_wait(person=owner, session_digest="a third", now=clock.now()) > 0


def test_a_session_that_was_ended_meanwhile_is_not_brought_back(at: Any, owner: Person, password: str) -> None:
    from django.contrib.sessions.models import Session

    from desk.people import session_keys

    visitor = come_in(owner, password)
    session = visitor.session
    assert session["_auth_user_id"]
    Session.objects.all().delete()
    session_keys.renew(session, person=owner, now=clock.now())
    session.save()
    assert not any("_auth_user_id" in row.get_decoded() for row in Session.objects.all())


def test_idle_and_absolute_limits_and_ending_one_session(at: Any, owner: Person, password: str) -> None:
    visitor = come_in(owner, password)
    for _ in range(33):
        later(at, minutes=14, seconds=30)
        assert visitor.is_in()
    later(at, minutes=3)
    assert not visitor.is_in(), "eight hours at most"
    visitor = come_in(owner, password)
    later(at, seconds=30)
    other = come_in(owner, password)
    handle = re.search(r'name="session" value="([0-9a-f]+)"', visitor.get("/account/sessions/").content.decode())
    assert handle
    visitor.post("/account/sessions/end/", {"session": handle[1]})
    assert not other.is_in()
    later(at, minutes=15, seconds=1)
    assert not visitor.is_in(), "fifteen minutes at most"


def test_a_new_password_ends_other_sessions_and_every_token(at: Any, owner: Person, password: str) -> None:
    other = come_in(owner, password)
    later(at, seconds=30)
    visitor = come_in(owner, password)
    _, secret = tokens.create(person=owner, name="reports", now=clock.now())
    key = other.session.session_key or ""
    new = "an entirely different sentence"
    visitor.post("/account/password/", {"oldpassword": password, "password1": new, "password2": new})
    owner.refresh_from_db()
    assert owner.check_password(new)
    assert visitor.is_in()
    assert not other.is_in()
    assert presence.person_of(key, now=clock.now()) is None
    assert tokens.living_token(secret.reveal(), now=clock.now()) is None
    assert AuditEvent.objects.filter(action="token.revoked").count() == 1


def test_a_newer_hash_of_the_same_password_ends_no_token(at: Any, owner: Person, password: str) -> None:
    _, secret = tokens.create(person=owner, name="reports", now=clock.now())
    Person.objects.filter(pk=owner.pk).update(password="md5$short$" + "0" * 32)
    person = Person.objects.get(pk=owner.pk)
    person.set_password(password)
    person._password = None  # as the framework does when it hashes anew at a sign-in
    person.save(update_fields=["password"])
    assert tokens.living_token(secret.reveal(), now=clock.now()) is not None


def test_switching_off_ends_all_of_it_for_good(at: Any, owner: Person, password: str) -> None:
    visitor = come_in(owner, password)
    key = visitor.session.session_key or ""
    _, secret = tokens.create(person=owner, name="reports", now=clock.now())
    owner.is_active = False
    owner.save(update_fields=["is_active"])
    assert not visitor.is_in()
    assert presence.person_of(key, now=clock.now()) is None
    owner.is_active = True
    owner.save(update_fields=["is_active"])
    assert not visitor.is_in(), "switching on again revives no session"
    assert presence.person_of(key, now=clock.now()) is None
    assert tokens.living_token(secret.reveal(), now=clock.now()) is None, "and no token"


def test_a_command_ends_the_tokens_of_one_person(owner: Person, operator: Person, capsys: Any) -> None:
    totp.enrol(operator, NEW)
    made = {who: tokens.create(person=who, name="x", now=clock.now())[1].reveal() for who in (owner, operator)}
    call_command("revoke_tokens", "treasury")
    assert "1 tokens for treasury revoked." in capsys.readouterr().out
    assert [tokens.living_token(text, now=clock.now()) is None for text in made.values()] == [True, False]


# The first administrator --------------------------------------------------------------------------------------------


def link_for(capsys: Any, *arguments: str) -> str:
    call_command("create_admin", *arguments)
    link = capsys.readouterr().out.strip()
    assert link.startswith(f"{django_settings.DESK_URL}/account/begin/?code=")
    return str(link.removeprefix(django_settings.DESK_URL))


def choose(visitor: Visitor, link: str, password: str) -> Any:
    page = visitor.get(link)
    chosen = {"code": hidden(page, "code"), "new_password1": password, "new_password2": password}
    return visitor.post("/account/begin/", chosen)


def test_the_first_administrator_comes_in_by_a_link_that_works_once(at: Any, capsys: Any, password: str) -> None:
    link = link_for(capsys, "keeper")
    keeper = Person.objects.get(username="keeper")
    assert (keeper.roles, keeper.has_usable_password()) == ({"admin"}, False)
    visitor = Visitor()
    assert choose(visitor, link, "short").status_code == 422
    assert choose(visitor, link, password)["Location"] == reverse("mfa_index")
    assert not visitor.is_in(), "a factor comes first"
    assert Visitor().get(link).status_code == 404
    visitor.post("/account/confirm/?next=" + APP, {"password": password})
    visitor.get(APP)
    visitor.post(APP, {"code": code_of(Secret(visitor.session["mfa.totp.secret"]))})
    assert visitor.is_in()


def test_a_link_ends_after_a_day_and_forged_ones_open_nothing(at: Any, capsys: Any, monkeypatch: Any) -> None:
    from django.contrib.auth.tokens import default_token_generator

    link = link_for(capsys, "keeper")
    number, code = Person.objects.get().pk, link.partition("=")[2]
    changed = code[:-1] + ("0" if code[-1] != "0" else "1")
    for forged in ("", "x", f"{number}.", f"{number}.abc-def", changed, "9" * 40 + ".a-b"):
        assert Visitor().get("/account/begin/", {"code": forged}).status_code == 404, forged
    tomorrow = datetime.now() + timedelta(days=1, seconds=5)  # noqa: DTZ005  as the framework counts
    monkeypatch.setattr(default_token_generator, "_now", lambda: tomorrow)
    assert Visitor().get(link).status_code == 404


def test_inviting_anew_takes_everything_that_opened(at: Any, capsys: Any, password: str) -> None:
    link = link_for(capsys, "keeper")
    keeper = Person.objects.get(username="keeper")
    keeper.set_password(password)
    keeper.save(update_fields=["password"])
    assert Visitor().get(link).status_code == 404
    totp.enrol(keeper, SECRET)
    visitor = come_in(keeper, password)
    _, secret = tokens.create(person=keeper, name="x", now=clock.now())
    with pytest.raises(CommandError, match="already exists"):
        call_command("create_admin", "keeper")
    anew = link_for(capsys, "keeper", "--again")
    assert not visitor.is_in()
    assert tokens.living_token(secret.reveal(), now=clock.now()) is None
    assert not Authenticator.objects.exists()
    assert choose(Visitor(), anew, "an entirely different sentence")["Location"] == reverse("mfa_index")
    assert AuditEvent.objects.filter(action="person.invited_again").exists()


def test_an_administrator_may_have_an_address_of_their_own(at: Any, capsys: Any, password: str) -> None:
    link = link_for(capsys, "keeper", "--email", "keeper@firm.test")
    assert choose(Visitor(), link, password)["Location"] == reverse("mfa_index")
    link_for(capsys, "keeper", "--again")
    assert Person.objects.get(username="keeper").email == "keeper@firm.test"
    with pytest.raises(CommandError, match="not a valid e-mail address"):
        call_command("create_admin", "other", "--email", "nowhere")
    with pytest.raises(CommandError, match="already used by someone else"):
        call_command("create_admin", "other", "--email", "keeper@firm.test")
    assert not Person.objects.filter(username="other").exists()


def test_nobody_but_administrators_is_invited_from_the_machine(settings: Any, owner: Person) -> None:
    with pytest.raises(CommandError, match="is not an active administrator"):
        call_command("create_admin", "treasury", "--again")
    settings.DEMO = True
    with pytest.raises(CommandError, match="Not available in the demo"):
        call_command("create_admin", "keeper")


def test_a_browser_that_gave_a_factor_is_known_before_the_next_sign_in(
    at: Any, treasury: Person, password: str
) -> None:
    """Whoever enrolled in this very session has not signed in wholly yet: the next factor given there says so."""
    visitor = Visitor()
    visitor.try_password("treasury", password)
    visitor.post("/account/confirm/?next=" + APP, {"password": password})
    visitor.get(APP)
    secret = Secret(visitor.session["mfa.totp.secret"])
    visitor.post(APP, {"code": code_of(secret)})
    assert "__Host-device" not in visitor.cookies
    later(at, seconds=30)
    confirm_change(visitor, "add-passkey", code_of(secret))
    assert "__Host-device" in visitor.cookies
    cookie = visitor.cookies["__Host-device"]
    assert (cookie["secure"], cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, True, "Strict", "/")
