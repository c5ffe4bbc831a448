"""Keeping the copy of the exchange's ledger and balances fresh, with the outcome of each round as a heartbeat."""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from math import inf

import structlog

from desk import clock
from desk.machines.lanes import LANES, LONGEST_S, WAIT_S, Job
from desk.machines.step_clock import Stopwatch
from exchange_ops.keys import clients, store
from exchange_ops.keys.clients import ClientFor
from exchange_ops.ledger import balances, continuity, sync, walks
from exchange_ops.ledger.models import Balance
from exchange_ops.shared import heartbeats, leases, turns
from exchange_ops.shared.heartbeats import remark_of
from exchange_ops.shared.models import Account
from exchange_ops.wire.catalogue import Right
from wire.errors import CallFailed

STALE_AFTER = timedelta(seconds=15)  # a ledger that nobody has read for so long is read by the sweeping process
_FAILURES = (CallFailed, store.NoUsableKey)
_log = structlog.get_logger(__name__)


def sync_ledgers(
    *, now: datetime, client_for: ClientFor, only_stale: bool = False, to_the_end: Callable[[], bool] | None = None
) -> int:
    """Walk the ledger of every account; returns how many walks succeeded. A failure does not stop the other accounts.

    A walk breaks off after `sync.WALK_FOR`, so that no history keeps the wallets waiting. With `to_the_end`, which is
    asked at each page whether there is time, it continues until everything is read.
    """
    jobs = []
    for account in turns.accounts("ledger"):
        name = heartbeats.ledger_of(account)
        row = heartbeats.state_of(name)
        fresh = row is not None and clock.is_fresh(row.heard_at, now, within=STALE_AFTER)
        if not (only_stale and fresh):
            run = partial(_sync_in_turn, account, Stopwatch(now), client_for, to_the_end)
            # A whole history takes as long as it takes; its lease, renewed at each page, says that it is at work.
            jobs.append(Job(name, "read", run, LONGEST_S if to_the_end is None else inf))
    return LANES.put(jobs, wait_s=WAIT_S)


def _sync_in_turn(
    account: Account, watch: Stopwatch, client_for: ClientFor, to_the_end: Callable[[], bool] | None
) -> int:
    return int(_sync_one(account, watch.now(), client_for, to_the_end))


def _sync_one(account: Account, now: datetime, client_for: ClientFor, to_the_end: Callable[[], bool] | None) -> bool:
    """One walk, by one process at a time: two at once would only read the same pages twice."""
    holder, watch = leases.name_of_this_process(), Stopwatch(now)

    def keep_running(moment: datetime) -> bool:
        in_time = to_the_end is None or to_the_end()
        return in_time and walks.hold(account=account, holder=holder, now=moment)

    if not keep_running(now):
        return False
    try:
        is_complete = _walk(account, now, client_for, keep_running)
        while is_complete is None and to_the_end is not None and keep_running(watch.now()):
            is_complete = _walk(account, watch.now(), client_for, keep_running)
        return bool(is_complete)
    finally:
        walks.release(account=account, holder=holder)


def _walk(
    account: Account, now: datetime, client_for: ClientFor, keep_running: Callable[[datetime], bool]
) -> bool | None:
    """Whether the walk succeeded; None when there was no time for all of it."""
    name = heartbeats.ledger_of(account)
    try:
        with clients.client(client_for, account=account, right=Right.PAYMENTS) as client:
            continuity.require(account=account, client=client, now=now)
            walk = sync.sync(account=account, client=client, now=now, keep_running=keep_running)
            problems = balances.sync(account=account, wallet=Balance.BANK, client=client, now=now)
    except _FAILURES as failure:
        heartbeats.failed(name, now=now, problem=f"The ledger could not be synced: {failure}", account=account)
        _log.warning("copies.walk_failed", account=account.pk, reason=str(failure))
        return False
    if not walk.complete:
        heartbeats.failed(name, now=now, problem=walks.sentence(account=account), account=account)
        return None
    if walk.asides:
        problems.append(f"Transactions quarantined: {walk.asides}.")
    problems += _trading_wallet(account, now, client_for)
    heartbeats.succeeded(name, now=now, remark=remark_of(problems), account=account)
    return True


def _trading_wallet(account: Account, now: datetime, client_for: ClientFor) -> list[str]:
    """Read with a key of its own right: the ledger does not stop where that right is missing."""
    try:
        with clients.client(client_for, account=account, right=Right.HISTORY) as client:
            return balances.sync(account=account, wallet=Balance.TRADING, client=client, now=now)
    except _FAILURES as failure:
        return [f"The trading balances could not be synced: {failure}"]
