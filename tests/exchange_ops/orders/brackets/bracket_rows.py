"""Brackets for the tests of pages, made by the mover itself, without an exchange."""

from datetime import datetime
from decimal import Decimal
from typing import Any

from exchange_ops.orders.brackets import mover, workflow
from exchange_ops.orders.brackets.models import Bracket
from tests.exchange_ops.orders import order_rows

EXITS = workflow.Exits(stop=Decimal(380), take=Decimal(480))


def asked_for(person: Any, *, now: datetime, **changes: Any) -> Bracket:
    """A bracket of an order that rests in the book."""
    order = order_rows.placed(person, now=now, **changes)
    return workflow.attach(order_id=order.pk, exits=EXITS, person=person, now=now)


def without_a_stop(person: Any, *, now: datetime) -> Bracket:
    """A bracket whose entry was filled, and whose stop is missing."""
    row = asked_for(person, now=now, status="partiallyFilled", filled="0.2")
    return mover.move(
        row,
        event="stop_missing",
        to="unguarded",
        now=now,
        next_action_at=now,
        last_problem="The stop, O-2, was not placed: Insufficient funds.",
    )
