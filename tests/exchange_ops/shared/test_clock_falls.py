"""This machine's clock an hour back: what was read or written before is old, and timers, codes and readiness say so."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import transaction

from desk import clock
from desk.audit import clock_falls, trail
from desk.models import SpentTotpStep
from desk.people import stepup, totp
from desk.rows import bulk
from exchange_ops.keys import rights
from exchange_ops.keys.models import ApiKey
from exchange_ops.ledger import balances
from exchange_ops.ledger.models import Balance
from exchange_ops.margin import refresh, reports
from exchange_ops.margin.models import MarginAccount, MarginPosition, MarginReport
from exchange_ops.market import reference, valuation
from exchange_ops.market.models import Currency, Symbol, Ticker
from exchange_ops.orders.models import FeeRates
from exchange_ops.orders.ticket import fee_rates
from exchange_ops.reconciliation import scheduled_checks
from exchange_ops.shared import clocks, facts, heartbeats, leases, room
from exchange_ops.shared.models import CheckRun
from exchange_ops.shared.views import sources
from exchange_ops.subaccounts import readings
from exchange_ops.wire import records
from exchange_ops.withdrawals import workflow
from exchange_ops.withdrawals.models import Withdrawal
from tests.exchange_ops import rows

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


@pytest.fixture
def fallen():
    """The moment that the clock shows now; the trail has an entry from an hour later."""
    now = clock.now()
    with transaction.atomic():
        trail.record(actor=None, action="a.fact", subject="a:1", before={}, after={}, now=now + HOUR)
    return now


def test_readiness_says_that_the_clock_was_set_back(fallen):
    answer = room.ROOM.checks["clock"].ask()
    assert not answer.ok
    assert "59 min behind" in answer.sentence


def test_a_price_from_before_is_old_and_replaced_by_the_next_reading(account, fallen):
    rows.price(now=fallen + HOUR)
    value = valuation.values_of(amounts={"BCH": Decimal(1)}, quote="USD", now=fallen)["BCH"]
    assert value.rate is None
    assert "set back" in value.reason
    (ticker,) = Ticker.objects.all()
    columns = [getattr(ticker, name) for name in bulk.table(Ticker).names]
    columns[bulk.table(Ticker).names.index("read_at")] = fallen
    bulk.table(Ticker).keep([columns])
    assert Ticker.objects.get().read_at == fallen
    Ticker.objects.update(read_at=fallen + HOUR)
    bulk.table(Ticker).confirm([ticker.symbol], read_at=fallen)
    assert valuation.values_of(amounts={"BCH": Decimal(1)}, quote="USD", now=fallen)["BCH"].rate is not None


def test_timers_from_before_go_off_and_later_ones_wait(operator, payable, fallen):
    soon, later = (rows.held(operator, now=fallen) for _ in range(2))
    Withdrawal.objects.filter(pk=soon.pk).update(next_action_at=fallen + HOUR + timedelta(seconds=15))
    Withdrawal.objects.filter(pk=later.pk).update(next_action_at=fallen + 2 * HOUR)
    due = workflow.QUEUE.due(now=fallen)
    assert [row.pk for row in due] == [soon.pk]
    assert not workflow.QUEUE.due(now=fallen - 2 * timedelta(days=1)).exists(), "a larger fall moves no timer"


def test_a_lease_from_before_keeps_nobody_out(fallen):
    assert leases.hold(name="walk", holder="one", now=fallen + HOUR)
    assert not leases.is_held(name="walk", now=fallen)
    assert leases.hold(name="walk", holder="two", now=fallen)
    assert not leases.hold(name="walk", holder="three", now=fallen)


def test_a_used_code_says_when_the_next_one_counts(treasury, fallen):
    step = totp.step_at(fallen)
    SpentTotpStep.objects.create(person=treasury, step=step)
    assert "up to 30 seconds" in stepup._until_the_next_code(totp.usable_from(treasury), fallen)
    SpentTotpStep.objects.update(step=step + 120)
    sentence = stepup._until_the_next_code(totp.usable_from(treasury), fallen)
    assert f"{totp.usable_from(treasury):%H:%M} UTC" in sentence
    assert totp.usable_from(treasury) - fallen > HOUR - timedelta(minutes=1)


def store(account, available, *, now):
    found = [records.Balance("BCH", Decimal(available), Decimal(0))]
    balances.store(account=account, wallet="bank", entries=found, now=now, full=True)
    row = Balance.objects.get(currency="BCH", wallet="bank")
    return row.available, row.read_at


@pytest.mark.parametrize("available", ["500", "7"])
def test_balances_from_before_move_again_with_the_next_reading(account, fallen, available):
    rows.balance(bank="500", now=fallen + HOUR)
    assert store(account, available, now=fallen) == (Decimal(available), fallen)


@pytest.mark.parametrize("began", [timedelta(seconds=5), timedelta(minutes=3)])
def test_of_two_readings_at_once_the_older_one_still_overwrites_nothing(account, began):
    later = clock.now()
    now = later - began  # this one began earlier, however slow its calls were
    rows.balance(bank="500", now=later)
    assert store(account, "7", now=now) == (Decimal(500), later)
    rows.margin_position(now=later)
    refresh.apply(account=account, accounts=[], now=now, complete=True)
    reports.note_gone(account=account, listed=set(), now=now)
    assert MarginPosition.objects.get().gone_at is None
    assert not MarginReport.objects.exists()


def test_a_position_from_before_that_has_ended_is_ended(account, fallen):
    rows.margin_position(now=fallen + HOUR)
    reports.note_gone(account=account, listed=set(), now=fallen)
    refresh.apply(account=account, accounts=[], now=fallen, complete=True)
    assert (MarginPosition.objects.get().gone_at, MarginAccount.objects.get().gone_at) == (fallen, fallen)
    assert MarginReport.objects.get().reason == reports.GONE


def test_a_position_from_before_that_stays_is_read_anew(account, fallen):
    row = rows.margin_position(now=fallen - HOUR)
    MarginPosition.objects.update(read_at=fallen + HOUR)
    columns = {name: getattr(row, name) for name in ("quantity", "price_entry", "created_at", "updated_at")}
    outcome = refresh._Reading(account, fallen).keep(MarginPosition, row.symbol, columns | {"pnl": Decimal(-9)})
    assert not outcome.refused
    row.refresh_from_db()
    assert (row.pnl, row.read_at) == (-9, fallen)


def test_sub_accounts_from_before_are_read_anew_and_missed(account, fallen):
    sub, gone = (rows.subaccount(number, now=fallen + HOUR) for number in (7001, 7002))
    listed = [records.SubAccount(id=7001, email=sub.email, status="disabled")]
    readings.store_list(account=account, entries=listed, now=fallen)
    for row in (sub, gone):
        row.refresh_from_db()
    assert (sub.status, sub.observed_at) == ("disabled", fallen)
    assert (gone.missing_since, gone.observed_at) == (fallen, fallen)


@pytest.mark.parametrize("moment", [-HOUR, timedelta(minutes=2)])
def test_what_was_not_read_lately_or_is_from_before_is_due(account, fallen, moment):
    Currency.objects.all().delete()
    rows.currency(now=fallen + moment)
    assert reference.is_due(Currency, fallen)
    rows.currency("XRP", now=fallen)  # the other one is no longer listed, and keeps its time
    assert not reference.is_due(Currency, fallen)


def test_a_check_from_before_is_due(account, fallen):
    name = scheduled_checks.name_of(account)
    CheckRun.objects.create(name=name, ran_at=fallen + HOUR, tried_at=fallen + HOUR, held=True)
    assert scheduled_checks._is_due(name, fallen)
    CheckRun.objects.update(ran_at=fallen, tried_at=fallen)
    assert not scheduled_checks._is_due(name, fallen)


def test_a_price_through_a_cross_is_as_old_as_its_part_from_before(account, fallen):
    rows.price("BCH", "BTC", last="0.01", now=fallen + HOUR)
    rows.price("BTC", "USD", last="90000", now=fallen)
    value = valuation.values_of(amounts={"BCH": Decimal(1)}, quote="USD", now=fallen)["BCH"]
    assert (value.rate, value.as_of) == (None, fallen + HOUR)
    rows.price("BCH", "BTC", last="0.01", now=fallen)
    assert valuation.values_of(amounts={"BCH": Decimal(1)}, quote="USD", now=fallen)["BCH"].rate == 900


def test_a_reading_of_the_exchanges_clock_from_before_delays_no_new_one(account, fallen):
    clocks.note(account_id=account.pk, date=fallen + HOUR, now=fallen + HOUR)
    clocks.note(account_id=account.pk, date=fallen, now=fallen)
    assert clocks.newest_first(account=account).first().read_at == fallen


def test_what_is_learned_of_the_exchange_after_the_fall_is_the_newest(account, fallen):
    for moment, value in ((fallen - HOUR, "first"), (fallen + HOUR, "before"), (fallen, "after")):
        facts.note(account=account, name="probe.a", value=value, now=moment)
    assert facts.newest(account=account, name="probe.a").value == "after"
    assert [fact.value for fact in facts.all_newest(account=account, prefix="probe.a")] == ["after"]


def test_fee_rates_from_before_are_not_used(account, fallen):
    rows.price(now=fallen)
    symbol, share = Symbol.objects.get(), Decimal("0.5")
    own = FeeRates(take_liquidity_rate=share, provide_liquidity_rate=share, read_at=fallen)
    assert fee_rates._rates_of(own, symbol, fallen).take == share
    own.read_at = fallen + HOUR
    assert fee_rates._rates_of(own, symbol, fallen) == fee_rates.usual(symbol)


def test_a_key_that_was_rejected_before_is_used_again(fallen):
    key = ApiKey(last_problem="Rejected", last_problem_at=fallen)
    assert rights.was_turned_down(key, fallen) == key.is_turned_down
    key.last_problem_at = fallen + HOUR
    assert not rights.was_turned_down(key, fallen)


def test_streams_and_loops_heard_before_are_late(account, fallen):
    name = heartbeats.orders_of(account)
    heartbeats.succeeded(name, now=fallen + HOUR, account=account)
    source = sources.source_of(name, name, fallen)
    assert (source.is_streamed, source.late) == (False, True)
    heartbeats.succeeded(name, now=fallen, account=account)
    source = sources.source_of(name, name, fallen)
    assert (source.is_streamed, source.late) == (True, False)


def test_a_clock_that_is_right_is_behind_nothing(account):
    assert clock_falls.fallen_by(clock.now()) == timedelta(0)
    assert room.ROOM.checks["clock"].ask().ok
