"""What workers are woken for about what the accounts are worth."""

from desk import clock
from desk.machines.lanes import LANES, Job
from desk.work import CHAIN, Work
from exchange_ops.portfolio import recording
from exchange_ops.shared import public_client

WORK = Work(queue="money")


@WORK.task("exchange_ops.record_portfolio", every_s=60, expires_s=50, queue=CHAIN, time_limit_s=600)
def record_portfolio() -> None:
    """Keep what the accounts are worth, once an hour, and bring flows and profits up to date."""
    LANES.put([Job("portfolio", "record", _record, 600)])


def _record() -> int:
    recording.record(now=clock.now(), open_client=public_client.open_client)
    return 1
