"""What workers are woken for. The row is the queue, a task only a hint: each makes one domain call and nothing else.

No task is ever repeated by the broker, none waits for a moment, and arguments are row ids.
"""

from functools import partial

from celery import shared_task

from chaindata.cache import service as chain
from desk import clock
from exchange_ops import retention, scheduled_checks
from exchange_ops.addresses import checks, deposits
from exchange_ops.addresses import requests as new_addresses
from exchange_ops.keys import probing as key_probing
from exchange_ops.keys import store as keys
from exchange_ops.ledger import refresh as copies
from exchange_ops.market import interest as looks
from exchange_ops.market import refresh as watched
from exchange_ops.market import rounds
from exchange_ops.orders import workflow as orders
from exchange_ops.shared import heartbeats
from exchange_ops.subaccounts import readings as subaccount_readings
from exchange_ops.subaccounts import workflow as subaccounts
from exchange_ops.transfers import workflow as transfers
from exchange_ops.withdrawals import workflow as withdrawals
from exchange_ops.withdrawals.proofs import payouts

# A market that is only looked at does not hold a worker for as long as money may.
_quick_client = partial(keys.public_client, deadline_s=5)


@shared_task(name="exchange_ops.advance", max_retries=0, ignore_result=True)
def advance(withdrawal_id: int) -> None:
    """One step of one withdrawal, when it is due."""
    withdrawals.advance(withdrawal_id=withdrawal_id, now=clock.now(), client_for=keys.client_for)


@shared_task(name="exchange_ops.release", max_retries=0, ignore_result=True)
def release(withdrawal_id: int) -> None:
    """One step of one withdrawal that is to be released, when it is due."""
    withdrawals.advance(withdrawal_id=withdrawal_id, now=clock.now(), client_for=keys.client_for)


@shared_task(name="exchange_ops.sweep_releases", max_retries=0, ignore_result=True)
def sweep_releases() -> None:
    """Every release that is due; also the sign of life of the worker that does nothing else."""
    heartbeats.succeeded(heartbeats.RELEASES, now=clock.now())
    withdrawals.sweep_releases(now=clock.now(), client_for=keys.client_for)


@shared_task(name="exchange_ops.advance_transfer", max_retries=0, ignore_result=True)
def advance_transfer(transfer_id: int) -> None:
    """One step of one transfer, when it is due."""
    transfers.advance(transfer_id=transfer_id, now=clock.now(), client_for=keys.client_for)


@shared_task(name="exchange_ops.sweep", max_retries=0, ignore_result=True)
def sweep() -> None:
    """Every withdrawal that is due and is not to be released; also the worker's sign of life."""
    heartbeats.succeeded(heartbeats.WORKER, now=clock.now())
    withdrawals.sweep_others(now=clock.now(), client_for=keys.client_for)
    new_addresses.sweep(now=clock.now(), client_for=keys.client_for)


@shared_task(name="exchange_ops.sweep_transfers", max_retries=0, ignore_result=True)
def sweep_transfers() -> None:
    """Every transfer that is due."""
    transfers.sweep(now=clock.now(), client_for=keys.client_for)


@shared_task(name="exchange_ops.sync_ledger", max_retries=0, ignore_result=True)
def sync_ledger() -> None:
    """Walk the exchange's ledger from the watermark and read the wallets."""
    copies.sync_ledgers(now=clock.now(), client_for=keys.client_for)


@shared_task(name="exchange_ops.refresh_market", max_retries=0, ignore_result=True)
def refresh_market() -> None:
    """Read prices, and currencies and symbols when they are due."""
    rounds.refresh_market(now=clock.now(), open_client=keys.public_client)


@shared_task(name="exchange_ops.check_address", max_retries=0, ignore_result=True)
def check_address(check_id: int) -> None:
    """Ask whether an address is our own."""
    checks.fill_address(check_id=check_id, client_for=keys.client_for, now=clock.now())


@shared_task(name="exchange_ops.estimate_fee", max_retries=0, ignore_result=True)
def estimate_fee(estimate_id: int) -> None:
    """Ask what a withdrawal would cost."""
    checks.fill_fee(estimate_id=estimate_id, client_for=keys.client_for, now=clock.now())


