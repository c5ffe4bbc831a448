"""The exchange accounts of the company, and the keys that open them."""

from typing import ClassVar

from django.conf import settings
from django.db import models


class Account(models.Model):
    """One account at the exchange; `quote_currency` is the currency its figures are valued in."""

    name = models.CharField(max_length=80, unique=True)
    quote_currency = models.CharField(max_length=20, default="USD")
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name


class ApiKey(models.Model):
    """One key pair of an account. The secret is sealed for this row alone and is opened only in a worker.

    `rights` lists the names of the exchange's rights the key carries; separate keys for separate rights are the rule.
    """

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="keys")
    label = models.CharField(max_length=80)
    login = models.CharField(max_length=200)
    sealed_secret = models.TextField(default="")
    version = models.PositiveIntegerField(default=1)
    fingerprint = models.CharField(max_length=64, default="", blank=True)
    last_four = models.CharField(max_length=4, default="", blank=True)
    rights = models.JSONField(default=list)
    active = models.BooleanField(default=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField()
    retired_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)
    last_problem = models.CharField(max_length=300, default="", blank=True)
    last_problem_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["account", "login"], name="apikey_one_row_per_login")]

    def __str__(self) -> str:
        return f"{self.label} (…{self.last_four})"
