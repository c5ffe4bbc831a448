"""The pages of the keys: who sees what, what a refusal says, and that a secret that was typed is nowhere afterwards."""

import json
import logging
import re
import uuid

import pytest
from django.contrib.messages import get_messages
from django.db import connection
from django.template.loader import render_to_string
from django.test.utils import CaptureQueriesContext

from desk import clock, outbox
from desk.models import AuditEvent, StepUp
from desk.people import totp
from exchange_ops.keys import changes as key_changes
from exchange_ops.keys import probing, store
from exchange_ops.keys import status as key_status
from exchange_ops.keys.models import ApiKey
from exchange_ops.shared.models import Account
from exchange_ops.wire.catalogue import Right
from project.environment import ExchangePlace
from tests.exchange_ops import rows
from wire.values import Secret

pytestmark = pytest.mark.django_db
TOTP = Secret("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
CANARY = "a-canary-that-must-not-sing-0123"
RIGHTS = [Right.HISTORY.value, Right.PAYMENTS.value]


def code(step=0):
    return totp.code_at(TOTP, totp.step_at(clock.now()) + step)


@pytest.fixture
def keeper(admin):
    totp.enrol(admin, TOTP)
    return admin


@pytest.fixture
def client(signed_in, keeper):
    return signed_in(keeper)


@pytest.fixture
def account(db):
    return rows.account(now=clock.now())


def add(account, login="login-1", rights=(Right.HISTORY, Right.PAYMENTS), **changes):
    return store.add(
        account=account,
        label=f"Key {login}",
        login=login,
        secret=Secret(f"secret of {login}, long"),
        rights=list(rights),
        actor=None,
        now=clock.now(),
        **changes,
    )


def typed(of=None, replaces=None, **changes):
    request_key = str(uuid.uuid4())
    fields = {
        "label": "Payouts",
        "login": "new-login",
        "secret": CANARY,
        "rights": RIGHTS,
        "code": code(),
        "request_key": request_key,
        "digest": key_changes.new_digest(request_key, replaces=replaces),
    }
    if of is not None:
        fields["account"] = str(of.pk)
    return {name: value for name, value in {**fields, **changes}.items() if value is not None}


def confirmed(purpose, key, **changes):
    digest = key_changes.digest_of(purpose, ApiKey.objects.get(pk=key.pk))
    return {"digest": digest, "code": code(), **changes}


def page_of(client, path, status=200):
    response = client.get(path)
    assert response.status_code == status
    return response.content.decode()


def probed(key, observed=None, **changes):
    """As a worker leaves it behind."""
    seen = observed or {right.value: "granted" if right.value in key.rights else "missing" for right in Right}
    ApiKey.objects.filter(pk=key.pk).update(observed=seen, probed_at=clock.now(), **changes)
    key.refresh_from_db()
    return key


# Reading -------------------------------------------------------------------------------------------------------------


def test_the_list_shows_every_account_with_its_keys(signed_in, auditor, account):
    other = Account.objects.create(name="Second desk")
    Account.objects.create(name="Empty one")
    add(account, "first-login")
    add(other, "second-login")
    page = page_of(signed_in(auditor), "/keys/").partition("<main")[2]
    first, second, third = page.index("Main desk"), page.index("Second desk"), page.index("Empty one")
    assert first < page.index("first-login") < second < page.index("second-login") < third
    assert "No keys. Without one" in page
    assert "Add a key" not in page


def test_a_key_is_added_to_the_account_it_was_begun_at(client, account):
    other = Account.objects.create(name="Second desk")
    assert f"/keys/new/?account={other.pk}" in page_of(client, "/keys/")
    form = page_of(client, f"/keys/new/?account={other.pk}")
    assert f'<option value="{other.pk}" selected>Second desk' in form
    assert '<option value="" selected>Choose' in page_of(client, "/keys/new/")
    assert client.post("/keys/new/", typed(other)).status_code == 302
    assert ApiKey.objects.get().account == other


def test_without_an_account_the_list_says_how_to_begin(client):
    assert "add_key --new-account" in page_of(client, "/keys/")


@pytest.mark.parametrize("path", ["/keys/", "/api/v1/keys/"])
def test_the_list_costs_the_same_for_one_key_and_three(client, account, path):
    counts = []
    for login in ("one", "two", "three"):
        add(account, login)
        with CaptureQueriesContext(
            connection,
        ) as queries:
            page_of(client, path)
        counts.append(len(queries))
    assert counts[0] == counts[2]


def test_declared_and_observed_rights_stand_beside_each_other(client, account):
    key = probed(
        add(account, rights=[Right.PAYMENTS, Right.WITHDRAW]),
        {Right.PAYMENTS.value: "granted", Right.WITHDRAW.value: "missing", Right.ORDERS.value: "granted"},
    )
    page = page_of(client, f"/keys/{key.pk}/")
    assert "This key has more permissions than it needs: Place/cancel orders." in page
    assert "Permissions not granted by the exchange: Withdraw cryptocurrencies." in page
    assert "Granted, not needed" in page
    assert "Not checked" in page
    listed = page_of(client, "/keys/")
    assert "This key has more permissions than it needs" in listed


@pytest.mark.parametrize(
    ("changes", "label"),
    [
        ({"probed_at": None}, "Checking"),
        ({}, "In use"),
        ({"probe_problem": "no connection"}, "Check failed"),
        ({"last_problem": "1002", "last_problem_at": "later"}, "Refused by the exchange"),
        ({"active": False, "kept_at": "now"}, "Replaced, kept"),
        ({"active": False, "retired_at": "now", "sealed_secret": ""}, "Disabled"),
    ],
)
def test_a_key_says_how_it_is(client, account, changes, label):
    key = probed(add(account))
    moments = {"now": clock.now(), "later": clock.now() + rows.timedelta(seconds=5)}
    ApiKey.objects.filter(pk=key.pk).update(**{name: moments.get(value, value) for name, value in changes.items()})
    assert label in page_of(client, "/keys/")
    assert label in page_of(client, f"/keys/{key.pk}/")


def test_an_old_key_is_due_for_rotation(client, account):
    key = add(account)
    assert "Rotation due" not in page_of(client, "/keys/")
    ApiKey.objects.filter(pk=key.pk).update(created_at=clock.now() - key_status.ROTATE_AFTER)
    assert "Rotation due" in page_of(client, "/keys/")


def test_the_part_alone_is_read_again(client, account):
    key = add(account)
    part = client.get("/keys/", headers={"HX-Request": "true", "HX-Target": "keys"}).content.decode()
    assert part.lstrip().startswith('<div id="keys"')
    part = client.get(f"/keys/{key.pk}/", headers={"HX-Request": "true", "HX-Target": "key"}).content.decode()
    assert part.lstrip().startswith('<div id="key"')


def test_an_auditor_reads_and_is_offered_nothing(signed_in, auditor, account):
    key = add(account)
    page = page_of(signed_in(auditor), f"/keys/{key.pk}/")
    assert "<form" not in page.split("<main")[1].split("</main>")[0]
    assert "Disable" not in page


@pytest.mark.parametrize("path", ["/keys/99/", "/keys/99/rotate/", "/keys/99/disable/", "/keys/99999999999999999999/"])
def test_a_key_that_is_not_there(client, account, path):
    assert client.get(path).status_code == 404


# Adding --------------------------------------------------------------------------------------------------------------


def test_a_key_is_added_and_a_worker_is_woken(client, account, monkeypatch):
    woken = []
    monkeypatch.setattr(outbox, "wake", lambda *call: woken.append(call))
    response = client.post("/keys/new/", typed(account))
    key = ApiKey.objects.get(login="new-login")
    assert (response.status_code, response["Location"]) == (302, f"/keys/{key.pk}/")
    assert store.credentials_of(key).secret == Secret(CANARY)
    assert (key.label, key.rights, key.created_by.username) == ("Payouts", RIGHTS, "admin")
    assert (probing.TASK, key.pk) in woken
    page = page_of(client, response["Location"])
    assert "Checking" in page
    assert "Key added." in page
    assert 'ends in <span class="mono">0123</span>' in page


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"label": None}, "Enter a name for the key"),
        ({"label": " "}, "Enter a name for the key"),
        ({"label": "x" * 81}, "at most 80 characters"),
        ({"label": "gnp.exe\u202e"}, "invisible character"),
        ({"label": "a\x00b"}, "Null characters"),
        ({"label": "a\nb"}, "invisible character"),
        ({"login": None}, "Enter the API key"),
        ({"login": "a:b"}, "without spaces or colons"),
        ({"login": "ключ"}, "without spaces or colons"),
        ({"login": "a b"}, "without spaces or colons"),
        ({"login": "a\r\nX-Header: 1"}, "without spaces or colons"),
        ({"login": "x" * 201}, "at most 200 characters"),
        ({"login": "there-already"}, "already has the API key"),
        ({"secret": None}, "Enter the secret"),
        ({"secret": "   "}, "Enter the secret"),
        ({"secret": f"{CANARY}\x07"}, "invalid character"),
        ({"secret": f"{CANARY} {CANARY}"}, "invalid character"),
        ({"secret": f"{CANARY}é"}, "invalid character"),
        ({"secret": f"{CANARY}" * 100}, "at most 500 characters"),
        ({"rights": None}, "Choose at least one permission"),
        ({"rights": ["Everything"]}, "Choose a permission from the list"),
        ({"account": "99"}, "not one of the available choices"),
        ({"account": None}, "Choose the account"),
        ({"account": "1 OR 1=1"}, "not one of the available choices"),
        ({"code": ""}, "Enter the code from your authenticator app"),
        ({"code": "12345"}, "six-digit"),
        ({"request_key": "no uuid"}, "UUID"),
        ({"digest": "x"}, "valid value"),
    ],
)
def test_what_makes_no_sense_is_refused_beside_its_field(client, account, changes, sentence):
    add(account, "there-already")
    response = client.post("/keys/new/", typed(account, **changes))
    page = response.content.decode()
    assert response.status_code == 422
    assert sentence in page
    assert "Key not saved." in page
    assert CANARY not in page
    assert ApiKey.objects.count() == 1
    assert not StepUp.objects.exists()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"code": "000000"}, "Incorrect code"),
        ({"digest": "0" * 64}, "after you opened the page"),
        ({"code": "", "passkey": "{}"}, "Start again"),
        ({"code": "", "passkey": "x" * 9000}, "Start again"),
    ],
)
def test_without_the_right_second_factor_nothing_is_stored(client, account, changes, sentence):
    response = client.post("/keys/new/", typed(account, **changes))
    page = response.content.decode()
    assert response.status_code == 409
    assert f"Key not saved. {sentence}" in page or sentence in page
    assert CANARY not in page
    assert 'value="new-login"' in page  # what is no secret stays typed
    assert not ApiKey.objects.exists()


