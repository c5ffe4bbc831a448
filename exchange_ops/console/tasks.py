"""What workers are woken for about requests from the console, on the queue of reads: no payout waits for one."""

from desk import clock
from desk.work import CHAIN, Work
from exchange_ops.console import calls, sending

WORK = Work(queue=CHAIN)


@WORK.task(calls.TASK)
def console_call(call_id: int) -> None:
    """Send one request from the console, on the queue of reads, so that no payout waits for it."""
    calls.perform(call_id, now=clock.now(), send=sending.send)


@WORK.task("exchange_ops.sweep_console", every_s=15)
def sweep_console() -> None:
    """Requests from the console that wait too long, and those that were lost with their worker."""
    calls.sweep(now=clock.now())
