"""Requesting a batch that was previewed and confirmed: every line becomes a payout, or none does."""

import uuid
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from django.db import IntegrityError, transaction

from exchange_ops.shared import rules
from exchange_ops.shared.csv_lines import Entry
from exchange_ops.shared.models import Account
from exchange_ops.withdrawals import states, workflow
from exchange_ops.withdrawals.batches import checking, reading
from exchange_ops.withdrawals.batches.checking import Checked
from exchange_ops.withdrawals.batches.models import PayoutBatch, PayoutBatchLine

if TYPE_CHECKING:
    from desk.models import Person

# A batch with the same lines in the same order within this time is the same batch, whoever sends it.
SAME_WITHIN: Final = timedelta(hours=24)


class CannotRequestBatch(Exception):
    """Nothing was requested. `checked` has the problem of each line, or is None where there is only the sentence."""

    def __init__(self, sentence: str, checked: Checked | None = None) -> None:
        super().__init__(sentence)
        self.checked = checked


class NotAccepted(CannotRequestBatch):
    """A line repeats another one or a recent payout, and the person has not confirmed that."""


def earlier(entries: Sequence[Entry], *, account: Account, now: datetime) -> PayoutBatch | None:
    """The batch of the last 24 hours with exactly these lines, if there is one.

    One of which it is certain that nothing was paid is left out: it can be requested again.
    """
    payable = PayoutBatchLine.objects.exclude(withdrawal__state__in=states.NOT_PAID)
    rows = PayoutBatch.objects.filter(account=account, content=reading.content_of(entries))
    rows = rows.filter(pk__in=payable.values("batch"))
    return rows.filter(created_at__gt=now - SAME_WITHIN).order_by("-pk").first()


def request(
    entries: Sequence[Entry],
    *,
    account: Account,
    person: "Person",
    key: uuid.UUID,
    accepted: Collection[str] = (),
    now: datetime,
    session_key: str = "",
) -> tuple[PayoutBatch, bool]:
    """Request one payout for each line; the batch, and whether it is a new one.

    The same form gives the same batch however often it is sent, and so do the same lines within 24 hours. `accepted`
    are the repeated payments (`Checked.repeated`) that the person saw and confirmed. Raises `CannotRequestBatch` unless
    every line passes the checks of a single request, and `NotAccepted` for a repeated payment that is not confirmed.
    """
    if not rules.may_request(person, account):
        raise CannotRequestBatch("Nothing was requested. Only operators can request payouts.")
    content = reading.content_of(entries)
    # Counted before looking for an earlier one: a batch that comes in between is found, or takes this number first.
    repeat = PayoutBatch.objects.filter(account=account, content=content).count()
    if (twin := _twin(person, key, content) or earlier(entries, account=account, now=now)) is not None:
        return twin, False
    checked = checking.check(entries, account=account, person=person, key=key, now=now)
    if not checked.is_good:
        raise CannotRequestBatch("Nothing was requested. Please fix the problems below.", checked)
    if set(checked.repeated) - set(accepted):
        raise NotAccepted("Nothing was requested. A line repeats a payment, which was not confirmed.", checked)
    batch = PayoutBatch(
        account=account, initiator=person, request_key=str(key), content=content, repeat=repeat, created_at=now
    )
    try:
        with transaction.atomic():
            return _created(checked, batch, now, session_key), True
    except IntegrityError:
        # Another tab or another person sent the same at this moment, and was first.
        if (twin := _twin(person, key, content) or earlier(entries, account=account, now=now)) is None:
            raise
        return twin, False


def _created(checked: Checked, batch: PayoutBatch, now: datetime, session_key: str) -> PayoutBatch:
    """The batch and its payouts. The batch comes first: an equal one of the same moment waits there, or is refused."""
    batch.save(force_insert=True)
    for line in checked.lines:
        if line.row is None or line.destination is None:
            raise LookupError("Only a batch without problems can be recorded.")
        evidence = {"batch": batch.reference, "line": line.number}
        try:
            row = workflow.record(line.row, line.destination, now=now, session_key=session_key, evidence=evidence)
        except workflow.CannotRequest as refusal:
            line.problems.append(str(refusal))
            raise CannotRequestBatch("Nothing was requested. Please fix the problems below.", checked) from None
        PayoutBatchLine.objects.create(batch=batch, number=line.number, withdrawal=row)
    return batch


def _twin(person: "Person", key: uuid.UUID, content: str) -> PayoutBatch | None:
    row = PayoutBatch.objects.filter(initiator=person, request_key=str(key)).first()
    if row is not None and row.content != content:
        raise CannotRequestBatch(
            f"Nothing was requested: this form was already submitted with different lines, as {row.reference}."
        )
    return row
