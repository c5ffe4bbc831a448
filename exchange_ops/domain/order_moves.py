"""The one mover of orders: nothing else writes `state` or `version`.

A move is a conditional UPDATE on (id, state, version), an event row, a row of the audit trail and an announcement, in
one transaction. Of two movers that saw the same version one wins and the other gets CannotMove.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db import IntegrityError, connection, transaction

from desk import audit, live, outbox
from exchange_ops.domain.lifecycle import texts
from exchange_ops.models import Order, OrderEvent, order_states, states
from exchange_ops.models.order_states import STATES, TRANSITIONS

if TYPE_CHECKING:
    from desk.models import Person

ADVANCE_TASK = "exchange_ops.advance_order"
TOPIC = "orders"
CONTENT = (
    "account_id",
    "initiator_id",
    "initiated_via",
    "client_order_id",
    "symbol",
    "side",
    "type",
    "time_in_force",
    "quantity",
    "price",
    "stop_price",
    "expire_time",
    "post_only",
    "strict_validate",
)
_ALLOWED = {(t.source, t.event, t.target) for t in TRANSITIONS}
_UNRECORDED = frozenset({"next_action_at", "lease_until", "updated_at", "read_at", "missing_since"})
_TOUCHABLE = frozenset({"next_action_at", "last_problem", "looks"})


class CannotMove(RuntimeError):
    """The row is no longer what the mover saw, or the table has no such move. Nothing was written."""


def create(*, order: Order, now: datetime, session_key: str = "") -> Order:
    """Row 1: store a new order of ours with its first event. An equal (initiator, request_key) is an IntegrityError."""
    with transaction.atomic():
        order.state, order.version = order_states.REQUESTED, 1
        order.created_at = order.updated_at = order.next_action_at = now
        order.save(force_insert=True)
        after = {name: getattr(order, name) for name in CONTENT} | {"state": order.state, "version": 1}
        _record(order, "asked", "", {}, after, actor=order.initiator, evidence={}, now=now, key=session_key)
        tell(order, now)
    return order


def create_seen(*, order: Order, evidence: Mapping[str, Any], now: datetime) -> Order:
    """Row 2: store an order that was placed elsewhere. The trail begins with what somebody here does about it."""
    with transaction.atomic():
        order.state, order.version = order_states.PLACED, 1
        order.created_at = order.updated_at = now
        order.save(force_insert=True)
        OrderEvent.objects.create(
            order=order, version=1, event="seen_elsewhere", to_state=order.state, evidence=texts(evidence), at=now
        )
        tell(order, now)
    return order


def move(
    order: Order,
    *,
    event: str,
    to: str,
    now: datetime,
    actor: "Person | None" = None,
    evidence: Mapping[str, Any] | None = None,
    session_key: str = "",
    **changes: Any,
) -> Order:
    """Take the row from the state and version that `order` carries to `to`, with `changes` to other columns.

    `order` is brought up to date and returned. CannotMove when the table has no such move or somebody was faster.
    Without a `next_action_at` a worker looks again at once where it is the worker's or the exchange's turn, else never.
    """
    source, version = order.state, order.version
    if (source, event, to) not in _ALLOWED:
        raise CannotMove(f"There is no move {event!r} from {source or 'nothing'} to {to}.")
    if to not in order_states.AT_WORK:
        changes |= {"next_action_at": None, "lease_until": None}
    elif "next_action_at" not in changes:
        changes["next_action_at"] = now if STATES[to].turn in {states.WORKER, states.EXCHANGE} else None
    new = {**changes, "state": to, "version": version + 1, "updated_at": now}
    shown = {name: value for name, value in new.items() if name not in _UNRECORDED}
    before = {name: getattr(order, name) for name in shown}
    try:
        with transaction.atomic():
            lock(order.pk)
            _record(order, event, source, before, shown, actor=actor, evidence=evidence, now=now, key=session_key)
            if Order.objects.filter(pk=order.pk, state=source, version=version).update(**new) != 1:
                raise CannotMove(f"{order.reference} was changed by somebody else meanwhile.")
            tell(_with(order, new), now)
    except IntegrityError as error:
        raise CannotMove(f"The database refused {event!r} of {order.reference}: {error}") from error
    for name, value in new.items():
        setattr(order, name, value)
    return order


def touch(order: Order, **columns: Any) -> bool:
    """Change columns that decide nothing; True when the row still was at this state and version."""
    if not _TOUCHABLE.issuperset(columns):
        raise ValueError(f"Only a move changes {sorted(set(columns) - _TOUCHABLE)}.")
    if Order.objects.filter(pk=order.pk, state=order.state, version=order.version).update(**columns) != 1:
        return False
    for name, value in columns.items():
        setattr(order, name, value)
    return True


def lock(order_id: int) -> Order:
    """Read the row and, where the engine can, keep others waiting until the transaction ends."""
    rows = Order.objects.select_related("account", "initiator")
    if connection.features.has_select_for_update:
        rows = rows.select_for_update(of=("self",))
    return rows.get(pk=order_id)


def tell(order: Order, now: datetime) -> None:
    """Hints after commit: to the pages that show it, and to a worker where there is something to do at once."""
    hint = {"state": order.state, "version": order.version}
    live.announce(order.subject, **hint)
    live.announce(TOPIC, id=order.pk, **hint)
    if order.next_action_at is not None and order.next_action_at <= now:
        outbox.wake(ADVANCE_TASK, order.pk)


def _record(
    order: Order,
    event: str,
    source: str,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    *,
    actor: "Person | None",
    evidence: Mapping[str, Any] | None,
    now: datetime,
    key: str,
) -> None:
    """The trail's row and the event row, before the update: a trigger refuses a version that has no event."""
    facts = texts(evidence or {})
    trail = audit.record(
        actor=actor,
        action=f"order.{event}",
        subject=order.subject,
        before=texts(before),
        after={**texts(after), "evidence": facts},
        now=now,
        session_key=key,
    )
    OrderEvent.objects.create(
        order_id=order.pk,
        version=after["version"],
        event=event,
        from_state=source,
        to_state=after["state"],
        actor=actor,
        evidence=facts,
        audit_number=trail.seq,
        at=now,
    )


def _with(order: Order, new: Mapping[str, Any]) -> Order:
    """A copy that carries the new values, so that a failed commit leaves the caller's object as it was."""
    copy = Order(pk=order.pk, account_id=order.account_id)
    for name in ("state", "version", "next_action_at"):
        setattr(copy, name, new[name])
    return copy
