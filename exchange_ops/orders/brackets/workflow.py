"""Brackets from the outside: ask for one with a new order or for an open one, end it, have its stop placed again.

The prices are checked against the entry and the symbol before anything is written. Exits only close what the entry
opened, so they need no approval of their own, and the bounds of the rules apply to the entry alone. Where the entry
needs an approval, the exits placed with it are part of what is approved, and none are added before the exchange has it.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from desk.machines.queue import Queue
from exchange_ops.orders import states as order_states
from exchange_ops.orders import workflow
from exchange_ops.orders.brackets import exit_prices, machine, plan, situation, states, watching
from exchange_ops.orders.brackets.exit_prices import Exits
from exchange_ops.orders.brackets.models import Bracket
from exchange_ops.orders.models import Order
from exchange_ops.orders.request_checks import FORM, CannotPlace, OrderRequest
from exchange_ops.shared import rules
from exchange_ops.shared.models import Account

if TYPE_CHECKING:
    from desk.models import Person

__all__ = [
    "CannotEnd",
    "Exits",
    "advance",
    "attach",
    "bracket_of",
    "end",
    "let_go",
    "place",
    "place_stop_again",
    "sweep",
    "why_not",
]

STEPS: Final = dict.fromkeys(states.WATCHED, watching.step)
QUEUE: Final = Queue(
    machine.MACHINE,
    STEPS,
    urgency=(states.UNGUARDED, states.TAKING, states.ENDING),
    read_with=("account", "initiator", "entry"),
    after_failure=timedelta(seconds=15),
)
bracket_of = situation.bracket_of
advance, sweep, due = QUEUE.advance, QUEUE.sweep, QUEUE.due
ONLY_OPERATORS: Final = "Only operators can change a bracket."
NOTHING_TO_PLACE: Final = (
    "Stop not placed: another order may already cover this position, and a second stop could close it "
    "twice. That order's status is being checked and will be shown on this page."
)
FASTER: Final = "The bracket has just changed. Refresh and try again."


class CannotEnd(Exception):
    """Nothing was changed; the text is the sentence for the person."""


def place(
    *, exits: Exits, requested: OrderRequest, account: Account, initiator: "Person", now: datetime, **request: object
) -> Order:
    """Place an order with a bracket: both are recorded, or neither. Sent again, it gives the same order.

    `request` holds the other arguments of `orders.workflow.place`. Raises CannotPlace as that does, with problems of
    `stop_loss` and `take_profit` too.
    """
    if problems := exit_prices.problems(exits=exits, requested=requested):
        raise CannotPlace(problems)
    with transaction.atomic():
        words: dict[str, Any] = {**request, "exits": (exits.stop, exits.take)}
        order = workflow.place(requested=requested, account=account, initiator=initiator, now=now, **words)
        row = Bracket.objects.filter(entry=order).first()
        if row is None and order.created_at != now:
            raise CannotPlace({FORM: f"This form was already submitted without a bracket, as {order.reference}."})
        if row is not None and (row.stop_price, row.take_price) != (exits.stop, exits.take):
            sentence = "This form was already submitted with different stop and take-profit prices"
            raise CannotPlace({FORM: f"{sentence}, as {row.reference}."})
        if row is None:
            _create(order, exits, person=initiator, now=now, request=request)
    return order


def attach(
    *, order_id: int, exits: Exits, person: "Person", now: datetime, session_key: str = "", via: str = "page"
) -> Bracket:
    """Give an open order a bracket. Asked again with the same prices, it gives the same bracket. Raises CannotPlace."""
    order = Order.objects.select_related("account", "initiator").filter(pk=order_id).first()
    if order is None:
        raise CannotPlace({FORM: "Order not found."})
    if reason := why_not(order, person):
        earlier = Bracket.objects.filter(entry=order, stop_price=exits.stop, take_price=exits.take).first()
        if earlier is not None and rules.may_trade(person, order.account_id):
            return earlier
        raise CannotPlace({FORM: reason})
    if problems := exit_prices.problems(exits=exits, requested=order):
        raise CannotPlace(problems)
    try:
        return _create(order, exits, person=person, now=now, request={"session_key": session_key, "via": via})
    except IntegrityError:
        raise CannotPlace({FORM: "A bracket was just added to this order. Refresh the page."}) from None


def why_not(order: Order, person: "Person") -> str:
    """Why this order can't get a bracket from this person; empty where it can."""
    if not rules.may_trade(person, order.account_id):
        return "Only operators can add a bracket."
    if bracket_of(order) is not None:
        return "This order already belongs to a bracket."
    if order.digest and order.state in {order_states.WAITING, *order_states.ON_THE_WAY}:
        return (
            "Approval covers the order as requested. A bracket can be added once the exchange has accepted the order."
        )
    if not order.is_open:
        return f"A bracket can be added only to an open order. Status: {order_states.state_of(order)}."
    if order.state in {order_states.CANCELLING, order_states.REPLACING}:
        return "The order is being cancelled or replaced. Try again shortly."
    return ""


