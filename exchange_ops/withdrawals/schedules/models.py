"""A schedule of payouts, each of its occurrences that is over, and its end. None of these rows ever changes."""

from datetime import datetime
from typing import Any, ClassVar, Final

from django.conf import settings
from django.db import models
from django.db.models import F, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from desk.machines.table import Tone
from desk.rows.witnessed import Witnessed
from exchange_ops.payees.models import Payee
from exchange_ops.shared.models import Account, OfAccount
from exchange_ops.withdrawals.models import Withdrawal
from exchange_ops.withdrawals.schedules import rhythm
from exchange_ops.withdrawals.schedules.rhythm import Rhythm
from exchange_ops.withdrawals.templates.models import PayoutTemplate

LONGEST_REASON: Final = 500
ACTIVE, COMPLETED, ENDED = "Active", "Completed", "Ended"
REQUESTED, REFUSED, MISSED, SKIPPED = "requested", "refused", "missed", "skipped"
OUTCOMES: Final = {REQUESTED: "Requested", REFUSED: "Not requested", MISSED: "Missed", SKIPPED: "Skipped"}
UNPAID: Final = (REFUSED, MISSED)  # nobody chose that nothing was requested


class PayoutSchedule(OfAccount, Witnessed):
    """Payouts of a template that are requested in the name of `person`, on the dates of its rhythm.

    `payee` is the approved payee that the recipient was when it was set up, if it was one. `request_key` is that of the
    form, so that a form sets up one schedule however often it is sent.
    """

    mark: ClassVar = "PS-"

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="payout_schedules")
    template = models.ForeignKey(PayoutTemplate, on_delete=models.PROTECT, related_name="schedules")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    payee = models.ForeignKey(Payee, on_delete=models.PROTECT, null=True, related_name="+")
    request_key = models.CharField(max_length=80)
    frequency = models.CharField(max_length=10, choices=[(name, name) for name in rhythm.FREQUENCIES])
    step = models.PositiveSmallIntegerField()
    first_on = models.DateField()
    time_of_day = models.TimeField()
    planned = models.PositiveSmallIntegerField()
    at = models.DateTimeField()

    recorded: int  # the number of its last occurrence that is over, or 0 (`with_progress`)
    ended_at: datetime | None

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["person", "request_key"], name="payoutschedule_one_per_request_key"),
            models.CheckConstraint(
                condition=Q(planned__gte=1, planned__lte=rhythm.MOST_OCCURRENCES), name="payoutschedule_has_an_end"
            ),
            models.CheckConstraint(
                condition=Q(frequency=rhythm.WEEKLY, step__gte=1, step__lte=7)
                | Q(frequency=rhythm.MONTHLY, step__lte=rhythm.LATEST_DAY)
                | Q(frequency=rhythm.DAYS, step__gte=1, step__lte=rhythm.MOST_DAYS),
                name="payoutschedule_known_frequency",
            ),
        ]

    def __str__(self) -> str:
        return self.reference

    @property
    def reference(self) -> str:
        """The name that people use for it, for instance PS-3."""
        return f"{self.mark}{self.pk}"

    @property
    def rhythm(self) -> Rhythm:
        """When it is due."""
        return Rhythm(self.frequency, self.step, self.first_on, self.time_of_day, self.planned)

    @property
    def words(self) -> str:
        """How often, and at what time."""
        return self.rhythm.words

    @property
    def last_on(self) -> Any:
        """The day of the last occurrence."""
        return self.rhythm.last_on

    @property
    def label(self) -> str:
        """Its state."""
        if self.ended_at is not None:
            return ENDED
        return COMPLETED if self.recorded >= self.planned else ACTIVE

    @property
    def tone(self) -> str:
        """The colour of its state."""
        return Tone.GOOD if self.label == ACTIVE else Tone.QUIET

    @property
    def next_due(self) -> datetime | None:
        """The moment of the next occurrence; None once it has come to its end."""
        return self.rhythm.due(self.recorded + 1) if self.label == ACTIVE else None


class PayoutOccurrence(Witnessed):
    """What became of one occurrence. `withdrawal` is what was requested, else `reason` says why nothing was.

    `person` is who skipped it; what became of every other one is the doing of no person.
    """

    schedule = models.ForeignKey(PayoutSchedule, on_delete=models.PROTECT, related_name="occurrences")
    number = models.PositiveSmallIntegerField()
    due_at = models.DateTimeField()
    outcome = models.CharField(max_length=10, choices=[*OUTCOMES.items()])
    reason = models.CharField(max_length=LONGEST_REASON, blank=True)
    withdrawal = models.OneToOneField(Withdrawal, on_delete=models.PROTECT, null=True, related_name="occurrence")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField()

    class Meta:
        ordering: ClassVar = ["-number"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["schedule", "number"], name="payoutoccurrence_one_per_number"),
            models.CheckConstraint(condition=Q(outcome__in=[*OUTCOMES]), name="payoutoccurrence_known_outcome"),
            models.CheckConstraint(
                condition=Q(outcome=REQUESTED, withdrawal__isnull=False)
                | (~Q(outcome=REQUESTED) & Q(withdrawal__isnull=True)),
                name="payoutoccurrence_requested_has_a_payout",
            ),
            models.CheckConstraint(
                condition=Q(outcome=SKIPPED, person__isnull=False) | (~Q(outcome=SKIPPED) & Q(person__isnull=True)),
                name="payoutoccurrence_skipped_by_a_person",
            ),
        ]
        indexes: ClassVar = [models.Index(fields=["outcome", "at"], name="payoutoccurrence_by_outcome")]

    def __str__(self) -> str:
        return f"occurrence {self.number} of {self.schedule_id}"

    @property
    def tone(self) -> str:
        """The colour of its outcome."""
        return Tone.BAD if self.outcome in UNPAID else Tone.QUIET


class PayoutScheduleEnd(Witnessed):
    """From `at` nothing is requested for the schedule any more."""

    schedule = models.OneToOneField(PayoutSchedule, on_delete=models.PROTECT, related_name="end")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    reason = models.CharField(max_length=LONGEST_REASON)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"end of {self.schedule_id}"


def with_progress(rows: QuerySet[Any]) -> QuerySet[Any]:
    """The rows with how far they came: `recorded` and `ended_at`."""
    numbers = PayoutOccurrence.objects.filter(schedule=OuterRef("pk")).order_by("-number").values("number")
    progress: QuerySet[Any] = rows.annotate(
        recorded=Coalesce(Subquery(numbers[:1]), Value(0)), ended_at=F("end__at")
    ).select_related("account", "template", "person", "payee")
    return progress
