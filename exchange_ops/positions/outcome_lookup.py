"""Finding out what a margin action did: from its answer, then from the exchange's account, positions and orders.

When the exchange shows what was requested, the action is done. That nothing or something else changed is concluded only
after three looks and a minute, because a call whose answer was lost may still be carried out. Nothing is sent here.
"""

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from exchange_ops.client import ExchangeClient
from exchange_ops.client.sightings import ABSENT_AFTER, Sight, look_for_order
from exchange_ops.keys import clients, store
from exchange_ops.keys.clients import ClientFor
from exchange_ops.margin import refresh
from exchange_ops.positions import machine, snapshots, states
from exchange_ops.positions.models import MarginAction
from exchange_ops.positions.snapshots import Snapshot
from exchange_ops.shared.backoff import READ_PAUSES_S, pause
from exchange_ops.wire import records
from exchange_ops.wire.catalogue import Right
from wire.errors import CallFailed
from wire.operation import BadArgument

LOOKS: Final = 3
QUIET: Final = ABSENT_AFTER
AS_REQUESTED, PARTLY, UNCHANGED, UNEXPLAINED, UNDECIDED = "seen", "seen_partly", "seen_unchanged", "unexplained", ""
_ENDS: Final = {
    AS_REQUESTED: states.DONE,
    PARTLY: states.PARTLY,
    UNCHANGED: states.NOT_DONE,
    UNEXPLAINED: states.UNCLEAR,
}
_OVER: Final = frozenset({"filled", "canceled", "expired"})


@dataclass(frozen=True, slots=True)
class Sightings:
    """What the exchange shows of an action: a verdict (empty while undecided), the facts, and its order, if any."""

    verdict: str
    facts: dict[str, Any] = field(default_factory=dict)
    sentence: str = ""
    order_id: int | None = None


def step(row: MarginAction, *, now: datetime, client_for: ClientFor) -> None:
    """Rows 8 to 15: one look."""
    try:
        sightings = _read_result(row, now, client_for)
    except (CallFailed, BadArgument, store.NoUsableKey) as problem:
        reason = f"The exchange could not be queried: {problem}"[:500]
        machine.touch(row, next_action_at=now + pause(READ_PAUSES_S, row.looks + 1), last_problem=reason)
        return
    conclude(row, sightings, now=now)


def conclude(row: MarginAction, sightings: Sightings, *, now: datetime) -> None:
    """End the action when the sightings say how it ended; else look again later."""
    looks = row.looks + 1
    has_waited = looks >= LOOKS and now - (row.sent_at or row.created_at) >= QUIET
    at_once = sightings.verdict == AS_REQUESTED or (sightings.verdict == PARTLY and row.state == states.CHECKING)
    if sightings.verdict and (at_once or has_waited):
        machine.move(
            row,
            event=sightings.verdict,
            to=_ENDS[sightings.verdict],
            now=now,
            looks=looks,
            exchange_order_id=sightings.order_id,
            last_problem=sightings.sentence[:500],
            evidence=sightings.facts | {"looks": looks},
        )
        return
    sentence = sightings.sentence or "The result is not visible on the exchange yet."
    later = now + pause(READ_PAUSES_S, looks)
    machine.touch(row, looks=looks, next_action_at=later, last_problem=sentence[:500])


def facts_of_answer(row: MarginAction, answer: Any) -> Sightings:
    """What the answer itself shows. It counts only where it shows what was requested; everything else is read."""
    if row.kind == states.REDUCE:
        return _by_order(answer) if answer.client_order_id == row.client_order_id else Sightings(UNDECIDED)
    if isinstance(answer, records.MarginAccount) and answer.symbol == row.symbol:
        after = snapshots.from_record(answer)
        facts = {"answer": after.facts}
        is_there = row.kind in {states.OPEN, states.SET} and after.balance == row.amount
        is_gone = row.kind == states.CLOSE_ACCOUNT and after.balance is None
        return Sightings(AS_REQUESTED if is_there or is_gone else UNDECIDED, facts)
    closed_positions = [one for one in answer if one.id == row.position_id] if isinstance(answer, list) else []
    return Sightings(AS_REQUESTED if closed_positions else UNDECIDED, {"closed_positions": len(closed_positions)})


