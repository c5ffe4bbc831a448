"""Comments on what waits for people, files attached to it, and who has taken it on."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.urls import reverse

from desk.rows.witnessed import Witnessed

LONGEST_COMMENT = 2000
LONGEST_FILE_NAME = 120


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


class StoredFile(models.Model):
    """The content of a file under its SHA-256 in hexadecimal. It is never changed and never removed."""

    sha256 = models.CharField(max_length=64, primary_key=True)
    content = models.BinaryField()

    def __str__(self) -> str:
        return self.sha256


class Attachment(Witnessed):
    """One file attached to `subject` ("withdrawal:12"). `size` is in bytes."""

    subject = models.CharField(max_length=60)
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    stored = models.ForeignKey(StoredFile, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=LONGEST_FILE_NAME)
    media_type = models.CharField(max_length=40)
    size = models.PositiveIntegerField()
    request_key = models.CharField(max_length=80)
    at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["person", "request_key"], name="attachment_one_per_request_key"),
            models.UniqueConstraint(fields=["subject", "stored"], name="attachment_once_per_subject"),
        ]

    def __str__(self) -> str:
        return f"{self.person}: {self.name}"

    @property
    def url(self) -> str:
        """The address at which who may see the subject downloads it."""
        name, _, number = self.subject.partition(":")
        return reverse("thread-file", args=(name, int(number), self.pk))


class Taken(models.Model):
    """Who looks after `subject` at the moment. It informs colleagues and binds nobody."""

    subject = models.CharField(max_length=60, unique=True)
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.subject}: {self.person}"
