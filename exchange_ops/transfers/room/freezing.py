"""What the end of a freeze does to transfers. A freeze itself moves none: what is under way can't be taken back."""

from datetime import datetime
from typing import TYPE_CHECKING

from django.urls import reverse

from desk.templatetags.desk import kept_amount
from exchange_ops.policy.freeze_scopes import covered
from exchange_ops.policy.freezes import Stoppage
from exchange_ops.policy.models import Freeze
from exchange_ops.transfers import sending, states
from exchange_ops.transfers.models import Transfer

if TYPE_CHECKING:
    from desk.models import Person


def lock_open(freeze: Freeze) -> list[Transfer]:
    """None of them."""
    return []


def would_release(freeze: Freeze) -> list[Transfer]:
    """None: a transfer has no hold."""
    return []


def would_stop(freeze: Freeze) -> list[Stoppage]:
    """Transfers that are about to be sent wait, and expire an hour after they were cleared; those before their
    approvals can't be approved."""
    return [
        Stoppage(
            row.reference,
            reverse("transfer", args=[row.pk]),
            f"{kept_amount(row.amount, row.currency)}, {row.get_kind_display().lower()}",
            _effect(row),
        )
        for row in _waiting(freeze)
    ]


def stop(row: Transfer, *, frozen: Freeze, person: "Person | None", now: datetime, session_key: str) -> None:
    """Nothing: none is locked for it."""


def wake(freeze: Freeze, *, now: datetime) -> None:
    """Have those that waited for the end of the freeze processed now."""
    numbers = [row.pk for row in _waiting(freeze)]
    Transfer.objects.filter(pk__in=numbers, state__in=Transfer.BEHIND_A_FREEZE).update(next_action_at=now)


def _waiting(freeze: Freeze) -> list[Transfer]:
    rows = Transfer.objects.filter(state__in=Transfer.BEHIND_A_FREEZE).order_by("pk")
    return covered(freeze, rows)


def _effect(row: Transfer) -> str:
    if row.state == states.REVIEW:
        return "cannot be approved while frozen; approvals before it no longer count"
    return f"waits; expires {sending.expires_at(row):%H:%M} UTC unless the freeze is lifted before"
