"""The forms of payees, and the filter of their list."""

from collections.abc import Sequence
from typing import Any, ClassVar

from django import forms
from django.db.models import Q, QuerySet

from desk.forms import SecondFactorForm
from desk.lists.filters import SEARCH_MOST, FilterForm
from exchange_ops.market.models import Currency
from exchange_ops.payees import states
from exchange_ops.payees.models import LONGEST_TEXT, LONGEST_TITLE, Payee


class PayeeForm(forms.Form):
    """A payee to be added."""

    title = forms.CharField(label="Name", max_length=LONGEST_TITLE, help_text="As shown in lists and on payouts.")
    owner = forms.CharField(
        label="Owner", max_length=LONGEST_TITLE, help_text="The company or person who is paid at this address."
    )
    currency = forms.ChoiceField(label="Currency")
    address = forms.CharField(label="Address", max_length=256)
    payment_id = forms.CharField(label="Payment ID", required=False, max_length=256)
    group = forms.CharField(
        label="Group", required=False, max_length=LONGEST_TITLE, help_text="Payout rules can refer to a group."
    )
    supplier = forms.CharField(
        label="Reference",
        required=False,
        max_length=LONGEST_TITLE,
        help_text="A supplier number or cost centre.",
    )
    evidence = forms.CharField(
        label="How the address was checked",
        max_length=LONGEST_TEXT,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="For example: read back by phone to a known contact. Approvers see it.",
    )

    ASKS: ClassVar = {
        "title": "Enter a name for this payee.",
        "owner": "Enter who is paid at this address.",
        "currency": "Choose a currency.",
        "address": "Enter the recipient's address.",
        "evidence": "Enter how the address was checked.",
    }

    def __init__(self, *arguments: Any, currencies: Sequence[Currency], **named: Any) -> None:
        super().__init__(*arguments, **named)
        choices = [("", "Choose a currency"), *((each.code, each.code) for each in currencies)]
        self.fields["currency"].choices = choices  # type: ignore[attr-defined]
        for name, sentence in self.ASKS.items():
            self.fields[name].error_messages["required"] = sentence

    @classmethod
    def renewing(cls, row: Payee) -> dict[str, str]:
        """The fields that renew this payee. How its address was checked is asked once more."""
        return {name: getattr(row, name) for name in cls.base_fields if name != "evidence"}


class ApproveForm(SecondFactorForm):
    """A second factor for the payee on the page."""


class ReasonForm(forms.Form):
    """Why a payee is rejected or removed."""

    reason = forms.CharField(label="Reason", max_length=LONGEST_TEXT, widget=forms.Textarea(attrs={"rows": 2}))


class PayeeFilter(FilterForm):
    """What the list shows: a status, and a text."""

    text = forms.CharField(label="Name, owner, address, group or reference", required=False, max_length=SEARCH_MOST)
    state = forms.ChoiceField(label="Status", required=False, choices=[("", "Any status"), *states.TABLE.choices])

    def narrow(self, rows: QuerySet[Payee]) -> QuerySet[Payee]:
        """Only the payees that every filter which is set lets through."""
        chosen = self.chosen()
        if "state" in chosen:
            rows = rows.filter(state=chosen["state"])
        if "text" in chosen:
            named = Q()
            for name in ("title", "owner", "address", "group", "supplier"):
                named |= Q(**{f"{name}__icontains": chosen["text"]})
            rows = rows.filter(named)
        return rows
