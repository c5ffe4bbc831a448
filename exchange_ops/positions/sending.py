"""Sending a margin action, once: the account is read again, the row of the call is committed, and then one call leaves.

Nothing is sent when the account is not what was confirmed: another position, another quantity. The outcome is one of
accepted, refused, not sent or unknown; what is unknown is found out by reading (`outcome_lookup`), never by sending.
"""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from desk import clock
from desk.machines import calls, sending
from desk.machines.calls import Reply
from desk.machines.step_clock import SEND_WITHIN, Stopwatch
from desk.machines.table import Column
from desk.restores.of_machine import left_to_people
from exchange_ops.client import ExchangeClient
from exchange_ops.keys.clients import ClientFor
from exchange_ops.market.models import Symbol
from exchange_ops.policy import freezes
from exchange_ops.positions import machine, outcome_lookup, snapshots, states
from exchange_ops.positions.models import MarginAction, MarginActionCall
from exchange_ops.positions.snapshots import Snapshot
from exchange_ops.shared import clocks
from exchange_ops.shared.calls import reply_of
from exchange_ops.wire.catalogue import Right
from exchange_ops.wire.new_orders import NewOrder
from wire.errors import CallFailed
from wire.values import grouped_text

WAITS_AT_MOST = timedelta(seconds=60)  # for a worker; later the market may be another one
EARLY = timedelta(seconds=5)  # how much before the sending an order of ours may seem to be made at the exchange
ZERO: Final = Decimal(0)


def step(row: MarginAction, *, now: datetime, client_for: ClientFor) -> None:
    """Rows 2 to 7 of the table: look, claim, one call, and where its outcome leads."""
    watch = Stopwatch(now)
    sending.step(
        row,
        watch=watch,
        obstacle=lambda: _obstacle(row, now),
        on_obstacle=lambda problem: _stop(row, problem, now),
        open_client=lambda: client_for(row.account, Right.ORDERS),
        claim=lambda client: _claim(row, client, watch),
        send=lambda client, last_look: reply_of(lambda: _ask(row, client, last_look)),
        on_outcome=sending.by_outcome(_ENDS),
    )


def _claim(row: MarginAction, client: ExchangeClient, watch: Stopwatch) -> MarginActionCall | None:
    """The claim; nothing where the account is not what was confirmed, and the action was stopped."""
    try:
        snapshot = snapshots.read(client=client, symbol=row.symbol)
    except CallFailed as failure:
        _stop(row, f"The margin account could not be checked first: {failure}", watch.now())
        return None
    if problem := _differs(row, snapshot):
        _stop(row, problem, watch.now())
        return None
    now = watch.now()
    return calls.claim(
        machine.MACHINE,
        row,
        event="claimed",
        to=states.SENDING,
        now=now,
        obstacle=lambda: freezes.obstacle(row.movement),
        prepare=lambda: _prepare(row, now),
        sends=row.sends + 1,
        before=snapshot.facts,
        sent_at=now,
        sent_from=clocks.sent_from(account=row.account, now=now) - EARLY,
    )


def _ask(row: MarginAction, client: ExchangeClient, last_look: calls.LastLook) -> Any:
    """The one call of this kind."""
    match row.kind:
        case states.OPEN | states.SET:
            return client.set_margin_account(symbol=row.symbol, margin_balance=row.amount or ZERO, last_look=last_look)
        case states.CLOSE_ACCOUNT:
            return client.close_margin_account(symbol=row.symbol, last_look=last_look)
        case states.CLOSE:
            rules = Symbol.objects.filter(pk=row.symbol).first()
            return client.close_margin_position(symbol=row.symbol, price=row.price, rules=rules, last_look=last_look)
        case _:
            return _place_order(row, client, last_look)


def _place_order(row: MarginAction, client: ExchangeClient, last_look: calls.LastLook) -> Any:
    """The interface closes whole positions alone (supplement 2.7); a part is closed by an order of the other side."""
    order = NewOrder(
        client_order_id=row.client_order_id,
        symbol=row.symbol,
        side=row.side,
        quantity=row.quantity or ZERO,
        type=row.order_type,
        price=row.price,
    )
    rules = Symbol.objects.filter(pk=row.symbol).first()
    return client.create_margin_order(order=order, rules=rules, last_look=last_look)


def _prepare(row: MarginAction, now: datetime) -> MarginActionCall:
    """The row of the call, inside the transaction of the claim that it belongs to."""
    content = {name: getattr(row, name) for name in machine.MACHINE.table.named(Column.RECORDED)}
    return MarginActionCall.objects.create(
        action=row,
        attempt=1,
        epoch=row.lease_epoch,
        fingerprint=calls.fingerprint(row.kind, content),
        prepared_at=now,
        send_by=now + SEND_WITHIN,
    )


# What keeps it from being sent ----------------------------------------------------------------------------------------


def _obstacle(row: MarginAction, now: datetime) -> str:
    if frozen := freezes.obstacle(row.movement):
        return frozen
    if clock.has_passed(WAITS_AT_MOST, since=row.created_at, now=now):
        return "The request could not be sent within a minute, and the market may have moved since."
    return ""


def _differs(row: MarginAction, snapshot: Snapshot) -> str:
    """Why what the exchange shows now is not what was confirmed."""
    if row.kind == states.OPEN:
        return "" if snapshot.balance is None else "This symbol already has a margin account."
    if snapshot.balance is None:
        return "The margin account for this symbol is closed."
    if row.kind == states.SET:
        return ""
    return _differs_of_position(row, snapshot)


def _differs_of_position(row: MarginAction, snapshot: Snapshot) -> str:
    if snapshot.position_id != row.position_id:
        return "The open position is not the one that was confirmed."
    size = abs(snapshot.quantity)
    if row.kind == states.REDUCE:
        if row.quantity is not None and row.quantity < size:
            return ""
        return "The position is now no larger than the quantity to close."
    if row.position_id is not None and row.quantity != size:
        confirmed = grouped_text(row.quantity or ZERO)
        return f"The position changed from {confirmed} to {grouped_text(size)} after the request was confirmed."
    return ""


def _stop(row: MarginAction, problem: str, now: datetime) -> None:
    """Row 3: nothing is sent any more."""
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


# Outcomes -------------------------------------------------------------------------------------------------------------


def _accepted(row: MarginAction, reply: Reply, now: datetime) -> None:
    """Row 4, and at once row 8 where the answer itself shows the result."""
    answer = outcome_lookup.facts_of_answer(row, reply.value)
    machine.move(row, event="accepted", to=states.CHECKING, now=now, lease_until=None, evidence=answer.facts)
    outcome_lookup.conclude(row, answer, now=now)


def _refused(row: MarginAction, reply: Reply, now: datetime) -> None:
    """Without a code it was refused here, before anything left."""
    (_no if reply.code is not None else _not_sent)(row, reply, now)


_no = calls.on_outcome(machine.MACHINE, "refused", states.REFUSED)
_not_sent = calls.on_outcome(machine.MACHINE, "not_sent", states.NOT_SENT)
_ENDS: Final[dict[str, calls.OnOutcome]] = {
    calls.ACCEPTED: _accepted,
    calls.REFUSED: _refused,
    calls.NOT_SENT: _not_sent,
    calls.UNKNOWN: calls.on_outcome(machine.MACHINE, "answer_lost", states.UNKNOWN),
}
# Row 7: what it did is unknown until accounts, positions and orders were read.
lease_expired = calls.lease_expired(machine.MACHINE, event="answer_lost", to=states.UNKNOWN)
