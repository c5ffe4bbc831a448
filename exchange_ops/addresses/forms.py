"""The shape of what people type on the pages about deposit addresses."""

from django import forms


class NewAddressForm(forms.Form):
    """The wish for a new address; the key makes a double click and a second tab the same wish."""

    request_key = forms.UUIDField(widget=forms.HiddenInput)
