"""The form fields of the pages about sub-accounts. Whether a request is allowed is decided by the domain."""

import re
from collections.abc import Iterable
from typing import Any

from django import forms

from exchange_ops.market.models import Currency
from exchange_ops.shared.forms import LONGEST_REASON, DecisionForm, RequestForm
from exchange_ops.subaccounts.models import LONGEST_DESCRIPTION

_NUMBER = re.compile(r"[1-9]\d{0,17}", re.ASCII)
MOST_NAMED = 50


def read_ids(texts: Iterable[str]) -> list[int]:
    """The sub-accounts named in the texts, each once, in order; what is no number is left out."""
    return sorted({int(text) for text in texts if _NUMBER.fullmatch(text)})[: MOST_NAMED + 1]


class IdsField(forms.Field):
    """Several sub-accounts by their ids at the exchange, each in an input of its own."""

    widget = forms.MultipleHiddenInput

    def clean(self, value: Any) -> list[int]:
        texts = value or []
        if any(not _NUMBER.fullmatch(str(text)) for text in texts) or len(texts) > MOST_NAMED:
            raise forms.ValidationError("Choose the sub-accounts again from the list.", code="malformed")
        if not texts:
            raise forms.ValidationError("Choose at least one sub-account.", code="required")
        return sorted({int(text) for text in texts})


class SubAccountDecisionForm(DecisionForm):
    """Freezing or activating, with its reason and second factor. `request_key` makes a double click one request."""

    comment = forms.CharField(
        label="Reason",
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 2}),
        error_messages={"required": "Enter a reason. It is shown in the history and the audit trail."},
    )
    ids = IdsField()
    request_key = forms.UUIDField(widget=forms.HiddenInput)


class SubAccountSettingsForm(RequestForm):
    """The payout settings of one sub-account as they shall be."""

    payouts = forms.ChoiceField(
        label="Payouts", choices=[("on", "allowed"), ("off", "not allowed")], error_messages={"required": "Choose one."}
    )
    description = forms.CharField(label="Description", required=False, max_length=LONGEST_DESCRIPTION)
    reason = forms.CharField(
        label="Reason",
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 2}),
        error_messages={"required": "Enter a reason. It is shown in the history and the audit trail."},
    )
    digest = forms.RegexField(r"^[0-9a-f]{64}$", widget=forms.HiddenInput)
    request_key = forms.UUIDField(widget=forms.HiddenInput)


class SubAccountAddressForm(forms.Form):
    """Which currency's deposit address is wanted."""

    currency = forms.ChoiceField(label="Currency", error_messages={"required": "Choose the currency."})

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        open_ones = Currency.objects.filter(payin_enabled=True, crypto=True, delisted=False).order_by("code")
        choices = [(row.code, f"{row.code}  {row.full_name}".strip()) for row in open_ones]
        self.fields["currency"].choices = [("", "Choose"), *choices]  # type: ignore[attr-defined]
