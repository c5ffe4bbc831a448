"""Our deposit addresses as last read from the exchange, and requests for new ones.

Asking for a new address moves no money, but it can't be repeated: each one counts against the five of a day.
"""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from desk.machines.rows import Event, Subject, is_a_move
from desk.questions import Question
from desk.rows.witnessed import Witnessed
from exchange_ops.addresses import states
from exchange_ops.addresses.states import OPEN_REQUESTS, REQUEST_STATES
from exchange_ops.shared.amounts import amount_field
from exchange_ops.shared.models import Account, OfAccount


class AddressBook(Question):
    """What is known about the addresses of one currency: when it was requested, when it was read, what went wrong.

    `used` are the last ten addresses that were withdrawn to, as the exchange lists them.
    """

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="address_books")
    currency = models.CharField(max_length=20)
    used = models.JSONField(default=list)
    read_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["account", "currency"], name="addressbook_one_row")]

    def __str__(self) -> str:
        return self.currency

    @property
    def topic(self) -> str:
        """What a page that shows it follows."""
        return f"addresses:{self.account_id}"


class DepositAddress(Witnessed):
    """One deposit address; it stays valid for ever. A deposit needs its payment id and public key as well.

    `place` is its number in the exchange's list of the last ten, the newest being 1; empty once it dropped out of it.
    """

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="deposit_addresses")
    currency = models.CharField(max_length=20)
    address = models.CharField(max_length=256)
    payment_id = models.CharField(max_length=256, default="", blank=True)
    public_key = models.CharField(max_length=256, default="", blank=True)
    is_current = models.BooleanField(default=False)
    place = models.PositiveSmallIntegerField(null=True)
    first_seen_at = models.DateTimeField()
    seen_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["account", "currency", "address", "payment_id"], name="depositaddress_one_row"
            ),
            models.UniqueConstraint(
                fields=["account", "currency"], condition=Q(is_current=True), name="depositaddress_one_current"
            ),
        ]

    def __str__(self) -> str:
        return self.address


class AddressRequest(OfAccount, Subject):
    """One request for a new address: the row is committed before the call and records the outcome.

    `known` are the addresses the exchange listed right before the call, each with its payment id; after `send_by`
    nothing is sent.
    """

    table, mark, name = states.TABLE, "Address request ", "addressrequest"

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="address_requests")
    currency = models.CharField(max_length=20)
    initiator = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    initiated_via = models.CharField(max_length=10, default="page")
    request_key = models.CharField(max_length=80)
    state = models.CharField(
        max_length=10, choices=[(name, state.label) for name, state in REQUEST_STATES.items()], default="asked"
    )
    known = models.JSONField(default=list)
    looks = models.PositiveIntegerField(default=0)
    send_by = models.DateTimeField(null=True)
    sent_at = models.DateTimeField(null=True)
    answered_at = models.DateTimeField(null=True)
    error_code = models.IntegerField(null=True)
    made = models.ForeignKey(DepositAddress, on_delete=models.PROTECT, null=True, related_name="requests")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["initiator", "request_key"], name="addressrequest_one_per_request_key"),
            models.UniqueConstraint(
                fields=["account", "currency"], condition=Q(state__in=OPEN_REQUESTS), name="addressrequest_one_open"
            ),
            models.CheckConstraint(condition=Q(state__in=tuple(REQUEST_STATES)), name="addressrequest_known_state"),
            models.CheckConstraint(
                condition=~Q(state=states.MADE) | Q(made__isnull=False), name="addressrequest_made_has_an_address"
            ),
        ]
        indexes: ClassVar = [models.Index(fields=["account", "currency", "-created_at"], name="addressrequest_newest")]

    def __str__(self) -> str:
        return f"{self.currency} {self.pk}"


class AddressRequestEvent(Event):
    """One move of a request for a new address, written in the same transaction as the row that it moved."""

    request = models.ForeignKey(AddressRequest, on_delete=models.PROTECT, related_name="events")

    class Meta:
        ordering: ClassVar = ["version"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["request", "version"], name="addressrequestevent_one_per_version"),
            models.CheckConstraint(
                condition=is_a_move(states.TABLE), name="addressrequestevent_is_a_move_of_the_table"
            ),
        ]


class AddressCheck(Question):
    """The exchange's answer whether an address belongs to the account itself; `is_own` is empty until it answered."""

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="address_checks")
    currency = models.CharField(max_length=20)
    address = models.CharField(max_length=256)
    is_own = models.BooleanField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["account", "currency", "address"], name="addresscheck_one_row")
        ]

    def __str__(self) -> str:
        return self.address


class FeeEstimate(Question):
    """The exchange's estimate of the fee for one amount; `fee` is empty until it answered."""

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="fee_estimates")
    currency = models.CharField(max_length=20)
    amount = amount_field()
    fee = amount_field(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["account", "currency", "amount"], name="feeestimate_one_row")
        ]

    def __str__(self) -> str:
        return f"fee for {self.amount} {self.currency}"
