"""Placing an order, once: a row that says what will be sent is committed before a byte leaves.

The outcome is one of accepted, refused, not sent or unknown. An order whose answer was lost is looked for by its id,
among the active orders and then in the history, and never sent again. “Order not found” also means finished or not yet
visible, so it counts as not seen only after three looks and a minute, and every later reading of the lists may still
find it. What was not sent ends as well, since a price that was right a minute ago need not be right now: a person may
place another order.
"""

from contextlib import ExitStack
from datetime import datetime, timedelta
from typing import Final

from desk import clock
from desk.machines import calls, sending
from desk.machines.calls import Reply
from desk.machines.step_clock import SEND_WITHIN, Stopwatch
from desk.machines.table import Column
from desk.restores.of_machine import left_to_people
from exchange_ops.client.sightings import Sight, Sighting, look_for_order
from exchange_ops.keys import clients, store
from exchange_ops.keys.clients import ClientFor
from exchange_ops.orders import machine, states, trades
from exchange_ops.orders import records as order_records
from exchange_ops.orders.decisions import approvals
from exchange_ops.orders.models import Order, OrderCall
from exchange_ops.orders.steps import placing, replacing, trading_line
from exchange_ops.orders.steps.trading_line import REST, TradingLine
from exchange_ops.policy import freezes
from exchange_ops.shared import clocks
from exchange_ops.shared.backoff import READ_PAUSES_S, pause
from exchange_ops.shared.calls import reply_of
from exchange_ops.wire import records
from exchange_ops.wire.catalogue import Right
from wire.errors import CallFailed
from wire.operation import BadArgument

WAITS_AT_MOST = timedelta(seconds=60)  # for a worker; by then the price may have changed
ONLY_CANCELLED = (
    "The exchange cancelled the original order but could not place this one, usually because of insufficient "
    "funds. Fills are kept."
)
EARLY = timedelta(seconds=5)  # how long before it was sent our order may seem to have been created at the exchange


def step(row: Order, *, now: datetime, client_for: ClientFor) -> None:
    """Rows 3 to 8: claim, send one POST, and move by its outcome."""
    sending.step(
        row,
        watch=Stopwatch(now),
        obstacle=lambda: _obstacle(row, now),
        on_obstacle=lambda problem: stop(row, problem=problem, now=now),
        open_client=lambda: trading_line.open_line(row.account, client_for(row.account, Right.ORDERS)),
        claim=lambda line: _claimed(row, line, now),
        send=lambda line, last_look: reply_of(lambda: placing.place(row, line, last_look=last_look)),
        on_outcome=sending.by_outcome(_ENDS),
    )


def _claimed(row: Order, line: TradingLine, now: datetime) -> OrderCall | None:
    """Row 3, or row 4 where it can't be sent over this line."""
    if problem := placing.obstacle(row, line):
        stop(row, problem=problem, now=now)
        return None
    return calls.claim(
        machine.MACHINE,
        row,
        event="claimed",
        to=states.SENDING,
        now=now,
        obstacle=lambda: freezes.obstacle(row.movement) or replacing.obstacle(row),
        prepare=lambda: prepare(row, kind=OrderCall.PLACE, attempt=1, now=now, way=placing.way_of(row, line)),
        sends=row.sends + 1,
        sent_at=now,
        sent_from=clocks.sent_from(account=row.account, now=now) - EARLY,
    )


def stop(row: Order, *, problem: str, now: datetime) -> None:
    """Row 4: nothing is sent any more."""
    if left_to_people(machine.MACHINE, row, now=now):
        return
    machine.move(
        row,
        event="stopped",
        to=states.NOT_SENT,
        now=now,
        last_problem=problem[:500],
        evidence={"problem": problem[:500]},
    )
    replacing.settle(row, now=now)


def prepare(row: Order, *, kind: str, attempt: int, now: datetime, way: str = REST) -> OrderCall:
    """Write the row of a call, inside the transaction of its claim."""
    content = {name: getattr(row, name) for name in states.TABLE.named(Column.RECORDED)}
    return OrderCall.objects.create(
        order=row,
        kind=kind,
        way=way,
        attempt=attempt,
        epoch=row.lease_epoch,
        fingerprint=calls.fingerprint(kind, content),
        prepared_at=now,
        send_by=now + SEND_WITHIN,
    )


