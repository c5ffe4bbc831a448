"""Rounds of sweeping: what a worker does when beat wakes it, and the following process when no worker did of late.

The following process depends on no broker and no worker, so nothing with a deadline waits for either.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.conf import settings

from desk import clock, rooms
from exchange_ops.keys import store as keys
from exchange_ops.keys.clients import ClientFor

SWEEP_S: int = settings.SWEEP_SECONDS
# The threads of the following process. Nothing may make a deadline of a payout wait, so a long history of the ledger,
# a release that an order to pay would hold up, and the work without a deadline have threads of their own.
RELEASES, PAYOUTS, LEDGERS, ERRANDS = THREADS = "releases", "sweep", "ledgers", "errands"


@dataclass(frozen=True, slots=True)
class Round:
    """One round of sweeping: by a worker, or by the following process, which does only what no worker did of late.

    The following process says whether it keeps running: unlike a worker it may take as long as a history needs.
    """

    now: Callable[[], datetime]
    client_for: ClientFor
    keep_running: Callable[[], bool] | None = None

    @property
    def is_following(self) -> bool:
        """Whether it is the following process's."""
        return self.keep_running is not None


Sweep = Callable[[Round], None]
_followed: Final[dict[str, list[tuple[int, Sweep]]]] = {thread: [] for thread in THREADS}


def followed(thread: str, *, order: int = 0) -> Callable[[Sweep], Callable[[], None]]:
    """Declare what the following process does in this thread too; what is left is the round of a worker.

    In a round of the thread, what has a lower `order` comes first.
    """

    def declare(sweep: Sweep) -> Callable[[], None]:
        _followed[thread].append((order, sweep))

        def by_worker() -> None:
            sweep(Round(now=clock.now, client_for=keys.client_for))

        by_worker.__name__, by_worker.__module__, by_worker.__doc__ = sweep.__name__, sweep.__module__, sweep.__doc__
        return by_worker

    return declare


def sweeps(thread: str) -> list[Sweep]:
    """What the following process does in this thread, in its order."""
    rooms.work()  # which imports the modules that declare it
    return [sweep for _, sweep in sorted(_followed[thread], key=lambda each: each[0])]
