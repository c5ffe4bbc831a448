"""Addresses that were paid to, as the ledger has it: each by its newest payout, with how often and how much in all."""

from django.db.models import Count, Exists, OuterRef, QuerySet, Subquery

from desk.fields import ExactSum
from exchange_ops.ledger.models import LedgerEntry

PAYOUT, FAILED = "payout", "failed"
SAME = ("account", "currency", "address", "payment_id")


def newest_payouts(rows: QuerySet[LedgerEntry]) -> QuerySet[LedgerEntry]:
    """Of the payouts among the rows that did not fail, the newest to each address and payment id of a currency.

    Each has `paid_count` and `paid_total`: how often was paid there, and how much in all.
    """
    same = _payouts(LedgerEntry.objects.filter(**{name: OuterRef(name) for name in SAME}))
    groups = same.order_by().values("address")
    counted, added = groups.annotate(of=Count("pk")).values("of"), groups.annotate(of=ExactSum("amount")).values("of")
    newest = _payouts(rows).filter(~Exists(same.filter(pk__gt=OuterRef("pk"))))
    return newest.annotate(paid_count=Subquery(counted), paid_total=Subquery(added))


def _payouts(rows: QuerySet[LedgerEntry]) -> QuerySet[LedgerEntry]:
    return rows.filter(type=PAYOUT).exclude(status=FAILED).exclude(address="")
