"""What margin actions declare to the desk: incidents, search, tables, addresses."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Q
from django.urls import reverse

from desk import rooms
from desk.incidents.kinds import Cause, Kind, Severity, rows_of
from desk.machines.replay import Replay
from desk.restores.of_machine import Waits
from desk.rows.witnessed import Table
from desk.web.context import Entry
from desk.web.search import Hit, Scope, Search, newest, referenced
from exchange_ops.margin.models import MarginAccount, MarginPosition
from exchange_ops.orders.models import Order
from exchange_ops.orders.room.restore import unread_orders
from exchange_ops.positions import machine, states
from exchange_ops.positions.models import MarginAction, MarginActionCall, MarginActionEvent
from exchange_ops.positions.trail_words import WORDS
from exchange_ops.shared import alarms, rules
from exchange_ops.shared.declarations import causes, topics
from wire.values import grouped_text

EARLY: Final = timedelta(minutes=2)  # by how much the exchange's clock may be behind


def _unclear(now: datetime, only: str) -> Iterator[Cause]:
    for row in rows_of(MarginAction.objects.filter(state=states.UNCLEAR), only):
        sentence = f"{row.reference}, {row.kind_label.lower()} in {row.symbol}: {row.sentence}"
        yield Cause(row.subject, sentence, "margin-action", str(row.pk), str(row.account_id))


def _search(text: str, scope: Scope) -> Iterator[Hit]:
    for row in newest(MarginAction, referenced(MarginAction.mark, text), Q(), scope):
        words = f"{row.get_kind_display()}, {row.symbol}, {row.label.lower()}"
        yield Hit("Margin", row.reference, words, reverse("margin-action", args=[row.pk]), "shield-alert")


def _evidence(row: MarginAction) -> Iterator[str]:
    """What the exchange shows now that the action would have done, or that it can't be done any more."""
    current = {"account": row.account_id, "symbol": row.symbol, "gone_at": None}
    held = MarginAccount.objects.filter(**current).first()
    position = MarginPosition.objects.filter(**current).exclude(quantity=0).first()
    if row.kind in {states.OPEN, states.SET}:
        if held is not None and held.margin_balance == row.amount:
            yield f"The exchange shows this collateral already: {grouped_text(held.margin_balance)}."
        elif held is not None and held.updated_at >= row.created_at - EARLY:
            yield f"The margin account changed after the request: collateral now {grouped_text(held.margin_balance)}."
    elif row.kind == states.CLOSE_ACCOUNT:
        if held is None:
            yield "The exchange shows no margin account for this symbol."
    elif position is None or position.exchange_id != row.position_id:
        yield "The exchange no longer shows this position."
    elif row.kind == states.CLOSE and abs(position.quantity) != row.quantity:
        yield f"The exchange shows another quantity: {grouped_text(position.quantity)}."
    same = Order.objects.filter(account=row.account_id, client_order_id=row.client_order_id).exclude(client_order_id="")
    for order in same:
        filled = grouped_text(order.cum_quantity)
        yield f"The exchange has the order of this action: {order.status}, {filled} filled."


def _not_read_yet(since: datetime) -> Iterator[str]:
    rows = MarginAction.objects.filter(state__in=WAITING.ends)
    return unread_orders(set(rows.values_list("account_id", flat=True)), since)


REPLAY: Final = Replay(machine.MACHINE)

WAITING: Final = Waits(
    machine.MACHINE,
    ends={states.REQUESTED: ("stopped", states.NOT_SENT)},
    title=lambda row: f"{row.kind_label}, {row.symbol}",
    url=lambda row: reverse("margin-action", args=[row.pk]),
    asked_by=lambda row: row.initiator_id,
    evidence=_evidence,
    read_with=("account", "initiator"),
)

ROOM: Final = rooms.Room(
    paths={"margin_action_id": (MarginAction, "pk", "account_id")},
    topics={"marginaction": topics.row(MarginAction), machine.TOPIC: topics.desk_wide},
    incidents=(
        Kind(
            alarms.MARGIN_UNCLEAR,
            "Margin action unclear",
            Severity.HIGH,
            causes.TRADERS,
            _unclear,
            closable=False,
            ends="Resolves once an operator records the result on the margin action's page.",
        ),
    ),
    waiting=(WAITING.source,),
    not_read_yet=_not_read_yet,
    trail=(WORDS,),
    replays={REPLAY.subject: REPLAY.check},
    guards={"margin": machine.GUARDS.statements},
    tables=(
        Table(MarginAction, MarginAction.table.loose),
        Table(MarginActionEvent),
        Table(MarginActionCall),
    ),
    searches=(Search(_search, 65),),
    tasks="exchange_ops.positions.tasks",
    urls="exchange_ops.positions.urls",
    navigation=(
        Entry(
            "Margin",
            "margin",
            "shield-alert",
            "Trading",
            order=140,
            key="g",
            may_see=rules.may_see,
            also=("Positions", "Leverage", "Liquidations"),
        ),
    ),
)
