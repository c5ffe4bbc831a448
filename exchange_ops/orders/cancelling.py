"""Cancelling the rest of an order. A cancellation may be repeated, and ends when the order is seen to be over.

Before each repetition the order is read: if it was cancelled, filled or expired meanwhile, it is over. On another day
an id may belong to somebody else's order, so the exchange's number is compared before anything is cancelled by id.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.db.models import QuerySet

from desk import clock
from desk.machines import calls
from desk.machines import sending as machine_sending
from desk.machines.calls import Reply
from desk.machines.step_clock import Stopwatch
from exchange_ops.client import ExchangeClient
from exchange_ops.client.sightings import HISTORY_LAG, ORDER_NOT_FOUND
from exchange_ops.keys import clients, store
from exchange_ops.keys.clients import ClientFor
from exchange_ops.orders import machine, sending, states
from exchange_ops.orders import records as order_records
from exchange_ops.orders.models import Order, OrderCall
from exchange_ops.orders.steps import trading_line
from exchange_ops.orders.steps.trading_line import TradingLine
from exchange_ops.shared import rules
from exchange_ops.shared.backoff import pause
from exchange_ops.shared.calls import reply_of
from exchange_ops.shared.models import Account
from exchange_ops.wire import records
from exchange_ops.wire.catalogue import Right
from exchange_ops.withdrawals.deadlines import RELEASE_PAUSES_S
from wire.errors import CallFailed, Refused
from wire.operation import BadArgument

if TYPE_CHECKING:
    from desk.models import Person

GONE_AFTER = 2 * HISTORY_LAG
TOO_MANY = 429
AFTER_THE_FIRST = timedelta(seconds=3)  # the others of one call are looked at once it had time to answer
OF_SYMBOL, EVERY_MARGIN = "of the symbol", "every margin order"
_FAILURES = (CallFailed, BadArgument, store.NoUsableKey)


class CannotCancel(Exception):
    """Nothing was cancelled; the text is the sentence for the person."""


def ask(
    *,
    order_id: int,
    person: "Person",
    now: datetime,
    session_key: str = "",
    together: str = "",
    rank: int = 0,
) -> Order:
    """Row 13: have one order cancelled; one that is being cancelled already is left as it is. Raises CannotCancel.

    `together` names the orders that the same call cancels, if any; the first of them has `rank` 0.
    """
    row = Order.objects.select_related("account", "initiator").filter(pk=order_id).first()
    if row is None:
        raise CannotCancel("Order not found.")
    if not rules.may_trade(person, row.account_id):
        raise CannotCancel("Only operators can cancel orders.")
    if row.state == states.CANCELLING:
        return row
    if row.state not in states.CANCELLABLE or not row.active:
        raise CannotCancel(f"Order status: {states.state_of(row)}.")
    try:
        return begin(row, now=now, person=person, session_key=session_key, together=together, rank=rank)
    except machine.CannotMove:
        raise CannotCancel("The order has just changed. Refresh and try again.") from None


def begin(
    row: Order,
    *,
    now: datetime,
    person: "Person | None" = None,
    session_key: str = "",
    together: str = "",
    rank: int = 0,
    evidence: dict[str, Any] | None = None,
) -> Order:
    """Row 13: from here on a worker cancels it. Without a `person` the desk itself asks. Raises CannotMove."""
    return machine.move(
        row,
        event="cancel_asked",
        to=states.CANCELLING,
        now=now,
        next_action_at=now + (AFTER_THE_FIRST if rank else timedelta(0)),
        actor=person,
        session_key=session_key,
        evidence={"together": together} if together else evidence,
        cancel_together=bool(together),
    )


def ask_all(
    *, account: Account, symbol: str, newest: int, person: "Person", now: datetime, session_key: str = ""
) -> int:
    """Have open orders cancelled; gives how many the desk knew of.

    With a symbol: all its open orders, by one call for spot and one for margin, including orders that the desk did not
    know of. Without one: the orders of all symbols up to number `newest`, the newest that the person saw, so that
    nothing placed since is lost.
    """
    if not rules.may_trade(person, account):
        raise CannotCancel("Only operators can cancel orders.")
    rows = Order.objects.filter(account=account, active=True, state__in=states.CANCELLABLE)
    rows = rows.filter(symbol=symbol) if symbol else rows.filter(pk__lte=newest)
    return _ask_each(rows, person, now, session_key, together=OF_SYMBOL if symbol else "")


def ask_every_margin_order(*, account: Account, person: "Person", now: datetime, session_key: str = "") -> int:
    """Have every margin order of the account cancelled by one call; gives how many the desk knew of.

    The call covers all symbols and orders that the desk has not read yet, so it is made only on explicit request.
    """
    if not rules.may_trade(person, account):
        raise CannotCancel("Only operators can cancel orders.")
    rows = Order.objects.filter(account=account, active=True, margin=True, state__in=states.CANCELLABLE)
    return _ask_each(rows, person, now, session_key, together=EVERY_MARGIN)


def ask_chosen(
    *, account: Account, numbers: Sequence[int], person: "Person", now: datetime, session_key: str = ""
) -> int:
    """Have the open orders among these numbers of the account cancelled; gives how many were requested."""
    if not rules.may_trade(person, account):
        raise CannotCancel("Only operators can cancel orders.")
    rows = Order.objects.filter(account=account, active=True, pk__in=numbers, state__in=states.CANCELLABLE)
    return _ask_each(rows, person, now, session_key)


def _ask_each(rows: QuerySet[Order], person: "Person", now: datetime, session_key: str, *, together: str = "") -> int:
    count, ranks = 0, {True: 0, False: 0}
    for number, margin in list(rows.order_by("pk").values_list("pk", "margin")):
        rank = ranks[margin] if together else 0
        try:
            ask(
                order_id=number,
                person=person,
                now=now,
                session_key=session_key,
                together=together,
                rank=rank,
            )
            count, ranks[margin] = count + 1, rank + 1
        except CannotCancel:
            continue  # it ended or moved in this moment, which is as good
    return count


def step(row: Order, *, now: datetime, client_for: ClientFor) -> None:
    """Rows 14 to 17: read the order if it may be over, claim, send one DELETE, and move by its outcome."""
    watch = Stopwatch(now)
    if (row.cancels or row.initiator_id is None) and _is_settled(row, client_for, now):
        return
    # The first attempt cancels them all together; what it leaves is cancelled one by one.
    together = _together(row) if row.cancel_together else ""
    machine_sending.step(
        row,
        watch=watch,
        on_obstacle=lambda problem: _retry_later(row, now, problem),
        open_client=lambda: trading_line.open_line(row.account, client_for(row.account, Right.ORDERS)),
        claim=lambda line: _claim(row, now, way=trading_line.REST if together == OF_SYMBOL else line.way),
        send=lambda line, last_look: reply_of(lambda: _cancel(row, line, together, last_look)),
        on_outcome=_on_outcome,
    )


def _is_settled(row: Order, client_for: ClientFor, now: datetime) -> bool:
    """Whether reading the order was enough for now: it is over, or will be read again later."""
    try:
        client = client_for(row.account, Right.ORDERS)
    except store.NoUsableKey:
        return False  # the sending meets the same, and says so
    try:
        return _is_over(row, client, client_for, now)
    except _FAILURES as problem:
        _retry_later(row, now, f"The request could not be sent to the exchange: {problem}")
        return True
    finally:
        client.close()


def _claim(row: Order, now: datetime, *, way: str) -> OrderCall:
    kind = OrderCall.CANCEL_ALL if row.cancel_together else OrderCall.CANCEL
    return calls.claim(
        machine.MACHINE,
        row,
        event="cancel_claimed",
        to=states.CANCELLING,
        now=now,
        prepare=lambda: sending.prepare(row, kind=kind, attempt=row.cancels, now=now, way=way),
        cancels=row.cancels + 1,
        cancel_together=False,
        moves_money=False,
    )


def _is_over(row: Order, client: ExchangeClient, client_for: ClientFor, now: datetime) -> bool:
    """Read the order; True when it is no longer active and was moved accordingly."""
    ask_for = client.get_margin_order if row.margin else client.get_order
    try:
        if ask_for(client_order_id=row.client_order_id).id == row.exchange_id:
            return False
    except Refused as refused:
        if refused.code != ORDER_NOT_FOUND:
            raise
    with clients.client(client_for, account=row.account, right=Right.HISTORY) as history:
        listing = history.get_order_history(client_order_id=row.client_order_id)
    record = next((entry for entry in listing.records if entry.id == row.exchange_id), None)
    if record is not None and record.status in states.ENDED and not order_records.unstorable(record):
        _confirm_over(row, record, now)
    elif record is not None:
        _retry_later(row, now, "The exchange's order lists disagree on whether the order is open; checking again.")
    elif not clock.has_passed(GONE_AFTER, since=row.updated_at, now=now):
        _retry_later(
            row, now, "The order is no longer open, but its final status is not in the exchange's history yet."
        )
    else:
        machine.move(
            row, event="cancel_confirmed", to=states.PLACED, now=now, active=False,
            last_problem="The order is not in the exchange's open orders or history, so its final status is unknown.",
        )  # fmt: skip
    return True


def _confirm_over(row: Order, record: records.Order, now: datetime) -> None:
    machine.move(
        row,
        event="cancel_confirmed",
        to=states.PLACED,
        now=now,
        last_problem="",
        evidence={"status": record.status, "filled": record.cum_quantity},
        **order_records.observed_columns(record, now=now),
    )


def _cancel(row: Order, line: TradingLine, together: str, last_look: calls.LastLook) -> Any:
    """Every margin order of the account, every order of the symbol, or this one."""
    if together == EVERY_MARGIN:
        return line.cancel_every_margin_order(last_look=last_look)
    if together == OF_SYMBOL:
        return line.cancel_all_of(row.symbol, margin=row.margin, last_look=last_look)
    return line.cancel(row.client_order_id, margin=row.margin, last_look=last_look)


def _together(row: Order) -> str:
    """What one call was to cancel, as the event of the request recorded it."""
    event = row.events.filter(event="cancel_asked").order_by("-pk").first()
    return OF_SYMBOL if event is None else str(event.evidence.get("together", OF_SYMBOL))


def _own_reply(row: Order, reply: Reply, now: datetime) -> Reply:
    """The part of the answer that is about this order; how the others ended is stored too."""
    ended: list[records.Order] = [one for one in reply.value if not order_records.unstorable(one)]
    others = [one for one in ended if one.id != row.exchange_id]
    order_records.store(account=row.account, orders=others, margin=row.margin, now=now)
    own = next((one for one in ended if one.id == row.exchange_id), None)
    if own is not None:
        return replace(reply, value=own)
    return replace(
        reply,
        outcome=calls.UNKNOWN,
        problem="The exchange did not confirm the cancellation; checking the order's status.",
    )


def _on_outcome(row: Order, reply: Reply, now: datetime) -> None:
    if reply.accepted and isinstance(reply.value, list):
        reply = _own_reply(row, reply, now)
    if reply.accepted and reply.value.id == row.exchange_id and not order_records.unstorable(reply.value):
        _confirm_over(row, reply.value, now)
    elif reply.outcome == calls.REFUSED and reply.code not in {ORDER_NOT_FOUND, TOO_MANY}:
        problem = f"Not cancelled: {reply.problem}"[:500]
        machine.move(row, event="cancel_refused", to=states.PLACED, now=now, evidence=reply.facts, last_problem=problem)
    else:
        wait = timedelta(0) if reply.code == ORDER_NOT_FOUND else pause(RELEASE_PAUSES_S, row.cancels)
        machine.move(
            row,
            event="cancel_unconfirmed",
            to=states.CANCELLING,
            now=now,
            lease_until=None,
            next_action_at=now + wait,
            evidence=reply.facts,
            last_problem=reply.problem[:500],
        )


def _retry_later(row: Order, now: datetime, problem: str) -> None:
    machine.touch(row, next_action_at=now + pause(RELEASE_PAUSES_S, row.cancels + 2), last_problem=problem[:500])
