"""What workers are woken for. The row is the queue, a task only a hint: each makes one domain call and nothing else.

No task is ever repeated by the broker, none waits for a moment, and arguments are row ids. Each is declared where it
stands: how often beat wakes it, on which queue it runs, and in which thread the following process does the same,
without a broker or a worker. There the order of this file is the order of a round.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from django.conf import settings

from chaindata.cache import service as chain
from desk import clock, work
from desk.incidents import review as incidents
from desk.notifications import delivering, outgoing
from desk.notifications import finding as notifications
from desk.restores import signs as restores
from desk.rows import retention
from desk.staff import changes
from exchange_ops.addresses import checks, deposits
from exchange_ops.addresses import requests as new_addresses
from exchange_ops.console import calls as console
from exchange_ops.console import sending as console_sending
from exchange_ops.keys import probing as key_probing
from exchange_ops.keys import store as keys
from exchange_ops.keys.clients import ClientFor
from exchange_ops.ledger import chain_differences
from exchange_ops.ledger import refresh as copies
from exchange_ops.market import history, rounds
from exchange_ops.market import interest as looks
from exchange_ops.market import refresh as watched
from exchange_ops.orders import workflow as orders
from exchange_ops.orders.brackets import workflow as brackets
from exchange_ops.orders.ticket import rates
from exchange_ops.policy_changes import workflow as policy_changes
from exchange_ops.portfolio import recording
from exchange_ops.positions import workflow as positions
from exchange_ops.reconciliation import scheduled_checks
from exchange_ops.shared import heartbeats
from exchange_ops.subaccounts import readings as subaccount_readings
from exchange_ops.subaccounts import workflow as subaccounts
from exchange_ops.transfers import workflow as transfers
from exchange_ops.withdrawals import workflow as withdrawals
from exchange_ops.withdrawals.proofs import payouts

WORK = work.Work(queue="money")
task = WORK.task
CHAIN, RELEASE = "chain", "release"  # queues that no order to pay ever waits in
REVIEW_S = 3
BRACKETS_S = 2  # a take profit that the market touched is taken about so late
SWEEP_S: int = settings.SWEEP_SECONDS

# The threads of the following process. Nothing may make a deadline of a payout wait, so a long history of the ledger,
# a release that an order to pay would hold up, and the work without a deadline have threads of their own.
RELEASES, PAYOUTS, LEDGERS, ERRANDS = "releases", "sweep", "ledgers", "errands"


@dataclass(frozen=True, slots=True)
class Round:
    """One round of sweeping: by a worker, or by the following process, which does only what no worker did of late.

    The following process says whether it goes on: unlike a worker it may take as long as a history needs.
    """

    now: Callable[[], datetime]
    client_for: ClientFor
    goes_on: Callable[[], bool] | None = None

    @property
    def is_following(self) -> bool:
        """Whether it is the following process's."""
        return self.goes_on is not None


FOLLOWED: dict[str, list[Callable[[Round], None]]] = {RELEASES: [], PAYOUTS: [], LEDGERS: [], ERRANDS: []}


def followed(thread: str) -> Callable[[Callable[[Round], None]], Callable[[], None]]:
    """Declare what the following process does in this thread too; what is left is the round of a worker."""

    def declared(sweep: Callable[[Round], None]) -> Callable[[], None]:
        FOLLOWED[thread].append(sweep)

        def by_worker() -> None:
            sweep(Round(now=clock.now, client_for=keys.client_for))

        by_worker.__name__, by_worker.__module__, by_worker.__doc__ = sweep.__name__, sweep.__module__, sweep.__doc__
        return by_worker

    return declared


# A market that is only looked at does not hold a worker for as long as money may.
_quick_client = partial(keys.public_client, deadline_s=5)


@task("exchange_ops.advance")
def advance_withdrawal(withdrawal_id: int) -> None:
    """One step of one withdrawal, when it is due."""
    withdrawals.advance(withdrawal_id, now=clock.now(), client_for=keys.client_for)


@task("exchange_ops.release", queue=RELEASE)
def release(withdrawal_id: int) -> None:
    """One step of one withdrawal that is to be released, when it is due."""
    withdrawals.advance(withdrawal_id, now=clock.now(), client_for=keys.client_for)


@followed(RELEASES)
def _releases(at: Round) -> None:
    withdrawals.sweep_releases(now=at.now(), client_for=at.client_for)


@task("exchange_ops.sweep_releases", every_s=SWEEP_S, queue=RELEASE)
def sweep_releases() -> None:
    """Every release that is due; also the sign of life of the worker that does nothing else."""
    heartbeats.succeeded(heartbeats.RELEASES, now=clock.now())
    _releases()


