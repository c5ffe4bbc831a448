"""What a person has to look at of payouts, and who voted on what two people decide."""

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime

from desk.incidents.kinds import Cause, rows_of
from desk.templatetags.desk import kept_amount
from exchange_ops.withdrawals import states
from exchange_ops.withdrawals.decisions import open_holds
from exchange_ops.withdrawals.models import Approval, HoldReleaseVote, Withdrawal
from exchange_ops.withdrawals.steps import settlement

Votes = Iterable[tuple[str, int, datetime]]


def disputed(now: datetime, only: str) -> Iterator[Cause]:
    """Payouts of which the evidence disagrees, or that only people can judge."""
    rows = Withdrawal.objects.filter(state__in=(states.DISPUTED, states.INVESTIGATE))
    for row in rows_of(rows, only):
        sentence = f"{row.reference}, {kept_amount(row.amount, row.currency)}: {row.sentence}"
        yield Cause(row.subject, sentence, "withdrawal", str(row.pk), str(row.account_id))


def holds(now: datetime, only: str) -> Iterator[Cause]:
    """Money that is reserved for requests that are over."""
    for row in open_holds.closed_requests():
        if open_holds.is_for_people(row):
            yield Cause(row.subject, open_holds.sentence(row), "withdrawal", str(row.pk), str(row.account_id))


def overdue(now: datetime, only: str) -> Iterator[Cause]:
    """Payouts that the exchange took long ago and has not carried out."""
    for row in settlement.overdue(now=now):
        sentence = settlement.overdue_sentence(row, now=now)
        yield Cause(row.subject, sentence, "withdrawal", str(row.pk), str(row.account_id))


def resolution_votes(keys: Collection[str]) -> Votes:
    """Findings on a payout that people settle."""
    rows = Approval.objects.filter(withdrawal__in=_numbers(keys), stage=Approval.RESOLUTION)
    return [(f"withdrawal:{row[0]}", row[1], row[2]) for row in rows.values_list("withdrawal_id", "person_id", "at")]


def release_votes(keys: Collection[str]) -> Votes:
    """Orders to release a hold that outlived its request."""
    rows = HoldReleaseVote.objects.filter(withdrawal__in=_numbers(keys))
    return [(f"withdrawal:{row[0]}", row[1], row[2]) for row in rows.values_list("withdrawal_id", "person_id", "at")]


def _numbers(keys: Collection[str]) -> list[int]:
    return [int(key.rpartition(":")[2]) for key in keys]
