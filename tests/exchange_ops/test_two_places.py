"""Two accounts at two exchanges: each call, stream, budget, clock and probe of an account is seen at its own alone.

Both sandboxes take the same keys, so that a call that strayed would be answered, and not turned down by chance.
"""

import ast
import threading
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import IntegrityError, transaction

from desk import clock
from exchange_ops.client import budgets
from exchange_ops.keys import probing
from exchange_ops.keys import store as keys
from exchange_ops.ledger.models import Balance, LedgerEntry
from exchange_ops.ledger.refresh import sync_ledgers
from exchange_ops.market import interest, reference
from exchange_ops.policy import quorum
from exchange_ops.processes import Following
from exchange_ops.shared import clocks, facts, places, public_client
from exchange_ops.shared.models import Account, ClockReading, FollowerState
from exchange_ops.subaccounts import readings as subaccounts
from exchange_ops.wire.catalogue import Right
from exchange_ops.withdrawals import workflow as withdrawals
from project.environment import ExchangePlace
from sandbox.serving import InProcessSandbox
from tests.architecture import tree
from tests.exchange_ops.test_followers import QUICK, until
from wire.values import Secret

pytestmark = [pytest.mark.django_db(transaction=True)]
ADDRESS = "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2"
MAIN, OTHER = "demo-withdraw", "demo-full"  # the key that each account has here


@pytest.fixture
def second(sandbox, settings):
    """The exchange named "second"; the one of `sandbox` is the default."""
    with InProcessSandbox(seed=2) as server:
        settings.EXCHANGE_PLACES = {"second": ExchangePlace(server.url, server.ws_url)}
        yield server


def key_of(account, login):
    rights = [Right.ORDERS, Right.HISTORY, Right.PAYMENTS, Right.WITHDRAW]
    secret = Secret(f"{login}-secret")
    return keys.add(
        account=account, label=login, login=login, secret=secret, rights=rights, actor=None, now=clock.now()
    )


@pytest.fixture
def other(account, second):
    """An account at the second exchange, beside the one at the default; each has one key."""
    key_of(account, MAIN)
    found = Account.objects.create(name="Second desk", place="second")
    facts.note(account=found, name=facts.HOLD_END, value=facts.LAPSES, now=clock.now())
    key_of(found, OTHER)
    return found


def calls(server, *, kind="/"):
    """The calls that an exchange received with a key or by a socket, as (key, path)."""
    received = server.control("calls")["calls"]
    return [(call["key"], call["path"]) for call in received if kind in call["path"]]


def logins(server):
    return {login for login, _ in calls(server)} - {None}


def test_each_reading_is_of_the_account_at_its_own_exchange(account, other, sandbox, second):
    sync_ledgers(now=clock.now(), client_for=keys.client_for)
    subaccounts.sync(now=clock.now(), client_for=keys.client_for)
    assert (logins(sandbox), logins(second)) == ({MAIN}, {OTHER})
    for one in (account, other):
        assert LedgerEntry.objects.filter(account=one).exists()
        assert Balance.objects.filter(account=one).exists()


def test_a_payout_is_reserved_and_released_at_the_exchange_of_its_account_alone(
    account, other, sandbox, second, operator
):
    quorum.ensure_first(now=clock.now())
    reference.refresh_market(now=clock.now(), open_client=public_client.open_client)
    row = withdrawals.request(
        initiator=operator,
        account=other,
        currency="BTC",
        amount=Decimal("0.05"),
        address=ADDRESS,
        payment_id="",
        include_fee=False,
        reason="An invoice",
        request_key="key-1",
        now=clock.now(),
    )

    def becomes(state):
        def step():
            row.__class__.objects.filter(pk=row.pk).update(next_action_at=clock.now() - timedelta(seconds=1))
            withdrawals.advance(row.pk, now=clock.now(), client_for=keys.client_for)
            row.refresh_from_db()
            return row.state == state

        return until(step)

    assert becomes("held")
    assert logins(sandbox) == set(), "nobody asked the other exchange anything with a key"
    assert logins(second) == {OTHER}
    second.control("clock", {"advance_ms": 57 * 60_000})
    assert becomes("rolled_back"), "the hour of a reservation is read from the clock of its own exchange"
    assert logins(sandbox) == set()
    assert second.control("ledger")["balanced"]


def test_public_market_data_come_from_the_default_exchange(other, sandbox, second):
    reference.refresh_market(now=clock.now(), open_client=public_client.open_client)
    assert calls(sandbox, kind="/public/")
    assert calls(second) == []


def test_each_probe_asks_the_exchange_of_its_key(account, other, sandbox, second):
    reference.refresh_market(now=clock.now(), open_client=public_client.open_client)
    for key in [*account.keys.all(), *other.keys.all()]:
        probing.fill(key_id=key.pk, open_client=keys.client_of, now=clock.now())
    assert (logins(sandbox), logins(second)) == ({MAIN}, {OTHER})
    assert other.keys.get().observed[Right.ORDERS.value] == "granted"
    assert account.keys.get().observed[Right.ORDERS.value] == "missing"


def test_each_account_keeps_the_clock_of_its_own_exchange(account, other, sandbox, second):
    second.control("clock", {"advance_ms": 3_600_000})
    sync_ledgers(now=clock.now(), client_for=keys.client_for)
    now = clock.now()
    assert clocks.exchange_now(account=other, now=now) - now > timedelta(minutes=50)
    assert clocks.exchange_now(account=account, now=now) - now < timedelta(minutes=10)
    assert ClockReading.objects.filter(account=account).exists()


