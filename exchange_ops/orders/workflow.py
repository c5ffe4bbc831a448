"""Orders from the outside: place one, cancel it, do its next step, do whatever is due, and read what the exchange has.

The row is the queue, as with payouts. An order moves no money out of the account, so within the limits nobody else has
to agree; a freeze stops the placing of orders, never the cancelling.
"""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Final

from django.db import transaction
from django.db.models import Q, QuerySet

from desk import clock, questions
from desk.audit import trail
from desk.live import announcements
from desk.machines import decisions
from desk.machines.lanes import LANES, WAIT_S, Job
from desk.machines.queue import Queue
from desk.machines.requests import LONGEST_KEY, Once
from desk.machines.step_clock import Stopwatch
from exchange_ops.keys import clients, store
from exchange_ops.keys.clients import ClientFor
from exchange_ops.margin import refresh
from exchange_ops.orders import cancelling, client_order_ids, machine, policy_checks, reading, sending, states
from exchange_ops.orders.cancelling import CannotCancel
from exchange_ops.orders.decisions import approvals, digest
from exchange_ops.orders.models import Order, OrderReading
from exchange_ops.orders.request_checks import FORM, CannotPlace, OrderRequest
from exchange_ops.orders.steps import replacing
from exchange_ops.orders.steps.replacing import CannotReplace
from exchange_ops.policy.modes import APPROVE
from exchange_ops.shared import heartbeats, leases, turns
from exchange_ops.shared.models import Account
from exchange_ops.wire.catalogue import Right
from wire.errors import CallFailed

if TYPE_CHECKING:
    from desk.models import Person

__all__ = [
    "CannotCancel",
    "CannotPlace",
    "CannotReplace",
    "OrderRequest",
    "advance",
    "ask_to_read",
    "cancel",
    "cancel_all",
    "cancel_chosen",
    "cancel_every_margin_order",
    "place",
    "read_all",
    "sweep",
]

NEEDS_ONE: Final = "Not placed: this order now needs approval. Press the button again to request approval."
NEEDS_NONE: Final = "Not placed: this order no longer needs approval. Press the button again to place it."
STEPS = {
    states.WAITING: approvals.lapse,
    states.REQUESTED: sending.step,
    states.SENDING: sending.lease_expired,
    states.UNKNOWN: sending.look,
    states.CANCELLING: cancelling.step,
    states.REPLACING: replacing.step,
}
STALE_AFTER = timedelta(seconds=15)
QUEUE: Final = Queue(
    machine.MACHINE,
    STEPS,
    urgency=(states.CANCELLING,),
    read_with=("account", "initiator", "replaces"),
    lane=("account_id", "state"),
    after_failure=STALE_AFTER,
)
advance, look, sweep, due = QUEUE.advance, QUEUE.look, QUEUE.sweep, QUEUE.due
READ_TASK = "exchange_ops.read_orders"
READING: Final = questions.Rule(
    model=OrderReading,
    task=READ_TASK,
    looks_at_all=True,
    topic=machine.TOPIC,
    lost_after=timedelta(seconds=30),
)


def place(
    *,
    initiator: "Person",
    account: Account,
    requested: OrderRequest,
    request_key: str,
    now: datetime,
    confirmed: Collection[str] = (),
    for_approval: bool | None = None,
    exits: digest.ExitPrices | None = None,
    via: str = "page",
    session_key: str = "",
) -> Order:
    """Take an order. The same `request_key` of the same person gives the same row, however often it is sent.

    Nothing is sent here: a worker places it. `confirmed` are the tokens of the oversteps that the person confirmed by
    name. Beyond a limit that needs an approval it waits for one; `for_approval` says whether the person expected that,
    None that either will do. `exits` are those of a bracket that the caller records in the same transaction. Raises
    CannotPlace with a sentence for each field, or NotConfirmed with what has to be
    confirmed first.
    """
    once = Once(
        Order.objects.filter(initiator=initiator, request_key=request_key),
        is_same=lambda row: all(
            getattr(row, name) == getattr(requested, name) for name in OrderRequest.__dataclass_fields__
        ),
        refusal=_sent_before,
    )
    if (earlier := once.earlier()) is not None:
        return earlier
    if not 0 < len(request_key) <= LONGEST_KEY:
        raise CannotPlace({FORM: "This form is incomplete. Reload the page and try again."})
    content = {name: getattr(requested, name) for name in OrderRequest.__dataclass_fields__}
    order = Order(
        account=account,
        initiator=initiator,
        initiated_via=via,
        request_key=request_key,
        client_order_id=client_order_ids.fresh_id(),
        **content,
    )

    def record() -> Order:
        with transaction.atomic():
            if policy_checks.counts_open(person=initiator, account=account):
                trail.take_turn()  # of two that are placed at once, the second sees the first
            oversteps = policy_checks.check(initiator=initiator, account=account, requested=requested, now=now)
            order.oversteps = policy_checks.settle(oversteps, confirmed=confirmed)
            if any(each.beyond == APPROVE for each in oversteps):
                return _ask_for_approval(order, expected=for_approval, exits=exits, now=now, session_key=session_key)
            if for_approval:
                raise CannotPlace({FORM: NEEDS_NONE})
            return machine.create(order, event="asked", now=now, actor=initiator, session_key=session_key)

    return once.store(record)


