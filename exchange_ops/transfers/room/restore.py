"""Transfers that wait to be sent, for people to judge after a restore (`desk.restores`)."""

from typing import Final

from django.urls import reverse

from desk.restores.of_machine import Waits
from desk.templatetags.desk import kept_amount
from exchange_ops.transfers import ledger_matching, machine, states
from exchange_ops.transfers.models import Transfer


def _evidence(row: Transfer) -> list[str]:
    """Entries of the ledger that look like it since it was asked for, and are nobody's."""
    return [
        f"The ledger has {entry.exchange_id}: {entry.type}, the same amount at "
        f"{entry.created_at:%Y-%m-%d %H:%M:%S} UTC, {entry.status}."
        for entry in ledger_matching.lookalike_entries(row)
    ]


WAITING: Final = Waits(
    machine.MACHINE,
    ends={
        states.REVIEW: ("cancelled", states.CANCELLED),
        states.APPROVED: ("cancelled", states.CANCELLED),
    },
    title=lambda row: f"{states.KINDS[row.kind]}: {kept_amount(row.amount, row.currency)} {row.identifier}".rstrip(),
    url=lambda row: reverse("transfer", args=[row.pk]),
    asked_by=lambda row: row.initiator_id,
    evidence=_evidence,
    columns=lambda act: {"decided_by": act.person, "decided_at": act.now},
    read_with=("account", "initiator"),
)
