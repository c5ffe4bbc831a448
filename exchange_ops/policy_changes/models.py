"""Changes of the rules, and the events that moved them."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from desk.machines.rows import Event, Subject, is_a_move
from exchange_ops.policy_changes import states

LONGEST_REASON = 300


class PolicyChange(Subject):
    """The rules that one person proposed (`content`, the complete set as JSON) to replace version `base`.

    What other people published since then of other parts of the rules is kept (`carrying_over`).

    Both people sign `digest`. `is_looser`: it allows something that was not allowed before, so it waits for a day until
    `in_force_at`. `version_number` is the version that it was published as.
    """

    table, mark, name = states.TABLE, "R-", "policychange"

    base = models.PositiveIntegerField()
    content = models.JSONField()
    reason = models.CharField(max_length=LONGEST_REASON)
    digest = models.CharField(max_length=64)
    is_looser = models.BooleanField()
    proposed_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    proposed_with = models.ForeignKey("desk.StepUp", on_delete=models.PROTECT, related_name="+")
    expires_at = models.DateTimeField()
    agreed_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    agreed_with = models.ForeignKey("desk.StepUp", on_delete=models.PROTECT, null=True, related_name="+")
    ended_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    comment = models.CharField(max_length=LONGEST_REASON, default="", blank=True)
    in_force_at = models.DateTimeField(null=True)
    version_number = models.PositiveIntegerField(null=True)

    state = models.CharField(max_length=20, choices=states.TABLE.choices)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(state__in=list(states.STATES)), name="policychange_known_state"),
            models.CheckConstraint(
                condition=~Q(state__in=[states.AGREED, states.PUBLISHED])
                | (Q(agreed_with__isnull=False) & Q(agreed_by__isnull=False) & ~Q(agreed_by=F("proposed_by"))),
                name="policychange_agreed_by_two",
            ),
            models.CheckConstraint(
                condition=~Q(state=states.PUBLISHED) | Q(version_number__isnull=False),
                name="policychange_published_as_a_version",
            ),
            models.UniqueConstraint(
                fields=["version_number"],
                condition=Q(version_number__isnull=False),
                name="policychange_one_per_version",
            ),
        ]


class PolicyChangeEvent(Event):
    """One move of a change of the rules, written in the same transaction as the row that it moved."""

    change = models.ForeignKey(PolicyChange, on_delete=models.PROTECT, related_name="events")

    class Meta:
        ordering: ClassVar = ["version"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["change", "version"], name="policychangeevent_one_per_version"),
            models.CheckConstraint(condition=is_a_move(states.TABLE), name="policychangeevent_is_a_move"),
        ]
