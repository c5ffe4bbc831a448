"""Company accounts that people connected to sign in with, and which of these connections ended."""

from typing import ClassVar

from django.conf import settings
from django.db import models

from desk.rows.witnessed import Witnessed

LONGEST_SUBJECT = 255
LONGEST_EMAIL = 254


class CompanyAccount(Witnessed):
    """An account of the company's directory that signs a person in, connected by them with a second factor.

    The directory names it for good by `issuer` and `subject` (OpenID Connect Core 1.0, 5.7); `email` is only shown.
    """

    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="company_accounts")
    issuer = models.CharField(max_length=500)
    subject = models.CharField(max_length=LONGEST_SUBJECT)
    email = models.CharField(max_length=LONGEST_EMAIL, blank=True)
    confirmation = models.OneToOneField("desk.StepUp", on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField()

    class Meta:
        indexes: ClassVar = [models.Index(fields=["issuer", "subject"], name="company_account_by_subject")]

    def __str__(self) -> str:
        return self.label

    @property
    def label(self) -> str:
        """How people recognise it: its e-mail address, or the directory's own name for it."""
        return self.email or self.subject


class CompanyAccountEnd(Witnessed):
    """From `at` the company account no longer signs anybody in. Without a `person` the desk ended it."""

    account = models.OneToOneField(CompanyAccount, on_delete=models.PROTECT, related_name="end")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"end of {self.account_id}"
