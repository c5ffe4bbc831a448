"""The forms for keys. A secret goes one way: no form ever shows it again, refused or not."""

import re
from typing import Any

from django import forms

from exchange_ops.keys.changes import Pair
from exchange_ops.shared.forms import DecisionForm
from exchange_ops.shared.models import Account
from exchange_ops.wire.catalogue import Right
from wire.values import Secret

LONGEST_LABEL, LONGEST_LOGIN, LONGEST_SECRET = 80, 200, 500
# What can stand in a Basic header without being quoted: no blanks, no colon, nothing invisible.
_LOGIN = re.compile(r"[!-9;-~]+")
_SECRET = re.compile(r"[!-~]+")
_OFF = {"autocomplete": "off", "spellcheck": "false", "autocapitalize": "off"}
_MEANINGS = {
    Right.ORDERS: "place and cancel orders, manage margin",
    Right.HISTORY: "read trading history",
    Right.PAYMENTS: "read the account, transfer between wallets",
    Right.WITHDRAW: "withdraw funds",
}


class PairForm(DecisionForm):
    """A key pair with its second factor. `request_key` makes a double click and a second tab the same request."""

    comment = None  # type: ignore[assignment]  # a key is not commented on
    label = forms.CharField(
        label="Name", max_length=LONGEST_LABEL, error_messages={"required": "Enter a name for the key."}
    )
    login = forms.CharField(
        label="API key",
        max_length=LONGEST_LOGIN,
        widget=forms.TextInput(attrs=_OFF),
        error_messages={"required": "Enter the API key (the public part)."},
    )
    secret = forms.CharField(
        label="Secret",
        max_length=LONGEST_SECRET,
        widget=forms.PasswordInput(render_value=False, attrs=_OFF),
        error_messages={
            "required": "Enter the secret. For security, it must be re-entered after an error.",
            "max_length": f"Enter at most {LONGEST_SECRET} characters.",
        },
    )
    rights = forms.MultipleChoiceField(
        label="Permissions granted at the exchange",
        choices=[(right.value, right.value) for right in Right],
        widget=forms.CheckboxSelectMultiple,
        error_messages={
            "required": "Choose at least one permission.",
            "invalid_choice": "Choose a permission from the list.",
        },
    )
    request_key = forms.UUIDField(widget=forms.HiddenInput)
    field_order = ("account", "label", "login", "secret", "rights", "code")

    def clean_label(self) -> str:
        """Visible characters of any script, and none that hides or reverses the others."""
        label: str = self.cleaned_data["label"]
        if not label.isprintable():
            raise forms.ValidationError("The name contains an invisible character. Type it again.", code="invisible")
        return label

    def clean_login(self) -> str:
        """A login that fits into its header (Basic: no colon)."""
        login: str = self.cleaned_data["login"]
        if not _LOGIN.fullmatch(login):
            raise forms.ValidationError("Use only letters, digits and symbols, without spaces or colons.", code="odd")
        return login

    def clean_secret(self) -> Secret:
        """A secret, wrapped as soon as it is read; no error message repeats it."""
        text: str = self.cleaned_data["secret"]
        if not _SECRET.fullmatch(text):
            raise forms.ValidationError(
                "The secret contains a space or an invalid character. Copy it again.", code="odd"
            )
        return Secret(text)

    def pair(self) -> Pair:
        """The key pair of a valid form."""
        cleaned = self.cleaned_data
        return Pair(
            label=cleaned["label"],
            login=cleaned["login"],
            secret=cleaned["secret"],
            rights=[Right(name) for name in cleaned["rights"]],
            request_key=str(cleaned["request_key"]),
        )

    def choices_of_rights(self) -> list[dict[str, Any]]:
        """The boxes: each right by its documented name, what it is for, and whether it is ticked."""
        ticked = set(self["rights"].value() or ())
        return [{"name": right.value, "meaning": _MEANINGS[right], "ticked": right.value in ticked} for right in Right]


class NewKeyForm(PairForm):
    """A key of one of the accounts."""

    account = forms.ChoiceField(label="Account", error_messages={"required": "Choose the account."})

    def __init__(self, *arguments: Any, accounts: list[Account], **options: Any) -> None:
        super().__init__(*arguments, **options)
        none_yet = [("", "Choose")] if len(accounts) > 1 else []
        choices = [(str(row.pk), row.name) for row in accounts]
        self.fields["account"].choices = [*none_yet, *choices]  # type: ignore[attr-defined]
