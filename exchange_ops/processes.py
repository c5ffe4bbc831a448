"""The following process: a follower for each address and key, and the sweep, which depends on no broker and no worker.

Several may run; the one with the lease works and the others wait to take over, which takes as long as the lease lasts.
"""

import threading
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

import structlog
from django.db import Error as DatabaseProblem
from django.db import close_old_connections, connection

from desk import sign_of_life
from exchange_ops.addresses import requests as new_addresses
from exchange_ops.followers import AccountFollower, MarketFollower, Rhythm, StreamFollower, TradingFollower
from exchange_ops.keys import probing as key_probing
from exchange_ops.keys import store as keys
from exchange_ops.keys.clients import ClientFor
from exchange_ops.ledger import refresh as copies
from exchange_ops.orders import workflow as orders
from exchange_ops.shared import heartbeats, leases
from exchange_ops.shared.models import Account
from exchange_ops.subaccounts import workflow as subaccounts
from exchange_ops.transfers import workflow as transfers
from exchange_ops.withdrawals import workflow as withdrawals

LEASE = "follow"
LOOK_SECONDS = 1
LET_GO_SECONDS = 1.0  # for everything together, so that the process ends within three
_log = structlog.get_logger(__name__)


class Sweeper(threading.Thread):
    """Sweeps every few seconds. What it is in the middle of may be broken off at any point: the rows are the truth."""

    title = "sweep"

    def __init__(self, *, every_s: int, now: Callable[[], datetime], client_for: ClientFor) -> None:
        super().__init__(name=self.title, daemon=True)
        self._every_s = every_s
        self._now = now
        self._client_for = client_for
        self._stopping = threading.Event()

    def stop(self) -> None:
        """Begin no further round."""
        self._stopping.set()

    def run(self) -> None:
        """Round after round until stopped."""
        try:
            while not self._stopping.is_set():
                self._round()
                self._stopping.wait(self._every_s)
        finally:
            connection.close()

    def _round(self) -> None:
        close_old_connections()
        try:
            self._jobs()
        except DatabaseProblem as problem:
            _log.warning("processes.sweep_failed", title=self.title, reason=type(problem).__name__)

    def _jobs(self) -> None:
        """Payouts: nothing else may make a deadline wait."""
        withdrawals.sweep_others(now=self._now(), client_for=self._client_for)
        heartbeats.succeeded(heartbeats.SWEEPER, now=self._now())


class Ledgers(Sweeper):
    """The ledgers that nobody else reads, in a thread of its own: a long history keeps no payout and no stream waiting.

    Unlike a worker it may take as long as a history needs.
    """

    title = "ledgers"

    def _jobs(self) -> None:
        copies.sync_ledgers(
            now=self._now(),
            client_for=self._client_for,
            only_stale=True,
            to_the_end=lambda: not self._stopping.is_set(),
        )


class Releases(Sweeper):
    """Releases, in a thread of their own: an order to pay that hangs keeps none of them waiting."""

    title = "releases"

    def _jobs(self) -> None:
        withdrawals.sweep_releases(now=self._now(), client_for=self._client_for)


class Errands(Sweeper):
    """The work without a deadline, in a thread of its own: a slow answer about it keeps no payout waiting."""

    title = "errands"

    def _jobs(self) -> None:
        orders.sweep(now=self._now(), client_for=self._client_for)
        transfers.sweep(now=self._now(), client_for=self._client_for)
        subaccounts.sweep(now=self._now(), client_for=self._client_for)
        orders.read_all(now=self._now(), client_for=self._client_for, only_stale=True)
        key_probing.sweep(now=self._now(), open_client=keys.client_of)
        new_addresses.sweep(now=self._now(), client_for=self._client_for)


class Following:
    """The work of the process that has the lease."""

    def __init__(
        self,
        *,
        base_url: str,
        now: Callable[[], datetime],
        client_for: ClientFor,
        sweep_every_s: int,
        rhythm: Rhythm | None = None,
    ) -> None:
        self._base_url = base_url
        self._now = now
        self._client_for = client_for
        self._sweep_every_s = sweep_every_s
        self._rhythm = rhythm
        self._holder = leases.name_of_this_process()
        self._held_until: datetime | None = None
        self._followers: dict[int, AccountFollower] = {}
        self._traders: dict[int, TradingFollower] = {}
        self._market: MarketFollower | None = None
        self._sweepers: dict[type[Sweeper], Sweeper] = {}

    @property
    def is_working(self) -> bool:
        """Whether this process has the lease and does the work."""
        return bool(self._sweepers)

    def run(self, stopping: threading.Event) -> None:
        """Work while the lease is ours, wait while it is not, until told to stop."""
        next_sign = 0.0
        try:
            while not stopping.is_set():
                self._look()
                if time.monotonic() >= next_sign:
                    next_sign = time.monotonic() + sign_of_life.EVERY_SECONDS
                    sign_of_life.again()
                stopping.wait(LOOK_SECONDS)
        finally:
            self._let_go()
            self._give_back()

    def _look(self) -> None:
        close_old_connections()
        try:
            if leases.hold(name=LEASE, holder=self._holder, now=self._now()):
                self._held_until = self._now() + leases.LASTS
                self._work()
            else:
                self._held_until = None
        except DatabaseProblem as problem:
            _log.warning("processes.lease_not_asked", reason=type(problem).__name__)
        if self._held_until is None or self._held_until <= self._now():
            self._let_go()

    def _work(self) -> None:
        """Start what is missing, the dead included."""
        for kind in (Releases, Sweeper, Ledgers, Errands):
            running = self._sweepers.get(kind)
            if running is None or not running.is_alive():
                self._sweepers[kind] = kind(every_s=self._sweep_every_s, now=self._now, client_for=self._client_for)
                self._sweepers[kind].start()
        for account in Account.objects.order_by("pk"):
            self._follow(account)
        if self._market is None or not self._market.is_alive():
            self._market = MarketFollower(base_url=self._base_url, now=self._now, rhythm=self._rhythm)
            self._market.start()

    def _follow(self, account: Account) -> None:
        """Start those of the account's followers that do not run."""
        ledger, trader = self._followers.get(account.pk), self._traders.get(account.pk)
        if ledger is None or not ledger.is_alive():
            ledger = AccountFollower(account, base_url=self._base_url, now=self._now, rhythm=self._rhythm)
            self._followers[account.pk] = ledger
            ledger.start()
        if trader is None or not trader.is_alive():
            trader = TradingFollower(account, base_url=self._base_url, now=self._now, rhythm=self._rhythm)
            self._traders[account.pk] = trader
            trader.start()

    def _let_go(self) -> None:
        """Stop everything and wait for it a little; a call that takes longer is left to itself."""
        threads: list[StreamFollower[Any] | Sweeper] = [
            *self._followers.values(),
            *self._traders.values(),
            *self._sweepers.values(),
            *([self._market] if self._market is not None else []),
        ]
        for thread in threads:
            thread.stop()
        ends = time.monotonic() + LET_GO_SECONDS
        for thread in threads:
            thread.join(max(0.0, ends - time.monotonic()))
        self._followers, self._traders = {}, {}
        self._market, self._sweepers = None, {}

    def _give_back(self) -> None:
        try:
            leases.release(name=LEASE, holder=self._holder)
        except DatabaseProblem as problem:
            _log.warning("processes.lease_not_given_back", reason=type(problem).__name__)
