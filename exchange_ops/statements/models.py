"""Statements that people signed off with who signed them, and the versions of the account numbers for bookkeeping."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.urls import reverse

from desk.rows.witnessed import Witnessed
from exchange_ops.shared.models import Account, OfAccount


class SignedStatement(OfAccount, Witnessed):
    """The figures of one account from the day `first` to the day `last`, as the first signer saw them.

    `content` is the JSON text that `digest` was made of (`exchange_ops.statements.signing`).
    """

    name: ClassVar = "statement"

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="+")
    first = models.DateField()
    last = models.DateField()
    digest = models.CharField(max_length=64)
    content = models.TextField()
    made_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["account", "digest"], name="signedstatement_one_per_content"),
        ]
        indexes: ClassVar = [models.Index(fields=["account", "first", "last"], name="signedstatement_of_period")]

    def __str__(self) -> str:
        return self.reference

    @property
    def reference(self) -> str:
        """How people name it."""
        return f"ST-{self.pk}"

    @property
    def url(self) -> str:
        """The address of the figures as they were signed."""
        return reverse("statement-signed", args=(self.pk,))


class StatementSignature(Witnessed):
    """One person's signature under exactly these figures, by a second factor."""

    statement = models.ForeignKey(SignedStatement, on_delete=models.PROTECT, related_name="signatures")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    confirmation = models.OneToOneField("desk.StepUp", on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField()

    class Meta:
        ordering: ClassVar = ["at", "id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["statement", "person"], name="statementsignature_one_per_person"),
        ]

    def __str__(self) -> str:
        return f"{self.person_id} signed {self.statement_id}"


class AccountMapping(Witnessed):
    """One version of the account numbers and settings for bookkeeping, of the whole desk; the newest version counts.

    `content` is JSON text: all of it, not only what changed (`exchange_ops.statements.bookkeeping.accounts`).
    """

    name: ClassVar = "account_mapping"

    version = models.PositiveIntegerField(unique=True)
    content = models.TextField()
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    made_at = models.DateTimeField()

    class Meta:
        ordering: ClassVar = ["-version"]

    def __str__(self) -> str:
        return f"Account mapping {self.version}"