def test_the_same_login_at_two_exchanges_has_two_budgets(account, other, sandbox, second):
    key_of(account, OTHER)
    operation = "get_balances"
    with_key = [keys.client_of(one.keys.get(login=OTHER)) for one in (account, other)]
    try:
        for client in with_key:
            client.call(operation)
    finally:
        for client in with_key:
            client.close()
    made = {(address, login) for address, login, _ in budgets.of_this_process._budgets if login == OTHER}
    assert {(sandbox.url, OTHER), (second.url, OTHER)} <= made


@pytest.fixture
def following(settings):
    """The following process in a thread of this one."""
    settings.MARKET_PINNED = ["BTCUSD"]
    stopping = threading.Event()
    process = Following(now=clock.now, client_for=keys.client_for, sweep_every_s=3600, rhythm=QUICK)

    def run():
        from django.db import connection

        try:
            process.run(stopping)
        finally:
            connection.close()

    thread = threading.Thread(target=run, daemon=True)

    def begin():
        thread.start()
        return process

    yield begin
    stopping.set()
    thread.join(10)
    assert not thread.is_alive()


def stream(name, account):
    return FollowerState.objects.filter(name=f"{name}:{account.pk}").first()


def is_live(name, account):
    return until(lambda: stream(name, account) is not None and stream(name, account).connected)


def test_each_stream_is_opened_at_the_exchange_of_its_account(account, other, sandbox, second, following):
    reference.refresh_market(now=clock.now(), open_client=public_client.open_client)
    interest.pin(now=clock.now())
    following()
    for one in (account, other):
        assert is_live("stream", one)
    assert is_live("trading stream", other)
    assert until(lambda: "/api/2/ws/public" in {path for _, path in calls(sandbox, kind="/ws/")}), calls(sandbox)
    assert {login for login, _ in calls(sandbox, kind="/ws/")} <= {MAIN, None}
    assert {login for login, _ in calls(second, kind="/ws/")} <= {OTHER, None}
    assert {path for _, path in calls(second, kind="/ws/")} == {"/api/2/ws/account", "/api/2/ws/trading"}


# An exchange that the settings do not name ---------------------------------------------------------------------------


@pytest.fixture
def lost(account, sandbox, settings):
    """An account whose place was in the settings when it was made, and is there no more."""
    settings.EXCHANGE_PLACES = {"gone": ExchangePlace("http://127.0.0.1:9", "ws://127.0.0.1:9")}
    found = Account.objects.create(name="Lost desk", place="gone")
    key_of(found, OTHER)
    settings.EXCHANGE_PLACES = {}
    return found


def test_an_account_without_its_exchange_asks_nobody_else(lost, sandbox):
    key = lost.keys.get()
    for ask in (
        lambda: keys.client_for(lost, Right.PAYMENTS),
        lambda: keys.client_for(lost, None),
        lambda: keys.client_of(key),
        lambda: keys.stream_key(lost),
        lambda: keys.place_of(lost),
    ):
        with pytest.raises(keys.NoUsableKey, match="its exchange “gone” is not in the settings"):
            ask()
    sync_ledgers(now=clock.now(), client_for=keys.client_for)
    probing.fill(key_id=key.pk, open_client=keys.client_of, now=clock.now())
    key.refresh_from_db()
    assert "is not in the settings" in key.probe_problem
    assert logins(sandbox) == set()


def test_its_streams_are_not_opened_and_say_why_while_others_are(account, lost, sandbox, following):
    key_of(account, MAIN)
    process = following()
    assert is_live("stream", account)
    assert until(lambda: stream("stream", lost) is not None and stream("trading stream", lost) is not None)
    for name in ("stream", "trading stream"):
        assert "is not in the settings" in stream(name, lost).problem
        assert not stream(name, lost).connected
    assert lost.pk not in {*process._followers, *process._traders}
    assert logins(sandbox) <= {MAIN}


def test_no_key_is_taken_for_it(lost):
    with pytest.raises(keys.CannotAddKey, match="Nothing is synced or sent for it"):
        key_of(lost, "another")


def test_the_database_keeps_an_account_at_its_exchange(account):
    with pytest.raises(IntegrityError, match="stays at its exchange"), transaction.atomic():
        Account.objects.filter(pk=account.pk).update(place="second")
    account.place, account.quote_currency = "default", "EUR"
    account.save()
    assert Account.objects.get(pk=account.pk).quote_currency == "EUR"


def test_every_account_from_before_is_at_the_default_exchange(account, settings):
    assert (account.place, places.place_of(account)) == ("default", places.default())
    assert places.default() == places.Place("default", settings.EXCHANGE_URL, settings.EXCHANGE_WS_URL)


def test_nothing_of_the_desk_takes_the_address_of_an_exchange_past_its_account():
    """Whoever calls for an account asks `places`; the settings' own names are read there alone."""
    readers = set()
    for path in [*(tree.ROOT / "exchange_ops").rglob("*.py"), *(tree.ROOT / "desk").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and node.attr in {"EXCHANGE_URL", "EXCHANGE_WS_URL", "EXCHANGE_PLACES"}:
                readers.add(str(path.relative_to(tree.ROOT)))
    assert readers == {"exchange_ops/shared/places.py"}
