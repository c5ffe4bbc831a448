"""What workers are woken for about payees."""

from desk import clock
from desk.work import Work
from exchange_ops.keys import store as keys
from exchange_ops.keys.rounds import ERRANDS, SWEEP_S, Round, followed
from exchange_ops.payees import workflow

WORK = Work(queue="money")


@WORK.task("exchange_ops.advance_payee")
def advance_payee(payee_id: int) -> None:
    """One step of one payee, when it is due."""
    workflow.look(payee_id, now=clock.now(), client_for=keys.client_for)


@WORK.task("exchange_ops.sweep_payees", every_s=SWEEP_S)
@followed(ERRANDS, order=60)
def sweep_payees(at: Round) -> None:
    """Every payee whose cooling-off period, approval or time to be approved ends."""
    workflow.sweep(now=at.now(), client_for=at.client_for)
