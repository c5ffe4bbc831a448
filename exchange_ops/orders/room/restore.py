"""Orders that wait to be placed, and brackets that would place some, for people to judge after a restore.

A bracket that is let go places nothing more, and its orders at the exchange stay (`desk.restores`). Shown with them are
orders that the exchange lists and nobody here requested.
"""

from collections.abc import Collection, Iterator
from datetime import datetime
from typing import Final

from django.urls import reverse

from desk import clock
from desk.restores.of_machine import Waits
from desk.restores.waiting import MOST_OUTSIDE, Outside
from exchange_ops.orders import machine, states
from exchange_ops.orders.brackets import machine as bracket_machine
from exchange_ops.orders.brackets import states as bracket_states
from exchange_ops.orders.brackets.models import Bracket
from exchange_ops.orders.models import Order
from exchange_ops.shared import heartbeats
from exchange_ops.shared.models import Account
from wire.values import grouped_text


def _title(row: Order) -> str:
    price = "" if row.price is None else f" at {grouped_text(row.price)}"
    return f"{row.side.capitalize()} {grouped_text(row.quantity)} {row.symbol}, {row.type}{price}"


def _evidence(row: Order) -> list[str]:
    """What the exchange says about an order with this client order id."""
    if not row.status:
        return []
    filled = f", {grouped_text(row.cum_quantity)} filled" if row.cum_quantity else ""
    return [f"The exchange has an order with this ID: {row.status}{filled}."]


def _of_bracket(row: Bracket) -> list[str]:
    """The open orders of its symbol that no row here requested."""
    others = Order.objects.filter(account=row.account_id, symbol=row.symbol, active=True, initiator=None)
    return [
        (
            f"The exchange lists order {order.client_order_id}, which was not requested in Countersign: {order.side} "
            f"{grouped_text(order.quantity)}, {order.type}."
        )
        for order in others.order_by("pk")
    ]


def placed_elsewhere(since: datetime) -> Iterator[Outside]:
    """Orders since a moment that no request of this desk explains, the newest first."""
    orders = Order.objects.filter(exchange_created_at__gte=since, initiator=None).select_related("account")
    for row in orders.order_by("-exchange_created_at", "-pk")[:MOST_OUTSIDE]:
        sentence = (
            f"{row.exchange_created_at:%Y-%m-%d %H:%M:%S} UTC: {row.side} {grouped_text(row.quantity)} "
            f"{row.symbol}, {row.type}, {row.status}, {row.account.name}"
        )
        yield Outside(sentence, reverse("order", args=[row.pk]))


def unread_orders(accounts: Collection[int], since: datetime) -> Iterator[str]:
    """Sentences about those of the accounts whose orders and margin have not been read since a moment."""
    for account in Account.objects.filter(pk__in=accounts).order_by("pk"):
        row = heartbeats.state_of(heartbeats.orders_of(account))
        read_at = None if row is None else row.heard_at
        if read_at is None or read_at <= since or clock.is_future(read_at, clock.now()):
            yield f"the exchange's orders for {account.name} have not been read since then."


def not_read_yet(since: datetime) -> Iterator[str]:
    """Sentences about accounts with an order or a bracket that waits, whose orders have not been read."""
    orders = Order.objects.filter(state__in=ORDERS.ends).values_list("account_id", flat=True)
    brackets = Bracket.objects.filter(state__in=BRACKETS.ends).values_list("account_id", flat=True)
    return unread_orders({*orders, *brackets}, since)


ORDERS: Final = Waits(
    machine.MACHINE,
    ends={
        states.WAITING: ("declined", states.DECLINED),
        states.REQUESTED: ("stopped", states.NOT_SENT),
    },
    title=_title,
    url=lambda row: reverse("order", args=[row.pk]),
    asked_by=lambda row: row.initiator_id,
    evidence=_evidence,
    read_with=("account", "initiator"),
)
BRACKETS: Final = Waits(
    bracket_machine.MACHINE,
    ends=dict.fromkeys(
        (bracket_states.ENTERING, bracket_states.GUARDED, bracket_states.UNGUARDED), ("let_go", bracket_states.CLOSED)
    ),
    title=lambda row: f"Add a bracket to {row.entry.reference}, {row.symbol}: place stop and take profit",
    url=lambda row: reverse("bracket", args=[row.pk]),
    asked_by=lambda row: row.initiator_id,
    evidence=_of_bracket,
    columns=lambda act: {"outcome": bracket_states.LET_GO},
    read_with=("account", "initiator", "entry"),
)
