"""What the desk measured about the exchange itself: its clock, its streams, and the answers the forms wait for."""

from typing import ClassVar

from django.conf import settings
from django.db import models

from exchange_ops.models.accounts import Account
from exchange_ops.models.amounts import amount_field


class ClockReading(models.Model):
    """How far the exchange's clock was ahead of ours (negative: behind) when one answer was read, in milliseconds."""

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="clock_readings")
    skew_ms = models.BigIntegerField()
    read_at = models.DateTimeField()

    class Meta:
        indexes: ClassVar = [models.Index(fields=["account", "-read_at"], name="clockreading_newest")]

    def __str__(self) -> str:
        return f"{self.skew_ms} ms"


class FollowerState(models.Model):
    """How one stream loop is doing: the page and the readiness check read this row.

    `heard_at` is the last sign of life, a pong included; `message_at` the last message. `lag_ms` is how long the
    slowest message of the last second that brought one was on its way, as far as messages carry a time of their own.
    """

    account = models.ForeignKey(Account, on_delete=models.PROTECT, null=True, related_name="followers")
    name = models.CharField(max_length=60, unique=True)
    connected = models.BooleanField(default=False)
    connected_at = models.DateTimeField(null=True)
    heard_at = models.DateTimeField(null=True)
    beat_at = models.DateTimeField(null=True)
    message_at = models.DateTimeField(null=True)
    lag_ms = models.PositiveIntegerField(null=True)
    reconnects = models.PositiveIntegerField(default=0)
    gaps_closed = models.PositiveIntegerField(default=0)
    problem = models.CharField(max_length=300, default="", blank=True)

    def __str__(self) -> str:
        return self.name


class Lease(models.Model):
    """Which process may do a work that only one may do; a holder that doesn't renew it in time has lost it."""

    name = models.CharField(max_length=40, primary_key=True)
    holder = models.CharField(max_length=80, default="", blank=True)
    until = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return self.name


class AddressCheck(models.Model):
    """The exchange's answer whether an address belongs to the account itself; `is_own` is empty until it answered."""

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="address_checks")
    currency = models.CharField(max_length=20)
    address = models.CharField(max_length=256)
    is_own = models.BooleanField(null=True)
    problem = models.CharField(max_length=300, default="", blank=True)
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    requested_at = models.DateTimeField()
    answered_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["account", "currency", "address"], name="addresscheck_one_row")
        ]

    def __str__(self) -> str:
        return self.address


class FeeEstimate(models.Model):
    """The exchange's estimate of the fee for one amount; `fee` is empty until it answered."""

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="fee_estimates")
    currency = models.CharField(max_length=20)
    amount = amount_field()
    fee = amount_field(null=True)
    problem = models.CharField(max_length=300, default="", blank=True)
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    requested_at = models.DateTimeField()
    answered_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["account", "currency", "amount"], name="feeestimate_one_row")
        ]

    def __str__(self) -> str:
        return f"fee for {self.amount} {self.currency}"
