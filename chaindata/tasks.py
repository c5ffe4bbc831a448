"""What workers are woken for: each makes one domain call. They run on a queue of their own and never hold up money.

The row is the queue: a wake-up call that is lost costs one sweep.
"""

from chaindata import tip_follower
from chaindata.broadcasts import requests, sending
from chaindata.cache import answers, fetching, retention, service
from chaindata.watching import machine, reading
from desk import clock, work

WORK = work.Work(queue="chain")
task = WORK.task


@task(answers.FETCH_TASK)
def fetch(answer_id: int) -> None:
    """Ask for one answer that a page waits for, and for others of its kind."""
    fetching.fetch(answer_id=answer_id, now=clock.now(), open_client=service.open_client)


@task("chaindata.sweep", every_s=5)
def fetch_answers() -> None:
    """Ask for whatever is looked at and due."""
    fetching.fetch_due(now=clock.now(), open_client=service.open_client)


@task("chaindata.follow_tip", every_s=3)
def follow_tip() -> None:
    """Look whether there is a new block."""
    tip_follower.follow(now=clock.now(), open_client=service.open_client)


@task(requests.SEND_TASK)
def send_broadcast(broadcast_id: int) -> None:
    """One step of one transaction that somebody wants sent, when it is due."""
    sending.advance(broadcast_id, now=clock.now(), open_client=service.open_client)


@task("chaindata.sweep_broadcasts", every_s=5)
def sweep_broadcasts() -> None:
    """Every transaction that is to be sent or looked for."""
    sending.sweep(now=clock.now(), open_client=service.open_client)


@task(machine.READ_TASK)
def read_watched(watched_id: int) -> None:
    """Read one watched address that is due."""
    reading.read(now=clock.now(), open_client=service.open_client, only=watched_id)


@task("chaindata.sweep_watched", every_s=10)
def sweep_watched() -> None:
    """Read the watched addresses that are due."""
    reading.read(now=clock.now(), open_client=service.open_client)


@task("chaindata.purge", every_s=600, expires_s=300)
def purge() -> None:
    """Remove answers that nobody looks at any more."""
    retention.purge(now=clock.now())
