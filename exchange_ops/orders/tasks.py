"""What workers are woken for about orders and brackets."""

from desk import clock
from desk.work import Work
from exchange_ops.keys import store as keys
from exchange_ops.keys.rounds import ERRANDS, SWEEP_S, Round, followed
from exchange_ops.orders import workflow
from exchange_ops.orders.brackets import workflow as brackets
from exchange_ops.orders.ticket import fee_rates

WORK = Work(queue="money")
BRACKETS_S = 2  # a take profit that the market touched is taken about so late


@WORK.task("exchange_ops.advance_order")
def advance_order(order_id: int) -> None:
    """One step of one order, when it is due."""
    workflow.look(order_id, now=clock.now(), client_for=keys.client_for)


@WORK.task("exchange_ops.sweep_orders", every_s=SWEEP_S)
@followed(ERRANDS, order=10)
def sweep_orders(at: Round) -> None:
    """Every order that is due."""
    workflow.sweep(now=at.now(), client_for=at.client_for)


@WORK.task("exchange_ops.advance_bracket")
def advance_bracket(bracket_id: int) -> None:
    """One look at one bracket, when it is due."""
    brackets.advance(bracket_id, now=clock.now())


@WORK.task("exchange_ops.sweep_brackets", every_s=BRACKETS_S)
@followed(ERRANDS, order=20)
def sweep_brackets(at: Round) -> None:
    """Look at every bracket that is due: what its orders filled, and whether the market reached its take profit."""
    brackets.sweep(now=at.now())


@WORK.task("exchange_ops.read_orders", every_s=10)
@followed(ERRANDS, order=60)
def read_orders(at: Round) -> None:
    """Read open orders, the history, the account's trades and margin."""
    workflow.read_all(now=at.now(), client_for=at.client_for, only_stale=at.is_following)


@WORK.task(fee_rates.TASK)
def read_fee_rates(rates_id: int) -> None:
    """Ask what the account pays for trading a symbol."""
    fee_rates.fill(rates_id=rates_id, client_for=keys.client_for, now=clock.now())
