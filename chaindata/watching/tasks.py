"""What workers are woken for about watched addresses."""

from chaindata.cache import service
from chaindata.watching import machine, reading
from desk import clock
from desk.work import CHAIN, Work

WORK = Work(queue=CHAIN)


@WORK.task(machine.READ_TASK)
def read_watched(watched_id: int) -> None:
    """Read one watched address that is due."""
    reading.read(now=clock.now(), open_client=service.open_client, only=watched_id)


@WORK.task("chaindata.sweep_watched", every_s=10)
def sweep_watched() -> None:
    """Read the watched addresses that are due."""
    reading.read(now=clock.now(), open_client=service.open_client)
