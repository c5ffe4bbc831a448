"""A long history is read by one walk, whoever dies over it; what needs all of it waits, and the desk is ready."""

import threading
from datetime import timedelta
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from desk import clock
from desk.health import states
from exchange_ops.client import Aside, Listing
from exchange_ops.keys import store as keys
from exchange_ops.keys.rounds import LEDGERS
from exchange_ops.ledger import batches, refresh, walks
from exchange_ops.ledger import sync as ledger
from exchange_ops.ledger.models import LedgerAside, LedgerEntry, LedgerVersion
from exchange_ops.reconciliation import scheduled_checks
from exchange_ops.shared import heartbeats, leases
from exchange_ops.shared.models import Account, CheckRun, FollowerState
from exchange_ops.transfers import snapshots
from exchange_ops.withdrawals.evidence import reconciliation
from tests.exchange_ops.ledger.test_batches import page, take
from tests.exchange_ops.ledger.test_sync import transaction
from tests.exchange_ops.test_followers import complete, until

pytestmark = [pytest.mark.django_db, pytest.mark.engine("leases between processes")]
PAGE = 4


class Killed(BaseException):
    """The process is gone in the middle: nothing of it runs any more."""


@pytest.fixture
def reader(client_as):
    return client_as("demo-read")


@pytest.fixture
def killed(account, demo_keys, reader):
    """A walk whose owner was killed after two pages, with the lease that it still has."""

    def kill(moment):
        pages.append(moment)
        if len(pages) == 2:
            raise Killed
        return walks.hold(account=account, holder="killed", now=moment)

    pages = []
    with pytest.raises(Killed):
        ledger.sync(account=account, client=reader, now=clock.now(), page_size=PAGE, keep_running=kill)
    return account


def sync(now=None, **more):
    return refresh.sync_ledgers(now=now or clock.now(), client_for=keys.client_for, **more)


def pages_asked(sandbox):
    return sandbox.control("calls?operation=get_transactions")["calls"]


# One walk ------------------------------------------------------------------------------------------------------------


def test_a_walk_whose_owner_was_killed_is_taken_over_where_it_stood(killed, sandbox, reader):
    assert LedgerEntry.objects.count() == 2 * PAGE
    pages = len(pages_asked(sandbox))
    assert (sync(), len(pages_asked(sandbox))) == (0, pages), "its lease still lasts"
    assert ledger.unfinished_at(account=killed) == ledger.highest_index(account=killed)
    first_young = ledger.watermark(account=killed) + 1
    assert sync(clock.now() + walks.LEASE_LASTS + timedelta(seconds=1)) == 1
    taken_up = pages_asked(sandbox)[pages:]
    assert [call["query"]["from"] for call in taken_up] == [str(first_young)]
    assert complete(killed, reader)
    assert ledger.unfinished_at(account=killed) == 0


class Listed:
    """An exchange that lists these transactions."""

    def __init__(self):
        self.found, self.unreadable = [], set()

    def transactions_after(self, *, index, limit=1000):
        later = [each for each in sorted(self.found, key=lambda one: one.index) if each.index > index]
        for place in range(0, len(later) + 1, limit):
            page = later[place : place + limit]
            sound = tuple(each for each in page if each.id not in self.unreadable)
            yield Listing(sound, (Aside("null", "it is no object"),) * (len(page) - len(sound)))


def test_what_is_listed_late_behind_a_walk_that_broke_off_is_read(account):
    """What was young when the walk read it holds the watermark back, also for the walk that continues after it."""
    exchange, now = Listed(), clock.now()
    made = [transaction(id=f"t-{number}", index=number, updated_at=now) for number in range(1, 10)]
    exchange.found = [made[0], *made[2:]]
    first = {"walk_for": timedelta(0), "page_size": PAGE}
    assert not ledger.sync(account=account, client=exchange, now=now, **first).complete
    later = now + 2 * ledger.SETTLING
    exchange.found = [*made, transaction(id="t-10", index=10, updated_at=later)]
    assert ledger.sync(account=account, client=exchange, now=later, page_size=PAGE).complete
    assert ledger.sync(account=account, client=exchange, now=later, page_size=PAGE).complete
    assert LedgerEntry.objects.filter(account=account).count() == 10
    assert ledger.watermark(account=account) == 9


