"""What workers are woken for about addresses, and the questions of the forms."""

from desk import clock
from desk.work import Work
from exchange_ops.addresses import checks, deposits, requests
from exchange_ops.keys import store as keys
from exchange_ops.keys.rounds import ERRANDS, Round, followed

WORK = Work(queue="money")


@followed(ERRANDS, order=80)
def sweep_addresses(at: Round) -> None:
    """Every request for a new address that is due; a worker does it in the round of the payouts."""
    requests.sweep(now=at.now(), client_for=at.client_for)


@WORK.task("exchange_ops.check_address")
def check_address(check_id: int) -> None:
    """Ask whether an address is our own."""
    checks.fill_address(check_id=check_id, client_for=keys.client_for, now=clock.now())


@WORK.task("exchange_ops.estimate_fee")
def estimate_fee(estimate_id: int) -> None:
    """Ask what a withdrawal would cost."""
    checks.fill_fee(estimate_id=estimate_id, client_for=keys.client_for, now=clock.now())


@WORK.task("exchange_ops.read_addresses")
def read_addresses(book_id: int) -> None:
    """Read the addresses of one currency."""
    deposits.fill(book_id=book_id, client_for=keys.client_for, now=clock.now())


@WORK.task("exchange_ops.make_address")
def make_address(request_id: int) -> None:
    """One step of one request for a new address, when it is due."""
    requests.look(request_id, now=clock.now(), client_for=keys.client_for)
