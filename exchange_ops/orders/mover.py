"""Moving orders: the front of the one mover (`moving`) for the machine of orders."""

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db import transaction

from exchange_ops.orders import machine
from exchange_ops.orders.machine import STATES, TRANSITIONS
from exchange_ops.orders.models import Order, OrderEvent
from exchange_ops.shared import mover as moving
from exchange_ops.shared.mover import CannotMove, texts

if TYPE_CHECKING:
    from desk.models import Person

__all__ = ["CannotMove", "create", "create_seen", "lock", "move", "tell", "touch"]

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
_MACHINE = moving.Machine(
    model=Order,
    events=OrderEvent,
    owner="order_id",
    states=STATES,
    transitions=TRANSITIONS,
    at_rest=frozenset(STATES) - frozenset(machine.AT_WORK),
    unrecorded=frozenset({"next_action_at", "lease_until", "updated_at", "read_at", "missing_since"}),
    touchable=frozenset({"next_action_at", "last_problem", "looks"}),
    locked_with=("account", "initiator"),
    named=lambda row: row.reference,
    trail=lambda row, event: moving.Trail(f"order.{event}", row.subject, {}),
)


def create(*, order: Order, now: datetime, session_key: str = "") -> Order:
    """Row 1: store a new order of ours with its first event. An equal (initiator, request_key) is an IntegrityError."""
    with transaction.atomic():
        order.state, order.version = machine.REQUESTED, 1
        order.created_at = order.updated_at = order.next_action_at = now
        order.save(force_insert=True)
        after = {name: getattr(order, name) for name in CONTENT} | {"state": order.state, "version": 1}
        _MACHINE.record(order, "asked", {}, after, actor=order.initiator, evidence={}, now=now, session_key=session_key)
        tell(order, now)
    return order


def create_seen(*, order: Order, evidence: Mapping[str, Any], now: datetime) -> Order:
    """Row 2: store an order that was placed elsewhere. The trail begins with what somebody here does about it."""
    with transaction.atomic():
        order.state, order.version = machine.PLACED, 1
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
    """
    _MACHINE.move(
        order,
        changes,
        event=event,
        to=to,
        now=now,
        actor=actor,
        evidence=evidence,
        session_key=session_key,
        after=lambda new: _tell(order, new, now),
    )
    return order


def touch(order: Order, **columns: Any) -> bool:
    """Change columns that decide nothing; True when the row still was at this state and version."""
    return _MACHINE.touch(order, columns)


def lock(order_id: int) -> Order:
    """Read the row and, where the engine can, keep others waiting until the transaction ends."""
    row: Order = _MACHINE.lock(order_id)
    return row


def tell(order: Order, now: datetime) -> None:
    """Hints after commit: to the pages that show it, and to a worker where there is something to do at once."""
    _tell(order, {name: getattr(order, name) for name in ("state", "version", "next_action_at")}, now)


def _tell(order: Order, new: Mapping[str, Any], now: datetime) -> None:
    shown = {"state": new["state"], "version": new["version"]}
    moving.announce(subject=order.subject, topic=TOPIC, number=order.pk, **shown)
    moving.wake_if_due(ADVANCE_TASK, order.pk, new["next_action_at"], now)
