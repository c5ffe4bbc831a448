"""What workers are woken for. The row is the queue, a task only a hint: each makes one domain call and nothing else.

No task is ever repeated by the broker, none waits for a moment, and arguments are row ids.
"""

from celery import shared_task

from desk import clock
from exchange_ops.domain import checks, copies, keys, pulse, withdrawals


@shared_task(name="exchange_ops.advance", max_retries=0, ignore_result=True)
def advance(withdrawal_id: int) -> None:
    """One step of one withdrawal, when it is due."""
    withdrawals.advance(withdrawal_id=withdrawal_id, now=clock.now(), client_for=keys.client_for)


@shared_task(name="exchange_ops.sweep", max_retries=0, ignore_result=True)
def sweep() -> None:
    """Every withdrawal that is due; also the worker's sign of life."""
    pulse.succeeded(pulse.WORKER, now=clock.now())
    withdrawals.sweep(now=clock.now(), client_for=keys.client_for)


@shared_task(name="exchange_ops.sync_ledger", max_retries=0, ignore_result=True)
def sync_ledger() -> None:
    """Walk the exchange's ledger from the watermark and read the wallets."""
    copies.sync_ledgers(now=clock.now(), client_for=keys.client_for)


@shared_task(name="exchange_ops.refresh_market", max_retries=0, ignore_result=True)
def refresh_market() -> None:
    """Read prices, and currencies and symbols when they are due."""
    copies.refresh_market(now=clock.now(), open_client=keys.public_client)


@shared_task(name="exchange_ops.check_address", max_retries=0, ignore_result=True)
def check_address(check_id: int) -> None:
    """Ask whether an address is our own."""
    checks.fill_address(check_id=check_id, client_for=keys.client_for, now=clock.now())


@shared_task(name="exchange_ops.estimate_fee", max_retries=0, ignore_result=True)
def estimate_fee(estimate_id: int) -> None:
    """Ask what a withdrawal would cost."""
    checks.fill_fee(estimate_id=estimate_id, client_for=keys.client_for, now=clock.now())
