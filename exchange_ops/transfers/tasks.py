"""What workers are woken for about transfers."""

from desk import clock
from desk.work import Work
from exchange_ops.keys import store as keys
from exchange_ops.keys.rounds import ERRANDS, SWEEP_S, Round, followed
from exchange_ops.transfers import workflow

WORK = Work(queue="money")


@WORK.task("exchange_ops.advance_transfer")
def advance_transfer(transfer_id: int) -> None:
    """One step of one transfer, when it is due."""
    workflow.look(transfer_id, now=clock.now(), client_for=keys.client_for)


@WORK.task("exchange_ops.sweep_transfers", every_s=SWEEP_S)
@followed(ERRANDS, order=40)
def sweep_transfers(at: Round) -> None:
    """Every transfer that is due."""
    workflow.sweep(now=at.now(), client_for=at.client_for)
