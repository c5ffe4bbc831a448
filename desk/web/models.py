"""The rows of this folder."""

from typing import ClassVar

from django.conf import settings
from django.db import models


class KeyedRequest(models.Model):
    """One request of a program under its `Idempotency-Key`, and its answer once there is one (see `idempotency`).

    `fingerprint` is the digest of the request: method, path, account and body. `status` is empty while it is being
    answered; `claim` identifies the process that answers it since `began_at`.
    """

    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=80)
    fingerprint = models.CharField(max_length=64)
    claim = models.UUIDField()
    began_at = models.DateTimeField(db_index=True)
    status = models.PositiveSmallIntegerField(null=True)
    content = models.TextField(default="")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["person", "key"], name="keyedrequest_one_per_key"),
        ]

    def __str__(self) -> str:
        return f"{self.key} of {self.person_id}"
