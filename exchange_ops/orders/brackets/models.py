"""A bracket, everything that happened to it, and the orders that it placed.

Only `exchange_ops.orders.brackets.machine` writes `state` and `version`; triggers refuse anybody else. What was filled
is never kept here: it is read from the orders.
"""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from desk.machines.rows import Event, Subject, is_a_move
from desk.rows.witnessed import Witnessed
from exchange_ops.orders.brackets import states
from exchange_ops.orders.models import Order
from exchange_ops.shared.amounts import amount_field
from exchange_ops.shared.models import Account, OfAccount


class Bracket(OfAccount, Subject):
    """A stop and a take profit for what one order fills; both prices are in the quote currency.

    `side` and `margin` are the entry's. `ended_by` says what an end under way is for: `cancelled` or `position_gone`.
    """

    table, mark, name = states.TABLE, "BR-", "bracket"

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="brackets")
    initiator = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="brackets")
    initiated_via = models.CharField(max_length=10, default="page")
    entry = models.OneToOneField(Order, on_delete=models.PROTECT, related_name="bracket")
    symbol = models.CharField(max_length=40)
    side = models.CharField(max_length=10)
    margin = models.BooleanField(default=False)
    stop_price = amount_field()
    take_price = amount_field()

    state = models.CharField(max_length=12, choices=[(name, s.label) for name, s in states.STATES.items()])
    ended_by = models.CharField(max_length=20, default="", blank=True)
    outcome = models.CharField(max_length=20, default="", blank=True, choices=list(states.OUTCOMES.items()))

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(state__in=list(states.STATES)), name="bracket_known_state"),
            models.CheckConstraint(condition=Q(outcome__in=["", *states.OUTCOMES]), name="bracket_known_outcome"),
            models.CheckConstraint(
                condition=Q(state=states.CLOSED) & ~Q(outcome="") | ~Q(state=states.CLOSED) & Q(outcome=""),
                name="bracket_that_ended_says_how",
            ),
            models.CheckConstraint(
                condition=Q(stop_price__gt=0)
                & (Q(side="buy", take_price__gt=F("stop_price")) | Q(side="sell", stop_price__gt=F("take_price")))
                & Q(take_price__gt=0),
                name="bracket_stop_and_take_are_apart",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["state", "next_action_at"], name="bracket_due"),
            models.Index(fields=["account", "symbol", "id"], name="bracket_by_symbol"),
        ]

    @property
    def exit_side(self) -> str:
        """The side of the orders that close what the entry opens."""
        return states.EXITS[self.side]

    @property
    def outcome_label(self) -> str:
        """How it ended, in a few words; empty while it has not."""
        return states.OUTCOMES.get(self.outcome, "")


class BracketEvent(Event):
    """One move of a bracket, written in the same transaction; `version` is the bracket's version after it."""

    bracket = models.ForeignKey(Bracket, on_delete=models.PROTECT, related_name="events")

    class Meta:
        ordering: ClassVar = ["version"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["bracket", "version"], name="bracketevent_one_per_version"),
            models.CheckConstraint(condition=is_a_move(states.TABLE), name="bracketevent_is_a_move"),
        ]


class BracketLeg(Witnessed):
    """One order that a bracket placed, in their sequence; written in the transaction that asks for the order.

    `settled_at` is when the bracket stopped counting on it: the desk had it cancelled to take the profit, or a person
    had another stop placed instead. What it fills counts always.
    """

    STOP, TAKE = "stop", "take"
    ROLES: ClassVar = [(STOP, "Stop"), (TAKE, "Take profit")]

    bracket = models.ForeignKey(Bracket, on_delete=models.PROTECT, related_name="legs")
    number = models.PositiveIntegerField()
    role = models.CharField(max_length=4, choices=ROLES)
    order = models.OneToOneField(Order, on_delete=models.PROTECT, related_name="leg")
    created_at = models.DateTimeField()
    settled_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["number"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["bracket", "number"], name="bracketleg_one_per_number"),
            models.CheckConstraint(condition=Q(role__in=["stop", "take"]), name="bracketleg_known_role"),
        ]

    def __str__(self) -> str:
        return f"{self.role} {self.number} of {self.bracket_id}"
