"""What the scheduled checks found when they last ran."""

from django.db import models


class CheckRun(models.Model):
    """The last outcome of one scheduled check: a failed one stands until a later run holds.

    `ran_at` is the last run that came to an answer, `held` that answer, `tried_at` the last try. `problem` says why the
    last try came to none.
    """

    name = models.CharField(max_length=60, primary_key=True)
    tried_at = models.DateTimeField(null=True)
    ran_at = models.DateTimeField(null=True)
    took_ms = models.PositiveIntegerField(default=0)
    held = models.BooleanField(null=True)
    findings = models.JSONField(default=list)
    problem = models.CharField(max_length=300, default="", blank=True)

    def __str__(self) -> str:
        return self.name
