"""Brackets for the tests of pages, made by the mover itself, without an exchange."""

from datetime import datetime
from decimal import Decimal
from typing import Any

from exchange_ops.orders import machine as order_machine
from exchange_ops.orders.brackets import machine, workflow
from exchange_ops.orders.brackets.models import Bracket, BracketLeg
from exchange_ops.orders.models import Order
from tests.exchange_ops.orders import order_rows

EXITS = workflow.Exits(stop=Decimal(380), take=Decimal(480))


def asked_for(person: Any, *, now: datetime, **changes: Any) -> Bracket:
    """A bracket of an order that rests in the book."""
    order = order_rows.placed(person, now=now, **changes)
    return workflow.attach(order_id=order.pk, exits=EXITS, person=person, now=now)


def without_a_stop(person: Any, *, now: datetime) -> Bracket:
    """A bracket whose entry was filled, and whose stop is missing."""
    row = asked_for(person, now=now, status="partiallyFilled", filled="0.2")
    return machine.move(
        row,
        event="stop_missing",
        to="unguarded",
        now=now,
        next_action_at=now,
        last_problem="The stop O-2 was not placed: Insufficient funds.",
    )


def entry_not_seen(person: Any, *, now: datetime) -> Bracket:
    """A bracket whose entry was sent, and looked for in vain."""
    order = order_rows.sent(person, now=now)
    row = workflow.attach(order_id=order.pk, exits=EXITS, person=person, now=now)
    lost = order_machine.move(order, event="answer_lost", to="unknown", now=now)
    order_machine.move(lost, event="not_seen", to="not_seen", now=now)
    return row


def stop_replaced(person: Any, *, now: datetime, outcome: str) -> tuple[Bracket, Order, Order]:
    """A bracket whose stop of 0.2 is to be replaced by one of 0.1: the stop, and the replacement in that state.

    `outcome` is unknown or not_seen.
    """
    row = asked_for(person, now=now, status="partiallyFilled", filled="0.2")
    terms = {"side": "sell", "type": "stopMarket", "price": None, "stop_price": EXITS.stop}
    stop = order_rows.placed(person, now=now, status="suspended", quantity=Decimal("0.2"), **terms)
    BracketLeg.objects.create(bracket=row, number=1, role=BracketLeg.STOP, order=stop, created_at=now)
    new = Order(
        account=row.account,
        initiator=person,
        request_key="replacement",
        client_order_id="replacement",
        replaces=stop,
        symbol=row.symbol,
        time_in_force="GTC",
        quantity=Decimal("0.1"),
        **terms,
    )
    new = order_machine.create(new, event="asked", now=now, actor=person)
    new = order_machine.move(new, event="claimed", to="sending", now=now, sends=1, sent_at=now, sent_from=now)
    new = order_machine.move(new, event="answer_lost", to="unknown", now=now)
    if outcome == "not_seen":
        new = order_machine.move(new, event="not_seen", to="not_seen", now=now)
    return row, stop, new
