"""The schedules of an account: setting one up, skipping an occurrence, ending one, and what the database refuses."""

from collections.abc import Collection
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from django.db import connection, transaction
from django.db.models import F, QuerySet

from desk.audit import trail
from desk.live import announcements
from desk.machines.guards import Guards, Rule, table_of
from desk.people import roles
from exchange_ops.payees import book as payees
from exchange_ops.shared.models import Account
from exchange_ops.shared.problems import FORM
from exchange_ops.shared.rules import may, may_request
from exchange_ops.withdrawals.schedules import rhythm as rhythms
from exchange_ops.withdrawals.schedules.models import (
    ACTIVE,
    LONGEST_REASON,
    SKIPPED,
    PayoutOccurrence,
    PayoutSchedule,
    PayoutScheduleEnd,
    with_progress,
)
from exchange_ops.withdrawals.schedules.rhythm import Rhythm
from exchange_ops.withdrawals.templates.models import PayoutTemplate

if TYPE_CHECKING:
    from desk.models import Person

TOPIC: Final = "payout-schedules"
MOST_ACTIVE: Final = 100  # of one account
NOT_OF_TEMPLATE: Final = "a schedule is of a template of its account that is offered"
NOT_IN_TURN: Final = "the occurrences of a schedule come to their end one after the other"
NOT_OF_SCHEDULE: Final = "what a schedule requests is the payout of its template, by who set it up"
_SCHEDULE, _OCCURRENCE, _END = (table_of(each) for each in (PayoutSchedule, PayoutOccurrence, PayoutScheduleEnd))
_TEMPLATE: Final = table_of(PayoutTemplate)
_SAME: Final = ("account", "template", "frequency", "step", "first_on", "time_of_day", "planned")

GUARDS: Final = Guards(
    history=(PayoutSchedule, PayoutOccurrence, PayoutScheduleEnd),
    own=(
        Rule(
            _SCHEDULE,
            "of_its_template",
            "INSERT",
            f"NOT EXISTS (SELECT 1 FROM {_TEMPLATE} t WHERE t.id = NEW.template_id "  # noqa: S608  our own tables
            "AND t.account_id = NEW.account_id "
            f"AND NOT EXISTS (SELECT 1 FROM {_TEMPLATE}end e WHERE e.template_id = t.id))",
            NOT_OF_TEMPLATE,
        ),
        Rule(
            _OCCURRENCE,
            "in_turn",
            "INSERT",
            f"NOT EXISTS (SELECT 1 FROM {_SCHEDULE} s WHERE s.id = NEW.schedule_id AND NEW.number <= s.planned) "  # noqa: S608
            f"OR NEW.number <> 1 + (SELECT COUNT(*) FROM {_OCCURRENCE} o WHERE o.schedule_id = NEW.schedule_id) "
            f"OR EXISTS (SELECT 1 FROM {_END} e WHERE e.schedule_id = NEW.schedule_id)",
            NOT_IN_TURN,
        ),
        Rule(
            _OCCURRENCE,
            "of_its_schedule",
            "INSERT",
            f"NEW.withdrawal_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM exchange_ops_withdrawal w "  # noqa: S608
            f"JOIN {_SCHEDULE} s ON s.account_id = w.account_id AND s.person_id = w.initiator_id "
            f"JOIN {_TEMPLATE} t ON t.id = s.template_id AND t.currency = w.currency AND t.amount = w.amount "
            "AND t.include_fee = w.include_fee AND t.address = w.address AND t.payment_id = w.payment_id "
            "WHERE w.id = NEW.withdrawal_id AND s.id = NEW.schedule_id AND w.initiated_via = 'schedule')",
            NOT_OF_SCHEDULE,
        ),
    ),
)


class CannotSchedule(Exception):
    """Nothing was changed; `problems` maps a field (or "__all__") to one sentence for the person."""

    def __init__(self, problems: dict[str, str]) -> None:
        super().__init__(" ".join(problems.values()))
        self.problems = problems


def of_accounts(accounts: Collection[Account]) -> QuerySet[PayoutSchedule]:
    """The schedules of these accounts with their progress."""
    return with_progress(PayoutSchedule.objects.filter(account__in=accounts))


def active() -> QuerySet[PayoutSchedule]:
    """The schedules that still have an occurrence to come, of every account."""
    return with_progress(PayoutSchedule.objects.filter(end=None)).filter(recorded__lt=F("planned")).order_by("pk")


def may_stop(person: "Person", at: Account | int | None = None) -> bool:
    """Operators and treasury can skip an occurrence and end a schedule, whoever set it up."""
    return may(person, roles.OPERATOR, roles.TREASURY, at=at)


def set_up(
    template: PayoutTemplate,
    *,
    rhythm: Rhythm,
    request_key: str,
    person: "Person",
    now: datetime,
    session_key: str = "",
) -> PayoutSchedule:
    """Set up a schedule of this template. The same key of the same person gives the same row. Raises CannotSchedule."""
    if not may_request(person, template.account_id):
        raise CannotSchedule({FORM: "Only operators can set up payout schedules."})
    names = ("frequency", "step", "first_on", "time_of_day", "planned")
    columns = {name: getattr(rhythm, name) for name in names}
    row = PayoutSchedule(account=template.account, template=template, person=person, at=now, **columns)
    row.request_key, row.payee = request_key, payees.approved([recipient(template)], now=now).get(recipient(template))
    with transaction.atomic():
        trail.take_turn()
        if (earlier := PayoutSchedule.objects.filter(person=person, request_key=request_key).first()) is not None:
            return _same_as(earlier, row)
        if problems := _problems(row, now):
            raise CannotSchedule(problems)
        row.save(force_insert=True)
        facts: dict[str, Any] = {
            "template": template.reference,
            "template_name": template.name,
            "repeats": rhythm.words,
        }
        facts |= {"first_on": rhythm.first_on, "planned": rhythm.planned, "payee": row.payee and row.payee.reference}
        _record("payout_schedule.set_up", row, facts, actor=person, now=now, session_key=session_key)
    return row


