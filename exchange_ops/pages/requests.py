"""What people asked for and how it ended, as they are told of it: payouts, transfers and orders that needed approvals.

A transfer without approvals is over in a second, before the eyes of whoever asked. What somebody took back is no news.
"""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import Any, Final

from django.db.models import Exists, OuterRef
from django.urls import reverse

from desk.actions.entries import Entry, Requests
from desk.machines.table import Table, Turn
from desk.people import roles
from exchange_ops.orders import machine as order_states
from exchange_ops.orders.models import Order
from exchange_ops.transfers import machine as transfer_states
from exchange_ops.transfers.models import Transfer, TransferApproval, TransferEvent
from exchange_ops.withdrawals import endings, machine, queries
from exchange_ops.withdrawals.models import Withdrawal

MOST: Final = 1_000


def _over(table: Table) -> tuple[str, ...]:
    return tuple(name for name, state in table.states.items() if state.turn == Turn.NOBODY)


PAYOUTS_OVER: Final = _over(machine.TABLE)
TRANSFERS_OVER: Final = _over(transfer_states.TABLE)
# One that was most likely not placed is somebody's turn, and whoever asked for it hears of that as well.
ORDERS_OVER: Final = (
    *(name for name in _over(order_states.TABLE) if name != order_states.WITHDRAWN),
    order_states.NOT_SEEN,
)


def _ended(since: datetime) -> Sequence[str]:
    payouts = Withdrawal.objects.filter(state__in=PAYOUTS_OVER, updated_at__gt=since)
    approved = Exists(TransferApproval.objects.filter(transfer=OuterRef("pk")))
    taken_back = TransferEvent.objects.filter(transfer=OuterRef("pk"), event="cancelled", actor=OuterRef("initiator"))
    moved = Transfer.objects.filter(approved, ~Exists(taken_back), state__in=TRANSFERS_OVER, updated_at__gt=since)
    found = []
    orders = Order.objects.filter(state__in=ORDERS_OVER, updated_at__gt=since).exclude(digest="")
    for model, rows in ((Withdrawal, payouts), (Transfer, moved), (Order, orders)):
        found += [f"{model.name}:{pk}" for pk in rows.order_by("-pk").values_list("pk", flat=True)[:MOST]]
    return found


def _entries(subjects: Collection[str]) -> Iterator[tuple[int, Entry]]:
    numbers: dict[str, list[int]] = {Withdrawal.name: [], Transfer.name: [], Order.name: []}
    for subject in subjects:
        name, _, number = subject.partition(":")
        numbers[name].append(int(number))
    payouts = Withdrawal.objects.filter(pk__in=numbers[Withdrawal.name])
    for row in queries.with_ends(payouts):
        end = row.end
        if end is None or end.name != endings.WITHDRAWN:
            yield row.initiator_id, _entry(row, "Payout", end.sign if end else machine.STATES[row.state].icon)
    for moved in Transfer.objects.filter(pk__in=numbers[Transfer.name]):
        yield moved.initiator_id, _entry(moved, "Transfer", transfer_states.STATES[moved.state].icon)
    for order in Order.objects.filter(pk__in=numbers[Order.name]):
        if order.initiator_id is None:
            continue  # placed elsewhere on the account
        entry = _entry(order, "Order", order_states.STATES[order.state].icon)
        entry.sentence = f"{entry.sentence} {order.last_problem}".strip()  # who declined it and why, or the refusal
        yield order.initiator_id, entry


def _entry(row: Any, title: str, icon: str) -> Entry:
    return Entry(
        subject=row.subject,
        reference=row.reference,
        title=title,
        sentence=row.sentence,
        url=reverse(row.name, args=[row.pk]),
        since=row.created_at,
        tone=row.tone,
        label=row.label,
        icon=icon,
        own=True,
        who=roles.OPERATOR,
        row=row,
        scope=row.scope,
        outcome=row.label[:1].lower() + row.label[1:],
    )


REQUESTS: Final = Requests(ended=_ended, entries=_entries, who=(roles.OPERATOR,))
