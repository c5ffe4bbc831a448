"""One round over the accounts: what it keeps, that it keeps it once, and what it says where something is missing."""

import threading
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection

from exchange_ops.market.models import Candle, Symbol
from exchange_ops.portfolio import recording, snapshots
from exchange_ops.portfolio.models import DailyFlow, Profit, Progress, Snapshot, SnapshotLine
from exchange_ops.shared import leases, public_client
from tests.exchange_ops import rows
from tests.exchange_ops.portfolio import held
from tests.exchange_ops.portfolio.held import DAY, NOON

pytestmark = pytest.mark.django_db
KEPT = (Snapshot, SnapshotLine, DailyFlow, Profit)


@pytest.fixture
def account():
    """An account with money, a price of now, and daily prices that were read a moment ago."""
    rows.price(now=NOON)
    rows.balance(now=NOON)
    held.close(NOON.date() - DAY, "400")
    account = rows.account(now=NOON)
    Progress.objects.create(account=account, prices_tried_at=NOON, prices_read_at=NOON)
    return account


def record(now=NOON):
    return recording.record(now=now, open_client=public_client.open_client)


def kept():
    return {model.__name__: list(model.objects.order_by("pk").values()) for model in KEPT}


def test_a_round_keeps_the_hour_the_days_before_and_what_was_earned(account):
    held.read(account, now=NOON)
    held.entry(1, NOON - DAY, amount=Decimal(1))
    assert record() == 1
    assert [(row.kind, row.hour.date()) for row in Snapshot.objects.order_by("hour")] == [
        (Snapshot.REBUILT, (NOON - DAY).date()),
        (Snapshot.DAILY, NOON.date()),
    ]
    assert set(Profit.objects.values_list("coin", "method")) == {("BCH", "fifo"), ("BCH", "average")}
    assert Progress.objects.get().rebuilt_at == NOON


def test_the_same_round_once_more_keeps_nothing_twice(account):
    held.read(account, now=NOON)
    held.entry(1, NOON - DAY, amount=Decimal(1))
    record()
    once = kept()
    assert record(NOON + timedelta(minutes=5)) == 0
    assert kept() == once


def test_a_round_broken_off_after_the_snapshot_goes_on_from_there(account):
    held.read(account, now=NOON)
    snapshots.store_current(account=account, now=NOON)
    record()
    assert Snapshot.objects.filter(hour=NOON).count() == 1
    assert Progress.objects.get().rebuilt_at == NOON


def test_only_one_process_does_it_at_a_time(account):
    assert leases.hold(name=recording.LEASE, holder="another", now=NOON, lasts=recording.LEASE_LASTS)
    assert record() == 0
    assert not Snapshot.objects.exists()
    later = NOON + recording.LEASE_LASTS + timedelta(seconds=1)
    rows.balance(now=later)
    assert record(later) == 1, "the other one never came back"


def test_the_lease_is_given_back_also_when_a_round_fails(account):
    def refuse():
        raise RuntimeError("no network")

    Progress.objects.all().delete()
    with pytest.raises(RuntimeError):
        recording.record(now=NOON, open_client=refuse)
    assert not leases.is_held(name=recording.LEASE, now=NOON)


def test_where_no_market_is_known_that_is_said_and_amounts_are_kept_all_the_same(account):
    Symbol.objects.all().delete()
    Candle.objects.all().delete()
    record()
    found = Snapshot.objects.get()
    assert (found.bank, found.trading, found.unvalued) == (None, None, ["BCH"])
    assert [line.value for line in found.lines.all()] == [None, None]
    assert Progress.objects.get().problem == "No prices yet; balances can't be valued."


def test_a_history_that_waits_says_for_what(account):
    record()
    assert Progress.objects.get().problem == "History not reconstructed yet: the ledger is still loading."
    held.read(account, now=NOON)
    record(NOON + timedelta(minutes=1))
    assert Progress.objects.get().problem == ""


def test_a_day_that_had_no_price_gets_the_one_that_comes_and_only_once(account):
    held.read(account, now=NOON)
    held.entry(1, NOON - DAY, amount=Decimal(1))
    snapshots.rebuild(account=account, now=NOON)
    before = Snapshot.objects.earliest("hour")
    assert (before.bank, before.trading, before.unvalued) == (None, None, ["BCH"]), "unknown, not nothing"
    held.close(before.hour.date() - DAY, "300")
    assert snapshots.revalue(account=account) == 1
    before.refresh_from_db()
    assert (before.bank, before.trading, before.unvalued) == (499 * 300, 10 * 300, [])
    assert [line.price for line in before.lines.all()] == [300, 300]
    assert snapshots.revalue(account=account) == 0


def test_a_price_that_stays_unknown_leaves_the_rest_valued_and_named(account):
    rows.balance("XYZ", bank="7", trading="0", now=NOON)
    held.read(account, now=NOON)
    held.entry(1, NOON - DAY, amount=Decimal(1))
    snapshots.rebuild(account=account, now=NOON)
    first = Snapshot.objects.earliest("hour")
    held.close(first.hour.date() - DAY, "300")
    snapshots.revalue(account=account)
    first.refresh_from_db()
    assert (first.bank, first.unvalued) == (499 * 300, ["XYZ"])


def test_what_was_taken_live_keeps_the_price_it_had(account):
    snapshots.store_current(account=account, now=NOON)
    held.close(NOON.date(), "1")
    assert snapshots.revalue(account=account) == 0
    assert Snapshot.objects.get().bank == 250_000


@pytest.mark.django_db(transaction=True)
def test_two_workers_at_the_same_moment_keep_one_snapshot(account):
    start, found = threading.Barrier(2), []

    def take():
        try:
            start.wait(30)
            found.append(snapshots.store_current(account=account, now=NOON))
        except Exception as problem:
            found.append(problem)
        finally:
            connection.close()

    threads = [threading.Thread(target=take) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert [type(one) for one in found if one is not None] == [Snapshot], found
    assert (Snapshot.objects.count(), SnapshotLine.objects.count()) == (1, 2)
