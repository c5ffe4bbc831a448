"""What people ordered about holds that the machine leaves alone."""

from typing import ClassVar

from django.conf import settings
from django.db import models

from desk.witnessed import Witnessed
from exchange_ops.models.withdrawals import Withdrawal


class HoldReleaseVote(Witnessed):
    """One person's order to release a hold that outlived its closed request, given with a second factor.

    `digest` is what the person confirmed; two different people are needed, and never the one who asked for the payment.
    """

    withdrawal = models.ForeignKey(Withdrawal, on_delete=models.PROTECT, related_name="release_votes")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    digest = models.CharField(max_length=64)
    reason = models.CharField(max_length=500)
    confirmation = models.OneToOneField("desk.StepUp", on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField()

    class Meta:
        ordering: ClassVar = ["at", "id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["withdrawal", "person"], name="holdreleasevote_one_per_person")
        ]

    def __str__(self) -> str:
        return f"release vote {self.pk}"
