"""The following process: one at a time, taken over in time, ended in time, and sweeping without broker or worker."""

import os
import signal
import subprocess
import sys
import threading
import time
from datetime import timedelta
from decimal import Decimal

import pytest
from celery import Celery
from django.core.management import call_command

from desk import clock, outbox
from exchange_ops.keys import store as keys
from exchange_ops.ledger.models import Balance, LedgerEntry
from exchange_ops.market import reference
from exchange_ops.processes import LEASE, Following
from exchange_ops.shared import heartbeats, leases, public_client
from exchange_ops.shared.models import FollowerState, Lease
from exchange_ops.withdrawals import workflow as withdrawals
from tests.bounds import stretched
from tests.exchange_ops.test_followers import QUICK, until

ADDRESS = "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2"
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.engine("leases between processes")]


class Process:
    """A following process as a thread of this one."""

    def __init__(self, **changes):
        self.stopping = threading.Event()
        options = {"now": clock.now, "client_for": keys.client_for, "sweep_every_s": 1, "rhythm": QUICK, **changes}
        self.following = Following(**options)
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        from django.db import connection

        try:
            self.following.run(self.stopping)
        finally:
            connection.close()

    def stop(self):
        self.stopping.set()
        self.thread.join(5)
        assert not self.thread.is_alive()


@pytest.fixture
def start(sandbox):
    started = []

    def begin(**changes):
        started.append(Process(**changes))
        return started[-1]

    yield begin
    for process in started:
        process.stop()


def stream(account):
    return FollowerState.objects.filter(name=f"stream:{account.pk}").first()


def is_live(account):
    return until(lambda: stream(account) is not None and stream(account).connected)


def test_one_process_follows_sweeps_and_reads_what_nobody_else_reads(account, demo_keys, start, client_as):
    process = start()
    assert is_live(account)
    assert process.following.is_working
    assert until(
        lambda: heartbeats.state_of("sweeper") is not None and heartbeats.state_of(f"ledger:{account.pk}") is not None
    )
    assert until(lambda: Balance.objects.filter(wallet="trading").exists())
    client_as("demo-withdraw").create_withdrawal(currency="BTC", amount=Decimal("0.1"), address=ADDRESS)
    assert until(lambda: LedgerEntry.objects.filter(status="created").exists())


def followers_of(process):
    """The names of the follower threads of this process that run now."""
    following = process.following
    running = [*following._followers.values(), *following._traders.values(), following._market]
    return sorted(thread._title for thread in running if thread is not None and thread.is_alive())


def test_one_process_has_one_follower_for_each_address_and_key_and_the_other_has_none(account, demo_keys, start):
    first = start()
    assert is_live(account)
    second = start()
    time.sleep(1.5)
    every = sorted(["market stream", f"stream:{account.pk}", f"trading stream:{account.pk}"])
    assert (followers_of(first), second.following._market) == (every, None)
    first.stop()
    assert until(lambda: second.following.is_working and followers_of(second) == every, seconds=4)
    assert (first.following._market, first.following._traders) == (None, {})


def test_the_second_process_waits_and_takes_over_when_the_first_ends(account, demo_keys, start):
    first = start()
    assert is_live(account)
    second = start()
    time.sleep(1.5)
    assert (first.following.is_working, second.following.is_working) == (True, False)
    first.stop()
    assert until(lambda: second.following.is_working, seconds=3)
    assert is_live(account)


def test_a_lease_whose_holder_died_is_taken_over_within_fifteen_seconds(account, demo_keys, start):
    assert leases.LASTS + timedelta(seconds=2) < timedelta(seconds=15)
    assert leases.hold(name=LEASE, holder="somebody who died", now=clock.now() - leases.LASTS + timedelta(seconds=2))
    process = start()
    time.sleep(0.8)
    assert not process.following.is_working
    assert until(lambda: process.following.is_working, seconds=4)


def test_a_process_that_lost_its_lease_stops_working(account, demo_keys, start):
    process = start()
    assert is_live(account)
    Lease.objects.filter(name=LEASE).update(holder="another", until=clock.now() + leases.LASTS)
    assert until(lambda: not process.following.is_working, seconds=4)
    assert until(lambda: not stream(account).connected)