def test_two_tabs_and_a_double_click_add_one_key(client, account):
    sent = typed(account)
    first, second = client.post("/keys/new/", sent), client.post("/keys/new/", sent)
    assert first["Location"] == second["Location"]
    assert ApiKey.objects.count() == 1


def test_nothing_at_all_is_refused_too(client, account):
    for path in ("/keys/new/", f"/keys/{add(account).pk}/rotate/"):
        assert client.post(path, {}).status_code == 422


@pytest.mark.parametrize("role", ["operator", "treasury", "auditor"])
def test_nobody_else_gets_to_the_forms(signed_in, make_person, account, role):
    key = add(account)
    person = make_person(role, username="somebody")
    totp.enrol(person, TOTP)
    other = signed_in(person)
    before = list(ApiKey.objects.values())
    for path in ("new", f"{key.pk}/rotate", f"{key.pk}/disable", f"{key.pk}/switch", f"{key.pk}/probe"):
        response = other.post(f"/keys/{path}/", typed(account))
        assert response.status_code == 403, path
        assert CANARY not in response.content.decode()
    assert list(ApiKey.objects.values()) == before


# Rotating and disabling ----------------------------------------------------------------------------------------------


def test_a_rotation_on_the_pages(client, account):
    key = probed(add(account))
    page = page_of(client, f"/keys/{key.pk}/rotate/")
    assert "Step 1 of 3" in page
    assert (
        re.findall(r'name="rights" value="([^"]+)" checked', page) == key.rights
    )  # the rights of the key are offered for its successor
    response = client.post(f"/keys/{key.pk}/rotate/", typed(replaces=key, code=code(-1)))
    successor = ApiKey.objects.get(replaces=key)
    assert response["Location"] == f"/keys/{successor.pk}/"
    assert "Not in use yet." in page_of(client, f"/keys/{successor.pk}/")
    page = page_of(client, f"/keys/{key.pk}/")
    assert "Step 2 of 3" in page
    assert "new key is still being verified" in page
    assert "Switch to the new key" not in page
    probed(successor)
    assert "Switch to the new key" in page_of(client, f"/keys/{key.pk}/")
    assert client.post(f"/keys/{key.pk}/switch/", confirmed(key_changes.SWITCH, key)).status_code == 302
    page = page_of(client, f"/keys/{key.pk}/")
    assert "Step 3 of 3" in page
    assert "may still be in progress" in page
    ApiKey.objects.filter(pk=key.pk).update(kept_at=clock.now() - key_changes.KEPT_AT_LEAST)
    assert "Wipe the old key" in page_of(client, f"/keys/{key.pk}/")
    sent = confirmed(key_changes.FINISH, key, code=code(1))
    response = client.post(f"/keys/{key.pk}/finish/", sent, follow=True)
    assert "Rotation finished" in response.content.decode()
    key.refresh_from_db()
    assert (key.retired_at is not None, key.sealed_secret) == (True, "")
    assert client.post(f"/keys/{key.pk}/finish/", sent).status_code == 409


