"""The keys that open the exchange accounts of the company."""

from typing import ClassVar

from django.conf import settings
from django.db import models

from desk.rows.witnessed import Rows, Witnessed
from exchange_ops.shared.models import Account, OfAccount


class ApiKeys(Rows["ApiKey"]):
    """Queries for keys."""

    def listed(self) -> "ApiKeys":
        """The keys in the order of lists: those in use first, with who added them and what they replace."""
        rows = self.select_related("account", "created_by", "replaces")
        return rows.order_by(models.F("retired_at").desc(nulls_first=True), "pk")


class ApiKey(OfAccount, Witnessed):
    """One key pair of an account. The secret is sealed for this row alone and is opened only in a worker.

    `rights` are the exchange's rights that the key carries according to the admin who added it; each right should have
    a key of its own. `observed` is the exchange's last answer about each right: "granted", "missing" or "unknown".
    `same_account` is False when the exchange does not know our transactions under this key.

    A key in use is `active`. A successor that waits is not, and `replaces` names its predecessor; a predecessor that
    handed over has `kept_at` and is only a last resort; a disabled key has `retired_at` and no secret any more.
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
    observed = models.JSONField(default=dict)
    same_account = models.BooleanField(null=True)
    probe_asked_at = models.DateTimeField(null=True)
    probed_at = models.DateTimeField(null=True)
    probe_problem = models.CharField(max_length=300, default="", blank=True)
    replaces = models.ForeignKey("self", on_delete=models.PROTECT, null=True, related_name="successors")
    kept_at = models.DateTimeField(null=True)
    request_key = models.CharField(max_length=80, null=True, unique=True)

    objects = ApiKeys.as_manager()  # type: ignore[misc]

    class Meta:
        constraints: ClassVar = [
            # A key that was disabled may be added again: its old row stays as history.
            models.UniqueConstraint(
                fields=["account", "login"], condition=models.Q(retired_at=None), name="apikey_one_live_row_per_login"
            ),
            models.UniqueConstraint(
                fields=["replaces"],
                condition=models.Q(active=False, retired_at=None, kept_at=None),
                name="apikey_one_successor_waits",
            ),
            models.CheckConstraint(
                condition=models.Q(active=False) | models.Q(retired_at=None, kept_at=None),
                name="apikey_in_use_or_not",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.label} (…{self.last_four})"

    @property
    def subject(self) -> str:
        """The key's name in the audit trail."""
        return f"apikey:{self.pk}"

    @property
    def is_waiting(self) -> bool:
        """Whether it is a successor that did not take over yet."""
        return self.replaces_id is not None and not self.active and self.kept_at is None and self.retired_at is None

    @property
    def is_being_probed(self) -> bool:
        """Whether somebody asked for a probe that has not been answered yet."""
        requested = self.probe_asked_at
        return (
            self.retired_at is None and requested is not None and (self.probed_at is None or self.probed_at < requested)
        )

    @property
    def is_turned_down(self) -> bool:
        """Whether the exchange turned the key down and no later answer contradicts that."""
        problem = self.last_problem_at
        if problem is None:
            return False
        return self.probed_at is None or self.probed_at <= problem or bool(self.probe_problem)