@shared_task(name="exchange_ops.advance_subaccount", max_retries=0, ignore_result=True)
def advance_subaccount(action_id: int) -> None:
    """One step of one action on a sub-account, when it is due."""
    subaccounts.advance(action_id=action_id, now=clock.now(), client_for=keys.client_for)


@shared_task(name="exchange_ops.sweep_subaccounts", max_retries=0, ignore_result=True)
def sweep_subaccounts() -> None:
    """Every action on a sub-account that is due."""
    subaccounts.sweep(now=clock.now(), client_for=keys.client_for)


@shared_task(name="exchange_ops.sync_subaccounts", max_retries=0, ignore_result=True)
def sync_subaccounts() -> None:
    """Read what is due of the list of sub-accounts, their settings, balances and addresses."""
    subaccount_readings.sync(now=clock.now(), client_for=keys.client_for)


@shared_task(name="exchange_ops.read_subaccount_address", max_retries=0, ignore_result=True)
def read_subaccount_address(address_id: int) -> None:
    """Ask for one deposit address of one sub-account."""
    subaccount_readings.fill_address(address_id=address_id, client_for=keys.client_for, now=clock.now())


@shared_task(name=key_probing.TASK, max_retries=0, ignore_result=True)
def probe_key(key_id: int) -> None:
    """Ask the exchange which rights a key really has."""
    key_probing.fill(key_id=key_id, open_client=keys.client_of, now=clock.now())


@shared_task(name="exchange_ops.probe_keys", max_retries=0, ignore_result=True)
def probe_keys() -> None:
    """Wake workers for the keys whose rights nobody asked about yet, or not for a day."""
    key_probing.wake_due(now=clock.now())


@shared_task(name="exchange_ops.read_addresses", max_retries=0, ignore_result=True)
def read_addresses(book_id: int) -> None:
    """Read the addresses of one currency."""
    deposits.fill(book_id=book_id, client_for=keys.client_for, now=clock.now())


@shared_task(name="exchange_ops.make_address", max_retries=0, ignore_result=True)
def make_address(request_id: int) -> None:
    """One step of one request for a new address, when it is due."""
    new_addresses.advance(request_id=request_id, now=clock.now(), client_for=keys.client_for)


@shared_task(name="exchange_ops.refresh_watched", max_retries=0, ignore_result=True)
def refresh_watched() -> None:
    """Read candles, trades and books of the markets that somebody looks at."""
    watched.refresh(now=clock.now(), open_client=_quick_client)


@shared_task(name=looks.TASK, max_retries=0, ignore_result=True)
def read_look(look_id: int) -> None:
    """Read a market that somebody just began to look at."""
    watched.read_one(look_id=look_id, now=clock.now(), open_client=_quick_client)


@shared_task(name="exchange_ops.run_checks", max_retries=0, ignore_result=True, time_limit=900)
def run_checks() -> None:
    """Reconcile and check the audit trail, when that is due."""
    scheduled_checks.run_due(now=clock.now(), client_for=keys.client_for)


@shared_task(name="exchange_ops.purge", max_retries=0, ignore_result=True)
def purge() -> None:
    """Remove what the settings no longer keep of market copies and answered questions."""
    retention.purge(now=clock.now())


@shared_task(name="exchange_ops.advance_order", max_retries=0, ignore_result=True)
def advance_order(order_id: int) -> None:
    """One step of one order, when it is due."""
    orders.advance(order_id=order_id, now=clock.now(), client_for=keys.client_for)


@shared_task(name="exchange_ops.sweep_orders", max_retries=0, ignore_result=True)
def sweep_orders() -> None:
    """Every order that is due."""
    orders.sweep(now=clock.now(), client_for=keys.client_for)


@shared_task(name="exchange_ops.read_orders", max_retries=0, ignore_result=True)
def read_orders() -> None:
    """Read open orders, the history, the account's trades and margin."""
    orders.read_all(now=clock.now(), client_for=keys.client_for)


@shared_task(name=payouts.TASK, max_retries=0, ignore_result=True)
def prove_payouts() -> None:
    """Look on the chain for every payout that is due there."""
    payouts.sweep(now=clock.now(), open_client=chain.open_client)