@pytest.mark.parametrize("patient", [True, False])
def test_the_following_process_reads_on_where_a_worker_has_to_break_off(
    *, account, demo_keys, sandbox, reader, monkeypatch, patient
):
    whole, short = ledger.sync, {"walk_for": timedelta(0), "page_size": PAGE}
    monkeypatch.setattr(ledger, "sync", lambda **arguments: whole(**arguments, **short))
    assert sync(to_the_end=(lambda: True) if patient else None) == int(patient)
    assert complete(account, reader) is patient
    assert not walks.is_under_way(account=account, now=clock.now())


def test_a_walk_ends_with_the_page_when_its_process_has_to_stop(account, demo_keys, sandbox):
    questions = []

    def not_stopping():
        questions.append(1)
        return len(questions) == 1

    assert sync(to_the_end=lambda: False) == 0
    assert pages_asked(sandbox) == []
    assert sync(to_the_end=not_stopping) == 1, "what fits on one page is read to the end"


@pytest.mark.django_db(transaction=True)
def test_a_walk_that_hangs_keeps_no_payout_waiting(account, demo_keys, sandbox):
    """The ledger has a thread of its own, so that the sweep of payouts goes on beside it."""
    from tests.exchange_ops.test_processes import Process

    sandbox.control("faults", {"operation": "get_transactions", "kind": "delay_then_execute", "ms": 4_000, "times": 9})
    process = Process()
    try:
        rounds = set()

        def swept():
            row = heartbeats.state_of(heartbeats.SWEEPER)
            rounds.update([row.heard_at] if row is not None else [])
            return len(rounds) >= 3 or heartbeats.state_of(heartbeats.ledger_of(account)) is not None

        assert until(swept)
        assert heartbeats.state_of(heartbeats.ledger_of(account)) is None, "the walk still hangs"
        assert LEDGERS in process.following._sweepers
    finally:
        process.stop()
        until(lambda: not any(thread.name == LEDGERS for thread in threading.enumerate()))


def test_a_page_of_which_somebody_else_stores_a_part_is_not_taken_one_by_one(account):
    """The other one stores it between our look and our writing."""
    found, stored, inserts = page(100), [], []

    def meanwhile(execute, sql, params, many, context):
        result = execute(sql, params, many, context)
        if not stored and sql.startswith("SELECT") and '"exchange_ops_ledgerentry"."exchange_id" IN' in sql:
            stored.append(batches.store(account=account, transactions=found[:40], source="stream", now=clock.now()))
        if stored and sql.startswith('INSERT INTO "exchange_ops_ledgerversion"'):
            inserts.append(sql)
        return result

    with connection.execute_wrapper(meanwhile):
        done = take(account, found)
    assert (len(stored[0]), done.new_versions, done.asides) == (40, 60, 0)
    assert (LedgerEntry.objects.count(), LedgerVersion.objects.count(), LedgerAside.objects.count()) == (100, 100, 0)
    assert len(inserts) <= 4, "stored together, not one by one"


# What needs the whole ledger -----------------------------------------------------------------------------------------


def test_nobody_judges_by_a_ledger_that_is_half_read(killed, reader):
    """A difference, an alarm or a missing transfer would be the reading's own doing."""
    with pytest.raises(reconciliation.LedgerIsBeingRead, match=r"Not yet.*8 transactions loaded so far"):
        reconciliation.reconcile(account=killed, client=reader, now=clock.now())
    with pytest.raises(CommandError, match="could not be reconciled: Not yet"):
        call_command("reconcile")
    with pytest.raises(snapshots.CannotRead, match="loaded so far"):
        snapshots.read(account=killed, currencies=["BTC"], client_for=keys.client_for, now=clock.now())


def test_a_walk_that_has_not_stored_a_page_yet_is_waited_for_too(account, demo_keys, reader):
    assert walks.hold(account=account, holder="another", now=clock.now())
    with pytest.raises(reconciliation.LedgerIsBeingRead):
        reconciliation.reconcile(account=account, client=reader, now=clock.now())
    walks.release(account=account, holder="another")
    assert reconciliation.reconcile(account=account, client=reader, now=clock.now())


