"""Who gave their word on the causes that two people of treasury decide: a thaw, a finding, the release of a hold."""

from collections.abc import Collection, Iterable
from datetime import datetime

from exchange_ops.policy.models import ThawVote
from exchange_ops.transfers.models import TransferApproval
from exchange_ops.withdrawals.models import Approval, HoldReleaseVote

Words = Iterable[tuple[str, int, datetime]]


def _numbers(causes: Collection[str]) -> list[int]:
    return [int(cause.rpartition(":")[2]) for cause in causes]


def thaws(causes: Collection[str]) -> Words:
    """Words for ending a freeze."""
    rows = ThawVote.objects.filter(freeze__in=_numbers(causes)).values_list("freeze_id", "person_id", "at")
    return [(f"freeze:{number}", person, at) for number, person, at in rows]


def payout_findings(causes: Collection[str]) -> Words:
    """Findings on a payout that people settle."""
    words = Approval.objects.filter(withdrawal__in=_numbers(causes), stage=Approval.RESOLUTION)
    return [(f"withdrawal:{row[0]}", row[1], row[2]) for row in words.values_list("withdrawal_id", "person_id", "at")]


def transfer_findings(causes: Collection[str]) -> Words:
    """Findings on a transfer that people settle."""
    words = TransferApproval.objects.filter(transfer__in=_numbers(causes), stage=TransferApproval.RESOLUTION)
    return [(f"transfer:{row[0]}", row[1], row[2]) for row in words.values_list("transfer_id", "person_id", "at")]


def releases(causes: Collection[str]) -> Words:
    """Orders to release a hold that outlived its request."""
    rows = HoldReleaseVote.objects.filter(withdrawal__in=_numbers(causes))
    return [(f"withdrawal:{row[0]}", row[1], row[2]) for row in rows.values_list("withdrawal_id", "person_id", "at")]
