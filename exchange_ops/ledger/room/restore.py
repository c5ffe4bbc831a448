"""What the exchange's ledger shows people who judge what waits after a restore (`desk.restores`)."""

from collections.abc import Iterator
from datetime import datetime

from django.urls import reverse

from desk.restores.waiting import MOST_OUTSIDE, Outside
from desk.templatetags.desk import kept_amount
from exchange_ops.ledger import walks
from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.shared.models import Account


def movements(since: datetime) -> Iterator[Outside]:
    """Movements since a moment that no request of this desk explains, the newest first."""
    entries = LedgerEntry.objects.filter(created_at__gte=since, withdrawal=None, transfer=None)
    for entry in entries.select_related("account").order_by("-created_at", "-pk")[:MOST_OUTSIDE]:
        sentence = (
            f"{entry.created_at:%Y-%m-%d %H:%M:%S} UTC: {entry.type} of {kept_amount(entry.amount, entry.currency)}, "
            f"{entry.status}, {entry.account.name}"
        )
        yield Outside(sentence, reverse("ledger"))


def not_read_yet(since: datetime) -> Iterator[str]:
    """The accounts whose ledger was not read to its end since a moment: what it would show is not here yet."""
    for account in Account.objects.order_by("pk"):
        read_at = walks.read_at(account=account)
        if read_at is None or read_at <= since:
            yield f"the exchange's ledger of {account.name} has not been read to its end since then."
