"""Notifications, their recipients and deliveries, and how each person wants to be notified."""

import uuid
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from desk.incidents.kinds import Severity
from desk.machines.rows import Subject
from desk.notifications import states
from desk.rows.witnessed import Witnessed


class Stage(models.TextChoices):
    """Why people are notified."""

    OPENED = "opened", "Action needed"
    ESCALATED = "escalated", "Reminder before the deadline"
    EVERYBODY = "everybody", "Final reminder, to everyone"
    ENDED = "ended", "Ended"
    TEST = "test", "Test"
    NEWS = "news", "Notice"


class Medium(models.TextChoices):
    """How a notification reaches people or systems."""

    EMAIL = "email", "E-mail"
    WEBHOOK = "webhook", "Webhook"
    CHAT = "chat", "Chat"


class Notification(models.Model):
    """One notification, made once for each stage of a subject. `uid` is the same for all recipients and attempts.

    `subject` and `phase` say what it is about (an incident, a payout in one of its states), `kind` is the name under
    which people choose their notifications. `severity` is empty for a decision that waits. `deadline` is when it is too
    late for a decision, by our clock. `ended_at` is when it no longer waited, `outcome` how it ended. `facts` are the
    amount, the recipient and what else messages say of a request (`facts.of`).
    """

    uid = models.UUIDField(default=uuid.uuid4, unique=True)
    stage = models.CharField(max_length=10, choices=Stage.choices)
    subject = models.CharField(max_length=120)
    phase = models.CharField(max_length=40, default="", blank=True)
    kind = models.CharField(max_length=40)
    severity = models.CharField(max_length=10, choices=Severity.choices, default="", blank=True)
    reference = models.CharField(max_length=40)
    title = models.CharField(max_length=200)
    sentence = models.CharField(max_length=600)
    url = models.CharField(max_length=200)
    outcome = models.CharField(max_length=80, default="", blank=True)
    facts = models.JSONField(default=dict)
    deadline = models.DateTimeField(null=True)
    created_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["subject", "phase", "stage"], name="notification_once_per_stage"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["subject"], condition=Q(ended_at__isnull=True), name="notification_going_on"),
        ]

    def __str__(self) -> str:
        return f"{self.reference} {self.stage}"

    @property
    def is_critical(self) -> bool:
        """Whether no quiet hour holds it back."""
        return self.severity == Severity.CRITICAL


class Recipient(models.Model):
    """A person whom a notification is for. `in_browser` says that an open tab of theirs shows it too."""

    notification = models.ForeignKey(Notification, on_delete=models.CASCADE, related_name="recipients")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="told_of")
    in_browser = models.BooleanField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["notification", "person"], name="recipient_once"),
        ]

    def __str__(self) -> str:
        return f"{self.notification_id} for {self.person_id}"


class Channel(Witnessed):
    """A channel of the whole desk: a signed webhook, or the incoming webhook of a chat.

    The address is sealed, since that of a chat is itself a secret; people see `host`. A webhook signs with its newest
    secret, and until `previous_until` also with the previous one. The channel receives incidents of severity `least`
    and above, and with `decisions` also what waits for a decision.
    """

    uid = models.UUIDField(default=uuid.uuid4, unique=True)
    kind = models.CharField(max_length=10, choices=[(each.value, each.label) for each in (Medium.WEBHOOK, Medium.CHAT)])
    name = models.CharField(max_length=60, unique=True)
    host = models.CharField(max_length=260)
    address_sealed = models.TextField()
    secret_sealed = models.TextField(default="", blank=True)
    previous_sealed = models.TextField(default="", blank=True)
    previous_until = models.DateTimeField(null=True)
    least = models.CharField(max_length=10, choices=Severity.choices, default=Severity.MEDIUM)
    decisions = models.BooleanField(default=True)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    made_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return self.name


class Delivery(Subject):
    """A notification by one medium to one person, or to one channel.

    `content` is what is sent: it is written at the first attempt, does not change with later ones, and stays as a
    record. `attempts` counts the attempts.
    """

    table, mark, name = states.TABLE, "D-", "delivery"

    notification = models.ForeignKey(Notification, on_delete=models.CASCADE, related_name="deliveries")
    medium = models.CharField(max_length=10, choices=Medium.choices)
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, blank=True, related_name="+"
    )
    channel = models.ForeignKey(Channel, on_delete=models.PROTECT, null=True, blank=True, related_name="deliveries")
    content = models.TextField(default="", blank=True)
    attempts = models.PositiveIntegerField(default=0)
    sent_at = models.DateTimeField(null=True)

    state = models.CharField(max_length=20, choices=states.TABLE.choices)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(state__in=list(states.STATES)), name="delivery_known_state"),
            models.CheckConstraint(
                condition=Q(medium=Medium.EMAIL, person__isnull=False, channel__isnull=True)
                | Q(medium__in=[Medium.WEBHOOK, Medium.CHAT], person__isnull=True, channel__isnull=False),
                name="delivery_to_a_person_or_a_channel",
            ),
            models.UniqueConstraint(
                fields=["notification", "person"], condition=Q(person__isnull=False), name="delivery_once_per_person"
            ),
            models.UniqueConstraint(
                fields=["notification", "channel"], condition=Q(channel__isnull=False), name="delivery_once_per_channel"
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["-created_at"], name="delivery_newest"),
            models.Index(fields=["medium", "channel"], condition=Q(state__in=states.UNSENT), name="delivery_unsent"),
        ]

    @property
    def way(self) -> str:
        """The deliveries that fail together: all e-mail, or those of one channel."""
        return self.medium if self.channel_id is None else f"channel:{self.channel_id}"


class Preference(models.Model):
    """A person's choice for one kind, where it differs from the default: by which media they are notified."""

    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="preferences")
    kind = models.CharField(max_length=40)
    by_email = models.BooleanField()
    in_browser = models.BooleanField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["person", "kind"], name="preference_one_per_kind"),
        ]

    def __str__(self) -> str:
        return f"{self.person_id} {self.kind}"


class Availability(models.Model):
    """A person's quiet hours, in their time zone, and the turn in which they are notified of decisions that wait.

    The first turn is notified at once, the second 20 minutes before the deadline, everybody 12 minutes before it. Quiet
    hours that end before they begin end on the next day; two equal hours mean none.
    """

    person = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="availability")
    quiet_from = models.TimeField(null=True, blank=True)
    quiet_until = models.TimeField(null=True, blank=True)
    turn = models.PositiveSmallIntegerField(default=1, choices=[(1, "At once"), (2, "Later"), (3, "Last")])

    def __str__(self) -> str:
        return f"availability of {self.person_id}"
