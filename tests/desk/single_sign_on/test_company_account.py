"""Sign-in by the company's directory: whom it lets in, how an account is connected, and what is refused."""

import html
import re
from datetime import timedelta

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from django.db import DatabaseError, transaction

from desk import clock
from desk.audit import words
from desk.models import AuditEvent, Person
from desk.people import totp
from desk.single_sign_on import accounts
from desk.single_sign_on.accounts import Identity
from desk.single_sign_on.models import CompanyAccount
from tests.desk.single_sign_on.provider import CLIENT, CLIENT_SECRET, Provider
from tests.desk.staff.keeping import SECRET, answer_at

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def running():
    with Provider() as provider:
        yield provider


@pytest.fixture
def directory(running, settings):
    """A directory that answers rightly, as the one of this desk."""
    running.signs_with, running.algorithm, running.kid, running.subject = running.key, "RS256", "one", "00u-anna"
    running.token, running.user, running.config = {}, {}, {}
    running.user_info = running.keys = None
    settings.OIDC_ISSUER, settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET = running.issuer, CLIENT, CLIENT_SECRET
    settings.SSO_NAME, settings.DEMO = "Acme", True
    return running


@pytest.fixture
def anna(make_person):
    person = make_person("treasury", username="anna")
    totp.enrol(person, SECRET)
    return person


def identity(directory, **changes):
    return Identity(directory.issuer, changes.get("subject", "00u-anna"), "anna@company.example")


def connected(directory, person, *, step=0, **changes):
    who = identity(directory, **changes)
    digest = accounts.digest_of(person, who)
    return accounts.connect(
        person=person, identity=who, digest=digest, answer=answer_at(step), session_key="s", now=clock.now()
    )


def went_there(client, **sent):
    """The answer of the desk once the browser came back from the directory, by the page that stands between."""
    leaving = client.post("/sign-in/company/", sent)
    assert leaving.status_code == 200, "no redirect: a form of the desk leads nowhere else"
    return html.unescape(re.search(r'http-equiv="refresh" content="0;url=([^"]+)"', leaving.content.decode())[1])


def came_back(client, directory, **sent):
    address = directory.authorize(went_there(client, **sent))
    return client.get(address.partition("8000")[2] if "8000" in address else "/" + address.split("/", 3)[3])


def test_a_connected_account_signs_in_and_leads_to_the_page_that_was_opened(directory, anna, client):
    connected(directory, anna)
    answer = came_back(client, directory, next="/ledger/")
    assert (answer.status_code, answer["Location"]) == (302, "/ledger/")
    assert client.session["_auth_user_id"] == str(anna.pk)
    assert AuditEvent.objects.filter(action="person.signed_in", subject=f"person:{anna.pk}").exists()


def test_the_desk_still_asks_for_its_own_second_factor(directory, anna, client, settings):
    settings.SIGN_IN_SECOND_FACTOR = True
    connected(directory, anna)
    answer = came_back(client, directory)
    assert answer["Location"].startswith("/sign-in/second-factor/")
    assert "_auth_user_id" not in client.session
    client.post("/sign-in/second-factor/", answer_at(1) | {"code": answer_at(1)["code"]})
    assert client.session["_auth_user_id"] == str(anna.pk)


def test_an_account_that_nobody_connected_signs_nobody_in_whatever_its_address(directory, anna, client):
    Person.objects.filter(pk=anna.pk).update(email="anna@company.example")
    answer = came_back(client, directory)
    assert answer["Location"] == "/sign-in/?company=unknown"
    assert "_auth_user_id" not in client.session
    page = client.get(answer["Location"]).content.decode()
    assert "This company account is not connected to anybody here." in page


def test_somebody_who_was_deactivated_stays_outside(directory, anna, client):
    connected(directory, anna)
    anna.is_active = False
    anna.save(update_fields=["is_active"])
    assert accounts.of_person(anna) is None
    Person.objects.filter(pk=anna.pk).update(is_active=True)
    assert came_back(client, directory)["Location"] == "/sign-in/?company=unknown"
    connected(directory, Person.objects.get(pk=anna.pk), step=1)
    Person.objects.filter(pk=anna.pk).update(is_active=False)
    assert came_back(client, directory)["Location"] == "/sign-in/not-active/"
    assert "_auth_user_id" not in client.session


