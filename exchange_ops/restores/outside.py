"""What of the exchange account people judge after a restore: the sources of every room, and what the exchange shows."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from django.urls import reverse

from desk.restores.waiting import Outside
from desk.templatetags.desk import kept_amount
from exchange_ops.ledger import walks
from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.orders.models import Order
from exchange_ops.restores import orders, positions, subaccounts, transfers, withdrawals
from exchange_ops.shared.models import Account
from wire.values import grouped_text

SOURCES: Final = (
    withdrawals.WAITING.source,
    transfers.WAITING.source,
    orders.ORDERS.source,
    orders.BRACKETS.source,
    positions.WAITING.source,
    subaccounts.WAITING.source,
)
MOST: Final = 50


def outside(since: datetime) -> Iterator[Outside]:
    """Movements and orders since a moment that no request of this desk explains, the newest first."""
    entries = LedgerEntry.objects.filter(created_at__gte=since, withdrawal=None, transfer=None)
    for entry in entries.select_related("account").order_by("-created_at", "-pk")[:MOST]:
        sentence = (
            f"{entry.created_at:%Y-%m-%d %H:%M:%S} UTC: {entry.type} of {kept_amount(entry.amount, entry.currency)}, "
            f"{entry.status}, {entry.account.name}"
        )
        yield Outside(sentence, reverse("ledger"))
    others = Order.objects.filter(exchange_created_at__gte=since, initiator=None).select_related("account")
    for order in others.order_by("-exchange_created_at", "-pk")[:MOST]:
        sentence = (
            f"{order.exchange_created_at:%Y-%m-%d %H:%M:%S} UTC: {order.side} {grouped_text(order.quantity)} "
            f"{order.symbol}, {order.type}, {order.status}, {order.account.name}"
        )
        yield Outside(sentence, reverse("order", args=[order.pk]))


def not_read_yet(since: datetime) -> Iterator[str]:
    """The accounts whose ledger was not read to its end since a moment: what it would show is not here yet."""
    for account in Account.objects.order_by("pk"):
        read_at = walks.read_at(account=account)
        if read_at is None or read_at <= since:
            yield f"the exchange's ledger of {account.name} has not been read to its end since then."
