"""Placing an order, once: its row says what is about to be sent, and is committed, before a byte leaves.

The outcome is one of accepted, refused, not sent or unknown. Unknown is looked for (`order_looking`), never sent again;
not sent ends as well, since a price that was right a minute ago need not be right now. A person may place another one.
"""

from datetime import datetime, timedelta
from typing import Final

from desk.machines import calls, sending
from desk.machines.calls import Reply
from desk.machines.step_clock import SEND_WITHIN, Stopwatch
from desk.machines.table import Column
from exchange_ops.keys.clients import ClientFor
from exchange_ops.orders import machine, mover, trades
from exchange_ops.orders import records as order_records
from exchange_ops.orders.decisions import approvals
from exchange_ops.orders.models import Order, OrderCall
from exchange_ops.orders.steps import replacing, trading_line, ways
from exchange_ops.orders.steps.trading_line import REST, TradingLine
from exchange_ops.policy import freezes
from exchange_ops.shared import clocks
from exchange_ops.shared.calls import sent
from exchange_ops.wire import records
from exchange_ops.wire.catalogue import Right

WAITS_AT_MOST = timedelta(seconds=60)  # for a worker; later the price may be another one
ONLY_CANCELLED = (
    "The exchange cancelled the order that was to be replaced and could not place this one, most often because the "
    "money did not reach. What was filled stays filled."
)
EARLY = timedelta(seconds=5)  # how much before the sending an order of ours may seem to be made at the exchange


def step(row: Order, *, now: datetime, client_for: ClientFor) -> None:
    """Rows 3 to 8: claim, one POST, and where its outcome leads."""
    sending.step(
        row,
        watch=Stopwatch(now),
        obstacle=lambda: _obstacle(row, now),
        on_obstacle=lambda problem: stop(row, problem=problem, now=now),
        open_client=lambda: trading_line.opened(row.account, client_for(row.account, Right.ORDERS)),
        claim=lambda line: _claimed(row, line, now),
        send=lambda line, last_look: sent(lambda: ways.place(row, line, last_look=last_look)),
        on_outcome=sending.by_outcome(_ENDS),
    )


def _claimed(row: Order, line: TradingLine, now: datetime) -> OrderCall | None:
    """Row 3, or row 4 where it can't leave by this line."""
    if problem := ways.obstacle(row, line):
        stop(row, problem=problem, now=now)
        return None
    return calls.claim(
        mover.MACHINE,
        row,
        event="claimed",
        to=machine.SENDING,
        now=now,
        obstacle=lambda: _frozen(row) or replacing.obstacle(row),
        prepare=lambda: prepare(row, kind=OrderCall.PLACE, attempt=1, now=now, way=ways.way_of(row, line)),
        sends=row.sends + 1,
        sent_at=now,
        sent_from=clocks.sent_from(account=row.account, now=now) - EARLY,
    )


def stop(row: Order, *, problem: str, now: datetime) -> None:
    """Row 4: nothing is sent any more."""
    mover.move(
        row,
        event="stopped",
        to=machine.NOT_SENT,
        now=now,
        last_problem=problem[:500],
        evidence={"problem": problem[:500]},
    )
    replacing.settle(row, now=now)


def prepare(row: Order, *, kind: str, attempt: int, now: datetime, way: str = REST) -> OrderCall:
    """The row of a call, inside the transaction of the claim that it belongs to."""
    content = {name: getattr(row, name) for name in machine.TABLE.named(Column.RECORDED)}
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


def _frozen(row: Order) -> str:
    frozen = freezes.active(row.account)
    return "" if frozen is None else f"The account is frozen: {frozen.reason}"


def _obstacle(row: Order, now: datetime) -> str:
    if frozen := _frozen(row):
        return frozen
    if not approvals.stands(row):
        return "The approval counts no more: who gave it may not approve any more."
    if now - (row.decided_at or row.created_at) > WAITS_AT_MOST:
        return "No worker came to it within a minute, and a late order may meet another price."
    return replacing.obstacle(row)


def _accepted(row: Order, reply: Reply, now: datetime) -> None:
    order: records.Order = reply.value
    if order.client_order_id != row.client_order_id:
        _only_cancelled(row, order, now)
        return
    mover.move(
        row,
        event="accepted",
        to=machine.PLACED,
        now=now,
        exchange_id=order.id,
        last_problem=order_records.differences(row, order),
        evidence={"exchange_id": order.id, "status": order.status, "filled": order.cum_quantity},
        **order_records.observed(order, now=now),
    )
    trades.take_answer(account=row.account, order=order, now=now)
    replacing.settle(row, now=now, answer=order)


def _only_cancelled(row: Order, old: records.Order, now: datetime) -> None:
    """The exchange cancelled the old order and could not place this one: that is its documented answer."""
    mover.move(
        row,
        event="refused",
        to=machine.REFUSED,
        now=now,
        lease_until=None,
        last_problem=ONLY_CANCELLED,
        evidence={"cancelled": old.client_order_id, "filled": old.cum_quantity},
    )
    replacing.settle(row, now=now, answer=old)


def _refused(row: Order, reply: Reply, now: datetime) -> None:
    """Without a code it was refused here, before anything left."""
    (_no if reply.code is not None else _not_sent)(row, reply, now)
    replacing.settle(row, now=now)


def _unsent(row: Order, reply: Reply, now: datetime) -> None:
    _not_sent(row, reply, now)
    replacing.settle(row, now=now)


_no = calls.on_outcome(mover.MACHINE, "refused", machine.REFUSED)
_not_sent = calls.on_outcome(mover.MACHINE, "not_sent", machine.NOT_SENT)
_ENDS: Final[dict[str, calls.OnOutcome]] = {
    calls.ACCEPTED: _accepted,
    calls.REFUSED: _refused,
    calls.NOT_SENT: _unsent,
    calls.UNKNOWN: calls.on_outcome(mover.MACHINE, "answer_lost", machine.UNKNOWN),
}
# Row 8: whether it was placed is unknown until the order is found.
given_up = calls.lease_expired(mover.MACHINE, event="answer_lost", to=machine.UNKNOWN)
