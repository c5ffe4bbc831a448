"""Withdrawals of the same amount to the same recipient within a day: perhaps one invoice that is paid twice."""

from collections.abc import Collection
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final

from django.db.models import QuerySet

from exchange_ops.shared.models import Account
from exchange_ops.withdrawals import states
from exchange_ops.withdrawals.models import Withdrawal

WITHIN: Final = timedelta(hours=24)
MOST: Final = 5


def around(*, addresses: Collection[str], first: datetime, last: datetime) -> QuerySet[Withdrawal]:
    """Requests to any of the addresses within 24 hours of a time from `first` to `last`, the newest first.

    Those of which it is certain that the money stayed are left out.
    """
    rows = Withdrawal.objects.filter(address__in=addresses, created_at__gte=first - WITHIN)
    candidates = rows.filter(created_at__lte=last + WITHIN).exclude(state__in=states.NOT_PAID)
    return candidates.select_related("initiator").order_by("-created_at")


def find(
    *, account: Account, currency: str, amount: Decimal, address: str, payment_id: str, at: datetime
) -> list[Withdrawal]:
    """At most five requests of this amount to this recipient within 24 hours of `at`, paid or perhaps to be paid.

    `address` is in the normal form of its currency (`destinations.check`); the newest comes first.
    """
    rows = around(addresses=[address], first=at, last=at)
    return list(rows.filter(account=account, currency=currency, amount=amount, payment_id=payment_id)[:MOST])
