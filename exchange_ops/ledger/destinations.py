"""Addresses that were paid to, as the ledger has it: each by its newest payout, with how often and how much in all."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Count, Exists, OuterRef, QuerySet

from desk.fields import ExactSum
from exchange_ops.ledger.models import LedgerEntry

PAYOUT, FAILED = "payout", "failed"
SAME = ("account", "currency", "address", "payment_id")


def newest_payouts(rows: QuerySet[LedgerEntry]) -> QuerySet[LedgerEntry]:
    """Of the payouts among the rows that did not fail, the newest to each address and payment id of a currency."""
    payouts = _payouts(LedgerEntry.objects.all())
    later = payouts.filter(**{name: OuterRef(name) for name in SAME}, pk__gt=OuterRef("pk"))
    return _payouts(rows).filter(~Exists(later))


def add_sums(rows: Sequence[Any]) -> None:
    """Give each row of `newest_payouts` `paid_count` and `paid_total`, in one query for all of them."""
    if not rows:
        return
    payouts = _payouts(LedgerEntry.objects.filter(address__in={row.address for row in rows}))
    payouts = payouts.filter(account__in={row.account_id for row in rows})
    groups = payouts.order_by().values(*SAME).annotate(count=Count("pk"), total=ExactSum("amount"))
    found = {tuple(group[name] for name in SAME): group for group in groups}
    for row in rows:
        group = found[row.account_id, row.currency, row.address, row.payment_id]
        row.paid_count, row.paid_total = group["count"], group["total"]


def _payouts(rows: QuerySet[LedgerEntry]) -> QuerySet[LedgerEntry]:
    return rows.filter(type=PAYOUT).exclude(status=FAILED).exclude(address="")
