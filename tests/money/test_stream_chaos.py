"""Forty breaks of every kind while a thousand transactions happen, and in the end nothing is missing or twice.

CHAOS_SEED, CHAOS_TRANSACTIONS and CHAOS_BREAKS choose another run; `make thorough` breaks five times as much.
"""

import collections
import os
import random
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pytest

from desk import clock
from desk.models import AuditEvent
from exchange_ops.followers import AccountFollower
from exchange_ops.ledger import sync as ledger
from exchange_ops.ledger.models import Balance, LedgerAside, LedgerEntry, LedgerVersion
from exchange_ops.shared.models import FollowerState
from sandbox.in_process import InProcessSandbox
from tests.bounds import stretched
from tests.houses import ROOT
from tests.money import chaos
from tests.money.acts import CHAOS_RHYTHM

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.engine("what a killed process leaves"),
    pytest.mark.timeout(900),
]

SEED = int(os.environ.get("CHAOS_SEED", "1"))
TRANSACTIONS = int(os.environ.get("CHAOS_TRANSACTIONS", "500"))
BREAKS = int(os.environ.get("CHAOS_BREAKS", "20"))
PATIENCE = 120  # seconds; only a run that fails takes them


def until(holds, *, seconds=PATIENCE, every=0.01):
    ends = time.monotonic() + stretched(seconds)
    while not holds() and time.monotonic() < ends:
        time.sleep(every)
    return holds()


def becomes(wanted, reads):
    """Whether what is read becomes this. Patience begins anew with each change: a slow machine is no fault."""
    found = None
    while found != wanted:
        before = found
        if not until(lambda before=before: reads() != before, every=0.2):
            return False
        found = reads()
    return True


class Run:
    """One run: the busy exchange, and one follower at a time in front of it."""

    def __init__(self, *, account, sandbox, nursery, dice):
        self.account, self.sandbox, self.nursery, self.dice = account, sandbox, nursery, dice
        self.exchange = chaos.BusyExchange(sandbox, dice)
        self.broken = collections.Counter()
        self.follower = None

    def is_live(self):
        return FollowerState.objects.filter(name=f"stream:{self.account.pk}", connected=True).exists()

    def begin(self):
        self.follower = AccountFollower(
            self.account, base_url=self.sandbox.ws_url, now=clock.now, rhythm=CHAOS_RHYTHM, dice=self.dice.random
        )
        self.follower.start()

    def end(self):
        if self.follower is not None:
            self.follower.stop()
            self.follower.join(60)  # it stores what it took first, which a busy machine may take a while for
            assert not self.follower.is_alive()
            self.follower = None

    def armed(self):
        return self.sandbox.faults.listed()

    def break_it(self, kind):
        if kind == chaos.STOP:
            self.end()
            self.exchange.move(self.dice.randrange(30))
            self.begin()
        elif kind == chaos.KILL:
            self.end()
            self._kill_a_worker()
            self.begin()
        else:
            for fault in chaos.faults(kind, self.dice):
                self.sandbox.control("faults", {"times": 1, **fault})
        self.broken[kind] += 1

    def _kill_a_worker(self):
        """A follower in a process of its own is killed right before one of its writes, while it has work to do."""
        dies = {"number": self.dice.randrange(3, 80)}
        with ThreadPoolExecutor(1) as pool:
            dying = pool.submit(self.nursery.run, "follow", dies=dies, ws_url=self.sandbox.ws_url, seconds=60)
            while not dying.done():
                self.exchange.move(2)
                time.sleep(0.01)
        assert dying.result()["killed"] == 9, dying.result()

    def move(self, count):
        """So many movements, then more of them until what was armed has broken something."""
        self.exchange.move(count)
        self.exchange.pass_time(self.dice.randrange(30, 200))
        ends = time.monotonic() + stretched(PATIENCE)
        while self.armed() and time.monotonic() < ends:
            self.exchange.move(1)
            time.sleep(0.05)
        assert not self.armed()


@pytest.fixture
def run(*, account, demo_keys, transactional_db, settings, workers_of_the_run):
    dice = random.Random(SEED)
    with InProcessSandbox(seed=SEED, still=True) as sandbox:
        settings.EXCHANGE_URL = workers_of_the_run.exchange_url = sandbox.url
        settings.EXCHANGE_WS_URL = sandbox.ws_url
        made = Run(account=account, sandbox=sandbox, nursery=workers_of_the_run, dice=dice)
        yield made
        made.end()


