"""Tokens on a person's own page: made with a second factor, shown once, revoked by who has them alone."""

import re

import pytest

from desk import clock
from desk.models import ApiToken, AuditEvent, StepUp
from desk.people import tokens, totp
from wire.values import Secret

pytestmark = pytest.mark.django_db
SECRET = Secret("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
PAGE = "/account/tokens/"


@pytest.fixture
def owner(operator):
    totp.enrol(operator, SECRET)
    return operator


def code():
    return totp.code_at(SECRET, totp.step_at(clock.now()))


def typed(client, **changes):
    key = re.search(r'name="request_key" value="(\w+)"', client.get(PAGE).content.decode())[1]
    return {
        "request_key": key,
        "name": "Ledger script",
        "scope": "read",
        "days": "30",
        "code": code(),
        "confirmed": "yes",
    } | changes


def made(client, **changes):
    page = client.post(PAGE, typed(client, **changes)).content.decode()
    return re.search(r'id="link">(csn_[\w-]+)<', page)[1]


def test_a_token_is_made_shown_once_and_reads_only(signed_in, owner, client):
    browser = signed_in(owner)
    header = {"Authorization": f"Bearer {made(browser)}"}
    assert header["Authorization"][7:] not in browser.get(PAGE).content.decode()
    row = ApiToken.objects.get()
    assert (row.scope, row.name, row.person) == ("read", "Ledger script", owner)
    assert client.get("/api/v1/withdrawals/", headers=header).status_code == 200
    for path in ("/api/v1/withdrawals/", "/api/v1/orders/", "/api/v1/transfers/"):
        answer = client.post(path, {}, content_type="application/json", headers=header)
        assert answer.status_code == 403, path
        assert "this token is read-only" in answer.content.decode()
    event = AuditEvent.objects.get(action="token.created")
    assert (event.actor, event.after["scope"]) == (owner, "read")


def test_one_that_drafts_gets_as_far_as_the_person(signed_in, owner, client):
    header = {"Authorization": f"Bearer {made(signed_in(owner), scope='draft')}"}
    answer = client.post("/api/v1/withdrawals/", {}, content_type="application/json", headers=header)
    assert answer.status_code == 400


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"code": "000000"}, "Incorrect code"),
        ({"code": ""}, "Enter the code"),
        ({"days": "0"}, "greater than or equal to 1"),
        ({"days": "367"}, "less than or equal to 366"),
        ({"days": "many"}, "whole number"),
        ({"name": ""}, "required"),
        ({"name": "x" * 81}, "at most 80"),
        ({"scope": "approve"}, "not one of the available choices"),
        ({"request_key": "odd"}, "New token"),
    ],
)
def test_what_can_not_be_made_keeps_what_was_typed(signed_in, owner, changes, words):
    client = signed_in(owner)
    answer = client.post(PAGE, typed(client, **changes))
    page = answer.content.decode()
    assert answer.status_code in {409, 422}
    assert words in page
    assert changes.get("name", "Ledger script") in page
    assert not ApiToken.objects.exists()


def test_only_the_owner_revokes_it(signed_in, owner, treasury):
    row, _ = tokens.create(person=owner, name="script", now=clock.now())
    assert signed_in(treasury).post(f"{PAGE}{row.pk}/revoke/").status_code == 302
    row.refresh_from_db()
    assert row.revoked_at is None
    client = signed_in(owner)
    assert client.post(f"{PAGE}{row.pk}/revoke/").status_code == 302
    row.refresh_from_db()
    assert row.revoked_at is not None
    assert "revoked" in client.get(PAGE).content.decode()
    assert AuditEvent.objects.get(action="token.revoked").actor == owner


def test_the_command_makes_one_that_reads(owner, capsys):
    from django.core.management import call_command

    call_command("create_token", owner.username, "--scope", "read")
    assert ApiToken.objects.get().scope == "read"
    assert capsys.readouterr().out.startswith("csn_")


def test_the_second_factor_is_for_this_token_and_for_no_other_scope_or_days(signed_in, owner):
    browser = signed_in(owner)
    wish = typed(browser)
    reviewed = browser.post(PAGE, {name: value for name, value in wish.items() if name not in {"code", "confirmed"}})
    page = reviewed.content.decode()
    assert "Valid for" in page
    assert not ApiToken.objects.exists()
    content = {"name": "Ledger script", "scope": "read", "days": 30, "request_key": wish["request_key"]}
    signed = tokens.digest_of(owner, **content)
    assert f'name="digest" value="{signed}"' in page
    for change in ({"name": "Other"}, {"scope": "draft"}, {"days": 31}, {"request_key": "x" * 20}):
        assert tokens.digest_of(owner, **(content | change)) != signed
    browser.post(PAGE, wish)
    assert StepUp.objects.get(purpose=tokens.PURPOSE).digest == signed
