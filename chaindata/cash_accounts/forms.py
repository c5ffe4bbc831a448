"""The shape of what people type to look up a cash account."""

from django import forms

from chaindata.cash_accounts import accounts
from chaindata.tools.forms import plain_input


class LookupForm(forms.Form):
    """A cash account, or an address whose accounts are wanted."""

    q = forms.CharField(
        label="Account or address",
        max_length=accounts.LONGEST,
        widget=plain_input(placeholder="Jonathan#100"),
        error_messages={
            "required": "Enter an account like Jonathan#100, or an address.",
            "max_length": "This is longer than any account or address.",
        },
    )