def test_a_reset_of_access_ends_the_connection(directory, anna, client):
    connected(directory, anna)
    anna.set_unusable_password()
    anna.save(update_fields=["password"])
    assert came_back(client, directory)["Location"] == "/sign-in/?company=unknown"
    event = AuditEvent.objects.get(action="person.company_account_disconnected")
    assert words.telling([event]).sentence(event).endswith("disconnected the company account anna@company.example.")


def test_the_callback_comes_back_by_a_page_of_the_desk_before_the_cookie_is_there(directory, anna, client):
    """The session's cookie is SameSite=Strict, so the redirect of the directory comes without it."""
    connected(directory, anna)
    address = "/" + directory.authorize(went_there(client)).split("/", 3)[3]
    cookies, client.cookies = client.cookies, type(client.cookies)()
    bounce = client.get(address)
    assert (bounce.status_code, "Set-Cookie" in bounce.headers, bool(client.cookies)) == (200, False, False)
    again = html.unescape(re.search(r'content="0;url=([^"]+)"', bounce.content.decode())[1])
    client.cookies = cookies
    assert client.get(again)["Location"] == "/"
    assert client.session["_auth_user_id"] == str(anna.pk)


FAULTS = {
    "another issuer in the configuration": {"config": {"issuer": "https://elsewhere.example"}},
    "keys without https": {"config": {"jwks_uri": "http://elsewhere.example/keys"}},
    "another issuer": {"token": {"iss": "https://elsewhere.example"}},
    "another application": {"token": {"aud": "somebody else"}},
    "made for another application": {"token": {"aud": [CLIENT, "other"], "azp": "other"}},
    "expired": {"token": {"exp": 1_700_000_000}},
    "another person in UserInfo": {"user": {"sub": "00u-otto"}},
    "no person": {"token": {"sub": ""}, "user": {"sub": ""}},
    "a person with a name that no column takes": {"token": {"sub": "a" * 256}, "user": {"sub": "a" * 256}},
    "a person with a character that shows nothing": {"token": {"sub": "a\0"}, "user": {"sub": "a\0"}},
    "UserInfo that is a list": {"user_info": []},
    "keys that are a list": {"keys": []},
    "a key that is not the directory's": {"signs_with": rsa.generate_private_key(public_exponent=65537, key_size=2048)},
    "an unknown key": {"kid": "two"},
    "signed with the client's secret": {"signs_with": CLIENT_SECRET * 2, "algorithm": "HS256"},
    "not signed": {"signs_with": None, "algorithm": "none"},
}


@pytest.mark.parametrize("fault", FAULTS)
def test_an_answer_that_is_not_the_directorys_for_this_desk_signs_nobody_in(fault, directory, anna, client):
    connected(directory, anna)
    if "configuration" in fault or "https" in fault:
        vars(directory).update(FAULTS[fault])
        answer = client.post("/sign-in/company/")
    else:
        address = "/" + directory.authorize(went_there(client)).split("/", 3)[3]
        vars(directory).update(FAULTS[fault])
        answer = client.get(address)
    assert (answer.status_code, answer["Location"]) == (302, "/sign-in/?company=failed")
    assert "_auth_user_id" not in client.session


def test_a_state_that_this_session_did_not_make_or_used_already_signs_nobody_in(directory, anna, client, signed_in):
    connected(directory, anna)
    address = "/" + directory.authorize(went_there(client)).split("/", 3)[3]
    stranger = signed_in(anna).__class__()
    stranger.get("/sign-in/")
    assert stranger.get(f"{address}&_redir=")["Location"] == "/sign-in/?company=failed"
    assert client.get(address)["Location"] == "/"
    client.post("/sign-out/")
    assert client.get(f"{address}&_redir=")["Location"] == "/sign-in/?company=failed"


def test_a_cancelled_sign_in_says_so(directory, client):
    state = re.search(r"state=(\w+)", went_there(client))[1]
    answer = client.get(f"/sign-in/company/callback/?error=access_denied&state={state}")
    assert answer["Location"] == "/sign-in/?company=cancelled"