def newest(account):
    """Our copy: of every transaction what its newest version says, in the order of the indexes."""
    columns = ("exchange_id", "index", "type", "status", "currency", "amount", "hash", "address", "updated_at")
    return list(LedgerEntry.objects.filter(account=account).order_by("index").values_list(*columns))


def as_ours(record):
    """A transaction of the exchange as our copy of it is to be."""
    return (
        record["id"],
        record["index"],
        record["type"],
        record["status"],
        record["currency"],
        Decimal(record["amount"]),
        record.get("hash", ""),
        record.get("address", ""),
        chaos.instant(record["updatedAt"]),
    )


def held(account):
    """The balances of the bank wallet that are not zero."""
    rows = Balance.objects.filter(account=account, wallet=Balance.BANK)
    return {row.currency: (row.available, row.reserved) for row in rows if row.available or row.reserved}


def test_whatever_breaks_nothing_is_missing_nothing_is_twice_and_the_balances_agree(run, child_environment):
    print(f"CHAOS_SEED={SEED} CHAOS_TRANSACTIONS={TRANSACTIONS} CHAOS_BREAKS={BREAKS}")
    _kill_the_following_process(run, child_environment)
    run.begin()
    kinds = chaos.plan(BREAKS - 1, run.dice)
    for number, kind in enumerate(kinds):
        run.break_it(kind)
        left = max(TRANSACTIONS - run.exchange.happened(), 0)
        run.move(run.dice.randrange(1, 2 * (left // (len(kinds) - number)) + 2))
    run.exchange.move(max(TRANSACTIONS - run.exchange.happened(), 0))
    assert (sum(run.broken.values()), set(run.broken)) == (BREAKS, {*chaos.SHARES, "follow"})

    run.sandbox.control("clock", {"frozen": True})
    theirs = [as_ours(one) for one in run.exchange.transactions()]
    assert becomes(theirs, lambda: newest(run.account)), difference(theirs, newest(run.account))
    balances = {code: (Decimal(free), Decimal(kept)) for code, (free, kept) in run.exchange.balances().items()}
    assert until(lambda: held(run.account) == balances), (held(run.account), balances)
    assert run.exchange.happened() >= TRANSACTIONS
    _every_version_is_one_that_was_published(run)
    state = FollowerState.objects.get(name=f"stream:{run.account.pk}")
    print(f"{dict(run.broken)}: {state.reconnects} reconnects, {state.gaps_closed} transactions in closed gaps")


def difference(theirs, ours):
    """The first of what is different, to be shown when something is."""
    return f"missing or old: {sorted(set(theirs) - set(ours))[:3]}, odd: {sorted(set(ours) - set(theirs))[:3]}"


def _every_version_is_one_that_was_published(run):
    versions = list(LedgerVersion.objects.values_list("index", "entry__exchange_id", "status"))
    assert len(versions) == len({index for index, _, _ in versions})
    for index, exchange_id, status in versions:
        known = run.exchange.published.get(index)  # what is older than the run was told to nobody
        assert known is None or (known["id"], known["status"]) == (exchange_id, status)
    assert set(LedgerEntry.objects.values_list("index", flat=True)) <= {index for index, _, _ in versions}
    assert not LedgerAside.objects.exists()
    flagged = AuditEvent.objects.filter(action="ledger.foreign_payout").values_list("subject", flat=True)
    assert len(flagged) == len(set(flagged)) == LedgerEntry.objects.filter(foreign=True).count() > 0
    assert 0 < ledger.watermark(account=run.account) <= ledger.highest_index(account=run.account)
    assert run.sandbox.control("ledger")["balanced"]


def _kill_the_following_process(run, environment):
    """The command that follows, as the house runs it, gets SIGKILL in the middle of its work."""
    addresses = {"EXCHANGE_URL": run.sandbox.url, "EXCHANGE_WS_URL": run.sandbox.ws_url}
    command = [sys.executable, "manage.py", "follow"]
    with subprocess.Popen(
        command, cwd=ROOT, env={**environment, **addresses}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            assert until(run.is_live), "the following process does not follow"
            before = LedgerVersion.objects.count()
            writer = threading.Thread(target=run.exchange.move, args=(60,))
            writer.start()
            assert until(lambda: LedgerVersion.objects.count() >= before + 10)
            process.kill()
            writer.join()
            run.exchange.move(20)
        finally:
            process.kill()
        assert process.wait(10) == -9
    run.broken["follow"] += 1
