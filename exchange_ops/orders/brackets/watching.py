"""One look at a bracket: read its situation, decide the next step, do it. A worker looks every two seconds.

An exit is recorded in the transaction that decides on it, as an order of the desk like any other: it is sent once and
looked for when its answer is lost. The bracket itself sends nothing.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from heapq import heapify, heappop, heappush
from typing import Any, Final

from django.db import transaction

from desk import clock
from desk.restores import signs
from exchange_ops.market import interest
from exchange_ops.orders import cancelling, client_order_ids
from exchange_ops.orders import machine as order_machine
from exchange_ops.orders import states as order_states
from exchange_ops.orders.brackets import machine, plan, situation, states
from exchange_ops.orders.brackets.models import Bracket, BracketLeg
from exchange_ops.orders.brackets.plan import Do, Plan, Situation
from exchange_ops.orders.models import Order

LOOK_EVERY: Final = timedelta(seconds=2)
ASK_AGAIN: Final = timedelta(seconds=10)  # to have an order cancelled that the exchange did not cancel
VIA: Final = "bracket"
NO_PRICE: Final = "No current price, so the take profit is not monitored. The stop on the exchange is working."
FROZEN: Final = "no further orders will be placed. A stop already on the exchange stays active."


def step(row: Bracket, *, now: datetime) -> None:
    """Look at the bracket and take the one step that is due."""
    interest.glance(codes=[row.symbol], now=now)
    with transaction.atomic():
        row = machine.lock(row.pk)
        if row.state == states.CLOSED:
            return
        if stopped := signs.problem():  # its orders may be those of an earlier moment
            machine.touch(row, next_action_at=now + LOOK_EVERY, last_problem=stopped)
            return
        # Before the turn of the trail is taken: whoever moves an order locks its row first.
        chains = _lock_chains(row)
        at = situation.current(row, now=now, chains=chains)
        action = plan.next_step(at)
        if action.cancel_entry:
            _cancel(row, chains[row.entry_id], now)
        legs = row.legs.filter(number__in=action.cancel_legs).order_by("number")
        for number in legs.values_list("order_id", flat=True):
            _cancel(row, chains[number], now)
        row.legs.filter(number__in=action.settled, settled_at=None).update(settled_at=now)
        _DOES[action.do](row, at, action)
        if action.do in _ENDS_ORDERS:
            for chain in chains.values():
                _cancel(row, chain, now)


def _lock_chains(row: Bracket) -> situation.Chains:
    """Lock its orders and all their replacements, and read each after its lock, so that nobody changes one meanwhile.

    Everybody locks orders by number, the lowest first, so this does too, across the chains.
    """
    roots = [row.entry_id, *row.legs.values_list("order_id", flat=True)]
    waiting = [(number, number) for number in roots]
    chains: dict[int, list[Order]] = {root: [] for root in roots}
    heapify(waiting)
    while waiting:
        number, root = heappop(waiting)
        chains[root].append(order_machine.lock(number))
        for after in Order.objects.filter(replaces=number).values_list("pk", flat=True):
            heappush(waiting, (after, root))
    return chains


def _wait(row: Bracket, at: Situation, action: Plan) -> None:
    explanation = action.sentence or (row.last_problem if row.state == states.UNGUARDED else "")
    problem = ""
    if row.state in {states.ENTERING, states.GUARDED} and at.exposed > 0:
        if at.frozen:
            problem = f"{at.frozen}: {FROZEN}"
        elif situation.fresh_price(row, now=at.now) is None:
            problem = NO_PRICE
    sentence = " ".join(filter(None, (explanation, problem)))
    machine.touch(row, next_action_at=at.now + LOOK_EVERY, last_problem=sentence[:500])


def _say_guarded(row: Bracket, at: Situation, action: Plan) -> None:
    event = "entered" if row.state == states.ENTERING else "guarded_again"
    _move(row, at, event, states.GUARDED)


def _place_stop(row: Bracket, at: Situation, action: Plan) -> None:
    if row.state == states.UNGUARDED:
        _move(row, at, "stop_asked", states.GUARDED)
    _place(row, BracketLeg.STOP, action.quantity, at.now)
    machine.touch(row, next_action_at=at.now + LOOK_EVERY)


def _say_unguarded(row: Bracket, at: Situation, action: Plan) -> None:
    _move(row, at, "stop_missing", states.UNGUARDED, problem=action.sentence)


def _begin_to_take(row: Bracket, at: Situation, action: Plan) -> None:
    price = situation.fresh_price(row, now=at.now)
    _move(row, at, "take_reached", states.TAKING, evidence={"price": price})


def _place_take(row: Bracket, at: Situation, action: Plan) -> None:
    _place(row, BracketLeg.TAKE, action.quantity, at.now)
    machine.touch(row, next_action_at=at.now + LOOK_EVERY)


def _give_up_taking(row: Bracket, at: Situation, action: Plan) -> None:
    _move(row, at, "take_missed", states.GUARDED, problem=action.sentence)


def _look_again(row: Bracket, at: Situation, action: Plan) -> None:
    machine.touch(row, next_action_at=at.now + LOOK_EVERY)


def _position_gone(row: Bracket, at: Situation, action: Plan) -> None:
    _move(row, at, "position_gone", states.ENDING, ended_by=states.POSITION_GONE, evidence={"held": at.held})


def _close(row: Bracket, at: Situation, action: Plan) -> None:
    outcome = row.ended_by if row.ended_by and at.exposed > 0 else action.outcome
    if row.ended_by and outcome in {states.NOT_ENTERED, states.CANCELLED}:
        outcome = row.ended_by
    evidence = {"left": at.exposed} if at.exposed > 0 else {}
    machine.move(row, event="closed", to=states.CLOSED, now=at.now, outcome=outcome, last_problem="", evidence=evidence)


_DOES: Final[dict[Do, Callable[[Bracket, Situation, Plan], None]]] = {
    Do.WAIT: _wait,
    Do.SAY_GUARDED: _say_guarded,
    Do.PLACE_STOP: _place_stop,
    Do.SAY_UNGUARDED: _say_unguarded,
    Do.BEGIN_TO_TAKE: _begin_to_take,
    Do.PLACE_TAKE: _place_take,
    Do.GIVE_UP_TAKING: _give_up_taking,
    Do.CANCEL: _look_again,
    Do.END_POSITION_GONE: _position_gone,
    Do.CLOSE: _close,
}
_ENDS_ORDERS: Final = {Do.BEGIN_TO_TAKE, Do.CANCEL, Do.END_POSITION_GONE}  # with them everything open is cancelled


def _move(
    row: Bracket, at: Situation, event: str, to: str, *, problem: str = "", evidence: dict[str, Any] | None = None,
    **changes: Any,
) -> None:  # fmt: skip
    machine.move(
        row,
        event=event,
        to=to,
        now=at.now,
        next_action_at=at.now + LOOK_EVERY,
        last_problem=problem[:500],
        evidence={"open": at.exposed, "without_a_stop": at.bare} | (evidence or {}),
        **changes,
    )


def _place(row: Bracket, role: str, quantity: Decimal, now: datetime) -> None:
    """Ask for one closing order, in the transaction that makes it a leg of the bracket."""
    number = row.legs.count() + 1
    terms = (
        {"type": "stopMarket", "time_in_force": "GTC", "stop_price": row.stop_price}
        if role == BracketLeg.STOP
        else {"type": "limit", "time_in_force": "IOC", "price": row.take_price}
    )
    order = Order(
        account=row.account,
        initiator=row.initiator,
        initiated_via=VIA,
        request_key=f"{row.subject}:{number}",
        client_order_id=client_order_ids.fresh_id(),
        symbol=row.symbol,
        side=row.exit_side,
        quantity=quantity,
        margin=row.margin,
        **terms,
    )
    order_machine.create(
        order, event="asked_by_bracket", to=order_states.REQUESTED, now=now, evidence={"bracket": row.pk}
    )
    BracketLeg.objects.create(bracket=row, number=number, role=role, order=order, created_at=now)


def _cancel(row: Bracket, chain: Sequence[Order], now: datetime) -> None:
    """Have the working orders of a chain cancelled; where the exchange refused that, ask again only after a while."""
    for order in situation.working(chain):
        asked_a_moment_ago = order.cancels and not clock.has_passed(ASK_AGAIN, since=order.updated_at, now=now)
        if not order.is_cancellable or asked_a_moment_ago:
            continue
        cancelling.begin(order, now=now, evidence={"bracket": row.pk})
