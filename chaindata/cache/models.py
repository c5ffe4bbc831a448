"""The answers of the chain-data service, one row for each question."""

from typing import ClassVar

from django.db import models


class ChainAnswer(models.Model):
    """One question and its last answer. `key` names version, operation and arguments (cache/questions.py).

    `body` is the JSON of the record as it came, empty while there is none. A row is due from `due_at` on; None: never
    by time alone. The worker that fetches it holds the claim until `claimed_until`. `rests_on_height` is the highest
    block that the answer depends on: a final answer is fetched again only if that block leaves the chain.
    """

    key = models.CharField(max_length=80, unique=True)
    operation = models.CharField(max_length=60)
    arguments = models.JSONField()
    standing = models.CharField(max_length=10, default="absent")
    body = models.TextField(default="", blank=True)
    size = models.PositiveIntegerField(default=0)
    read_at = models.DateTimeField(null=True)
    is_final = models.BooleanField(default=False)
    rests_on_height = models.BigIntegerField(null=True)
    problem = models.CharField(max_length=300, default="", blank=True)
    problem_at = models.DateTimeField(null=True)
    failures = models.PositiveIntegerField(default=0)
    asked_at = models.DateTimeField()
    woken_at = models.DateTimeField(null=True)
    due_at = models.DateTimeField(null=True)
    claimed_by = models.CharField(max_length=80, default="", blank=True)
    claimed_until = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=models.Q(standing__in=("absent", "found", "missing", "refused")),
                name="chainanswer_standing",
            ),
            models.CheckConstraint(
                condition=~models.Q(standing="found") | (~models.Q(body="") & models.Q(read_at__isnull=False)),
                name="chainanswer_found_has_body",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["due_at", "asked_at"], name="chainanswer_due"),
            models.Index(fields=["operation", "due_at"], name="chainanswer_by_operation"),
            models.Index(fields=["asked_at"], name="chainanswer_by_age"),
            models.Index(fields=["rests_on_height"], name="chainanswer_by_height"),
        ]

    def __str__(self) -> str:
        return self.key
