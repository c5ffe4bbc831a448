"""Changes of people, which two administrators make, and invitations."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from desk.machines.rows import Event, Subject, is_a_move
from desk.people import scopes
from desk.rows.witnessed import Witnessed
from desk.staff import states

LONGEST_REASON = 500
MOST_WRONG_ADDRESSES = 5


class PersonChange(Subject):
    """A change of a person that one administrator requests and another one confirms, for exactly this `digest`.

    `wanted` and `before` are grants (`desk.people.scopes`), sorted and separated by commas: a role by its name, or
    role:account for a role at one account; empty for a change of another kind. At `until` the roles of before come
    back. `alone` says that one administrator was enough (the demo, or a reactivation within a day).
    """

    table, mark, name = states.TABLE, "P-", "change"

    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="changes")
    kind = models.CharField(max_length=20, choices=list(states.KINDS.items()))
    wanted = models.TextField(default="", blank=True)
    before = models.TextField(default="", blank=True)
    until = models.DateTimeField(null=True)
    reason = models.CharField(max_length=LONGEST_REASON)
    digest = models.CharField(max_length=64)
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    requested_with = models.ForeignKey("desk.StepUp", on_delete=models.PROTECT, related_name="+")
    alone = models.BooleanField()
    expires_at = models.DateTimeField()
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    decided_with = models.ForeignKey("desk.StepUp", on_delete=models.PROTECT, null=True, related_name="+")
    comment = models.CharField(max_length=LONGEST_REASON, default="", blank=True)

    state = models.CharField(max_length=20, choices=states.TABLE.choices)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(state__in=list(states.STATES)), name="personchange_known_state"),
            models.CheckConstraint(condition=~Q(person=F("requested_by")), name="personchange_not_ones_own"),
            models.CheckConstraint(
                condition=~Q(state=states.DONE)
                | Q(alone=True)
                | (Q(decided_with__isnull=False) & ~Q(decided_by=F("requested_by")) & ~Q(decided_by=F("person"))),
                name="personchange_done_by_two",
            ),
            models.UniqueConstraint(
                fields=["person"], condition=Q(state=states.REQUESTED), name="personchange_one_at_a_time"
            ),
        ]

    @property
    def title(self) -> str:
        """What is to be changed, in a few words."""
        return states.KINDS[self.kind]

    @property
    def wanted_roles(self) -> list[str]:
        """The roles that the person is to have, each with its accounts."""
        return [name for name in self.wanted.split(",") if name]

    @property
    def roles_before(self) -> list[str]:
        """The roles that the person had at the time of the request, each with its accounts."""
        return [name for name in self.before.split(",") if name]

    @property
    def wanted_in_words(self) -> list[str]:
        """The roles that the person is to have, in words."""
        return scopes.words(self.wanted_roles)

    @property
    def before_in_words(self) -> list[str]:
        """The roles that the person had at the time of the request, in words."""
        return scopes.words(self.roles_before)


class PersonChangeEvent(Event):
    """One move of a change, written in the same transaction as the row that it moved."""

    change = models.ForeignKey(PersonChange, on_delete=models.PROTECT, related_name="events")

    class Meta:
        ordering: ClassVar = ["version"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["change", "version"], name="personchangeevent_one_per_version"),
            models.CheckConstraint(condition=is_a_move(states.TABLE), name="personchangeevent_is_a_move"),
        ]


class Invitation(Witnessed):
    """A link that sets a password: once, within a day, for whoever knows the e-mail address that it is bound to.

    Only a digest of the link's code is stored. A newer link ends it, and so do five wrong addresses.
    """

    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="invitations")
    email = models.EmailField()
    code_digest = models.CharField(max_length=64, unique=True)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    made_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    wrong_addresses = models.PositiveSmallIntegerField(default=0)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["person"], condition=Q(used_at__isnull=True, ended_at__isnull=True), name="invitation_one_open"
            ),
        ]

    def __str__(self) -> str:
        return f"invitation {self.pk} of {self.person_id}"
