"""Payouts that wait before anything was reserved, for people to judge after a restore (`desk.restores`).

One that is reserved is not among them: its number at the exchange says what became of it, and the same number is never
paid twice.
"""

from datetime import timedelta
from typing import Final

from django.urls import reverse

from desk.restores.of_machine import Waits
from desk.templatetags.desk import kept_amount
from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.withdrawals import machine, states
from exchange_ops.withdrawals.evidence.ledger_matching import LEAVING
from exchange_ops.withdrawals.models import Withdrawal

EARLY: Final = timedelta(minutes=2)  # by how much the exchange's clock may be behind


def _evidence(row: Withdrawal) -> list[str]:
    """Entries of the ledger that pay the same to the same address since it was asked for, and are nobody's."""
    among = LedgerEntry.objects.filter(
        account=row.account_id, currency=row.currency, amount=row.amount, withdrawal=None
    )
    alike = among.filter(type__in=LEAVING, address=row.address, created_at__gte=row.created_at - EARLY)
    return [
        f"The ledger has {entry.exchange_id}: the same amount to the same address at "
        f"{entry.created_at:%Y-%m-%d %H:%M:%S} UTC, {entry.status}."
        for entry in alike.order_by("index")
    ]


WAITING: Final = Waits(
    machine.MACHINE,
    ends={
        states.DRAFT: ("cancelled", states.CANCELLED),
        states.REVIEW: ("rejected", states.CANCELLED),
        states.QUEUED: ("cancelled", states.CANCELLED),
    },
    title=lambda row: f"Pay {kept_amount(row.amount, row.currency)} to {row.address}",
    url=lambda row: reverse("withdrawal", args=[row.pk]),
    asked_by=lambda row: row.initiator_id,
    evidence=_evidence,
    read_with=("account", "initiator"),
)