def test_a_short_walk_over_the_newest_keeps_nobody_waiting(account, demo_keys, sandbox, reader):
    assert sync() == 1
    assert walks.hold(account=account, holder="another", now=clock.now())
    assert all(one.agrees for one in reconciliation.reconcile(account=account, client=reader, now=clock.now()))
    later = clock.now() + walks.LONG_AGO + timedelta(seconds=1)
    assert walks.hold(account=account, holder="another", now=later)
    assert walks.is_being_read(account=account, now=later), "nobody has read it for long, so there may be much"


@pytest.mark.django_db(transaction=True)
def test_the_scheduled_reconciliation_is_made_when_the_ledger_is_read_and_not_tried_before(killed, sandbox):
    def run(now):
        return scheduled_checks.run_due(now=now, client_for=keys.client_for)

    name, now = scheduled_checks.name_of(killed), clock.now()
    assert run(now) == 1, "the audit trail alone"
    assert not CheckRun.objects.filter(name=name).exists()
    check = states()["reconciliation"]
    assert (check.ok, "Reconciliation starts once the ledger has been synced." in check.sentence) == (True, True)
    assert sync(now + walks.LEASE_LASTS + timedelta(seconds=1)) == 1
    assert run(now + timedelta(seconds=60)) == 1, "the next minute, since the ledger is read"
    assert CheckRun.objects.get(name=name).held
    assert "Waiting for" not in states()["reconciliation"].sentence


def test_a_reconciliation_takes_in_what_is_missing_page_by_page(account, demo_keys, reader, monkeypatch):
    monkeypatch.setattr(reconciliation, "PAGE", PAGE)
    assert all(one.agrees for one in reconciliation.reconcile(account=account, client=reader, now=clock.now()))
    assert complete(account, reader)


# Readiness -----------------------------------------------------------------------------------------------------------


def test_the_desk_is_ready_while_a_history_comes_further_and_says_so(killed):
    check = states()["exchange"]
    assert check.ok
    assert "Main desk is loading" in check.sentence
    assert "8 transactions loaded so far" in check.sentence


def test_a_reading_that_comes_no_further_is_no_reading(killed):
    killed.watermarks.update(moved_at=clock.now() - walks.PROGRESS_WITHIN - timedelta(seconds=1))
    check = states()["exchange"]
    assert not check.ok
    assert "has not been synced yet" in check.sentence


def test_an_account_that_is_being_read_is_named_beside_one_that_is_read(killed, sandbox):
    now = clock.now()
    done = Account.objects.create(name="Another")
    heartbeats.succeeded(heartbeats.ledger_of(done), now=now - timedelta(seconds=5), account=done)
    assert "Main desk is loading" in states()["exchange"].sentence
    FollowerState.objects.filter(name=heartbeats.ledger_of(done)).update(heard_at=now - timedelta(minutes=3))
    assert not states()["exchange"].ok


def test_a_killed_owner_is_taken_over_before_readiness_gives_up():
    assert walks.LEASE_LASTS + timedelta(seconds=10) < walks.PROGRESS_WITHIN, "a worker looks every ten seconds"
    assert leases.LASTS < walks.LEASE_LASTS
    assert Decimal(walks.LEASE_LASTS.total_seconds()) > 30


def test_what_looks_like_an_earlier_unreadable_record_holds_the_watermark_back_again(account):
    exchange, now = Listed(), clock.now()
    for number in (10, 20):
        at = now + timedelta(minutes=number)
        exchange.found += [transaction(id=f"t-{number + n}", index=number + n, updated_at=at) for n in range(3)]
        exchange.found.append(transaction(id=f"new-{number}", index=number + 9, updated_at=at + ledger.SETTLING))
        exchange.unreadable = {f"t-{number}"}
        ledger.sync(account=account, client=exchange, now=at + ledger.SETTLING)
        exchange.unreadable = set()
        ledger.sync(account=account, client=exchange, now=at + ledger.SETTLING + timedelta(seconds=30))
        assert LedgerEntry.objects.filter(exchange_id=f"t-{number}").exists()
        assert LedgerAside.objects.get().cleared_at is not None
