"""The shape of what people type on the page about the rules."""

from django import forms

from exchange_ops.shared.forms import LONGEST_REASON, DecisionForm


class ThawForm(DecisionForm):
    """One person's agreement to let money leave again."""

    comment = forms.CharField(
        label="Reason",
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 2}),
        error_messages={"required": "Say why money may leave again."},
    )
