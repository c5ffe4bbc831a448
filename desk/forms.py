"""The base of every form that is confirmed by a second factor."""

import re
from typing import Any

from django import forms

_CODE = re.compile(r"\d{6}", re.ASCII)
_CODE_INPUT = {
    "autocomplete": "one-time-code",
    "inputmode": "numeric",
    "spellcheck": "false",
    "autocapitalize": "off",
    "placeholder": "000000",
}


class SecondFactorForm(forms.Form):
    """A one-time code, or a passkey's answer that a script puts there: one of the two has to be given."""

    code = forms.CharField(
        label="Code from your authenticator app",
        required=False,
        max_length=20,
        widget=forms.TextInput(attrs=_CODE_INPUT),
    )
    passkey = forms.CharField(required=False, max_length=16_000, widget=forms.HiddenInput)

    def clean_code(self) -> str:
        """Six digits; blanks between them are how apps show the code, so they are dropped."""
        text: str = self.cleaned_data["code"].replace(" ", "")
        if text and not _CODE.fullmatch(text):
            raise forms.ValidationError("Enter the six-digit code.", code="malformed")
        return text

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not self.errors and not cleaned.get("code") and not cleaned.get("passkey"):
            self.add_error("code", "Enter the code from your authenticator app, or use a passkey.")
        return cleaned

    @property
    def answer(self) -> dict[str, Any]:
        """The second factor in the form that `stepup.verify` takes."""
        if self.cleaned_data["passkey"]:
            return {"kind": "passkey", "credential": self.cleaned_data["passkey"]}
        return {"kind": "totp", "code": self.cleaned_data["code"]}
