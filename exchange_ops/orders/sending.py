"""Placing an order, once: its row says what is about to be sent, and is committed, before a byte leaves.

The outcome is one of accepted, refused, not sent or unknown. Unknown is looked for (`order_looking`), never sent again;
not sent ends as well, since a price that was right a minute ago need not be right now. A person may place another one.
"""

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from exchange_ops.client import ExchangeClient
from exchange_ops.keys import store as keys
from exchange_ops.keys.clients import ClientFor
from exchange_ops.market.models import Symbol
from exchange_ops.orders import machine, mover, request_checks, trades
from exchange_ops.orders import records as order_records
from exchange_ops.orders.models import Order, OrderCall
from exchange_ops.policy import freezes
from exchange_ops.shared import calls, clocks
from exchange_ops.shared.calls import Reply
from exchange_ops.shared.step_clock import SEND_WITHIN, Stopwatch
from exchange_ops.wire import records
from exchange_ops.wire.catalogue import Right
from wire.errors import OutcomeUnknown

WAITS_AT_MOST = timedelta(seconds=60)  # for a worker; later the price may be another one
EARLY = timedelta(seconds=5)  # how much before the sending an order of ours may seem to be made at the exchange


def step(row: Order, *, now: datetime, client_for: ClientFor) -> None:
    """Rows 3 to 8: claim, one POST, and where its outcome leads."""
    watch = Stopwatch(now)
    if problem := _obstacle(row, now):
        stop(row, problem=problem, now=now)
        return
    try:
        client = client_for(row.account, Right.ORDERS)
    except keys.NoUsableKey as problem:
        stop(row, problem=str(problem), now=now)
        return
    try:
        call = _claim(row, now)
        if call is None:
            return
        reply = make(call, row, client=client, watch=watch)
    finally:
        client.close()
    _settle(row, reply, watch.now())


def give_up_after_lease(row: Order, *, now: datetime, client_for: ClientFor) -> None:
    """Row 8: the worker that sent the order is gone; whether it was placed is unknown until the order is found."""
    if row.lease_until is not None and now < row.lease_until:
        mover.touch(row, next_action_at=row.lease_until)
        return
    problem = "The worker that sent the order did not come back with an answer."
    mover.move(row, event="answer_lost", to=machine.UNKNOWN, now=now, last_problem=problem, lease_until=None)


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


def make(call: OrderCall, row: Order, *, client: ExchangeClient, watch: Stopwatch) -> Reply:
    """Send once, when the claim still stands and it is not too late, and keep the outcome."""
    problem = mark_sent(call, row, watch) or calls.too_late(watch, None)
    if problem:
        return close(call, Reply(calls.NOT_SENT, problem=problem), watch)
    client.look_before_acting(lambda: calls.too_late(watch, None))
    rules = Symbol.objects.filter(pk=row.symbol).first()
    order = request_checks.as_sent(row, client_order_id=row.client_order_id)

    def send() -> records.Order:
        return _ours(client.create_order(order=order, rules=rules), row)

    return close(call, calls.sent(send), watch)


def prepare(row: Order, *, kind: str, attempt: int, now: datetime) -> OrderCall:
    """The row of a call, inside the transaction of the claim that it belongs to."""
    content = {name: getattr(row, name) for name in mover.CONTENT}
    return OrderCall.objects.create(
        order=row,
        kind=kind,
        attempt=attempt,
        epoch=row.lease_epoch,
        fingerprint=calls.fingerprint(kind, content),
        prepared_at=now,
        send_by=now + SEND_WITHIN,
    )


def mark_sent(call: OrderCall, row: Order, watch: Stopwatch) -> str:
    """Mark the call as sent, if the row still carries this worker's claim; else why it does not."""
    with transaction.atomic(durable=True):
        standing = OrderCall.objects.filter(
            pk=call.pk,
            outcome=OrderCall.PREPARED,
            order__lease_epoch=call.epoch,
            order__version=row.version,
            order__state=row.state,
        )
        marked = standing.update(outcome=calls.SENT, sent_at=watch.now())
    return "" if marked else "Another worker had taken over, so this one sent nothing."


def close(call: OrderCall, reply: Reply, watch: Stopwatch) -> Reply:
    """Keep what came of a call."""
    OrderCall.objects.filter(pk=call.pk).update(
        outcome=reply.outcome, answered_at=watch.now(), error_code=reply.code, detail=reply.problem[:500]
    )
    return reply


def _obstacle(row: Order, now: datetime) -> str:
    if (frozen := freezes.active(row.account)) is not None:
        return f"The account is frozen: {frozen.reason}"
    if now - row.created_at > WAITS_AT_MOST:
        return "No worker came to it within a minute, and a late order may meet another price."
    return ""


def _claim(row: Order, now: datetime) -> OrderCall | None:
    """Row 3: the claim and the row of the call, durable before anything leaves. None when somebody was faster."""
    try:
        with transaction.atomic(durable=True):
            current = mover.lock(row.pk)
            if (frozen := freezes.active(row.account)) is not None:
                stop(row, problem=f"The account is frozen: {frozen.reason}", now=now)
                return None
            mover.move(
                row,
                event="claimed",
                to=machine.SENDING,
                now=now,
                sends=current.sends + 1,
                sent_at=now,
                sent_from=_exchange_clock(row, now) - EARLY,
                lease_epoch=current.lease_epoch + 1,
                lease_until=calls.lease(now),
                next_action_at=calls.lease(now),
            )
            return prepare(row, kind=OrderCall.PLACE, attempt=1, now=now)
    except mover.CannotMove:
        return None


def _exchange_clock(row: Order, now: datetime) -> datetime:
    """The least that the exchange's clock shows now: what it made before is not this order."""
    reading = clocks.believed(account=row.account)
    if reading is None:
        return now
    return min(now, now + timedelta(milliseconds=reading.skew_ms) - 2 * clocks.DATE_RESOLUTION)


def _ours(answer: records.Order, row: Order) -> records.Order:
    if answer.client_order_id != row.client_order_id:
        raise OutcomeUnknown("the exchange answered with another order than the one sent")
    if reason := order_records.unstorable(answer):
        raise OutcomeUnknown(f"the exchange's answer can't be kept: {reason}")
    return answer


def _settle(row: Order, reply: Reply, now: datetime) -> None:
    facts = {"outcome": reply.outcome, "code": reply.code, "problem": reply.problem}
    told: dict[str, Any] = {"evidence": facts, "last_problem": reply.problem[:500]}
    if reply.accepted:
        order: records.Order = reply.value
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
    elif reply.outcome == calls.REFUSED and reply.code is not None:
        mover.move(row, event="refused", to=machine.REFUSED, now=now, **told)
    elif reply.outcome in {calls.REFUSED, calls.NOT_SENT}:
        mover.move(row, event="not_sent", to=machine.NOT_SENT, now=now, **told)
    else:
        mover.move(row, event="answer_lost", to=machine.UNKNOWN, now=now, lease_until=None, **told)
