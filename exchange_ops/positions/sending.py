"""Sending a margin action, once: the account is read again, the row of the call is committed, and then one call leaves.

What was confirmed has to be what is there: another position, or another quantity, and nothing is sent. The outcome is
one of accepted, refused, not sent or unknown; the last is found out by reading (`looking`), never by sending again.
"""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from desk.machines import calls, sending
from desk.machines.calls import Reply
from desk.machines.step_clock import SEND_WITHIN, Stopwatch
from desk.machines.table import Column
from exchange_ops.client import ExchangeClient
from exchange_ops.keys.clients import ClientFor
from exchange_ops.market.models import Symbol
from exchange_ops.policy import freezes
from exchange_ops.positions import looking, machine, mover, snapshots
from exchange_ops.positions.models import MarginAction, MarginActionCall
from exchange_ops.positions.snapshots import Snapshot
from exchange_ops.shared import clocks
from exchange_ops.shared.calls import sent
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
        claim=lambda client: _claimed(row, client, watch),
        send=lambda client, last_look: sent(lambda: _ask(row, client, last_look)),
        on_outcome=sending.by_outcome(_ENDS),
    )


def _claimed(row: MarginAction, client: ExchangeClient, watch: Stopwatch) -> MarginActionCall | None:
    """The claim; nothing where the account is not what was confirmed, and the action was stopped."""
    try:
        seen = snapshots.take(client=client, symbol=row.symbol)
    except CallFailed as failure:
        _stop(row, f"The margin account could not be read before: {failure}", watch.now())
        return None
    if problem := _differs(row, seen):
        _stop(row, problem, watch.now())
        return None
    now = watch.now()
    return calls.claim(
        mover.MACHINE,
        row,
        event="claimed",
        to=machine.SENDING,
        now=now,
        obstacle=lambda: _frozen(row),
        prepare=lambda: _prepared(row, now),
        sends=row.sends + 1,
        before=seen.facts,
        sent_at=now,
        sent_from=clocks.sent_from(account=row.account, now=now) - EARLY,
    )


def _ask(row: MarginAction, client: ExchangeClient, last_look: calls.LastLook) -> Any:
    """The one call of this kind."""
    match row.kind:
        case machine.OPEN | machine.SET:
            return client.set_margin_account(symbol=row.symbol, margin_balance=row.amount or ZERO, last_look=last_look)
        case machine.CLOSE_ACCOUNT:
            return client.close_margin_account(symbol=row.symbol, last_look=last_look)
        case machine.CLOSE:
            rules = Symbol.objects.filter(pk=row.symbol).first()
            return client.close_margin_position(symbol=row.symbol, price=row.price, rules=rules, last_look=last_look)
        case _:
            return _placed(row, client, last_look)


def _placed(row: MarginAction, client: ExchangeClient, last_look: calls.LastLook) -> Any:
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


def _prepared(row: MarginAction, now: datetime) -> MarginActionCall:
    """The row of the call, inside the transaction of the claim that it belongs to."""
    content = {name: getattr(row, name) for name in mover.MACHINE.table.named(Column.RECORDED)}
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
    if frozen := _frozen(row):
        return frozen
    if now - row.created_at > WAITS_AT_MOST:
        return "No worker was free within a minute, and the market may have moved since."
    return ""


def _frozen(row: MarginAction) -> str:
    frozen = freezes.active(row.account)
    return "" if frozen is None else f"The account is frozen: {frozen.reason}"


def _differs(row: MarginAction, seen: Snapshot) -> str:
    """Why what the exchange shows now is not what was confirmed."""
    if row.kind == machine.OPEN:
        return "" if seen.balance is None else "There is a margin account of this symbol by now."
    if seen.balance is None:
        return "There is no margin account of this symbol any more."
    if row.kind == machine.SET:
        return ""
    return _differs_of_position(row, seen)


def _differs_of_position(row: MarginAction, seen: Snapshot) -> str:
    if seen.position_id != row.position_id:
        return "The position is another one than the one that was confirmed."
    whole = abs(seen.quantity)
    if row.kind == machine.REDUCE:
        return "" if row.quantity is not None and row.quantity < whole else "The position is too small by now."
    if row.position_id is not None and row.quantity != whole:
        confirmed = grouped_text(row.quantity or ZERO)
        return f"The position changed from {confirmed} to {grouped_text(whole)} since it was confirmed."
    return ""


def _stop(row: MarginAction, problem: str, now: datetime) -> None:
    """Row 3: nothing is sent any more."""
    mover.move(
        row,
        event="stopped",
        to=machine.NOT_SENT,
        now=now,
        last_problem=problem[:500],
        evidence={"problem": problem[:500]},
    )


# Outcomes -------------------------------------------------------------------------------------------------------------


def _accepted(row: MarginAction, reply: Reply, now: datetime) -> None:
    """Row 4, and at once row 8 where the answer itself shows the result."""
    answer = looking.facts_of_answer(row, reply.value)
    mover.move(row, event="accepted", to=machine.CHECKING, now=now, lease_until=None, evidence=answer.facts)
    looking.conclude(row, answer, now=now)


def _refused(row: MarginAction, reply: Reply, now: datetime) -> None:
    """Without a code it was refused here, before anything left."""
    (_no if reply.code is not None else _not_sent)(row, reply, now)


_no = calls.on_outcome(mover.MACHINE, "refused", machine.REFUSED)
_not_sent = calls.on_outcome(mover.MACHINE, "not_sent", machine.NOT_SENT)
_ENDS: Final[dict[str, calls.OnOutcome]] = {
    calls.ACCEPTED: _accepted,
    calls.REFUSED: _refused,
    calls.NOT_SENT: _not_sent,
    calls.UNKNOWN: calls.on_outcome(mover.MACHINE, "answer_lost", machine.UNKNOWN),
}
# Row 7: what it did is unknown until accounts, positions and orders were read.
given_up = calls.lease_expired(mover.MACHINE, event="answer_lost", to=machine.UNKNOWN)
