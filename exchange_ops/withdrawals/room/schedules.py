"""Schedules, as the desk knows them: what was not requested, and what people are to know of them."""

from collections.abc import Collection, Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from django.db import connection
from django.db.models import Exists, OuterRef
from django.urls import reverse

from desk import clock
from desk.incidents.kinds import Cause, Kind, Severity, rows_of
from desk.models import AuditEvent
from desk.restores.models import RestoreEvent
from desk.restores.waiting import Act, Item, Source
from desk.rooms import OpenWord
from desk.templatetags.desk import kept_amount
from exchange_ops.shared import alarms
from exchange_ops.shared.declarations import causes
from exchange_ops.withdrawals.schedules import book
from exchange_ops.withdrawals.schedules.models import UNPAID, PayoutOccurrence, PayoutSchedule

if TYPE_CHECKING:
    from desk.models import Person

REPORTED_FOR: Final = timedelta(days=7)


def _not_requested(now: datetime, only: str) -> Iterator[Cause]:
    """Occurrences of the last days that were not requested by nobody's choice, each the last one of its schedule."""
    later = PayoutOccurrence.objects.filter(schedule=OuterRef("schedule"), number__gt=OuterRef("number"))
    recent = clock.recent("at", now - REPORTED_FOR, now=now)
    rows = PayoutOccurrence.objects.filter(recent, ~Exists(later), outcome__in=UNPAID)
    for row in rows_of(rows.select_related("schedule__template"), only):
        schedule, template = row.schedule, row.schedule.template
        sentence = (
            f"Not requested: {kept_amount(template.amount, template.currency)} for {template.name}, due "
            f"{row.due_at:%Y-%m-%d %H:%M} UTC ({schedule.reference}). {row.reason}"
        )
        yield Cause(
            f"payout_occurrence:{row.pk}", sentence, "payout-schedule", str(schedule.pk), str(schedule.account_id)
        )


NOT_REQUESTED: Final = Kind(
    alarms.PAYOUT_NOT_REQUESTED, "Scheduled payout not requested", Severity.MEDIUM, causes.TRADERS, _not_requested
)


def open_work(person: "Person") -> Iterator[OpenWord]:
    """Active schedules that this person set up: they stay, and record of each payout that it is not requested."""
    for row in book.active().filter(person=person):
        sentence = f"Payout schedule for {row.template.name}, {row.words}; requests nothing without this person's role"
        yield OpenWord(row.reference, reverse("payout-schedule", args=[row.pk]), sentence)


def _items(notice: RestoreEvent) -> Iterator[Item]:
    """Active schedules: one that was ended after the backup is active again."""
    earlier = AuditEvent.objects.filter(subject__startswith="payout_schedule:", seq__lt=notice.audit_number)
    subjects = set(earlier.values_list("subject", flat=True))
    for row in book.active():
        if f"payout_schedule:{row.pk}" not in subjects:
            continue
        template = row.template
        yield Item(
            subject=f"payout_schedule:{row.pk}",
            reference=row.reference,
            title=f"Request {kept_amount(template.amount, template.currency)} to {template.address}, {row.words}",
            label=row.label,
            url=reverse("payout-schedule", args=[row.pk]),
            since=row.at,
            state=str(row.recorded),
            asked_by=row.person_id,
            evidence=("Requests payouts for approval only. Payouts due before the restore are recorded as missed.",),
        )


def _lock(numbers: Collection[int]) -> None:
    if numbers and connection.features.has_select_for_update:
        list(PayoutSchedule.objects.filter(pk__in=numbers).order_by("pk").select_for_update())


def _cancel(number: int, act: Act) -> None:
    row = book.active().filter(pk=number).first()
    if row is not None:
        words: dict[str, Any] = {"person": act.person, "now": act.now, "session_key": act.session_key}
        book.end_locked(row, reason=f"Cancelled by two people after restore {act.restore}.", **words)


def _go_on(number: int, act: Act) -> None:
    """Nothing: it goes on by itself."""


WAITING: Final = Source("payout_schedule", _items, _lock, _cancel, _go_on)
