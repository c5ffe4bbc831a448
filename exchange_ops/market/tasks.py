"""What workers are woken for about markets: prices, and what somebody looks at."""

from functools import partial

from desk import clock
from desk.machines.lanes import LANES, Job
from desk.work import Work
from exchange_ops.market import history, interest, reference, refresh
from exchange_ops.shared import public_client

WORK = Work(queue="money")
# A market that is only looked at does not hold a worker for as long as money may.
_quick_client = partial(public_client.open_client, deadline_s=5)


@WORK.task("exchange_ops.refresh_market", every_s=15)
def refresh_market() -> None:
    """Read prices, and currencies and symbols when they are due."""
    LANES.put([Job("prices", "read", _prices)])


def _prices() -> int:
    return int(reference.refresh_market(now=clock.now(), open_client=public_client.open_client))


@WORK.task("exchange_ops.refresh_watched", every_s=5)
def refresh_watched() -> None:
    """Read candles, trades and books of the markets that somebody looks at."""
    LANES.put([Job("markets", "watched", _watched)])


def _watched() -> int:
    return refresh.refresh(now=clock.now(), open_client=_quick_client)


@WORK.task(interest.TASK)
def read_look(look_id: int) -> None:
    """Read a market that somebody just began to look at."""
    refresh.read_one(look_id=look_id, now=clock.now(), open_client=_quick_client)


@WORK.task(history.TASK)
def read_history(history_id: int) -> None:
    """Read candles that are older than those kept, for a chart that was moved back."""
    history.read(history_id=history_id, now=clock.now(), open_client=_quick_client)