def test_a_directory_that_does_not_answer_says_so(directory, client, settings):
    settings.OIDC_ISSUER = "http://127.0.0.1:9/company"
    assert client.post("/sign-in/company/")["Location"] == "/sign-in/?company=failed"


def test_a_person_connects_exactly_the_account_on_the_page(directory, anna, signed_in):
    client = signed_in(anna)
    assert came_back(client, directory)["Location"] == "/account/company/"
    page = client.get("/account/company/").content.decode()
    assert "anna@company.example" in page
    digest = re.search(r'name="digest" value="(\w+)"', page)[1]
    wrong = client.post("/account/company/connect/", {"code": "000000", "digest": digest})
    assert (wrong.status_code, CompanyAccount.objects.count()) == (409, 0)
    another = client.post("/account/company/connect/", {"code": answer_at(0)["code"], "digest": "0" * 64})
    assert "this is not the account on the page" in another.content.decode()
    made = client.post("/account/company/connect/", {"code": answer_at(0)["code"], "digest": digest})
    assert made.status_code == 302
    row = CompanyAccount.objects.get()
    assert (row.person, row.issuer, row.subject) == (anna, directory.issuer, "00u-anna")
    event = AuditEvent.objects.get(action="person.company_account_connected")
    sentence = words.telling([event]).sentence(event)
    assert sentence == "anna connected the company account anna@company.example to sign in with."
    assert "Connected" in client.get("/account/company/").content.decode()
    client.post("/account/company/disconnect/")
    assert accounts.of_identity(identity(directory)) is None
    assert came_back(client.__class__(), directory)["Location"] == "/sign-in/?company=unknown"


def test_after_five_minutes_it_is_not_connected(directory, anna, signed_in, monkeypatch):
    client, later = signed_in(anna), clock.now() + timedelta(seconds=301)
    came_back(client, directory)
    digest = accounts.digest_of(anna, identity(directory))
    monkeypatch.setattr(clock, "now", lambda: later)
    client.post("/account/company/connect/", {"code": answer_at(0)["code"], "digest": digest})
    assert not CompanyAccount.objects.exists()


def test_an_account_has_one_person_and_a_person_one_account(directory, anna, make_person):
    otto = make_person("treasury", username="otto")
    totp.enrol(otto, SECRET)
    row = connected(directory, anna)
    with pytest.raises(accounts.CannotConnect, match="connected to somebody else"):
        connected(directory, otto)
    with pytest.raises(accounts.CannotConnect, match="Disconnect it first"):
        connected(directory, anna, step=1, subject="00u-another")
    proof = connected(directory, otto, subject="00u-otto").confirmation
    values = {"issuer": row.issuer, "at": row.at}
    changes = (
        lambda: CompanyAccount.objects.create(
            person=otto, subject="00u-anna", confirmation_id=proof.pk, **values | {"at": proof.at}
        ),
        lambda: CompanyAccount.objects.create(person=otto, subject="x", confirmation_id=row.confirmation_id, **values),
        lambda: CompanyAccount.objects.filter(pk=row.pk).update(person=otto),
        row.delete,
    )
    for change in changes:
        with pytest.raises(DatabaseError), transaction.atomic():
            change()


def test_without_passwords_the_only_way_in_is_not_given_up(directory, anna, settings, client):
    connected(directory, anna)
    settings.PASSWORD_SIGN_IN = False
    with pytest.raises(accounts.CannotConnect, match="your only way to sign in"):
        accounts.disconnect(person=anna, session_key="s", now=clock.now())
    page = client.get("/sign-in/").content.decode()
    assert ("Sign in with <bdi>Acme</bdi>" in page, 'name="password"' in page) == (True, False)
    refused = client.post("/sign-in/", {"login": "anna", "password": "countersign-demo"})
    assert refused.status_code == 200
    assert "_auth_user_id" not in client.session
    assert came_back(client, directory)["Location"] == "/"


def test_without_a_directory_none_of_it_is_there(client, anna, signed_in):
    assert "/sign-in/company/" not in client.get("/sign-in/").content.decode()
    assert client.post("/sign-in/company/").status_code == 404
    assert client.get("/sign-in/company/callback/").status_code == 404
    assert signed_in(anna).get("/account/company/").status_code == 404
