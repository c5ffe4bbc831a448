"""A desk that is no demo, over TLS, with two administrators: what one of them tries alone, by HTTP."""

import pytest
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.core.cache import cache
from django.test import Client

from desk import clock
from desk.models import Person
from desk.people import factors
from desk.staff import changes, directory, states
from desk.staff.models import PersonChange
from tests.desk.staff.keeping import answer_at
from tests.desk.staff.test_people import field, handed_over, invited, opened, text

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def tls(settings):
    """The settings of a real desk; TLS ends before it. Factors count at once, so that a day needn't pass."""
    settings.SIGN_IN_SECOND_FACTOR = settings.SECOND_FACTOR_REQUIRED = True
    settings.SECURE_COOKIES = settings.SESSION_COOKIE_SECURE = settings.CSRF_COOKIE_SECURE = True
    settings.SECURE_SSL_REDIRECT = True
    settings.EMAIL_HOST, settings.MAILBOX = "", False
    cache.clear()


class Visitor(Client):
    """A browser over TLS: it sends the token of the forms that it was shown, and their origin."""

    def __init__(self, **options):
        super().__init__(enforce_csrf_checks=True, **options)

    def generic(self, *args, **options):
        return super().generic(*args, **{**options, "secure": True})

    def post(self, path, data=None, **options):
        token = self.cookies.get(settings.CSRF_COOKIE_NAME)
        if token is None:
            self.get("/account/sessions/" if "_auth_user_id" in self.session else "/sign-in/")
            token = self.cookies[settings.CSRF_COOKIE_NAME]
        headers = {"X-CSRFToken": token.value, "Referer": f"https://testserver{path}"}
        return super().post(path, data, headers=headers, **options)

    def decide(self, path, step, **typed):
        """The form at the path, filled and confirmed with a code of so many steps later."""
        digest = field(self.get(path, typed), "digest")
        return self.post(path, {"digest": digest, "reason": "Ours", "code": answer_at(step)["code"], **typed})


def come_in(person):
    visitor = Visitor()
    visitor.force_login(person)
    return visitor


def administrators():
    return Person.objects.filter(is_active=True, groups__name="admin").count()


def test_without_tls_and_without_the_forms_token_nothing_is_answered_or_done(admins, password, operator):
    visitor = Visitor()
    visitor.post("/sign-in/", {"login": "first", "password": password})
    visitor.post("/sign-in/second-factor/", {"code": answer_at(0)["code"]})
    assert visitor.get("/people/").status_code == 200
    assert {name for name, cookie in visitor.cookies.items() if not cookie["secure"]} == set()
    plain = Client().get("/people/")
    assert (plain.status_code, plain["Location"]) == (301, "https://testserver/people/")
    typed = {"digest": "", "reason": "Ours", "code": answer_at(1)["code"]}
    forged = super(Visitor, visitor).post(f"/people/{operator.pk}/change/deactivate/", typed)
    assert forged.status_code == 403
    assert Person.objects.get(pk=operator.pk).is_active


KINDS = (states.DEACTIVATE, states.FACTORS, states.ACCESS, states.ROLES)


@pytest.mark.parametrize("kind", KINDS)
def test_neither_of_two_administrators_removes_the_other_alone(admins, kind):
    first, second = admins
    visitor, here = come_in(first), f"/people/{second.pk}/change/{kind}/"
    typed = {"role": ["operator"]} if kind == states.ROLES else {}
    assert visitor.decide(here, 1, **typed).status_code == 302
    row = PersonChange.objects.get()
    assert (row.state, row.kind, administrators()) == (states.REQUESTED, kind, 2)
    for actor in (visitor, come_in(second)):
        answer = {"digest": row.digest, "code": answer_at(1)["code"]}
        assert actor.post(f"/people/changes/{row.pk}/confirm/", answer).status_code == 409
    row.refresh_from_db()
    assert (row.state, administrators()) == (states.REQUESTED, 2)
    assert Authenticator.objects.filter(user=second, type="totp").count() == 1
    assert Person.objects.get(pk=second.pk).has_usable_password()


def test_an_administrator_does_nothing_to_their_own_account(admins):
    first, _ = admins
    visitor = come_in(first)
    for kind in KINDS:
        typed = {"digest": changes.digest_of(first, kind, ()), "reason": "Ours", "code": answer_at(1)["code"]}
        sent = visitor.post(f"/people/{first.pk}/change/{kind}/", typed)
        assert (sent.status_code, "change your own" in text(sent)) == (409, True), kind
    assert (PersonChange.objects.count(), administrators()) == (0, 2)


def test_a_reset_of_factors_takes_two_and_gives_nobody_the_account(admins, enrolled, password, settings):
    """The attack: have the factors of somebody removed, know or guess the password, and enrol one's own."""
    settings.FACTOR_REST_SECONDS = 86_400
    first, second = admins
    victim = enrolled("treasury", username="victim")
    here = f"/people/{victim.pk}/change/factors/"
    visitor = come_in(first)
    assert visitor.decide(here, 1).status_code == 302
    row = PersonChange.objects.get()
    answer = {"digest": row.digest, "code": answer_at(1)["code"]}
    assert visitor.post(f"/people/changes/{row.pk}/confirm/", answer).status_code == 409
    assert Authenticator.objects.filter(user=victim).exists(), "not by the same administrator"
    assert come_in(second).post(f"/people/changes/{row.pk}/confirm/", answer).status_code == 302
    assert not Authenticator.objects.filter(user=victim).exists()
    thief = Visitor()
    thief.post("/sign-in/", {"login": "victim", "password": password})
    for path in ("/approvals/", "/withdrawals/", f"/people/{victim.pk}/", "/account/tokens/"):
        assert thief.get(path).status_code in {302, 403}, path
    assert factors.cooling_off_until(victim, now=clock.now()) is not None, "and a new factor rests for a day"


def test_a_link_that_has_expired_opens_nothing(admins, code, monkeypatch):
    person = invited(admins[0], code())
    row, secret = handed_over(person, admins[1], code())
    visitor, begin = Visitor(), f"/account/begin/?code={secret.reveal()}"
    assert visitor.get(begin).status_code == 200, "the form was open in time"
    monkeypatch.setattr(clock, "now", lambda: row.expires_at)
    late = visitor.get(begin)
    assert (late.status_code, "new@firm.test" in late.content.decode()) == (404, False)
    for typed in ({}, {"email": "other@firm.test"}):
        assert opened(visitor, secret, **typed).status_code == 404
    assert not Person.objects.get(pk=person.pk).has_usable_password()
    assert directory.state_of(Person.objects.get(pk=person.pk)) == directory.INVITED
