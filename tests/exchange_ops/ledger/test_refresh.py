"""The copies of balances, currencies, symbols and prices: fresh, bounded, and honest about what could not be read."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.conf import settings

from desk import clock
from exchange_ops.keys import store as keys
from exchange_ops.keys.models import ApiKey
from exchange_ops.ledger import balances, walks
from exchange_ops.ledger import refresh as copies
from exchange_ops.ledger import sync as ledger
from exchange_ops.ledger.models import Balance, LedgerEntry
from exchange_ops.market import reference
from exchange_ops.market import reference as market
from exchange_ops.market.models import Currency, Symbol, Ticker
from exchange_ops.shared import heartbeats, leases, public_client
from exchange_ops.shared.models import Account, FollowerState
from exchange_ops.wire import records

pytestmark = pytest.mark.django_db


def sync(**more):
    return copies.sync_ledgers(now=clock.now(), client_for=keys.client_for, **more)


def refresh(now=None):
    return reference.refresh_market(now=now or clock.now(), open_client=public_client.open_client)


def store(account, *entries, now=None, full=True, wallet="bank"):
    found = [records.Balance(code, Decimal(available), Decimal(reserved)) for code, available, reserved in entries]
    return balances.store(account=account, wallet=wallet, entries=found, now=now or clock.now(), full=full)


def held(account, code, wallet="bank"):
    row = Balance.objects.get(account=account, currency=code, wallet=wallet)
    return row.available, row.reserved


# Balances ------------------------------------------------------------------------------------------------------------


def test_a_round_reads_the_ledger_and_both_wallets(account, demo_keys, sandbox):
    assert sync() == 1
    assert LedgerEntry.objects.filter(account=account).exists()
    assert held(account, "BTC") == (Decimal(100), Decimal(0))
    assert held(account, "BTC", "trading") == (Decimal(100), Decimal(0))
    assert not Balance.objects.filter(available=0, reserved=0).exists()
    row = heartbeats.state_of(f"ledger:{account.pk}")
    assert (row.problem, row.account) == ("", account)
    assert row.heard_at == row.beat_at


def test_a_ledger_last_read_before_the_clock_was_set_back_is_stale(account, demo_keys, sandbox):
    name, now = heartbeats.ledger_of(account), clock.now()
    heartbeats.succeeded(name, now=now, account=account)
    assert sync(only_stale=True) == 0
    heartbeats.succeeded(name, now=now + timedelta(hours=1), account=account)
    assert sync(only_stale=True) == 1
    assert heartbeats.state_of(name).heard_at < clock.now()


def test_a_hold_shows_in_available_and_reserved(account, demo_keys, client_as):
    sync()
    client_as("demo-withdraw").create_withdrawal(
        currency="BTC", amount=Decimal("0.25"), address="1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2"
    )
    sync()
    assert held(account, "BTC") == (Decimal("99.7495"), Decimal("0.2505"))


def test_what_a_full_listing_leaves_out_is_zero_and_a_notification_says_nothing_of_it(account):
    store(account, ("BTC", "1", "0"), ("ETH", "5", "1"))
    store(account, ("BTC", "2", "0"), full=False)
    assert (held(account, "BTC"), held(account, "ETH")) == ((2, 0), (5, 1))
    store(account, ("BTC", "2", "0"))
    assert held(account, "ETH") == (0, 0)


def test_an_earlier_reading_never_overwrites_a_later_one(account):
    now = clock.now()
    store(account, ("BTC", "1", "0"), now=now)
    store(account, ("BTC", "3", "0"), now=now + timedelta(seconds=2), full=False)
    store(account, ("BTC", "2", "0"), now=now + timedelta(seconds=1))
    assert held(account, "BTC") == (3, 0)


def test_equal_readings_only_move_the_time(account):
    now = clock.now()
    store(account, ("BTC", "1", "0"), now=now)
    store(account, ("BTC", "1.000", "0.0"), now=now + timedelta(seconds=5))
    assert Balance.objects.get().read_at == now + timedelta(seconds=5)


def test_zero_rows_that_never_held_anything_are_not_kept(account):
    store(account, ("BTC", "0", "0"), ("ETH", "0", "0.1"))
    assert list(Balance.objects.values_list("currency", flat=True)) == ["ETH"]


@pytest.mark.parametrize(
    "entry", [("X" * 21, "1", "0"), ("BTC", "1e40", "0"), ("BTC", "0", "1e-30"), ("BTC", "1" + "0" * 36, "0")]
)
def test_a_balance_that_can_not_be_kept_is_left_out_with_a_sentence(account, entry):
    assert "was not stored" in store(account, entry, ("ETH", "1", "0"))[0]
    assert list(Balance.objects.values_list("currency", flat=True)) == ["ETH"]


def test_many_digits_survive(account):
    amount = "123456789012345678901234567890123456.123456789012345678901234"
    store(account, ("BTC", amount, "0.000000000000000000000001"))
    assert held(account, "BTC") == (Decimal(amount), Decimal("0.000000000000000000000001"))


# Rounds --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("operation", ["get_transactions", "get_balances"])
@pytest.mark.parametrize(
    "fault", [{"kind": "drop_before", "times": 9}, {"kind": "html", "times": 1}, {"kind": "refuse", "code": 1003}]
)
def test_a_round_that_fails_says_so_and_the_next_one_succeeds(*, account, demo_keys, sandbox, operation, fault):
    sync()
    before = heartbeats.state_of(f"ledger:{account.pk}").heard_at
    sandbox.control("faults", {"operation": operation, **fault})
    assert sync() == 0
    row = heartbeats.state_of(f"ledger:{account.pk}")
    assert row.heard_at == before < row.beat_at
    assert "could not be synced" in row.problem
    sandbox.control("faults", method="DELETE")
    ApiKey.objects.update(last_problem_at=None)
    assert sync() == 1
    assert heartbeats.state_of(f"ledger:{account.pk}").problem == ""


def test_trading_balances_that_can_not_be_read_do_not_stop_the_ledger(account, demo_keys, sandbox):
    for key in ApiKey.objects.filter(login__in=["demo-read", "demo-trade"]):
        keys.disable(key=key, actor=None, now=clock.now())
    assert sync() == 1
    assert "trading balances could not be synced" in heartbeats.state_of(f"ledger:{account.pk}").problem
    assert Balance.objects.filter(wallet="bank").exists()
    assert not Balance.objects.filter(wallet="trading").exists()


def test_an_account_without_keys_does_not_stop_the_others(account, demo_keys, sandbox):
    empty = Account.objects.create(name="A new one")
    assert sync() == 1
    assert "no active key" in heartbeats.state_of(f"ledger:{empty.pk}").problem


def test_only_stale_ledgers_are_read_when_asked_so(account, demo_keys, sandbox):
    assert sync(only_stale=True) == 1
    assert sync(only_stale=True) == 0
    FollowerState.objects.update(heard_at=clock.now() - timedelta(seconds=16))
    assert sync(only_stale=True) == 1


def test_a_walk_that_somebody_else_is_on_is_left_to_them(account, demo_keys, sandbox):
    assert leases.hold(name=f"walk:{account.pk}", holder="another", now=clock.now())
    assert sync() == 0
    assert sandbox.control("calls?operation=get_transactions")["calls"] == []
    leases.release(name=f"walk:{account.pk}", holder="another")
    assert sync() == 1


def test_a_history_that_is_still_being_read_is_said(account, demo_keys, sandbox, monkeypatch):
    whole = ledger.sync
    short = {"walk_for": timedelta(0), "page_size": 4}
    monkeypatch.setattr(ledger, "sync", lambda **arguments: whole(**arguments, **short))
    assert sync() == 0
    row = heartbeats.state_of(f"ledger:{account.pk}")
    assert row.heard_at is None
    assert "4 transactions loaded so far" in row.problem
    while sync() == 0:
        assert LedgerEntry.objects.count() <= 11
    assert heartbeats.state_of(f"ledger:{account.pk}").problem == ""


def test_a_bad_balance_is_said_and_the_others_are_kept(account, demo_keys, sandbox):
    sandbox.control(
        "faults", {"operation": "get_balances", "kind": "echo_differs", "field": "reserved", "value": "NaN", "times": 1}
    )
    assert sync() == 1
    assert "Unreadable bank balance" in heartbeats.state_of(f"ledger:{account.pk}").problem


# Market --------------------------------------------------------------------------------------------------------------


def test_the_first_refresh_brings_currencies_symbols_and_prices(sandbox):
    assert refresh()
    bitcoin = Currency.objects.get(code="BTC")
    assert bitcoin.payout_enabled
    assert bitcoin.payout_fee == Decimal("0.0005")
    assert Currency.objects.filter(delisted=True).exists()
    assert Symbol.objects.get(code="BTCUSD").tick_size == Decimal("0.01")
    assert Symbol.objects.get(code="XRPUSDT").quote_currency == "USD"
    assert Ticker.objects.get(symbol="BTCUSD").last > 0
    assert heartbeats.state_of("market").problem == ""


def test_prices_are_read_every_time_and_descriptions_every_five_minutes(sandbox):
    now = clock.now()
    for seconds in (0, 15, 299, 300):
        refresh(now + timedelta(seconds=seconds))
    calls_made = [sandbox.control(f"calls?operation={name}")["calls"] for name in ("get_tickers", "get_currencies")]
    assert [len(calls) for calls in calls_made] == [4, 2]
    assert Ticker.objects.values_list("read_at", flat=True).distinct().get() == now + timedelta(seconds=300)


def test_a_change_is_written_and_the_rest_only_gets_older(sandbox):
    now = clock.now()
    refresh(now)
    fault = {"operation": "get_currencies", "kind": "echo_differs", "times": 1, "field": "payoutEnabled", "id": "ETH"}
    sandbox.control("faults", {**fault, "value": False})
    client = public_client.open_client()
    done = market.refresh_currencies(client=client, now=now + timedelta(minutes=5))
    client.close()
    assert done.written == 1
    assert not Currency.objects.get(code="ETH").payout_enabled
    assert Currency.objects.get(code="BTC").read_at == now + timedelta(minutes=5)


def test_a_currency_that_is_no_longer_listed_is_closed(sandbox):
    now = clock.now()
    Currency.objects.create(code="OLD", payout_enabled=True, payin_enabled=True, transfer_enabled=True, read_at=now)
    refresh(now + timedelta(minutes=6))
    old = Currency.objects.filter(code="OLD").values_list("payout_enabled", "payin_enabled", "transfer_enabled")
    assert old.get() == (False, False, False)


@pytest.mark.parametrize("operation", ["get_currencies", "get_symbols", "get_tickers"])
@pytest.mark.parametrize(
    "kind", [{"kind": "html"}, {"kind": "status", "status": 500, "times": 9}, {"kind": "redirect"}]
)
def test_an_exchange_that_answers_badly_costs_one_refresh(sandbox, operation, kind):
    sandbox.control("faults", {"operation": operation, "times": 1, **kind})
    assert not refresh()
    assert "Prices could not be loaded" in heartbeats.state_of("market").problem
    sandbox.control("faults", method="DELETE")
    assert refresh()


@pytest.mark.parametrize(
    ("operation", "field", "value"),
    [
        ("get_currencies", "payoutFee", "NaN"),
        ("get_currencies", "fullName", "x" * 500),
        ("get_currencies", "fullName", "a\u0000b"),
        ("get_currencies", "precisionPayout", 10**9),
        ("get_currencies", "payinConfirmations", -1),
        ("get_symbols", "tickSize", "1e99"),
        ("get_symbols", "baseCurrency", ""),
        ("get_tickers", "last", "Infinity"),
        ("get_tickers", "volume", None),
        ("get_tickers", "timestamp", "soon"),
    ],
)
def test_records_that_can_not_be_kept_are_left_out_with_a_sentence(sandbox, operation, field, value):
    sandbox.control(
        "faults", {"operation": operation, "kind": "echo_differs", "field": field, "value": value, "times": 1}
    )
    assert refresh()
    assert heartbeats.state_of("market").problem
    model = {"get_currencies": Currency, "get_symbols": Symbol, "get_tickers": Ticker}[operation]
    assert model.objects.count() == 0
    refresh(clock.now() + timedelta(minutes=6))
    assert model.objects.count() > 0


# One walk at a time ---------------------------------------------------------------------------------------------------


def test_a_walk_that_lasts_longer_than_a_lease_is_still_one_walk(account, client_as):
    """The lease is renewed at each page and lasts longer than a call may: a walk that lost it goes no further."""
    assert walks.LEASE_LASTS > timedelta(seconds=settings.CALL_DEADLINE_SECONDS) > leases.LASTS
    moments = []
    done = ledger.sync(
        account=account,
        client=client_as("demo-read"),
        now=clock.now(),
        page_size=2,
        keep_running=lambda moment: moments.append(moment) or len(moments) < 3,
    )
    assert (len(moments), done.complete, LedgerEntry.objects.count()) == (3, False, 6)
    now = clock.now()
    for moment in (now, now + timedelta(seconds=35), now + timedelta(seconds=70)):
        assert leases.hold(name="walk", holder="one", now=moment, lasts=walks.LEASE_LASTS)
        assert not leases.hold(name="walk", holder="two", now=moment + timedelta(seconds=34))
