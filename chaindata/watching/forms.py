"""What is typed about watched addresses."""

from typing import Any

from django import forms

from chaindata.shared import addresses
from chaindata.watching.models import LONGEST_NOTE, LONGEST_REASON, LONGEST_TITLE, Purpose


class WatchForm(forms.Form):
    """An address to be watched, in any form, and what it is."""

    address = forms.CharField(
        label="Address",
        max_length=200,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false", "class": "mono"}),
        help_text="In any form: cash address, legacy address or simple-ledger address.",
    )
    title = forms.CharField(
        label="Name", max_length=LONGEST_TITLE, help_text="As alerts name it, for example: Vault 2."
    )
    purpose = forms.ChoiceField(label="Purpose", choices=Purpose.choices)
    note = forms.CharField(
        label="Note", max_length=LONGEST_NOTE, required=False, widget=forms.Textarea(attrs={"rows": 2})
    )

    def clean_address(self) -> str:
        """The address as it is printed here, or why it is none."""
        try:
            return addresses.printed(self.cleaned_data["address"].strip())
        except addresses.NotAnAddress as problem:
            raise forms.ValidationError(str(problem), code="no-address") from None


class ReasonForm(forms.Form):
    """Why, for the audit trail."""

    reason = forms.CharField(label="Reason", max_length=LONGEST_REASON, widget=forms.Textarea(attrs={"rows": 2}))


class ReviewForm(ReasonForm):
    """Why a movement is in order; without its number, all that was only received."""

    movement = forms.IntegerField(min_value=1, required=False, widget=forms.HiddenInput)

    def arguments(self) -> dict[str, Any]:
        """As `requests.review` takes them."""
        return {"movement_id": self.cleaned_data["movement"], "reason": self.cleaned_data["reason"]}