def _ask_for_approval(
    order: Order, *, expected: bool | None, exits: digest.ExitPrices | None, now: datetime, session_key: str
) -> Order:
    if expected is False:
        raise CannotPlace({FORM: NEEDS_ONE})
    order.approve_until = now + approvals.APPROVE_WITHIN
    order.digest = digest.compute(order, exits=exits)
    machine.create(
        order, event="approval_asked", to=states.WAITING, now=now, actor=order.initiator, session_key=session_key
    )
    machine.touch(order, next_action_at=order.approve_until)
    decisions.announce(order)
    return order


def cancel(*, order_id: int, person: "Person", now: datetime, session_key: str = "") -> Order:
    """Have what is left of one order cancelled; a freeze does not stop that. Raises CannotCancel."""
    return cancelling.ask(order_id=order_id, person=person, now=now, session_key=session_key)


def cancel_all(
    *, account: Account, symbol: str, newest: int, person: "Person", now: datetime, session_key: str = ""
) -> int:
    """Have every open order that the person saw cancelled; how many were asked for. Raises CannotCancel."""
    return cancelling.ask_all(
        account=account, symbol=symbol, newest=newest, person=person, now=now, session_key=session_key
    )


def cancel_every_margin_order(*, account: Account, person: "Person", now: datetime, session_key: str = "") -> int:
    """Have every margin order of the account cancelled in one call; how many the desk knew of. Raises CannotCancel."""
    return cancelling.ask_every_margin_order(account=account, person=person, now=now, session_key=session_key)


def cancel_chosen(
    *, account: Account, numbers: Sequence[int], person: "Person", now: datetime, session_key: str = ""
) -> int:
    """Have the open ones among these orders cancelled; how many were asked for. Raises CannotCancel."""
    return cancelling.ask_chosen(account=account, numbers=numbers, person=person, now=now, session_key=session_key)


def open_orders(*, account: Account | None) -> QuerySet[Order]:
    """Orders that can still be filled, or that the desk still works on."""
    return Order.objects.filter(Q(active=True) | Q(state__in=states.AT_WORK), account=account)


# Reading --------------------------------------------------------------------------------------------------------------


def name_of(account: Account) -> str:
    """The name of the loop that reads the account's orders."""
    return heartbeats.orders_of(account)


def ask_to_read(*, account: Account, person: "Person | None", now: datetime) -> OrderReading:
    """Have everything read now; two requests during one reading share it. Announces `orders`.

    There is no `person` when a stream shows that something was missed.
    """
    return READING.ask(account=account, person=person, now=now)


def read_all(*, now: datetime, client_for: ClientFor, only_stale: bool = False) -> int:
    """Read orders, trades and margin of every account; gives how many readings succeeded."""
    jobs = []
    for account in turns.accounts("orders"):
        row = heartbeats.state_of(name_of(account))
        fresh = row is not None and clock.is_fresh(row.heard_at, now, within=STALE_AFTER)
        is_requested = READING.waiting().filter(account=account).exists()
        if is_requested or not (only_stale and fresh):
            jobs.append(Job(name_of(account), "read", partial(_read_in_turn, account, Stopwatch(now), client_for)))
    return LANES.put(jobs, wait_s=WAIT_S)


def _read_in_turn(account: Account, watch: Stopwatch, client_for: ClientFor) -> int:
    return int(_read_one(account, watch.now(), client_for))


def _read_one(account: Account, now: datetime, client_for: ClientFor) -> bool:
    """One reading, by one process at a time: two at once would only read the same pages twice."""
    lease, holder = f"read {name_of(account)}", leases.name_of_this_process()
    if not leases.hold(name=lease, holder=holder, now=now):
        return False
    account_reading, problem = reading.AccountReading(account, now), ""
    try:
        # A request that comes later is not answered by this reading.
        question = READING.waiting().filter(account=account).first()
        reading.read(reading=account_reading, client_for=client_for)
        with clients.client(client_for, account=account, right=Right.ORDERS) as client:
            account_reading.problems += refresh.sync(account=account, client=client, now=now)
    except (CallFailed, store.NoUsableKey) as failure:
        problem = f"Orders could not be loaded: {failure}"[: heartbeats.LONGEST_PROBLEM]
    finally:
        leases.release(name=lease, holder=holder)
    if problem:
        heartbeats.failed(name_of(account), now=now, problem=problem, account=account)
    else:
        heartbeats.succeeded(name_of(account), now=now, remark=" ".join(account_reading.problems[:3]), account=account)
    is_announced = question is not None and READING.answer(question, now=now, problem=problem)
    if problem and not is_announced:
        announcements.announce(machine.TOPIC)
    return not problem


def _sent_before(row: Order) -> CannotPlace:
    return CannotPlace({FORM: f"This form was already submitted with different content, as {row.reference}."})