@task("exchange_ops.advance_transfer")
def advance_transfer(transfer_id: int) -> None:
    """One step of one transfer, when it is due."""
    transfers.advance(transfer_id, now=clock.now(), client_for=keys.client_for)


@followed(PAYOUTS)
def _payouts(at: Round) -> None:
    withdrawals.sweep_others(now=at.now(), client_for=at.client_for)
    if at.is_following:
        heartbeats.succeeded(heartbeats.SWEEPER, now=at.now())


@task("exchange_ops.sweep_orders", every_s=SWEEP_S)
@followed(ERRANDS)
def sweep_orders(at: Round) -> None:
    """Every order that is due."""
    orders.sweep(now=at.now(), client_for=at.client_for)


@task("exchange_ops.sweep_brackets", every_s=BRACKETS_S)
@followed(ERRANDS)
def sweep_brackets(at: Round) -> None:
    """Look at every bracket that is due: what its orders filled, and whether the market reached its take profit."""
    brackets.sweep(now=at.now())


@task("exchange_ops.sweep_margin_actions", every_s=SWEEP_S)
@followed(ERRANDS)
def sweep_margin_actions(at: Round) -> None:
    """Every margin action that is due."""
    positions.sweep(now=at.now(), client_for=at.client_for)


@task("exchange_ops.sweep_transfers", every_s=SWEEP_S)
@followed(ERRANDS)
def sweep_transfers(at: Round) -> None:
    """Every transfer that is due."""
    transfers.sweep(now=at.now(), client_for=at.client_for)


@task("exchange_ops.sweep_subaccounts", every_s=SWEEP_S)
@followed(ERRANDS)
def sweep_subaccounts(at: Round) -> None:
    """Every action on a sub-account that is due."""
    subaccounts.sweep(now=at.now(), client_for=at.client_for)


@task("exchange_ops.read_orders", every_s=10)
@followed(ERRANDS)
def read_orders(at: Round) -> None:
    """Read open orders, the history, the account's trades and margin."""
    orders.read_all(now=at.now(), client_for=at.client_for, only_stale=at.is_following)


@task("exchange_ops.probe_keys", every_s=15)
@followed(ERRANDS)
def probe_keys(at: Round) -> None:
    """Wake workers for the keys whose rights nobody asked about yet, or not for a day; ask where there are none."""
    if at.is_following:
        key_probing.probe_due(now=at.now(), open_client=keys.client_of)
    else:
        key_probing.wake_due(now=at.now())


@followed(ERRANDS)
def _addresses(at: Round) -> None:
    new_addresses.sweep(now=at.now(), client_for=at.client_for)


@task("exchange_ops.sweep", every_s=SWEEP_S)
def sweep_withdrawals() -> None:
    """Every withdrawal that is due and is not to be released; also the worker's sign of life."""
    heartbeats.succeeded(heartbeats.WORKER, now=clock.now())
    _payouts()
    _addresses()


@task("exchange_ops.sync_ledger", every_s=10)
@followed(LEDGERS)
def sync_ledger(at: Round) -> None:
    """Walk the exchange's ledger from the watermark and read the wallets."""
    copies.sync_ledgers(now=at.now(), client_for=at.client_for, only_stale=at.is_following, to_the_end=at.goes_on)


@task("exchange_ops.refresh_market", every_s=15)
def refresh_market() -> None:
    """Read prices, and currencies and symbols when they are due."""
    rounds.refresh_market(now=clock.now(), open_client=keys.public_client)


@task("exchange_ops.check_address")
def check_address(check_id: int) -> None:
    """Ask whether an address is our own."""
    checks.fill_address(check_id=check_id, client_for=keys.client_for, now=clock.now())


@task("exchange_ops.estimate_fee")
def estimate_fee(estimate_id: int) -> None:
    """Ask what a withdrawal would cost."""
    checks.fill_fee(estimate_id=estimate_id, client_for=keys.client_for, now=clock.now())


@task(rates.TASK)
def read_fee_rates(rates_id: int) -> None:
    """Ask what the account pays for trading a symbol."""
    rates.fill(rates_id=rates_id, client_for=keys.client_for, now=clock.now())


@task("exchange_ops.advance_subaccount")
def advance_subaccount(action_id: int) -> None:
    """One step of one action on a sub-account, when it is due."""
    subaccounts.advance(action_id, now=clock.now(), client_for=keys.client_for)


@task("exchange_ops.sync_subaccounts", every_s=15)
def sync_subaccounts() -> None:
    """Read what is due of the list of sub-accounts, their settings, balances and addresses."""
    subaccount_readings.sync(now=clock.now(), client_for=keys.client_for)


