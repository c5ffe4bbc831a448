"""Keys of an account: sealed for their row, chosen by least privilege, watched for refusals, never shown."""

import io
import sys
from datetime import timedelta
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from desk import clock, sealing
from desk.models import AuditEvent
from exchange_ops import demo
from exchange_ops.keys import store
from exchange_ops.keys.models import ApiKey
from exchange_ops.keys.store import CannotAddKey, NoUsableKey
from exchange_ops.shared.models import Account, ClockReading
from exchange_ops.wire.catalogue import Right
from project.environment import ExchangePlace
from wire.errors import Refused
from wire.values import Secret

SECRET = "a-canary-that-must-not-sing-0123"
pytestmark = pytest.mark.django_db


def add(account, login="login-1", rights=(Right.PAYMENTS,), secret=SECRET, **changes):
    return store.add(
        **{
            "account": account,
            "label": "A key",
            "login": login,
            "secret": Secret(secret),
            "rights": list(rights),
            "actor": None,
            "now": clock.now(),
            **changes,
        }
    )


def test_a_secret_is_only_in_its_own_column_and_sealed(account):
    key = add(account)
    key.refresh_from_db()
    assert key.last_four == "0123"
    assert len(key.fingerprint) == 16
    assert store.credentials_of(key).secret == Secret(SECRET)
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
            assert SECRET not in str(cursor.fetchall()), table
    assert SECRET not in repr(store.credentials_of(key))


def test_a_sealed_secret_opens_in_its_own_row_alone(account):
    first, second = add(account), add(account, "login-2", secret="another secret of some length")
    ApiKey.objects.filter(pk=second.pk).update(sealed_secret=first.sealed_secret)
    second.refresh_from_db()
    with pytest.raises(NoUsableKey, match="can't be decrypted"):
        store.credentials_of(second)
    store.disable(key=first, actor=None, now=clock.now())
    with pytest.raises(NoUsableKey, match="can't be decrypted"):
        store.client_for(account, Right.PAYMENTS)


def test_a_short_secret_shows_none_of_its_characters(account):
    assert add(account, secret="short").last_four == ""


def test_equal_secrets_have_equal_fingerprints(account):
    first, second, third = add(account), add(account, "l-2"), add(account, "l-3", secret="something else entirely")
    assert first.fingerprint == second.fingerprint != third.fingerprint


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"login": " "}, "name and the API key"),
        ({"label": ""}, "name and the API key"),
        ({"rights": []}, "at least one permission"),
        ({"login": "login-1"}, "already has the API key"),
    ],
)
def test_a_key_that_makes_no_sense_is_refused(account, changes, sentence):
    add(account)
    before = ApiKey.objects.count()
    with pytest.raises(CannotAddKey, match=sentence):
        add(account, **{"login": "login-9", **changes})
    assert ApiKey.objects.count() == before


def test_adding_and_disabling_are_in_the_trail_without_the_secret(account, admin):
    key = add(account, actor=admin)
    assert store.disable(key=key, actor=admin, now=clock.now())
    assert not store.disable(key=key, actor=admin, now=clock.now())
    added, disabled = AuditEvent.objects.filter(subject=f"apikey:{key.pk}").order_by("seq")
    assert (added.action, disabled.action) == ("apikey.added", "apikey.disabled")
    assert SECRET not in added.after_text
    key.refresh_from_db()
    assert (key.active, key.sealed_secret) == (False, "")


def test_the_key_with_the_fewest_rights_that_suffice_is_taken(account, demo_keys):
    assert store._choose(account, Right.PAYMENTS, clock.now()).login in {"demo-read", "demo-withdraw"}
    assert store._choose(account, Right.WITHDRAW, clock.now()).login == "demo-withdraw"
    add(account, "narrow", rights=[Right.PAYMENTS])
    add(account, "wide", rights=list(Right))
    assert store._choose(account, Right.PAYMENTS, clock.now()).login == "narrow"
    assert store._choose(account, Right.ORDERS, clock.now()).login == "demo-trade"


def test_without_a_key_of_the_right_it_is_said_which_is_missing(account):
    key = add(account)
    with pytest.raises(NoUsableKey, match="Withdraw cryptocurrencies"):
        store.client_for(account, Right.WITHDRAW)
    store.disable(key=key, actor=None, now=clock.now())
    with pytest.raises(NoUsableKey, match="Payment information"):
        store.client_for(account, Right.PAYMENTS)
    with pytest.raises(NoUsableKey):
        store.client_for(Account.objects.create(name="Another"), Right.PAYMENTS)


