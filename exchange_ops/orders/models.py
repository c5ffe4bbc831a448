"""An order, everything that happened to it, every call made for it, and the account's own trades.

Only `exchange_ops.orders.machine` writes `state` and `version`; triggers refuse anybody else. What the exchange
says of an order (status, filled quantity, times) is kept beside it and written by whoever read it last.
"""

from decimal import Decimal
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from desk.machines.rows import CALL_OUTCOMES, Call, Event, Subject, Vote, is_a_move
from desk.questions import Question
from desk.rows.witnessed import Witnessed
from exchange_ops.orders import states
from exchange_ops.orders.states import STATES
from exchange_ops.policy.freeze_scopes import Movement
from exchange_ops.shared.amounts import amount_field
from exchange_ops.shared.models import Account, OfAccount

ZERO = Decimal(0)


class Order(OfAccount, Subject):
    """One order, placed here or (`initiator` empty) elsewhere on the same account.

    Quantities are in the base currency, prices in the quote currency. `client_order_id` is ours and never used twice
    here; an id of somebody else may come back on another day, so such an order is known by `exchange_id` alone.
    `active` says whether the exchange listed it as open when it was last read. `sent_from` is in the exchange's time.
    """

    table, mark, name = states.TABLE, "O-", "order"

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="orders")
    initiator = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="orders")
    initiated_via = models.CharField(max_length=10, default="page")
    request_key = models.CharField(max_length=80, default="", blank=True)

    replaces = models.ForeignKey(
        "self", on_delete=models.PROTECT, null=True, related_name="replacements", help_text="the order that it replaces"
    )
    client_order_id = models.CharField(max_length=64)
    exchange_id = models.BigIntegerField(null=True)
    symbol = models.CharField(max_length=40)
    side = models.CharField(max_length=10)
    type = models.CharField(max_length=20)
    time_in_force = models.CharField(max_length=10)
    quantity = amount_field()
    price = amount_field(null=True)
    stop_price = amount_field(null=True)
    expire_time = models.DateTimeField(null=True)
    post_only = models.BooleanField(default=False)
    strict_validate = models.BooleanField(default=True)
    margin = models.BooleanField(default=False)
    take_liquidity_markup = amount_field(null=True)
    provide_liquidity_markup = amount_field(null=True)
    oversteps = models.JSONField(
        default=list, help_text="bounds of the rules that it went beyond, each as it was confirmed by name"
    )

    digest = models.CharField(
        max_length=64, default="", blank=True, help_text="what an approver signs; empty where none is needed"
    )
    approve_until = models.DateTimeField(null=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    decided_at = models.DateTimeField(null=True)

    status = models.CharField(max_length=40, default="", blank=True)
    cum_quantity = amount_field(default=ZERO)
    average_price = amount_field(null=True)
    exchange_created_at = models.DateTimeField(null=True)
    exchange_updated_at = models.DateTimeField(null=True)
    active = models.BooleanField(default=False)
    missing_since = models.DateTimeField(null=True)
    read_at = models.DateTimeField(null=True)

    state = models.CharField(max_length=12, choices=[(name, s.label) for name, s in STATES.items()])
    sends = models.PositiveSmallIntegerField(default=0)
    cancels = models.PositiveIntegerField(default=0)
    cancel_together = models.BooleanField(
        default=False, help_text="cancelled by the one call for all open orders of its symbol"
    )
    looks = models.PositiveIntegerField(default=0)
    sent_from = models.DateTimeField(null=True)
    sent_at = models.DateTimeField(null=True)
    lease_epoch = models.PositiveIntegerField(default=0)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["initiator", "request_key"], name="order_one_per_request_key"),
            models.UniqueConstraint(fields=["account", "exchange_id"], name="order_one_per_exchange_id"),
            models.UniqueConstraint(
                fields=["account", "client_order_id"],
                condition=Q(initiator__isnull=False),
                name="order_one_per_client_order_id",
            ),
            models.CheckConstraint(condition=Q(state__in=list(STATES)), name="order_known_state"),
            models.CheckConstraint(condition=Q(sends__lte=1), name="order_is_sent_at_most_once"),
            models.CheckConstraint(
                condition=Q(initiator__isnull=False) | Q(exchange_id__isnull=False), name="order_is_ours_or_theirs"
            ),
            models.CheckConstraint(
                condition=Q(initiator__isnull=True) | Q(quantity__gt=ZERO), name="order_quantity_is_positive"
            ),
            models.CheckConstraint(
                condition=~Q(state__in=["placed", "found", "cancelling", "replacing"]) | Q(exchange_id__isnull=False),
                name="order_at_the_exchange_has_its_number",
            ),
            models.CheckConstraint(
                condition=~Q(state__in=["waiting", "declined", "withdrawn", "lapsed"]) | Q(approve_until__isnull=False),
                name="order_that_waits_has_a_deadline",
            ),
            models.CheckConstraint(
                condition=Q(digest="", approve_until__isnull=True) | ~Q(digest="") & Q(approve_until__isnull=False),
                name="order_for_approval_has_a_digest",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["state", "next_action_at"], name="order_due"),
            models.Index(fields=["account", "active"], name="order_active"),
            models.Index(fields=["account", "client_order_id"], name="order_by_client_id"),
            models.Index(fields=["account", "symbol", "id"], name="order_by_symbol"),
            models.Index(fields=["account", "created_at"], name="order_by_moment"),
        ]

    @property
    def movement(self) -> Movement:
        """What a freeze is compared with."""
        return Movement(self.account_id, symbol=self.symbol)

    @property
    def is_open(self) -> bool:
        """Whether it can still be filled, or the desk still works on it."""
        return self.active or self.state in states.AT_WORK

    @property
    def is_cancellable(self) -> bool:
        """Whether the exchange can be asked to cancel what is left."""
        return self.active and self.state in states.CANCELLABLE

    @property
    def remaining(self) -> Decimal:
        """What is not filled yet, in the base currency."""
        remaining: Decimal = self.quantity - self.cum_quantity
        return max(remaining, ZERO)


