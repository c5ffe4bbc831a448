"""A restore that the desk noticed, its history, and people's verdicts on what waits; and the record of backups."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from desk.machines.rows import Event, Subject, is_a_move
from desk.restores import states
from desk.rows.witnessed import Witnessed

LONGEST_COMMENT = 500


class Restore(Subject):
    """The database is that of an earlier moment.

    `sign` is the kind of sign by which it was noticed first, `newest` the number of the last row entry that the
    database had then, and `as_of` when that entry was written: everything later is lost.
    """

    table, mark, name = states.TABLE, "RS-", "restore"

    sign = models.CharField(max_length=10, choices=list(states.SIGNS.items()))
    newest = models.BigIntegerField()
    as_of = models.DateTimeField(null=True)

    state = models.CharField(max_length=20, choices=states.TABLE.choices)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(state__in=list(states.STATES)), name="restore_known_state"),
            models.CheckConstraint(condition=Q(sign__in=list(states.SIGNS)), name="restore_known_sign"),
            models.UniqueConstraint(
                fields=["state"], condition=Q(state=states.OPEN), name="restore_one_open_at_a_time"
            ),
        ]

    @property
    def notice(self) -> "RestoreEvent":
        """When it was noticed, the last time: what the trail has from before is what the database fell back to."""
        return self.events.filter(event__in=states.NOTICED).latest("version")

    @property
    def sign_label(self) -> str:
        """The sign by which it was noticed, in words."""
        return states.SIGNS[self.sign]


class RestoreEvent(Event):
    """One move of a restore, written in the same transaction as the row that it moved."""

    restore = models.ForeignKey(Restore, on_delete=models.PROTECT, related_name="events")

    class Meta:
        ordering: ClassVar = ["version"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["restore", "version"], name="restoreevent_one_per_version"),
            models.CheckConstraint(condition=is_a_move(states.TABLE), name="restoreevent_is_a_move"),
        ]


class RestoreWord(Witnessed):
    """One person's verdicts on everything that waits, given with a second factor; a person's latest ones count.

    `verdicts` are "go_on" or "cancel" by subject. `digest` is over exactly these, in the states that the page showed,
    and the comment; versions before 0.8.0 left the comment out.
    """

    restore = models.ForeignKey(Restore, on_delete=models.PROTECT, related_name="words")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    verdicts = models.JSONField(default=dict)
    comment = models.CharField(max_length=LONGEST_COMMENT)
    digest = models.CharField(max_length=64)
    confirmation = models.OneToOneField("desk.StepUp", on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField()

    class Meta:
        ordering: ClassVar = ["id"]

    def __str__(self) -> str:
        return f"word {self.pk} on restore {self.restore_id}"


class BackupRecord(models.Model):
    """One row: since when backups are expected, when the last one was made, and why a later one was not.

    `made_at` and `tried_at` are when the backup began; `problem` is empty after a complete one.
    """

    since = models.DateTimeField(null=True)
    made_at = models.DateTimeField(null=True)
    tried_at = models.DateTimeField(null=True)
    problem = models.CharField(max_length=500, default="", blank=True)

    class Meta:
        constraints: ClassVar = [models.CheckConstraint(condition=Q(pk=1), name="one_backup_record")]

    def __str__(self) -> str:
        return self.problem or f"last backup: {self.made_at}"
