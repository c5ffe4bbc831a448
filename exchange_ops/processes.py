"""The following process: a follower for each address and key, and the sweeps, which depend on no broker and no worker.

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

from desk.processes import sign_of_life
from exchange_ops.followers import AccountFollower, MarketFollower, Rhythm, StreamFollower, TradingFollower
from exchange_ops.keys import rounds
from exchange_ops.keys.clients import ClientFor
from exchange_ops.ledger import stream as ledger_stream
from exchange_ops.orders import stream as trading_stream
from exchange_ops.shared import leases, places, stream_states
from exchange_ops.shared.models import Account

LEASE = "follow"
LOOK_SECONDS = 1
LET_GO_SECONDS = 1.0  # for everything together, so that the process ends within three
_log = structlog.get_logger(__name__)


class Sweeper(threading.Thread):
    """Sweeps every few seconds. What it is in the middle of may be broken off at any point: the rows are the truth."""

    def __init__(self, thread: str, *, every_s: int, now: Callable[[], datetime], client_for: ClientFor) -> None:
        super().__init__(name=thread, daemon=True)
        self._every_s = every_s
        self._stopping = threading.Event()
        self._round = rounds.Round(now=now, client_for=client_for, keep_running=lambda: not self._stopping.is_set())

    def stop(self) -> None:
        """Begin no further round."""
        self._stopping.set()

    def run(self) -> None:
        """Round after round until stopped."""
        try:
            while not self._stopping.is_set():
                self._work()
                self._stopping.wait(self._every_s)
        finally:
            connection.close()

    def _work(self) -> None:
        close_old_connections()
        try:
            for sweep in rounds.sweeps(self.name):
                sweep(self._round)
        except DatabaseProblem as problem:
            _log.warning("processes.sweep_failed", title=self.name, reason=type(problem).__name__)


class Following:
    """The work of the process that has the lease."""

    def __init__(
        self,
        *,
        now: Callable[[], datetime],
        client_for: ClientFor,
        sweep_every_s: int,
        rhythm: Rhythm | None = None,
    ) -> None:
        self._now = now
        self._client_for = client_for
        self._sweep_every_s = sweep_every_s
        self._rhythm = rhythm
        self._holder = leases.name_of_this_process()
        self._held_until: datetime | None = None
        self._followers: dict[int, AccountFollower] = {}
        self._traders: dict[int, TradingFollower] = {}
        self._unplaced: set[int] = set()  # accounts whose exchange the settings do not name
        self._market: MarketFollower | None = None
        self._sweepers: dict[str, Sweeper] = {}

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
        for thread in rounds.THREADS:
            running = self._sweepers.get(thread)
            if running is None or not running.is_alive():
                running = Sweeper(thread, every_s=self._sweep_every_s, now=self._now, client_for=self._client_for)
                self._sweepers[thread] = running
                running.start()
        for account in Account.objects.order_by("pk"):
            self._follow(account)
        if self._market is None or not self._market.is_alive():
            self._market = MarketFollower(base_url=places.default().stream_url, now=self._now, rhythm=self._rhythm)
            self._market.start()

    def _follow(self, account: Account) -> None:
        """Start those of the account's followers that do not run, at the account's own exchange or nowhere."""
        try:
            base_url = places.place_of(account).stream_url
        except places.UnknownPlace as unknown:
            self._leave(account, str(unknown))
            return
        ledger, trader = self._followers.get(account.pk), self._traders.get(account.pk)
        if ledger is None or not ledger.is_alive():
            ledger = AccountFollower(account, base_url=base_url, now=self._now, rhythm=self._rhythm)
            self._followers[account.pk] = ledger
            ledger.start()
        if trader is None or not trader.is_alive():
            trader = TradingFollower(account, base_url=base_url, now=self._now, rhythm=self._rhythm)
            self._traders[account.pk] = trader
            trader.start()

    def _leave(self, account: Account, sentence: str) -> None:
        """Say of the account's streams, once, why they are not followed."""
        if account.pk not in self._unplaced:
            self._unplaced.add(account.pk)
            for title in (ledger_stream.name_of(account), trading_stream.name_of(account)):
                stream_states.ended(title, sentence=sentence, now=self._now(), account=account)

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
        self._followers, self._traders, self._unplaced = {}, {}, set()
        self._market, self._sweepers = None, {}

    def _give_back(self) -> None:
        try:
            leases.release(name=LEASE, holder=self._holder)
        except DatabaseProblem as problem:
            _log.warning("processes.lease_not_given_back", reason=type(problem).__name__)
