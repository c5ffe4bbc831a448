"""Snapshots: what is kept, once an hour, and what the ledger says of the days before."""

from datetime import timedelta
from decimal import Decimal

import pytest

from desk.rows import retention
from exchange_ops.ledger.models import Balance
from exchange_ops.margin.models import MarginAccount
from exchange_ops.market.models import Ticker
from exchange_ops.portfolio import snapshots
from exchange_ops.portfolio.models import Snapshot, SnapshotLine
from exchange_ops.shared import heartbeats
from exchange_ops.subaccounts.models import SubAccountBalance
from tests.exchange_ops import rows
from tests.exchange_ops.portfolio import held
from tests.exchange_ops.portfolio.held import DAY, NOON

pytestmark = pytest.mark.django_db


@pytest.fixture
def account():
    rows.price(now=NOON)
    rows.balance(now=NOON)
    return rows.account(now=NOON)


def test_every_wallet_is_kept_apart_with_its_price(account):
    sub = rows.subaccount(now=NOON)
    zero = Decimal(0)
    SubAccountBalance.objects.create(sub_account=sub, currency="BCH", wallet="main", available=2, reserved=zero)
    MarginAccount.objects.create(
        account=account,
        symbol="BCHUSD",
        leverage=2,
        margin_balance=300,
        margin_balance_orders=zero,
        margin_balance_required=zero,
        created_at=NOON,
        updated_at=NOON,
        read_at=NOON,
    )
    Balance.objects.filter(wallet="bank").update(reserved=Decimal(1))
    found = snapshots.store_current(account=account, now=NOON)
    assert (found.bank, found.trading, found.subaccounts, found.margin) == (250500, 5000, 1000, 300)
    lines = {(line.wallet, line.currency): line for line in found.lines.all()}
    assert set(lines) == {("bank", "BCH"), ("trading", "BCH"), ("subaccounts", "BCH"), ("margin", "USD")}
    bank = lines["bank", "BCH"]
    assert (bank.amount, bank.price, bank.value, bank.via, bank.priced_at) == (501, 500, 250500, "BCHUSD", NOON)


def test_a_first_snapshot_waits_for_prices_and_a_late_price_counts_within_the_hour(account):
    """On a new desk balances come before prices: a first day that is worth nothing would bend the chart for good."""
    Ticker.objects.all().delete()
    assert snapshots.store_current(account=account, now=NOON) is None
    held.symbol("ETH")
    rows.price(now=NOON)
    rows.balance("ETH", bank="2", now=NOON)
    first = snapshots.store_current(account=account, now=NOON)
    assert (first.kind, first.unvalued) == (Snapshot.DAILY, ["ETH"])
    later = NOON + timedelta(minutes=1)
    assert snapshots.store_current(account=account, now=later) is None, "still no price"
    Ticker.objects.create(symbol="ETHUSD", last=2000, bid=2000, ask=2000, timestamp=later, read_at=later)
    assert snapshots.store_current(account=account, now=later) is not None
    priced = Snapshot.objects.get()
    assert (priced.unvalued, priced.bank) == ([], first.bank + 4000)


def test_there_is_one_an_hour_and_the_first_of_a_day_is_kept_for_good(account):
    assert snapshots.store_current(account=account, now=NOON).kind == Snapshot.DAILY
    assert snapshots.store_current(account=account, now=NOON + timedelta(minutes=9)) is None
    later = NOON + timedelta(hours=1)
    rows.balance(now=later)
    assert snapshots.store_current(account=account, now=later).kind == Snapshot.HOURLY
    tomorrow = NOON + DAY
    rows.balance(now=tomorrow)
    assert snapshots.store_current(account=account, now=tomorrow).kind == Snapshot.DAILY


def test_old_balances_make_a_gap_and_no_figure(account):
    assert snapshots.store_current(account=account, now=NOON + timedelta(minutes=11)) is None
    assert not Snapshot.objects.exists()


def test_a_balance_from_before_the_clock_was_set_back_makes_a_gap(account):
    Balance.objects.filter(wallet="bank").update(read_at=NOON + timedelta(hours=1))
    assert snapshots.store_current(account=account, now=NOON) is None
    Balance.objects.update(read_at=NOON)
    assert snapshots.store_current(account=account, now=NOON) is not None


def test_what_has_no_price_is_named_and_counts_into_no_sum(account):
    rows.balance("XYZ", bank="7", trading="0", now=NOON)
    found = snapshots.store_current(account=account, now=NOON)
    assert (found.bank, found.unvalued) == (250000, ["XYZ"])
    line = SnapshotLine.objects.get(currency="XYZ")
    assert (line.amount, line.price, line.value) == (7, None, None)


