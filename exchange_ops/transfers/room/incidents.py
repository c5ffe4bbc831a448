"""What a person has to look at of transfers, and who voted on what two people decide."""

from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import datetime

from desk.incidents.kinds import Cause, rows_of
from desk.templatetags.desk import kept_amount
from exchange_ops.transfers.models import Transfer, TransferApproval


def in_state(state: str) -> Callable[[datetime, str], Iterator[Cause]]:
    """Every transfer in this state."""

    def causes(now: datetime, only: str) -> Iterator[Cause]:
        for row in rows_of(Transfer.objects.filter(state=state), only):
            sentence = f"{row.reference}, {kept_amount(row.amount, row.currency)}: {row.sentence}"
            yield Cause(row.subject, sentence, "transfer", str(row.pk), str(row.account_id))

    return causes


def resolution_votes(keys: Collection[str]) -> Iterable[tuple[str, int, datetime]]:
    """Findings on a transfer that people settle."""
    numbers = [int(key.rpartition(":")[2]) for key in keys]
    rows = TransferApproval.objects.filter(transfer__in=numbers, stage=TransferApproval.RESOLUTION)
    return [(f"transfer:{row[0]}", row[1], row[2]) for row in rows.values_list("transfer_id", "person_id", "at")]