@task("exchange_ops.read_subaccount_address")
def read_subaccount_address(address_id: int) -> None:
    """Ask for one deposit address of one sub-account."""
    subaccount_readings.fill_address(address_id=address_id, client_for=keys.client_for, now=clock.now())


@task(key_probing.TASK)
def probe_key(key_id: int) -> None:
    """Ask the exchange which rights a key really has."""
    key_probing.fill(key_id=key_id, open_client=keys.client_of, now=clock.now())


@task("exchange_ops.read_addresses")
def read_addresses(book_id: int) -> None:
    """Read the addresses of one currency."""
    deposits.fill(book_id=book_id, client_for=keys.client_for, now=clock.now())


@task("exchange_ops.make_address")
def make_address(request_id: int) -> None:
    """One step of one request for a new address, when it is due."""
    new_addresses.advance(request_id, now=clock.now(), client_for=keys.client_for)


@task("exchange_ops.refresh_watched", every_s=5)
def refresh_watched() -> None:
    """Read candles, trades and books of the markets that somebody looks at."""
    watched.refresh(now=clock.now(), open_client=_quick_client)


@task(looks.TASK)
def read_look(look_id: int) -> None:
    """Read a market that somebody just began to look at."""
    watched.read_one(look_id=look_id, now=clock.now(), open_client=_quick_client)


@task(history.TASK)
def read_history(history_id: int) -> None:
    """Read candles that are older than those kept, for a chart that was moved back."""
    history.read(history_id=history_id, now=clock.now(), open_client=_quick_client)


@task("exchange_ops.review_incidents", every_s=REVIEW_S)
@followed(ERRANDS)
def review_incidents(at: Round) -> None:
    """Bring the incidents in line with what is wrong now, and tell whoever is to be told."""
    restores.check(now=at.now())
    incidents.review(now=at.now())
    changes.expire(at.now())
    policy_changes.review(now=at.now())
    notifications.notify_due(now=at.now())


@task(outgoing.TASK, every_s=5, queue=CHAIN)
def deliver(_: int = 0) -> None:
    """Send the messages that are due; where mail or a webhook hangs, no payout waits for it."""
    delivering.sweep(now=clock.now())


@task("exchange_ops.run_checks", every_s=60, expires_s=50, queue=CHAIN, time_limit_s=900)
def run_checks() -> None:
    """Reconcile and check the audit trail, when that is due."""
    scheduled_checks.run_due(now=clock.now(), client_for=keys.client_for)


@task("exchange_ops.record_portfolio", every_s=60, expires_s=50, queue=CHAIN, time_limit_s=600)
def record_portfolio() -> None:
    """Keep what the accounts are worth, once an hour, and bring flows and profits up to date."""
    recording.record(now=clock.now(), open_client=keys.public_client)


@task("exchange_ops.purge", every_s=600, expires_s=300)
def purge() -> None:
    """Remove what the settings no longer keep of market copies and answered questions."""
    retention.purge(now=clock.now())


@task("exchange_ops.advance_order")
def advance_order(order_id: int) -> None:
    """One step of one order, when it is due."""
    orders.advance(order_id, now=clock.now(), client_for=keys.client_for)


@task("exchange_ops.advance_bracket")
def advance_bracket(bracket_id: int) -> None:
    """One look at one bracket, when it is due."""
    brackets.advance(bracket_id, now=clock.now())


@task("exchange_ops.advance_margin_action")
def advance_margin_action(action_id: int) -> None:
    """One step of one margin action, when it is due."""
    positions.advance(action_id, now=clock.now(), client_for=keys.client_for)


@task(payouts.TASK, every_s=5, queue=CHAIN)
def prove_payouts() -> None:
    """Look on the chain for every payout that is due there."""
    payouts.prove_due(now=clock.now(), open_client=chain.open_client)


@task(chain_differences.LOOK_TASK, every_s=20, queue=CHAIN)
def compare_deposits() -> None:
    """Keep looking at the transactions of recent deposits."""
    chain_differences.look(now=clock.now())


@task(console.TASK, queue=CHAIN)
def console_call(call_id: int) -> None:
    """Send one request from the console, on the queue of reads, so that no payout waits for it."""
    console.perform(call_id, now=clock.now(), send=console_sending.send)


@task("exchange_ops.sweep_console", every_s=15, queue=CHAIN)
def sweep_console() -> None:
    """Requests from the console that wait too long, and those that were lost with their worker."""
    console.sweep(now=clock.now())
