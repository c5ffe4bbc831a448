"""Withdrawals of the same amount to the same address within a day: perhaps one invoice that is paid twice."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final

from exchange_ops.shared.models import Account
from exchange_ops.withdrawals import states
from exchange_ops.withdrawals.models import Withdrawal

WITHIN: Final = timedelta(hours=24)
MOST: Final = 5


def find(
    *, account: Account, currency: str, amount: Decimal, address: str, at: datetime, excluding: int | None = None
) -> list[Withdrawal]:
    """At most five others asked for within 24 hours of `at`, paid or perhaps to be paid, the newest first.

    `address` is in the normal form of its currency (`destinations.check`).
    `excluding` is the number of a row to leave out.
    """
    rows = Withdrawal.objects.filter(account=account, currency=currency, amount=amount, address=address)
    candidates = rows.filter(created_at__gte=at - WITHIN, created_at__lte=at + WITHIN).exclude(
        state__in=states.NOT_PAID
    )
    others = candidates if excluding is None else candidates.exclude(pk=excluding)
    return list(others.select_related("initiator").order_by("-created_at")[:MOST])