class OrderAmount(models.Model):
    """What an order was placed for, in the quote currency before fees: its quantity was computed from this.

    Sent again with the same key, the order keeps the quantity of the first time, whatever the book says by then.
    """

    order = models.OneToOneField(Order, on_delete=models.PROTECT, primary_key=True, related_name="by_amount")
    amount = amount_field()

    def __str__(self) -> str:
        return f"{self.amount} for order {self.order_id}"


class OrderEvent(Event):
    """One move of an order, with the order's `version` after it; or, without a version, what the exchange told."""

    order = models.ForeignKey(Order, on_delete=models.PROTECT, related_name="events")
    version = models.PositiveIntegerField(null=True)  # type: ignore[assignment]  # none where nothing moved
    from_state = models.CharField(max_length=12, default="", blank=True)
    to_state = models.CharField(max_length=12)
    audit_number = models.BigIntegerField(  # type: ignore[assignment]  # none where nobody here did it
        null=True, help_text="number of the row of the audit trail written with it"
    )

    class Meta:
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["order", "version"], name="orderevent_one_per_version"),
            models.CheckConstraint(
                condition=is_a_move(states.TABLE) | Q(event="observed", version__isnull=True),
                name="orderevent_is_a_move_of_the_table",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.event} ({self.version or 'observed'})"


class OrderCall(Call):
    """One call that places or cancels, committed before its bytes leave; after `send_by` it is never sent.

    `cancel_all` is for every open order of the symbol, and stands with the order whose worker made it.
    """

    owner = "order"

    PLACE, CANCEL, CANCEL_ALL = "place", "cancel", "cancel_all"

    order = models.ForeignKey(Order, on_delete=models.PROTECT, related_name="calls")
    kind = models.CharField(max_length=10)
    way = models.CharField(max_length=6, default="rest", choices=[("rest", "REST"), ("socket", "trading socket")])
    epoch = models.PositiveIntegerField()

    class Meta:
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["order", "kind", "attempt"], name="ordercall_one_per_attempt"),
            models.CheckConstraint(condition=~Q(kind="place") | Q(attempt=1), name="ordercall_places_once"),
            models.CheckConstraint(condition=Q(outcome__in=CALL_OUTCOMES), name="ordercall_known_outcome"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.attempt}"


class OrderApproval(Vote):
    """One person's word on exactly the order of `digest`, given with a second factor unless it is a no."""

    REVIEW = "review"
    APPROVE, REJECT = "approve", "reject"

    order = models.ForeignKey(Order, on_delete=models.PROTECT, related_name="approvals")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="order_approvals")

    class Meta:
        ordering: ClassVar = ["at", "id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["confirmation"],
                condition=Q(confirmation__isnull=False),
                name="orderapproval_one_per_second_factor",
            ),
            models.UniqueConstraint(
                fields=["order", "digest", "stage", "person", "verdict"], name="orderapproval_one_word_per_person"
            ),
            models.CheckConstraint(condition=~Q(person=F("initiator")), name="orderapproval_never_by_the_initiator"),
            models.CheckConstraint(
                condition=Q(verdict="reject") | Q(confirmation__isnull=False),
                name="orderapproval_needs_a_second_factor",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.verdict} by {self.person_id}"


class AccountTrade(Witnessed):
    """One trade of the account, kept for good. Its order is the one of `exchange_order_id`.

    A negative `fee` is a rebate; it is in the symbol's fee currency. `taker`: the order was filled instantly.
    """

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="trades")
    exchange_id = models.BigIntegerField()
    exchange_order_id = models.BigIntegerField()
    client_order_id = models.CharField(max_length=64, default="", blank=True)
    symbol = models.CharField(max_length=40)
    side = models.CharField(max_length=10)
    quantity = amount_field()
    price = amount_field()
    fee = amount_field()
    taker = models.BooleanField(null=True)
    liquidation = models.BooleanField(null=True)
    timestamp = models.DateTimeField()
    read_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["account", "exchange_id"], name="accounttrade_one_per_exchange_id")
        ]
        indexes: ClassVar = [
            models.Index(fields=["account", "exchange_order_id"], name="accounttrade_by_order"),
            models.Index(fields=["account", "timestamp", "id"], name="accounttrade_by_moment"),
            models.Index(fields=["account", "symbol", "timestamp", "id"], name="accounttrade_by_symbol"),
        ]

    def __str__(self) -> str:
        return f"trade {self.exchange_id}"

    @property
    def value(self) -> Decimal:
        """What was paid or received for it, in the quote currency, without the fee."""
        value: Decimal = self.quantity * self.price
        return value


class OrderReading(Question):
    """Somebody asked to have the orders, trades and margin accounts read now; empty `answered_at`: not done yet."""

    account = models.OneToOneField(Account, on_delete=models.PROTECT, related_name="order_reading")

    def __str__(self) -> str:
        return f"reading of {self.requested_at:%H:%M:%S}"


class FeeRates(Question):
    """The account's own trading fee of one symbol, as fractions of the volume; below zero is a rebate.

    `read_at` is when the exchange named them last: asked again, they stay until there is a new answer.
    """

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="fee_rates")
    symbol = models.CharField(max_length=40)
    take_liquidity_rate = amount_field(null=True)
    provide_liquidity_rate = amount_field(null=True)
    read_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["account", "symbol"], name="feerates_one_row")]

    def __str__(self) -> str:
        return f"fee of {self.symbol}"