def test_going_back_on_the_page(client, account):
    key = probed(add(account))
    client.post(f"/keys/{key.pk}/rotate/", typed(replaces=key))
    response = client.post(f"/keys/{key.pk}/go-back/", follow=True)
    assert "the new key is wiped" in response.content.decode()
    assert client.post(f"/keys/{key.pk}/go-back/").status_code == 409


def test_a_step_without_its_form_says_what_it_takes(client, account):
    key = add(account)
    for name in ("switch", "finish"):
        answer = client.get(f"/keys/{key.pk}/{name}/")
        assert (answer.status_code, answer["Allow"]) == (405, "POST")


def test_what_stops_is_said_before_a_key_is_disabled(client, account):
    key = add(account)
    page = page_of(client, f"/keys/{key.pk}/disable/")
    assert "This is the only key for <bdi>Main desk</bdi> with these permissions" in page
    assert "The ledger, the bank balances and the live stream are no longer synced" in page
    assert "GET /account/balance" in page
    other = add(account, "login-2")
    assert "None: other keys for <bdi>Main desk</bdi> have the same permissions" in page_of(
        client, f"/keys/{key.pk}/disable/"
    )
    sent = confirmed(key_changes.DISABLE, key)
    store.disable(key=other, actor=None, now=clock.now())
    response = client.post(f"/keys/{key.pk}/disable/", sent)
    assert response.status_code == 409
    assert "after you opened the page" in response.content.decode()
    assert client.post(f"/keys/{key.pk}/disable/", {"digest": "0" * 64}).status_code == 422
    assert client.post(f"/keys/{key.pk}/disable/", confirmed(key_changes.DISABLE, key)).status_code == 302
    key.refresh_from_db()
    assert (key.active, key.sealed_secret) == (False, "")
    assert "Disabled" in page_of(client, f"/keys/{key.pk}/")


