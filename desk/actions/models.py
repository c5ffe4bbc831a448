"""Comments on what waits for people, and who has taken it on."""

from typing import ClassVar

from django.conf import settings
from django.db import models

from desk.rows.witnessed import Witnessed

LONGEST_COMMENT = 2000


class Comment(Witnessed):
    """One comment on `subject` ("withdrawal:12"). It is never edited and never removed."""

    subject = models.CharField(max_length=60)
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    text = models.CharField(max_length=LONGEST_COMMENT)
    request_key = models.CharField(max_length=80)
    at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["person", "request_key"], name="comment_one_per_request_key")
        ]
        indexes: ClassVar = [models.Index(fields=["subject", "at"], name="comment_of_subject")]

    def __str__(self) -> str:
        return f"{self.person}: {self.text[:40]}"


class Taken(models.Model):
    """Who looks after `subject` at the moment. It informs colleagues and binds nobody."""

    subject = models.CharField(max_length=60, unique=True)
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.subject}: {self.person}"
