"""Rows that every room uses: accounts, facts about the exchange, its clock, followers, leases and results of checks."""

from typing import ClassVar

from django.db import models

from desk.rows.witnessed import Witnessed


class Account(Witnessed):
    """One account at one exchange; `quote_currency` is the currency its figures are valued in.

    `place` names the exchange within the settings (`shared.places`) and is never edited: a ledger belongs to one.
    """

    name = models.CharField(max_length=80, unique=True)
    place = models.CharField(max_length=40, default="default")
    quote_currency = models.CharField(max_length=20, default="USD")
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name


class OfAccount:
    """A row that belongs to one account."""

    account_id: int

    @property
    def scope(self) -> str:
        """The account's number as text, by which the desk's roles, incidents and entries name it."""
        return str(self.account_id)


class Fact(Witnessed):
    """One answer to one question, as of one moment; the newest of a name counts, the older ones show what changed."""

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="facts")
    name = models.CharField(max_length=80)
    value = models.JSONField()
    noted_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["account", "name", "-noted_at"], name="fact_newest")]

    def __str__(self) -> str:
        return f"{self.name}: {self.value}"


class CheckRun(models.Model):
    """The last outcome of one scheduled check; a failure stays until a later run succeeds.

    `ran_at` is the last run with an answer, `held` that answer, `tried_at` the last try. `problem` says why the last
    try brought no answer.
    """

    name = models.CharField(max_length=60, primary_key=True)
    tried_at = models.DateTimeField(null=True)
    ran_at = models.DateTimeField(null=True)
    took_ms = models.PositiveIntegerField(default=0)
    held = models.BooleanField(null=True)
    findings = models.JSONField(default=list)
    problem = models.CharField(max_length=300, default="", blank=True)

    def __str__(self) -> str:
        return self.name


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
    """The state of a stream or loop, read by the system page and the readiness check.

    `heard_at` is the last sign of life, a pong included; `message_at` the last message. `lag_ms` is the delay of the
    slowest message in the last second that brought one, as far as messages carry a time.
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
    """The process that may do work that only one may do; a holder that doesn't renew its lease in time has lost it."""

    name = models.CharField(max_length=40, primary_key=True)
    holder = models.CharField(max_length=80, default="", blank=True)
    until = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return self.name
