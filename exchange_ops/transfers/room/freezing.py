"""What the end of a freeze does to transfers. A freeze itself moves none: what is under way can't be taken back."""

from datetime import datetime
from typing import TYPE_CHECKING

from django.urls import reverse

from desk.templatetags.desk import kept_amount
from exchange_ops.policy.freezes import Stoppage
from exchange_ops.policy.models import Freeze
from exchange_ops.shared.models import Account
from exchange_ops.transfers import sending, states
from exchange_ops.transfers.models import Transfer

if TYPE_CHECKING:
    from desk.models import Person


def lock_open(account: Account) -> list[Transfer]:
    """None of them."""
    return []


def would_release(account: Account) -> list[Transfer]:
    """None: a transfer has no hold."""
    return []


def would_stop(account: Account) -> list[Stoppage]:
    """Transfers that are about to be sent: they wait, and expire an hour after they were cleared."""
    rows = Transfer.objects.filter(account=account, state=states.APPROVED).order_by("pk")
    return [
        Stoppage(
            row.reference,
            reverse("transfer", args=[row.pk]),
            f"{kept_amount(row.amount, row.currency)}, {row.get_kind_display().lower()}",
            f"waits; expires {sending.expires_at(row):%H:%M} UTC unless the freeze is lifted before",
        )
        for row in rows
    ]


def stop(row: Transfer, *, frozen: Freeze, person: "Person | None", now: datetime, session_key: str) -> None:
    """Nothing: none is locked for it."""


def wake(account_id: int, *, now: datetime) -> None:
    """Have those that waited for the end of the freeze processed now."""
    Transfer.objects.filter(account_id=account_id, state__in=Transfer.BEHIND_A_FREEZE).update(next_action_at=now)
