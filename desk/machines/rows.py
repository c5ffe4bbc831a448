"""The rows of a machine: the one that moves, its events, its calls to the outside, and people's votes on it."""

from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from desk.machines.table import Table
from desk.rows.witnessed import Witnessed

CALL_OUTCOMES = ("prepared", "sent", "accepted", "refused", "not_sent", "unknown", "found", "absent")


class Subject(Witnessed):
    """A row that moves through the states of its `table`. Only the machine's mover writes `state` and `version`.

    `mark` begins its name for people ("W-"), `name` its name in the trail and the live topics ("withdrawal").
    """

    table: ClassVar[Table]
    mark: ClassVar[str]
    name: ClassVar[str]

    state = models.CharField(max_length=20)
    version = models.PositiveIntegerField(default=1)
    lease_until = models.DateTimeField(null=True)
    next_action_at = models.DateTimeField(null=True, db_index=True)
    last_problem = models.CharField(max_length=500, default="", blank=True)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.reference

    @property
    def reference(self) -> str:
        """The name that people use for it, for instance W-1042."""
        return f"{self.mark}{self.pk}"

    @property
    def subject(self) -> str:
        """How the audit trail and the live topics name it, for instance withdrawal:1042."""
        return f"{self.name}:{self.pk}"

    @property
    def is_open(self) -> bool:
        """Whether somebody or something still has to act on it."""
        return self.state in self.table.open

    @property
    def turn(self) -> str:
        """Who acts next: person, worker, exchange, chain or nobody."""
        return self.table.states[self.state].turn

    @property
    def label(self) -> str:
        """The state in a few words."""
        return self.table.states[self.state].label

    @property
    def sentence(self) -> str:
        """The state explained for people: what happened, why, and who can do what."""
        return self.table.states[self.state].sentence

    @property
    def tone(self) -> str:
        """How the state is shown: quiet, active, good, warn or bad."""
        return self.table.states[self.state].tone

    def action(self, event: str) -> str:
        """How the trail names a move of it."""
        return f"{self.name}.{event}"

    def trail_facts(self) -> dict[str, Any]:
        """What the trail records of it in addition to its columns."""
        return {}


class Event(Witnessed):
    """One move, written in the same transaction as the row it moved; `version` is the row's version after it."""

    version = models.PositiveIntegerField()
    event = models.CharField(max_length=40)
    from_state = models.CharField(max_length=20, default="", blank=True)
    to_state = models.CharField(max_length=20)
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    evidence = models.JSONField(default=dict)
    audit_number = models.BigIntegerField(help_text="number of the row of the audit trail written with it")
    at = models.DateTimeField()

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.event} ({self.version})"


class Call(Witnessed):
    """One call to the outside that can change something, committed before its bytes leave; after `send_by` never sent.

    `owner` is the field that names the row it is made for.
    """

    owner: ClassVar[str]

    PREPARED, SENT, ACCEPTED, REFUSED = "prepared", "sent", "accepted", "refused"
    NOT_SENT, UNKNOWN, FOUND, ABSENT = "not_sent", "unknown", "found", "absent"

    attempt = models.PositiveIntegerField()
    fingerprint = models.CharField(max_length=64)
    prepared_at = models.DateTimeField()
    send_by = models.DateTimeField()
    sent_at = models.DateTimeField(null=True)
    answered_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=10, choices=[(o, o) for o in CALL_OUTCOMES], default=PREPARED)
    error_code = models.IntegerField(null=True)
    detail = models.CharField(max_length=500, default="", blank=True)

    class Meta:
        abstract = True

    def answer_columns(self, value: Any) -> dict[str, Any]:
        """The columns that store the value of an accepted call."""
        return {}


class Vote(Witnessed):
    """One person's vote on exactly the content of `digest`, given with a second factor unless it is a no.

    `stage` is the stage of the row at which it was given.
    """

    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    initiator = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    digest = models.CharField(max_length=64)
    stage = models.CharField(max_length=10)
    verdict = models.CharField(max_length=10)
    comment = models.CharField(max_length=500, default="", blank=True)
    confirmation = models.ForeignKey("desk.StepUp", on_delete=models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField()

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.verdict} ({self.stage})"


def is_a_move(table: Table) -> Q:
    """The condition of an event row: it is a move of the table."""
    condition = Q()
    for move in table.moves:
        condition |= Q(from_state=move.source, event=move.event, to_state=move.target)
    return condition
