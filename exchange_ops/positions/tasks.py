"""What workers are woken for about margin."""

from desk import clock
from desk.work import Work
from exchange_ops.keys import store as keys
from exchange_ops.keys.rounds import ERRANDS, SWEEP_S, Round, followed
from exchange_ops.positions import workflow

WORK = Work(queue="money")


@WORK.task("exchange_ops.advance_margin_action")
def advance_margin_action(action_id: int) -> None:
    """One step of one margin action, when it is due."""
    workflow.look(action_id, now=clock.now(), client_for=keys.client_for)


@WORK.task("exchange_ops.sweep_margin_actions", every_s=SWEEP_S)
@followed(ERRANDS, order=30)
def sweep_margin_actions(at: Round) -> None:
    """Every margin action that is due."""
    workflow.sweep(now=at.now(), client_for=at.client_for)
