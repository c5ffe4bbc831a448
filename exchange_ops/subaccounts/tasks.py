"""What workers are woken for about sub-accounts."""

from desk import clock
from desk.work import Work
from exchange_ops.keys import store as keys
from exchange_ops.keys.rounds import ERRANDS, SWEEP_S, Round, followed
from exchange_ops.subaccounts import readings, workflow

WORK = Work(queue="money")


@WORK.task("exchange_ops.advance_subaccount")
def advance_subaccount(action_id: int) -> None:
    """One step of one action on a sub-account, when it is due."""
    workflow.look(action_id, now=clock.now(), client_for=keys.client_for)


@WORK.task("exchange_ops.sweep_subaccounts", every_s=SWEEP_S)
@followed(ERRANDS, order=50)
def sweep_subaccounts(at: Round) -> None:
    """Every action on a sub-account that is due."""
    workflow.sweep(now=at.now(), client_for=at.client_for)


@WORK.task("exchange_ops.sync_subaccounts", every_s=15)
def sync_subaccounts() -> None:
    """Read what is due of the list of sub-accounts, their settings, balances and addresses."""
    readings.sync(now=clock.now(), client_for=keys.client_for)


@WORK.task("exchange_ops.read_subaccount_address")
def read_subaccount_address(address_id: int) -> None:
    """Ask for one deposit address of one sub-account."""
    readings.fill_address(address_id=address_id, client_for=keys.client_for, now=clock.now())
