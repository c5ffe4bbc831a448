"""Requests from the console, and their answers."""

from typing import Any, ClassVar

from django.conf import settings
from django.db import models

from exchange_ops.shared.models import Account


class ConsoleCall(models.Model):
    """One question to an outside service: asked by a person, sent once by a worker, kept for a while.

    `arguments` are the texts that were typed, by parameter; what is sensitive is never among them, since operations
    with such a parameter are not sent from here. `answer` is the text that came, cut at its bound and with every
    member that may hold a secret masked. `account` is empty where the question needs no key of one.
    """

    class State(models.TextChoices):
        WAITING = "waiting", "Queued"
        SENDING = "sending", "Sending"
        ANSWERED = "answered", "Answered"
        REFUSED = "refused", "Refused"
        FAILED = "failed", "No answer"

    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    account = models.ForeignKey(Account, null=True, on_delete=models.PROTECT, related_name="+")
    request_key = models.UUIDField()
    service = models.CharField(max_length=20)
    operation = models.CharField(max_length=60)
    arguments = models.JSONField(default=dict)
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    asked_at = models.DateTimeField(db_index=True)
    claimed_at = models.DateTimeField(null=True)
    answered_at = models.DateTimeField(null=True)
    status = models.PositiveSmallIntegerField(null=True, help_text="The HTTP status, if any.")
    elapsed_ms = models.PositiveIntegerField(null=True)
    answer = models.TextField(blank=True)
    answer_bytes = models.PositiveIntegerField(default=0, help_text="Size of the whole answer as received.")
    problem = models.CharField(max_length=500, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["person", "request_key"], name="console_one_call_a_form"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["state", "asked_at"], name="console_call_due"),
        ]

    def __str__(self) -> str:
        return f"{self.service} {self.operation}"

    @property
    def is_over(self) -> bool:
        """Whether the call has ended."""
        return self.state not in {self.State.WAITING, self.State.SENDING}

    @property
    def is_cut(self) -> bool:
        """Whether only a part of the answer is stored."""
        return self.answer_bytes > len(self.answer.encode())

    @property
    def typed(self) -> dict[str, Any]:
        """The arguments under the names of the form's fields."""
        return {f"p-{name}": text for name, text in self.arguments.items()}