def test_the_days_before_are_walked_back_by_ledger_and_trades_at_closing_prices(account):
    start = NOON - 3 * DAY
    held.read(account, now=NOON)
    for number, price in enumerate(("100", "200", "400", "450")):
        held.close((start + number * DAY - DAY).date(), price)
    held.entry(1, start, amount=Decimal(500))
    held.entry(2, start + DAY, type="bankToExchange", amount=Decimal(10))
    held.entry(3, start + 2 * DAY, type="payout", amount=Decimal(4), fee=Decimal("0.5"))
    rows.trade(1, timestamp=start + DAY, side="buy", quantity=Decimal(1), price=Decimal(300), fee=Decimal(2), now=NOON)
    rows.balance(trading="11", now=NOON)
    rows.balance("USD", bank="0", trading="1000", now=NOON)
    assert snapshots.rebuild(account=account, now=NOON) == 4
    found = list(Snapshot.objects.order_by("hour"))
    assert {(row.kind, row.hour.hour, row.subaccounts, row.margin) for row in found} == {("rebuilt", 0, None, None)}
    assert [row.bank for row in found] == [1450, 102900, 201800, 225000]
    assert [row.trading for row in found] == [1302, 1302, 5400, 5950]
    first = {(line.wallet, line.currency): (line.amount, line.price) for line in found[0].lines.all()}
    assert first == {("bank", "BCH"): (Decimal("14.5"), 100), ("trading", "USD"): (1302, 1)}


def test_a_day_has_one_figure_be_it_taken_or_rebuilt(account):
    held.read(account, now=NOON)
    held.entry(1, NOON - DAY, amount=Decimal(1))
    snapshots.store_current(account=account, now=NOON)
    assert snapshots.rebuild(account=account, now=NOON) == 1
    assert [row.hour.date() for row in Snapshot.objects.order_by("hour")] == [(NOON - DAY).date(), NOON.date()]


def test_a_day_without_a_price_keeps_the_amounts_and_says_so(account):
    held.read(account, now=NOON)
    held.entry(1, NOON - DAY, amount=Decimal(1))
    snapshots.rebuild(account=account, now=NOON)
    row = Snapshot.objects.earliest("hour")
    assert (row.bank, row.trading, row.unvalued) == (None, None, ["BCH"])
    assert row.lines.get(wallet="bank").amount == 499


def test_what_would_have_been_below_zero_is_unknown_and_not_guessed(account):
    held.read(account, now=NOON)
    held.entry(1, NOON - DAY, amount=Decimal(600))
    snapshots.rebuild(account=account, now=NOON)
    after, before = Snapshot.objects.order_by("-hour")
    assert (after.unknown, before.unknown) == ([], ["BCH"])
    assert not before.lines.exists()


def test_nothing_is_rebuilt_before_everything_was_read(account):
    held.entry(1, NOON - DAY)
    with pytest.raises(snapshots.CannotRebuild, match="the ledger is still loading"):
        snapshots.rebuild(account=account, now=NOON)
    heartbeats.succeeded(heartbeats.ledger_of(account), now=NOON, account=account)
    with pytest.raises(snapshots.CannotRebuild, match="trades are still loading"):
        snapshots.rebuild(account=account, now=NOON)
    assert not Snapshot.objects.exists()


def test_hours_go_after_their_time_and_days_stay(account, settings):
    settings.SNAPSHOT_HOURS_KEPT_DAYS = 1
    for hours in (0, 1):
        rows.balance(now=NOON + timedelta(hours=hours))
        snapshots.store_current(account=account, now=NOON + timedelta(hours=hours))
    retention.purge(now=NOON + 2 * DAY)
    assert [row.kind for row in Snapshot.objects.all()] == [Snapshot.DAILY]
    assert {line.snapshot.kind for line in SnapshotLine.objects.all()} == {Snapshot.DAILY}


def test_collateral_that_came_back_makes_the_past_unknown_until_it_was_back(account):
    """The account was last changed two days ago and seen to be gone today: until then its money was elsewhere."""
    held.read(account, now=NOON)
    rows.balance("USD", bank="0", trading="1000", now=NOON)
    held.entry(1, NOON - 3 * DAY, amount=Decimal(1))
    MarginAccount.objects.create(
        account=account,
        symbol="BCHUSD",
        leverage=2,
        margin_balance=0,
        margin_balance_orders=0,
        margin_balance_required=0,
        created_at=NOON - 2 * DAY,
        updated_at=NOON - 2 * DAY,
        read_at=NOON,
        gone_at=NOON - timedelta(hours=1),
    )
    snapshots.rebuild(account=account, now=NOON)
    assert {tuple(row.unknown) for row in Snapshot.objects.all()} == {("USD",)}
