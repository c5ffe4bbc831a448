"""Addresses that were paid, as the ledger has it: how often, how much in total, and what is only reserved for them.

A payout of the ledger is paid once the exchange executes it. Before that its money is only reserved, and one that the
exchange ended was released or failed: neither is a payment.
"""

from typing import Any, Final

from django.db.models import Case, Count, DateTimeField, Exists, F, OuterRef, Q, QuerySet, Subquery, Value, When
from django.db.models.functions import Coalesce

from desk.fields import ExactSum
from exchange_ops.ledger.models import LedgerEntry

PAYOUT: Final = "payout"
# Exchange REST, Transaction status: created waits for commit or rollback, pending and success were executed.
EXECUTED, ENDED_UNPAID = ("pending", "success"), "failed"
SAME: Final = ("account", "currency", "address", "payment_id")
PAID: Final = Q(type=PAYOUT, status__in=EXECUTED)
RELEASED: Final = Q(type=PAYOUT, status=ENDED_UNPAID)
RESERVED: Final = Q(type=PAYOUT) & ~Q(status__in=(*EXECUTED, ENDED_UNPAID))


def newest_payouts(rows: QuerySet[LedgerEntry]) -> QuerySet[LedgerEntry]:
    """One row for each address and payment id of a currency: its newest paid payout, or the newest reserved one.

    Each has `paid_count`, `reserved_count` and `released_count`, with `paid_total` and `reserved_total`, and
    `last_paid_at` and `last_paid_amount`; sums and last payment are None where there is none. Addresses for which
    everything was released are left out.
    """
    same = LedgerEntry.objects.filter(**{name: OuterRef(name) for name in SAME})
    newer = same.filter(pk__gt=OuterRef("pk"))
    newest_paid = PAID & ~Exists(newer.filter(PAID))
    newest_reserved = RESERVED & ~Exists(same.filter(PAID)) & ~Exists(newer.filter(RESERVED))
    listed = rows.exclude(address="").filter(type=PAYOUT).filter(newest_paid | newest_reserved)
    return listed.annotate(
        paid_count=_counted(same.filter(PAID)),
        paid_total=_added(same.filter(PAID)),
        reserved_count=_counted(same.filter(RESERVED)),
        reserved_total=_added(same.filter(RESERVED)),
        released_count=_counted(same.filter(RELEASED)),
        last_paid_at=Case(When(PAID, then=F("updated_at")), output_field=DateTimeField()),
        last_paid_amount=Case(When(PAID, then=F("amount")), output_field=LedgerEntry._meta.get_field("amount")),
    )


def _counted(same: QuerySet[LedgerEntry]) -> Any:
    return Coalesce(Subquery(_groups(same).annotate(of=Count("pk")).values("of")), Value(0))


def _added(same: QuerySet[LedgerEntry]) -> Any:
    return Subquery(_groups(same).annotate(of=ExactSum("amount")).values("of"))


def _groups(same: QuerySet[LedgerEntry]) -> Any:
    return same.order_by().values("address")
