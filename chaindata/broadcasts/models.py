"""Raw transactions that people send: the bytes, what the page said about them, and the outcome."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from chaindata.broadcasts import states
from chaindata.broadcasts.states import STATES
from chaindata.wire import catalogue
from desk.machines.rows import Event, Subject, is_a_move

LONGEST_REASON = 500
MOST_BYTES = catalogue.MOST_HEX_IN_BODY // 2  # the most that the service takes in one call


class ChainBroadcast(Subject):
    """One transaction to be sent. `raw` is hexadecimal; `digest`, the SHA-256 of its bytes, is what was confirmed.

    `reason` is signed with it. `explained` is what the page showed before the decision. `sent_at` is when the bytes
    left, which they do only once.
    """

    table, mark, name = states.TABLE, "B-", "chain-broadcast"

    txid = models.CharField(max_length=64, db_index=True)
    raw = models.TextField()
    size = models.PositiveIntegerField()
    digest = models.CharField(max_length=64)
    explained = models.JSONField()
    reason = models.CharField(max_length=LONGEST_REASON)
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="broadcasts")
    confirmation = models.OneToOneField("desk.StepUp", on_delete=models.PROTECT, related_name="+")

    state = models.CharField(max_length=12, choices=[(name, state.label) for name, state in STATES.items()])
    sends = models.PositiveSmallIntegerField(default=0)
    looks = models.PositiveIntegerField(default=0)
    sent_at = models.DateTimeField(null=True)
    answered_at = models.DateTimeField(null=True)
    last_problem = models.CharField(max_length=300, default="", blank=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(state__in=list(STATES)), name="chainbroadcast_known_state"),
            models.CheckConstraint(condition=Q(sends__lte=1), name="chainbroadcast_is_sent_at_most_once"),
            models.CheckConstraint(condition=Q(size__lte=MOST_BYTES), name="chainbroadcast_fits_one_call"),
            models.UniqueConstraint(
                fields=["txid"],
                condition=Q(state__in=states.IN_EFFECT),
                name="chainbroadcast_one_under_way",
            ),
        ]
        indexes: ClassVar = [models.Index(fields=["state", "next_action_at"], name="chainbroadcast_due")]


class ChainBroadcastEvent(Event):
    """One move of a transaction that is to be sent, written in the same transaction as the row that it moved."""

    broadcast = models.ForeignKey(ChainBroadcast, on_delete=models.PROTECT, related_name="events")

    class Meta:
        ordering: ClassVar = ["version"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["broadcast", "version"], name="chainbroadcastevent_one_per_version"),
            models.CheckConstraint(
                condition=is_a_move(states.TABLE), name="chainbroadcastevent_is_a_move_of_the_table"
            ),
        ]