def end(*, bracket_id: int, person: "Person", now: datetime, session_key: str = "") -> Bracket:
    """Have all its open orders cancelled; what the entry opened stays open. Raises CannotEnd."""

    def change(row: Bracket) -> Bracket:
        if row.entry.state == order_states.WAITING:
            raise CannotEnd("The entry is awaiting approval. To end the bracket, withdraw the entry.")
        return machine.move(
            row, event="end_asked", to=states.ENDING, now=now, actor=person, session_key=session_key,
            ended_by=states.CANCELLED,
        )  # fmt: skip

    return _by_person(bracket_id, person, change)


def let_go(*, bracket_id: int, person: "Person", now: datetime, session_key: str = "") -> Bracket:
    """Stop watching it and leave its orders as they are: a stop at the exchange works on. Raises CannotEnd."""
    return _by_person(
        bracket_id,
        person,
        lambda row: machine.move(
            row, event="let_go", to=states.CLOSED, now=now, actor=person, session_key=session_key,
            outcome=states.LET_GO, last_problem="",
        ),
    )  # fmt: skip


def place_stop_again(*, bracket_id: int, person: "Person", now: datetime, session_key: str = "") -> Bracket:
    """Have another stop placed for what has none. Raises CannotEnd.

    It is never placed beside a stop that rests or may rest: one that works in part is cancelled first, and when one was
    not seen, the exchange's orders are read once more before.
    """

    def change(row: Bracket) -> Bracket:
        new_stop = plan.place_again(situation.current(row, now=now))
        if row.state == states.UNGUARDED and new_stop.quantity <= 0:
            raise CannotEnd(NOTHING_TO_PLACE)
        moved = machine.move(
            row, event="stop_asked", to=states.GUARDED, now=now, next_action_at=now, actor=person,
            session_key=session_key, last_problem="", evidence={"instead_of": list(new_stop.numbers)},
        )  # fmt: skip
        row.legs.filter(number__in=new_stop.numbers, settled_at=None).update(settled_at=now)
        if new_stop.lost:
            workflow.ask_to_read(account=row.account, person=person, now=now)
        return moved

    return _by_person(bracket_id, person, change)


def live(*, account: Account | None) -> QuerySet[Bracket]:
    """Those that are not closed, the newest first."""
    rows = Bracket.objects.filter(account=account, state__in=states.WATCHED)
    return rows.select_related("account", "initiator", "entry").order_by("-pk")


def _create(order: Order, exits: Exits, *, person: "Person", now: datetime, request: dict[str, object]) -> Bracket:
    row = Bracket(
        account=order.account,
        initiator=person,
        initiated_via=str(request.get("via", "page")),
        entry=order,
        symbol=order.symbol,
        side=order.side,
        margin=order.margin,
        stop_price=exits.stop,
        take_price=exits.take,
    )
    return machine.create(row, event="asked", now=now, actor=person, session_key=str(request.get("session_key", "")))


def _by_person(bracket_id: int, person: "Person", change: Callable[[Bracket], Bracket]) -> Bracket:
    try:
        with transaction.atomic():
            row = machine.lock(bracket_id)
            if not rules.may_trade(person, row.account_id):
                raise CannotEnd(ONLY_OPERATORS)
            return change(row)
    except Bracket.DoesNotExist:
        raise CannotEnd("Bracket not found.") from None
    except machine.CannotMove:
        row = Bracket.objects.get(pk=bracket_id)
        raise CannotEnd(
            f"Not possible in the bracket's current status: {row.label[0].lower()}{row.label[1:]}. {FASTER}"
        ) from None
