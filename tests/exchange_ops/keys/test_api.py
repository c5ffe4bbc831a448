"""The keys for programs: exactly the described members, never a secret, and nothing that could be changed."""

import pytest
from django.core.management import call_command

from desk import clock
from exchange_ops.keys import store
from exchange_ops.keys.models import ApiKey
from exchange_ops.shared.models import Account
from exchange_ops.wire.catalogue import Right
from tests.exchange_ops import rows
from wire.values import Secret

pytestmark = pytest.mark.django_db
CANARY = "a-canary-that-must-not-sing-0123"
MEMBERS = {
    "id",
    "account",
    "exchange",
    "label",
    "login",
    "last_four",
    "fingerprint",
    "state",
    "rights",
    "same_account",
    "replaces",
    "added_by",
    "created_at",
    "last_used_at",
    "probed_at",
    "probe_problem",
    "last_problem",
    "last_problem_at",
    "kept_at",
    "retired_at",
    "rotation_due",
}


@pytest.fixture
def key(admin):
    return store.add(
        account=rows.account(now=clock.now()),
        label="Reader",
        login="login-1",
        secret=Secret(CANARY),
        rights=[Right.PAYMENTS],
        actor=admin,
        now=clock.now(),
    )


def test_a_key_is_told_without_its_secret(with_token, admin, key):
    ApiKey.objects.filter(pk=key.pk).update(
        observed={"Payment information": "granted", "Withdraw cryptocurrencies": "granted"}, probed_at=clock.now()
    )
    answer = with_token(admin).get(f"/api/v1/keys/{key.pk}/")
    body = answer.json()
    assert set(body) == MEMBERS
    assert CANARY not in answer.content.decode()
    assert (body["account"], body["login"], body["last_four"], body["added_by"]) == (
        "Main desk",
        "login-1",
        "0123",
        "admin",
    )
    assert (body["state"], body["rotation_due"], body["replaces"]) == ("in_use", False, None)
    assert body["rights"] == [
        {"name": "Place/cancel orders", "declared": False, "observed": "unknown"},
        {"name": "Orderbook, History, Trading balance", "declared": False, "observed": "unknown"},
        {"name": "Payment information", "declared": True, "observed": "granted"},
        {"name": "Withdraw cryptocurrencies", "declared": False, "observed": "granted"},
    ]


def test_the_keys_of_every_account_are_listed(with_token, auditor, key):
    other = Account.objects.create(name="Second desk")
    ApiKey.objects.filter(pk=key.pk).update(account=other)
    store.disable(key=key, actor=None, now=clock.now())
    (answer,) = with_token(auditor).get("/api/v1/keys/").json()["items"]
    assert (answer["account"], answer["state"]) == ("Second desk", "disabled")


@pytest.mark.parametrize("role", ["operator", "treasury", ""])
def test_others_are_refused(with_token, make_person, key, role):
    client = with_token(make_person(*([role] if role else []), username="somebody"))
    for path in ("/api/v1/keys/", f"/api/v1/keys/{key.pk}/"):
        answer = client.get(path)
        assert answer.status_code == 403
        assert "login-1" not in answer.content.decode()


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_nothing_can_be_changed_here(with_token, admin, key, method):
    before = list(ApiKey.objects.values())
    for path in ("/api/v1/keys/", f"/api/v1/keys/{key.pk}/"):
        assert getattr(with_token(admin), method)(path, {"active": False}, format="json").status_code == 405
    assert list(ApiKey.objects.values()) == before


def test_what_is_not_there_is_a_404(with_token, admin, key):
    assert with_token(admin).get("/api/v1/keys/99/").status_code == 404


def test_the_description_is_exact(with_token, admin, key, tmp_path):
    file = tmp_path / "schema.json"
    call_command("spectacular", "--validate", "--fail-on-warn", "--format", "openapi-json", "--file", str(file))
    import json

    described = json.loads(file.read_text())
    shape = described["components"]["schemas"]["KeyOut"]
    answer = with_token(admin).get(f"/api/v1/keys/{key.pk}/").json()
    assert set(shape["properties"]) == set(answer) == set(shape["required"])
    assert CANARY not in file.read_text()
    assert "secret" not in str(shape["properties"]).lower()
    operations = described["paths"]["/api/v1/keys/{key_id}/"]
    assert set(operations) == {"get"}
    assert set(operations["get"]["responses"]) == {"200", "401", "403", "404", "429"}