def test_asking_again_on_the_page(client, account):
    key = probed(add(account))
    assert f"{key}: checking the key" in client.post(f"/keys/{key.pk}/probe/", follow=True).content.decode()
    key.refresh_from_db()
    assert key.is_being_probed
    store.disable(key=key, actor=None, now=clock.now())
    response = client.post(f"/keys/{key.pk}/probe/")
    assert response.status_code == 409
    assert "its secret has been wiped" in response.content.decode()


# The canary ----------------------------------------------------------------------------------------------------------


def test_a_secret_that_was_typed_appears_nowhere(client, account, caplog, capfd, monkeypatch):
    sent = []
    monkeypatch.setattr("desk.live.announcements.announce", lambda topic, **hint: sent.append((topic, hint)))
    monkeypatch.setattr(outbox, "wake", lambda *call: sent.append(call))
    caplog.set_level(logging.DEBUG)
    answers = [client.post("/keys/new/", typed(account, code="000000")), client.post("/keys/new/", typed(account))]
    key = ApiKey.objects.get()
    twice = typed(account, login="new-login", code=code(1))
    answers += [
        client.post("/keys/new/", twice),
        client.post(f"/keys/{key.pk}/rotate/", typed(replaces=key, login="next")),
    ]
    answers += [client.get(path) for path in ("/keys/", f"/keys/{key.pk}/", "/audit/", f"/keys/{key.pk}/disable/")]
    answers += [client.get(path) for path in ("/api/v1/keys/", f"/api/v1/keys/{key.pk}/", "/api/v1/schema/")]
    for answer in answers:
        assert CANARY not in answer.content.decode() + str(answer.headers), answer.status_code
        assert CANARY not in str([str(message) for message in get_messages(answer.wsgi_request)])
    assert CANARY not in str(dict(client.session.items()))
    assert CANARY not in str(sent)
    output = capfd.readouterr()
    assert CANARY not in output.out + output.err + caplog.text
    assert CANARY not in json.dumps([event.after_text for event in AuditEvent.objects.all()])
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
            assert CANARY not in str(cursor.fetchall()), table


