"""What workers are woken for about transactions that somebody wants sent."""

from chaindata.broadcasts import requests, sending
from chaindata.cache import service
from desk import clock
from desk.work import CHAIN, Work

WORK = Work(queue=CHAIN)


@WORK.task(requests.SEND_TASK)
def send_broadcast(broadcast_id: int) -> None:
    """One step of one transaction that somebody wants sent, when it is due."""
    sending.advance(broadcast_id, now=clock.now(), open_client=service.open_client)


@WORK.task("chaindata.sweep_broadcasts", every_s=5)
def sweep_broadcasts() -> None:
    """Every transaction that is to be sent or looked for."""
    sending.sweep(now=clock.now(), open_client=service.open_client)