def test_an_account_that_is_added_later_is_followed_too(account, demo_keys, start):
    from exchange_ops.shared.models import Account

    start()
    assert is_live(account)
    other = Account.objects.create(name="Another")
    assert until(lambda: stream(other) is not None and "no active key" in stream(other).problem)


def test_a_follower_that_died_is_started_again(account, demo_keys, start):
    process = start()
    assert is_live(account)
    follower = process.following._followers[account.pk]
    follower.stop()
    assert until(lambda: process.following._followers[account.pk] is not follower, seconds=4)
    assert is_live(account)


def test_a_payout_lives_and_is_rolled_back_in_time_without_broker_and_worker(
    *, account, demo_keys, start, sandbox, operator, settings, monkeypatch
):
    monkeypatch.setattr(outbox, "_current", None)
    nobody = Celery("nobody", broker="redis+socket:///tmp/there-is-no-broker-here.sock", set_as_current=False)
    monkeypatch.setattr(outbox, "application", lambda: nobody)
    reference.refresh_market(now=clock.now(), open_client=public_client.open_client)
    start()
    row = withdrawals.request(
        initiator=operator,
        account=account,
        currency="BTC",
        amount=Decimal("0.25"),
        address=ADDRESS,
        payment_id="",
        include_fee=False,
        reason="for a test",
        request_key="key-1",
        now=clock.now(),
    )

    def is_now(state):
        row.refresh_from_db()
        return row.state == state

    assert until(lambda: is_now("held"))
    sandbox.control("clock", {"advance_ms": 56 * 60_000})
    assert until(lambda: is_now("rolled_back"), seconds=30)
    assert LedgerEntry.objects.get(exchange_id=row.exchange_id).status == "failed"
    assert sandbox.control("ledger")["balanced"]


# The command, as a process -------------------------------------------------------------------------------------------


@pytest.fixture
def follow(child_environment, sandbox):
    running = []

    def begin():
        environment = {**child_environment, "EXCHANGE_URL": sandbox.url, "EXCHANGE_WS_URL": sandbox.ws_url}
        process = subprocess.Popen([sys.executable, "manage.py", "follow"], env=environment, stderr=subprocess.PIPE)
        running.append(process)
        return process

    yield begin
    for process in running:
        if process.poll() is None:
            process.kill()
        process.wait(5)
        process.stderr.close()


@pytest.mark.parametrize(
    "number",
    [
        signal.SIGTERM,
        pytest.param(signal.SIGINT, marks=pytest.mark.thorough("the handler is SIGTERM's, which the house sends")),
    ],
)
def test_the_command_follows_and_ends_when_asked(account, demo_keys, follow, number):
    process = follow()
    assert until(lambda: stream(account) is not None and stream(account).connected, seconds=30)
    os.kill(process.pid, number)
    assert process.wait(stretched(5)) == 0
    assert not stream(account).connected
    assert Lease.objects.get(name=LEASE).holder == ""


def test_the_command_ends_in_time_in_the_middle_of_a_call(account, demo_keys, sandbox, follow):
    sandbox.control("faults", {"operation": "*", "kind": "delay_then_execute", "ms": 20_000, "times": 50})
    process = follow()
    assert until(lambda: Lease.objects.filter(name=LEASE).exclude(holder="").exists(), seconds=30)
    process.terminate()
    assert process.wait(stretched(5)) == 0


def test_another_process_takes_over_within_fifteen_seconds_of_a_kill(account, demo_keys, sandbox, follow, start):
    process = follow()
    assert until(lambda: stream(account) is not None and stream(account).connected, seconds=30)
    process.kill()
    began = time.monotonic()
    second = start()
    assert until(lambda: second.following.is_working, seconds=15)
    assert time.monotonic() - began < stretched(15)
    assert is_live(account)


def test_the_sweep_command_does_a_round(db, capsys):
    call_command("sweep")
    assert "Due steps completed: 0" in capsys.readouterr().out
