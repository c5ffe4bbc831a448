"""Requesting what is due: each occurrence once, by the same way and the same checks as a request by hand.

An occurrence is requested, or it is recorded why not, together with the payout in one transaction. A process that is
killed leaves neither of the two, and the next sweep does both. The key of the request is made of the schedule and the
number besides, so that even without the row of the occurrence the same payout can't be requested again.
"""

import uuid
from datetime import datetime, timedelta
from typing import Final

import structlog
from django.db import IntegrityError, transaction

from desk import clock
from desk.restores import signs
from desk.restores import states as restores
from desk.restores.models import Restore, RestoreEvent
from exchange_ops.payees import book as payees
from exchange_ops.shared import rules
from exchange_ops.withdrawals import request_checks, workflow
from exchange_ops.withdrawals.models import Withdrawal
from exchange_ops.withdrawals.schedules import book
from exchange_ops.withdrawals.schedules.models import (
    LONGEST_REASON,
    MISSED,
    REFUSED,
    REQUESTED,
    PayoutOccurrence,
    PayoutSchedule,
)
from exchange_ops.withdrawals.templates.models import PayoutTemplateEnd

GRACE: Final = timedelta(hours=24)  # how late an occurrence is still requested
VIA: Final = "schedule"
_LATE: Final = "Countersign did not request it within 24 hours of its time. Missed payouts are not requested later."
_log = structlog.get_logger(__name__)


def sweep(*, now: datetime) -> int:
    """Request everything that is due; how many occurrences came to their end. Any number of processes may do so.

    While the database is known to have fallen back to an earlier state, nothing is.
    """
    due = [row.pk for row in book.active() if (at := row.next_due) is not None and at <= now]
    if not due or signs.check(now=now):
        return 0
    count = 0
    for number in due:
        try:
            count += request_due(number, now=now)
        except IntegrityError as lost:
            _log.info("payout_schedules.race_lost", schedule=number, reason=str(lost))
        except Exception:
            _log.exception("payout_schedules.failed", schedule=number)
    return count


def request_due(schedule_id: int, *, now: datetime) -> int:
    """Bring the occurrences of one schedule that are due to their end; how many there were.

    Of several only the newest is requested, and none that is later than `GRACE`.
    """
    with transaction.atomic():
        row = book.lock(schedule_id)
        count = 0
        while (due_at := row.next_due) is not None and due_at <= now:
            _end_of(row, row.recorded + 1, due_at, now)
            row.recorded, count = row.recorded + 1, count + 1
    return count


def obstacle(row: PayoutSchedule, *, now: datetime) -> str:
    """Why the schedule would request nothing now, whatever the checks of the payout say; else an empty text."""
    if not rules.may_request(row.person, row.account_id):
        return f"{row.person} can no longer request payouts for this account."
    if PayoutTemplateEnd.objects.filter(template=row.template_id).exists():
        return f"The template {row.template.name} was removed."
    key = book.recipient(row.template)
    approved = payees.approved([key], now=now).get(key)
    if row.payee is not None and (approved is None or not payees.goes_back_to(approved, row.payee)):
        return f"The recipient is no longer the approved payee {row.payee.reference}, {row.payee.title}."
    return ""


def request_key(row: PayoutSchedule, number: int) -> str:
    """The key of the request for this occurrence, always the same."""
    return str(uuid.uuid5(uuid.UUID(row.request_key), f"{row.pk}:{number}"))


def _end_of(row: PayoutSchedule, number: int, due_at: datetime, now: datetime) -> None:
    occurrence = PayoutOccurrence(schedule=row, number=number, due_at=due_at, outcome=MISSED, at=now)
    is_newest = number == row.planned or row.rhythm.due(number + 1) > now
    if not is_newest or now - due_at > GRACE:
        occurrence.reason = _LATE
    elif lost := _lost_since(due_at):
        occurrence.reason = lost
    else:
        try:
            occurrence.withdrawal, occurrence.outcome = _requested(row, number, due_at, now), REQUESTED
        except request_checks.CannotRequest as refusal:
            occurrence.outcome, occurrence.reason = REFUSED, str(refusal)[:LONGEST_REASON]
    occurrence.save(force_insert=True)
    book.record_outcome(row, occurrence, now=now)


def _requested(row: PayoutSchedule, number: int, due_at: datetime, now: datetime) -> Withdrawal:
    if reason := obstacle(row, now=now):
        raise request_checks.CannotRequest({"schedule": reason})
    template = row.template
    payout = workflow.unsaved(
        initiator=row.person,
        account=row.account,
        currency=template.currency,
        amount=template.amount,
        address=template.address,
        payment_id=template.payment_id,
        include_fee=template.include_fee,
        reason=template.reason,
        request_key=request_key(row, number),
        via=VIA,
    )
    destination = request_checks.check(payout, now=now)
    if (destination.address, destination.payment_id) != (template.address, template.payment_id):
        raise request_checks.CannotRequest({"address": "The template's address is not in its normal form any more."})
    evidence = {"schedule": row.reference, "occurrence": number, "due_at": due_at}
    return workflow.record(payout, destination, now=now, evidence=evidence)


def _lost_since(due_at: datetime) -> str:
    """A sentence where the database fell back after this moment, so that the request may be among what was lost."""
    noticed = RestoreEvent.objects.filter(event__in=restores.NOTICED, at__gte=due_at - clock.TOLERANCE)
    row = Restore.objects.filter(state=restores.SETTLED, events__in=noticed).order_by("pk").first()
    if row is None:
        return ""
    return (
        f"The database was restored to an earlier state afterwards ({row.reference}), so this payout may have been "
        "requested already. Check the exchange's records before you request it by hand."
    )