def test_a_view_that_breaks_does_not_tell_what_was_typed(client, account, caplog, capfd, monkeypatch):
    def breaks(**_):
        raise RuntimeError("broken in the middle")

    monkeypatch.setattr(key_changes, "add", breaks)
    client.raise_request_exception = False
    response = client.post("/keys/new/", typed(account))
    assert response.status_code == 500
    assert CANARY not in response.content.decode()
    output = capfd.readouterr()
    assert "broken in the middle" in output.err + caplog.text
    assert CANARY not in output.out + output.err + caplog.text


def test_the_form_itself_never_carries_a_secret(client, account):
    page = page_of(client, "/keys/new/")
    field = re.search(r'<input[^>]*name="secret"[^>]*>', page)[0]
    assert 'type="password"' in field
    assert 'autocomplete="off"' in field
    assert "value=" not in field
    assert 'data-keep="key-new"' in page  # without the secret: personal/test_drafts_in_a_browser.py
    assert client.get("/keys/new/")["Cache-Control"] == "no-store"


def test_a_hostile_name_is_only_text(client, account):
    add(account, "x<script>alert(1)</script>")
    assert "<script>alert(1)" not in page_of(client, "/keys/")
    assert render_to_string("exchange_ops/keys/_rights.html", {"rights": []})


def test_the_page_names_the_exchange_of_each_account_and_where_prices_come_from(signed_in, admin, account, settings):
    settings.EXCHANGE_PLACES = {"second": ExchangePlace("https://b.test", "wss://b.test")}
    client, sentence = signed_in(admin), "come from the exchange"
    page = page_of(client, "/keys/")
    assert settings.EXCHANGE_URL in page
    assert sentence not in page
    other = Account.objects.create(name="Second desk", place="second")
    key = ApiKey.objects.create(
        account=other, label="R", login="r", rights=["Payment information"], created_at=clock.now()
    )
    page = page_of(client, "/keys/")
    assert "https://b.test" in page
    assert sentence in page
    assert "https://b.test" in page_of(client, f"/accounts/{other.pk}/keys/{key.pk}/")
    settings.EXCHANGE_PLACES = {}
    for address in ("/keys/", f"/accounts/{other.pk}/keys/{key.pk}/"):
        page = page_of(client, address)
        assert "is not in the settings" in page
        assert "https://b.test" not in page
