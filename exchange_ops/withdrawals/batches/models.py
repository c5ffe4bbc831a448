"""A batch: payouts that were requested together, and which line of it each payout is. Neither row ever changes."""

from typing import ClassVar

from django.conf import settings
from django.db import models

from desk.rows.witnessed import Witnessed
from exchange_ops.shared.models import Account, OfAccount
from exchange_ops.withdrawals.models import Withdrawal


class PayoutBatch(OfAccount, Witnessed):
    """Payouts that one person requested with one confirmation. Each is decided and paid by itself.

    `request_key` is that of the form, so that a form makes one batch however often it is sent. `content` is the digest
    of the lines in their order; `repeat` counts the batches of this account that had the same content before, so that
    of two people who send the same file at one moment only one makes a batch.
    """

    mark = "BT-"

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="payout_batches")
    initiator = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="payout_batches")
    request_key = models.CharField(max_length=80)
    content = models.CharField(max_length=64)
    repeat = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["initiator", "request_key"], name="payoutbatch_one_per_request_key"),
            models.UniqueConstraint(fields=["account", "content", "repeat"], name="payoutbatch_one_per_content"),
        ]
        indexes: ClassVar = [models.Index(fields=["account", "-created_at"], name="payoutbatch_newest")]

    def __str__(self) -> str:
        return self.reference

    @property
    def reference(self) -> str:
        """The name that people use for it, for instance BT-12."""
        return f"{self.mark}{self.pk}"


class PayoutBatchLine(Witnessed):
    """One line of a batch and the payout that it became. `number` is the line's number in the file, or on the form."""

    batch = models.ForeignKey(PayoutBatch, on_delete=models.PROTECT, related_name="lines")
    number = models.PositiveIntegerField()
    withdrawal = models.OneToOneField(Withdrawal, on_delete=models.PROTECT, related_name="batch_line")

    class Meta:
        ordering: ClassVar = ["number"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["batch", "number"], name="payoutbatchline_one_per_number")
        ]

    def __str__(self) -> str:
        return f"line {self.number}"