def _obstacle(row: Order, now: datetime) -> str:
    if frozen := freezes.obstacle(row.movement):
        return frozen
    if not approvals.is_approved(row):
        if approvals.is_of_older_form(row):
            return "The approval is from an earlier version of Countersign and does not cover the stop and take profit."
        return "The approval is no longer valid: the approver can no longer approve orders."
    if clock.has_passed(WAITS_AT_MOST, since=row.decided_at or row.created_at, now=now):
        return "The order could not be sent within a minute, and the price may have moved since."
    return replacing.obstacle(row)


def _accepted(row: Order, reply: Reply, now: datetime) -> None:
    order: records.Order = reply.value
    if order.client_order_id != row.client_order_id:
        _only_cancelled(row, order, now)
        return
    machine.move(
        row,
        event="accepted",
        to=states.PLACED,
        now=now,
        exchange_id=order.id,
        last_problem=order_records.differences(row, order),
        evidence={"exchange_id": order.id, "status": order.status, "filled": order.cum_quantity},
        **order_records.observed_columns(order, now=now),
    )
    trades.store_answer(account=row.account, order=order, now=now)
    replacing.settle(row, now=now, answer=order)


def _only_cancelled(row: Order, old: records.Order, now: datetime) -> None:
    """The exchange cancelled the old order and could not place this one: that is its documented answer."""
    machine.move(
        row,
        event="refused",
        to=states.REFUSED,
        now=now,
        lease_until=None,
        last_problem=ONLY_CANCELLED,
        evidence={"cancelled": old.client_order_id, "filled": old.cum_quantity},
    )
    replacing.settle(row, now=now, answer=old)


def _refused(row: Order, reply: Reply, now: datetime) -> None:
    """A refusal without a code is the desk's own: nothing left."""
    (_no if reply.code is not None else _not_sent)(row, reply, now)
    replacing.settle(row, now=now)


def _unsent(row: Order, reply: Reply, now: datetime) -> None:
    _not_sent(row, reply, now)
    replacing.settle(row, now=now)


_no = calls.on_outcome(machine.MACHINE, "refused", states.REFUSED)
_not_sent = calls.on_outcome(machine.MACHINE, "not_sent", states.NOT_SENT)
_ENDS: Final[dict[str, calls.OnOutcome]] = {
    calls.ACCEPTED: _accepted,
    calls.REFUSED: _refused,
    calls.NOT_SENT: _unsent,
    calls.UNKNOWN: calls.on_outcome(machine.MACHINE, "answer_lost", states.UNKNOWN),
}
# Row 8: whether it was placed is unknown until the order is found.
lease_expired = calls.lease_expired(machine.MACHINE, event="answer_lost", to=states.UNKNOWN)


# Looking for it ------------------------------------------------------------------------------------------------------


def look(row: Order, *, now: datetime, client_for: ClientFor) -> None:
    """Rows 9 and 10: look once whether an order exists whose answer was lost."""
    try:
        sighting = _sighting(row, now, client_for)
    except (CallFailed, BadArgument, store.NoUsableKey) as problem:
        reason = f"The request could not be sent to the exchange: {problem}"[:500]
        machine.touch(row, next_action_at=now + pause(READ_PAUSES_S, row.looks + 1), last_problem=reason)
        return
    if sighting.order is not None and not order_records.unstorable(sighting.order):
        order_records.mark_found(row, sighting.order, now=now, looks=sighting.looks)
    elif sighting.sight is Sight.ABSENT:
        machine.move(
            row, event="not_seen", to=states.NOT_SEEN, now=now, looks=sighting.looks,
            evidence={"looks": sighting.looks, "sent_at": row.sent_at},
        )  # fmt: skip
    else:
        pauses = pause(READ_PAUSES_S, sighting.looks)
        machine.touch(row, looks=sighting.looks, next_action_at=now + pauses)


def _sighting(row: Order, now: datetime, client_for: ClientFor) -> Sighting:
    """The time since sending is measured by our clock alone; the time of creation is the exchange's."""
    sent_at, sent_from = row.sent_at or row.created_at, row.sent_from or row.created_at
    with ExitStack() as open_clients:
        orders = open_clients.enter_context(clients.client(client_for, account=row.account, right=Right.ORDERS))
        history = open_clients.enter_context(clients.client(client_for, account=row.account, right=Right.HISTORY))
        return look_for_order(
            orders,
            history=history,
            client_order_id=row.client_order_id,
            sent_at=sent_from,
            now=sent_from + max(now - sent_at, timedelta(0)),
            looks_before=row.looks,
            margin=row.margin,
        )
