"""The content of a payout under a name, to fill the form of the next one. Neither row ever changes."""

from typing import ClassVar

from django.conf import settings
from django.db import models

from desk.rows.witnessed import Witnessed
from exchange_ops.shared.amounts import amount_field
from exchange_ops.shared.models import Account, OfAccount

LONGEST_NAME = 80


class PayoutTemplate(OfAccount, Witnessed):
    """What the form is filled in with: `amount` in `currency`, with `include_fee` the fee is taken out of it."""

    mark: ClassVar = "PT-"

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="payout_templates")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=LONGEST_NAME)
    currency = models.CharField(max_length=20)
    amount = amount_field()
    include_fee = models.BooleanField()
    address = models.CharField(max_length=256)
    payment_id = models.CharField(max_length=256, blank=True)
    reason = models.CharField(max_length=500)
    at = models.DateTimeField()

    class Meta:
        indexes: ClassVar = [models.Index(fields=["account", "name"], name="payouttemplate_by_name")]

    def __str__(self) -> str:
        return self.name

    @property
    def reference(self) -> str:
        """How people name it."""
        return f"{self.mark}{self.pk}"


class PayoutTemplateEnd(Witnessed):
    """From `at` the template is offered no more."""

    template = models.OneToOneField(PayoutTemplate, on_delete=models.PROTECT, related_name="end")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"end of {self.template_id}"
