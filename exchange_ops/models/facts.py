"""What was found out about the exchange and is not in its specification, with the day it was found out."""

from django.db import models

from desk.witnessed import Witnessed
from exchange_ops.models.accounts import Account


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
