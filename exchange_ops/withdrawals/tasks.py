"""What workers are woken for about payouts. Releases have a queue and a thread that no order to pay ever waits in."""

from chaindata.cache import service as chain
from desk import clock
from desk.machines.lanes import LANES, Job
from desk.work import CHAIN, Work
from exchange_ops.addresses import requests as new_addresses
from exchange_ops.keys import store as keys
from exchange_ops.keys.rounds import ERRANDS, PAYOUTS, RELEASES, SWEEP_S, Round, followed
from exchange_ops.shared import heartbeats
from exchange_ops.withdrawals import workflow
from exchange_ops.withdrawals.proofs import payouts
from exchange_ops.withdrawals.schedules import requesting

WORK = Work(queue="money")
RELEASE = "release"  # the queue of releases: nothing else goes there


@WORK.task("exchange_ops.advance")
def advance_withdrawal(withdrawal_id: int) -> None:
    """One step of one withdrawal, when it is due."""
    workflow.look(withdrawal_id, now=clock.now(), client_for=keys.client_for)


@WORK.task("exchange_ops.release", queue=RELEASE)
def release(withdrawal_id: int) -> None:
    """One step of one withdrawal that is to be released, when it is due."""
    workflow.look(withdrawal_id, now=clock.now(), client_for=keys.client_for)


@followed(RELEASES)
def _releases(at: Round) -> None:
    workflow.sweep_releases(now=at.now(), client_for=at.client_for)


@WORK.task("exchange_ops.sweep_releases", every_s=SWEEP_S, queue=RELEASE)
def sweep_releases() -> None:
    """Every release that is due; also the sign of life of the worker that does nothing else."""
    heartbeats.succeeded(heartbeats.RELEASES, now=clock.now())
    heartbeats.report_overdue_jobs(now=clock.now())
    _releases()


@followed(PAYOUTS)
def _payouts(at: Round) -> None:
    workflow.sweep_others(now=at.now(), client_for=at.client_for)
    if at.is_following:
        heartbeats.succeeded(heartbeats.SWEEPER, now=at.now())


@WORK.task("exchange_ops.sweep", every_s=SWEEP_S)
def sweep_withdrawals() -> None:
    """Every withdrawal that is due and is not to be released; also the worker's sign of life."""
    heartbeats.succeeded(heartbeats.WORKER, now=clock.now())
    heartbeats.report_overdue_jobs(now=clock.now())
    _payouts()
    new_addresses.sweep(now=clock.now(), client_for=keys.client_for)


@WORK.task("exchange_ops.sweep_schedules", every_s=SWEEP_S)
@followed(ERRANDS)
def sweep_schedules(at: Round) -> None:
    """Request every payout of a schedule that is due."""
    requesting.sweep(now=at.now())


@WORK.task(payouts.TASK, every_s=5, queue=CHAIN)
def prove_payouts() -> None:
    """Look on the chain for every payout that is due there."""
    LANES.put([Job("proofs", "sweep", _prove)])
    heartbeats.report_overdue_jobs(now=clock.now())


def _prove() -> int:
    payouts.prove_due(now=clock.now(), open_client=chain.open_client)
    return 1