def test_a_key_that_was_turned_down_is_taken_last(account, sandbox):
    narrow = add(account, "demo-full", rights=[Right.PAYMENTS], secret="not its secret at all")
    client = store.client_for(account, Right.PAYMENTS)
    with pytest.raises(Refused):
        client.get_balances()
    client.close()
    narrow.refresh_from_db()
    assert narrow.last_problem.startswith("1002")
    wide = add(account, "demo-withdraw", rights=[Right.PAYMENTS, Right.WITHDRAW], secret="demo-withdraw-secret")
    assert store._choose(account, Right.PAYMENTS, clock.now()) == wide
    assert store._choose(account, Right.PAYMENTS, clock.now() + timedelta(minutes=11)) == narrow


def test_using_a_key_leaves_the_time_and_sets_the_clock(account, demo_keys, sandbox):
    client = store.client_for(account, Right.WITHDRAW)
    assert client.estimate_withdrawal(currency="BTC", amount=Decimal(1)) > 0
    client.close()
    assert ApiKey.objects.get(login="demo-withdraw").last_used_at is not None
    assert ApiKey.objects.get(login="demo-read").last_used_at is None
    assert abs(ClockReading.objects.get(account=account).skew_ms) < 5_000


def test_the_ring_can_be_changed_under_the_keys(account, settings):
    key = add(account)
    old = key.sealed_secret
    settings.KEY_RING = ""
    ring = settings.KEY_RING_FILE.read_text()
    try:
        settings.KEY_RING_FILE.write_text("newer:" + "A" * 43 + "=\n" + ring)
        assert store.rewrap_all(sealing.rotate) == 1
        key.refresh_from_db()
        assert key.sealed_secret != old
        assert store.credentials_of(key).secret == Secret(SECRET)
        assert store.rewrap_all(sealing.rotate) == 0
    finally:
        settings.KEY_RING_FILE.write_text(ring)


def test_the_demo_makes_its_account_and_keys_once(db):
    demo.load()
    before = list(ApiKey.objects.values("pk", "sealed_secret"))
    demo.load()
    assert list(ApiKey.objects.values("pk", "sealed_secret")) == before
    account = Account.objects.get(name="Main desk")
    assert set(account.keys.values_list("login", flat=True)) == {"demo-read", "demo-trade", "demo-withdraw"}
    withdraw = account.keys.get(login="demo-withdraw")
    assert set(withdraw.rights) == {"Payment information", "Withdraw cryptocurrencies"}
    assert store.credentials_of(withdraw).secret == Secret("demo-withdraw-secret")


# The command ---------------------------------------------------------------------------------------------------------


def command(monkeypatch, *arguments, secret=SECRET):
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{secret}\n"))
    output = io.StringIO()
    options = ["--account", "Main desk", "--label", "Reader", "--login", "reader-1", "--right", "payments"]
    call_command("add_key", *options, "--secret-from-stdin", *arguments, stdout=output)
    return output.getvalue()


def test_the_command_stores_a_key_and_tells_no_secret(account, monkeypatch):
    facts = command(monkeypatch, "--right", "history", "--right", "payments")
    key = ApiKey.objects.get(login="reader-1")
    assert key.fingerprint in facts
    assert SECRET not in facts
    assert key.rights == ["Orderbook, History, Trading balance", "Payment information"]
    assert store.credentials_of(key).secret == Secret(SECRET)


def test_the_command_makes_an_account_only_when_told_to(db, monkeypatch):
    with pytest.raises(CommandError, match="--new-account"):
        command(monkeypatch)
    command(monkeypatch, "--new-account")
    assert Account.objects.get().keys.count() == 1
    with pytest.raises(CommandError, match="already has the API key"):
        command(monkeypatch)


def test_the_command_makes_an_account_at_an_exchange_of_the_settings(db, monkeypatch, settings):
    settings.EXCHANGE_PLACES = {"second": ExchangePlace("https://b.test", "wss://b.test")}
    said = command(monkeypatch, "--new-account", "--place", "second")
    assert "used on the exchange “second” only." in said
    account = Account.objects.get()
    assert (account.place, account.keys.count()) == ("second", 1)
    assert AuditEvent.objects.get(action="apikey.added").after["place"] == "second"
    with pytest.raises(CommandError, match="belongs to the exchange 'second'"):
        command(monkeypatch, "--place", "default")


def test_the_command_knows_no_other_exchange_and_makes_nothing_then(db, monkeypatch):
    with pytest.raises(CommandError, match=r"Exchange 'third' is not in the settings.*Configured: default"):
        command(monkeypatch, "--new-account", "--place", "third")
    with pytest.raises(CommandError, match="Enter a name"):
        command(monkeypatch, "--new-account", "--label", " ")
    assert not Account.objects.exists()


@pytest.mark.parametrize("secret", ["", "   "])
def test_the_command_takes_no_empty_secret(account, monkeypatch, secret):
    with pytest.raises(CommandError, match="empty"):
        command(monkeypatch, secret=secret)


@pytest.mark.parametrize("argument", ["--secret=x", "--right=everything"])
def test_the_command_takes_no_secret_and_no_odd_right_as_argument(account, monkeypatch, argument):
    with pytest.raises(CommandError):
        command(monkeypatch, argument)