def problems_of(template: PayoutTemplate, rhythm: Rhythm, *, now: datetime) -> dict[str, str]:
    """Why a schedule can't have these dates, by field; empty where it can."""
    problems: dict[str, str] = {}
    if rhythm.due(1) <= now:
        problems["first_on"] = f"The first payout would be due {rhythm.due(1):%Y-%m-%d %H:%M} UTC, which has passed."
    elif rhythm.first_on > rhythms.months_later(now.date(), 12):
        problems["first_on"] = "The first payout must be due within 12 months."
    if rhythm.planned < 1:
        problems["last_on"] = f"No payout would be due by then: the first one is on {rhythm.first_on}."
    elif rhythm.planned > rhythms.MOST_OCCURRENCES:
        problems["last_on"] = f"A schedule can have at most {rhythms.MOST_OCCURRENCES} payouts."
    elif rhythm.last_on > rhythms.months_later(rhythm.first_on, rhythms.MOST_MONTHS):
        problems["last_on"] = (
            f"The last payout would be on {rhythm.last_on}: at most {rhythms.MOST_MONTHS} months after the first."
        )
    if PayoutSchedule.objects.filter(pk__in=active().values("pk"), account=template.account).count() >= MOST_ACTIVE:
        problems[FORM] = f"An account can have at most {MOST_ACTIVE} active schedules. End one first."
    return problems


def skip(schedule_id: int, *, number: int, person: "Person", now: datetime, session_key: str = "") -> PayoutOccurrence:
    """Request nothing for the next occurrence, which has this number. Raises CannotSchedule."""
    with transaction.atomic():
        row = _stoppable(schedule_id, person)
        if number != row.recorded + 1:
            raise CannotSchedule({FORM: f"Occurrence {number} is not the next one any more. Refresh the page."})
        due_at = row.rhythm.due(number)
        occurrence = PayoutOccurrence.objects.create(
            schedule=row, number=number, due_at=due_at, outcome=SKIPPED, person=person, at=now
        )
        facts = {"occurrence": number, "due_at": due_at}
        _record("payout_schedule.skipped", row, facts, actor=person, now=now, session_key=session_key)
    return occurrence


def end(schedule_id: int, *, reason: str, person: "Person", now: datetime, session_key: str = "") -> PayoutSchedule:
    """Request nothing more for this schedule. Raises CannotSchedule."""
    with transaction.atomic():
        row = _stoppable(schedule_id, person)
        end_locked(row, reason=reason, person=person, now=now, session_key=session_key)
    return row


def end_locked(row: PayoutSchedule, *, reason: str, person: "Person", now: datetime, session_key: str) -> None:
    """End an active schedule that the caller has locked, in the caller's transaction."""
    text = reason.strip()[:LONGEST_REASON]
    PayoutScheduleEnd.objects.create(schedule=row, person=person, reason=text, at=now)
    facts = {"reason": text, "recorded": row.recorded}
    _record("payout_schedule.ended", row, facts, actor=person, now=now, session_key=session_key)


def lock(schedule_id: int) -> PayoutSchedule:
    """The schedule as it is now, locked until the transaction ends where the engine can. Raises DoesNotExist.

    One at a time records an occurrence or the end of a schedule.
    """
    rows = PayoutSchedule.objects.filter(pk=schedule_id)
    if connection.features.has_select_for_update:
        rows.select_for_update().get()
    row: PayoutSchedule = with_progress(rows).get()
    return row


def recipient(template: PayoutTemplate) -> payees.Key:
    """The recipient, as approved payees are named."""
    return payees.Key(template.account_id, template.currency, template.address, template.payment_id)


def _stoppable(schedule_id: int, person: "Person") -> PayoutSchedule:
    row = lock(schedule_id)
    if not may_stop(person, row.account_id):
        raise CannotSchedule({FORM: "Only operators and treasury can change payout schedules."})
    if row.label != ACTIVE:
        raise CannotSchedule({FORM: f"{row.reference} is {row.label.lower()} already."})
    return row


def _problems(row: PayoutSchedule, now: datetime) -> dict[str, str]:
    if hasattr(PayoutTemplate.objects.select_related("end").get(pk=row.template_id), "end"):
        return {FORM: "This template was removed. Choose another one."}
    return problems_of(row.template, row.rhythm, now=now)


def _same_as(earlier: PayoutSchedule, row: PayoutSchedule) -> PayoutSchedule:
    if any(getattr(earlier, name) != getattr(row, name) for name in _SAME):
        raise CannotSchedule(
            {FORM: f"Nothing was set up: this form was already submitted differently, as {earlier.reference}."}
        )
    return earlier


def record_outcome(row: PayoutSchedule, occurrence: PayoutOccurrence, *, now: datetime) -> None:
    """Record in the trail what became of an occurrence without a person's doing."""
    facts: dict[str, Any] = {"occurrence": occurrence.number, "due_at": occurrence.due_at}
    if occurrence.withdrawal is not None:
        facts["payout"] = occurrence.withdrawal.reference
    else:
        facts["reason"] = occurrence.reason
    _record(action=f"payout_schedule.{occurrence.outcome}", row=row, facts=facts, actor=None, now=now, session_key="")


def _record(action: str, row: PayoutSchedule, facts: dict[str, Any], **who: Any) -> None:
    trail.record(action=action, subject=f"payout_schedule:{row.pk}", before={}, after=facts, **who)
    announcements.announce(TOPIC, id=row.pk)
