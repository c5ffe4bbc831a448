"""What people do to margin accounts and positions, everything that happened to it, and every call made for it.

Only `exchange_ops.positions.machine` writes `state` and `version`; triggers refuse anybody else. The accounts and
positions themselves are copies of what the exchange says (`exchange_ops.margin`).
"""

from decimal import Decimal
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from desk.machines.rows import CALL_OUTCOMES, Call, Event, Subject, is_a_move
from exchange_ops.policy.freeze_scopes import Movement
from exchange_ops.positions import states
from exchange_ops.shared.amounts import amount_field
from exchange_ops.shared.models import Account, OfAccount

ZERO = Decimal(0)


class MarginAction(OfAccount, Subject):
    """One thing asked for one symbol: open its margin account, change the collateral, close account or position.

    `amount` is the collateral that shall be there, in the quote currency; `quantity` what of the position is to be
    closed, in the base currency, by an order of this `side`; `price` its limit. `position_id` is the exchange's number
    of the position that was confirmed, and `confirmed` what the page showed: how account and position stood, and the
    estimate. `before` is what the exchange said right before the call. Actions of one request key were confirmed
    together, each with a call of its own.
    """

    table, mark, name = states.TABLE, "M-", "marginaction"

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="margin_actions")
    initiator = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="margin_actions")
    initiated_via = models.CharField(max_length=10, default="page")
    request_key = models.CharField(max_length=80)
    client_order_id = models.CharField(max_length=64, default="", blank=True)

    kind = models.CharField(max_length=20, choices=list(states.KINDS.items()))
    symbol = models.CharField(max_length=40)
    amount = amount_field(null=True)
    side = models.CharField(max_length=10, default="", blank=True)
    quantity = amount_field(null=True)
    order_type = models.CharField(max_length=10, default="", blank=True)
    price = amount_field(null=True)
    position_id = models.BigIntegerField(null=True)
    confirmed = models.JSONField(default=dict)
    before = models.JSONField(default=dict)

    state = models.CharField(max_length=20, choices=[(name, s.label) for name, s in states.STATES.items()])
    sends = models.PositiveSmallIntegerField(default=0)
    exchange_order_id = models.BigIntegerField(null=True)
    sent_at = models.DateTimeField(null=True)
    sent_from = models.DateTimeField(null=True)
    looks = models.PositiveIntegerField(default=0)
    lease_epoch = models.PositiveIntegerField(default=0)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["initiator", "request_key", "symbol"], name="marginaction_one_per_request_key"
            ),
            models.UniqueConstraint(
                fields=["account", "symbol"],
                condition=Q(state__in=states.IN_FLIGHT),
                name="marginaction_one_under_way",
            ),
            models.CheckConstraint(condition=Q(state__in=list(states.STATES)), name="marginaction_known_state"),
            models.CheckConstraint(condition=Q(kind__in=list(states.KINDS)), name="marginaction_known_kind"),
            models.CheckConstraint(condition=Q(sends__lte=1), name="marginaction_is_sent_at_most_once"),
            models.CheckConstraint(
                condition=~Q(kind__in=(states.OPEN, states.SET)) | Q(amount__gt=ZERO),
                name="marginaction_collateral_is_positive",
            ),
            models.CheckConstraint(
                condition=~Q(kind__in=(states.CLOSE, states.REDUCE))
                | Q(quantity__gt=ZERO, side__in=("buy", "sell"), position_id__isnull=False),
                name="marginaction_names_its_position",
            ),
            models.CheckConstraint(
                condition=~Q(kind=states.REDUCE) | ~Q(client_order_id=""), name="marginaction_part_has_an_order_id"
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["state", "next_action_at"], name="marginaction_due"),
            models.Index(fields=["account", "symbol", "-id"], name="marginaction_newest"),
        ]

    @property
    def movement(self) -> Movement:
        """What a freeze is compared with."""
        return Movement(self.account_id, symbol=self.symbol)

    @property
    def kind_label(self) -> str:
        """What is asked for, in a few words."""
        return states.KINDS[self.kind]


class MarginActionEvent(Event):
    """One move of an action, written in the same transaction; `version` is the action's version after it."""

    action = models.ForeignKey(MarginAction, on_delete=models.PROTECT, related_name="events")

    class Meta:
        ordering: ClassVar = ["version"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["action", "version"], name="marginactionevent_one_per_version"),
            models.CheckConstraint(condition=is_a_move(states.TABLE), name="marginactionevent_is_a_move"),
        ]


class MarginActionCall(Call):
    """The one call of an action, committed before its bytes leave; after `send_by` it is never sent."""

    owner = "action"

    action = models.ForeignKey(MarginAction, on_delete=models.PROTECT, related_name="calls")
    epoch = models.PositiveIntegerField()

    class Meta:
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["action"], name="marginactioncall_one_per_action"),
            models.CheckConstraint(condition=Q(outcome__in=CALL_OUTCOMES), name="marginactioncall_known_outcome"),
        ]

    def __str__(self) -> str:
        return f"{self.action_id}, attempt {self.attempt}"
