"""The shape of a transaction that is to be sent."""

from django import forms

from chaindata.broadcasts import requests
from chaindata.broadcasts.models import LONGEST_REASON
from chaindata.tools import tools
from desk.forms import SecondFactorForm


class BroadcastForm(SecondFactorForm):
    """A transaction to be sent, with its second factor for exactly these bytes."""

    hex = forms.CharField(max_length=tools.MOST_HEX, widget=forms.HiddenInput)
    digest = forms.RegexField(r"^[0-9a-f]{64}$", widget=forms.HiddenInput)
    reason = forms.CharField(
        label="Reason",
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 2}),
        error_messages={"required": "Say why it is sent from here; it goes into the audit trail."},
    )
    purpose = requests.PURPOSE
