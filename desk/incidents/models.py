"""Incidents and their history."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse

from desk.incidents import kinds, states
from desk.machines.rows import Event, Subject, is_a_move

LONGEST_REASON = 500


class Incident(Subject):
    """Something that a person has to look at. Its kind is declared by a room, by name (`kinds.Kind`).

    `cause` is the key of its cause, unique among those that go on; `gone_at` is when the cause ended. `scope` is the
    number of the account, empty for the whole desk; `page` and `page_key` name the page to look at. `last_problem` is
    its sentence, kept up to date while the cause goes on. `taken_by` is the person who works on it, `reason` why a
    person closed it.
    """

    table, mark, name = states.TABLE, "I-", "incident"

    kind = models.CharField(max_length=40)
    cause = models.CharField(max_length=120)
    scope = models.CharField(max_length=20, default="", blank=True)
    severity = models.CharField(max_length=10, choices=[(each.value, each.label) for each in kinds.Severity])
    page = models.CharField(max_length=40)
    page_key = models.CharField(max_length=40, default="", blank=True)
    taken_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    reason = models.CharField(max_length=LONGEST_REASON, default="", blank=True)
    gone_at = models.DateTimeField(null=True)

    state = models.CharField(max_length=20, choices=[(name, state.label) for name, state in states.STATES.items()])

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(state__in=list(states.STATES)), name="incident_known_state"),
            models.CheckConstraint(
                condition=Q(gone_at__isnull=True) | Q(state=states.RESOLVED), name="incident_ends_with_its_cause"
            ),
            models.UniqueConstraint(
                fields=["kind", "cause"], condition=Q(gone_at__isnull=True), name="incident_one_per_cause"
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["created_at"], condition=Q(state__in=states.UNRESOLVED), name="incident_unresolved"),
            models.Index(fields=["-updated_at"], condition=Q(state=states.RESOLVED), name="incident_resolved"),
        ]

    @property
    def title(self) -> str:
        """What is wrong, in a few words."""
        return kinds.by_name(self.kind).title

    @property
    def url(self) -> str:
        """Where to look and to act."""
        name, mark, query = self.page.partition("?")
        return reverse(name, args=[self.page_key] if self.page_key else []) + mark + query

    @property
    def sentence(self) -> str:
        """What happened and who can do what, as it is now."""
        return str(self.last_problem)


class IncidentEvent(Event):
    """One move of an incident, written in the same transaction as the row that it moved."""

    incident = models.ForeignKey(Incident, on_delete=models.PROTECT, related_name="events")

    class Meta:
        ordering: ClassVar = ["version"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["incident", "version"], name="incidentevent_one_per_version"),
            models.CheckConstraint(condition=is_a_move(states.TABLE), name="incidentevent_is_a_move_of_the_table"),
        ]