# One look -------------------------------------------------------------------------------------------------------------


def _read_result(row: MarginAction, now: datetime, client_for: ClientFor) -> Sightings:
    with ExitStack() as open_clients:
        client = open_clients.enter_context(clients.client(client_for, account=row.account, right=Right.ORDERS))
        if row.kind == states.REDUCE:
            history = open_clients.enter_context(clients.client(client_for, account=row.account, right=Right.HISTORY))
            return _closing_order(row, now, client, history)
        refresh.sync(account=row.account, client=client, now=now)  # the pages show what was read
        after = snapshots.read(client=client, symbol=row.symbol)
        before = snapshots.from_facts(row.before)
        if row.kind in {states.OPEN, states.SET}:
            return _by_collateral(row, before, after)
        if row.kind == states.CLOSE and row.price is not None and after.position_id == row.position_id:
            resting_order = _resting_order(row, client.get_margin_orders(symbol=row.symbol).records)
            if resting_order is not None:
                return _by_order(resting_order)
        return _by_position(row, before, after)


def _closing_order(row: MarginAction, now: datetime, client: ExchangeClient, history: ExchangeClient) -> Sightings:
    """The order that closes a part, by its id among the active orders, then in the history."""
    sent_at, sent_from = row.sent_at or row.created_at, row.sent_from or row.created_at
    sighting = look_for_order(
        client,
        history=history,
        client_order_id=row.client_order_id,
        sent_at=sent_from,
        now=sent_from + max(now - sent_at, timedelta(0)),
        looks_before=row.looks,
        margin=True,
    )
    if sighting.order is not None:
        return _by_order(sighting.order)
    verdict = UNCHANGED if sighting.sight is Sight.ABSENT else UNDECIDED
    return Sightings(verdict, {"order": "not listed"}, "The exchange has no order with this ID.")


def _resting_order(row: MarginAction, orders: Iterable[records.Order]) -> records.Order | None:
    """The order that closes the position at its limit: the interface gives it no id of ours (supplement 2.7)."""
    since = row.sent_from or row.created_at
    for order in orders:
        terms = (order.side, order.type, order.price, order.quantity)
        if terms == (row.side, "limit", row.price, row.quantity) and order.created_at >= since:
            return order
    return None


def _by_order(order: records.Order) -> Sightings:
    facts = {"order": order.id, "status": order.status, "filled": order.cum_quantity}
    if order.status == "filled" or order.status not in _OVER:
        rests = "" if order.status == "filled" else "The order is resting in the book at its limit."
        return Sightings(AS_REQUESTED, facts, rests, order.id)
    if order.cum_quantity:
        return Sightings(PARTLY, facts, "The order closed partly filled.", order.id)
    return Sightings(UNCHANGED, facts, "The order closed unfilled.", order.id)


def _by_collateral(row: MarginAction, before: Snapshot, after: Snapshot) -> Sightings:
    facts = {"after": after.facts}
    if after.balance == row.amount:
        return Sightings(AS_REQUESTED, facts)
    if after.balance == before.balance:
        return Sightings(UNCHANGED, facts, "Collateral is unchanged.")
    return Sightings(UNEXPLAINED, facts, "Collateral is neither the previous nor the requested amount.")


def _by_position(row: MarginAction, before: Snapshot, after: Snapshot) -> Sightings:
    facts = {"after": after.facts}
    if row.kind == states.CLOSE_ACCOUNT and after.balance is None:
        return Sightings(AS_REQUESTED, facts)
    if row.kind == states.CLOSE and after.position_id != row.position_id:
        return Sightings(AS_REQUESTED, facts)
    if after == before or (after.position_id == before.position_id and after.quantity == before.quantity):
        return Sightings(UNCHANGED, facts, "The position is unchanged.")
    if after.position_id == before.position_id and abs(after.quantity) < abs(before.quantity):
        return Sightings(PARTLY, facts, "Part of the position is still open.")
    return Sightings(UNEXPLAINED, facts, "The account changed, but not as requested.")
