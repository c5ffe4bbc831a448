"""The form fields of transfers. Whether a request is allowed is decided by the domain."""

from collections.abc import Sequence
from typing import Any, Final

from django import forms
from django.db.models import Q, QuerySet

from desk.fields import plain
from desk.lists.filters import SEARCH_MOST, DatedForm
from exchange_ops.market.models import Currency
from exchange_ops.shared.forms import LONGEST_REASON, AmountField, DecisionForm, RequestForm, ResolutionForm
from exchange_ops.subaccounts.models import SubAccount
from exchange_ops.transfers import states
from exchange_ops.transfers.models import Transfer
from exchange_ops.transfers.states import OPEN_STATES, STATES
from wire.values import decimal_text

# Transfers ------------------------------------------------------------------------------------------------------------

LONGEST_NUMBER = 18  # digits that fit into a key
SLUGS: Final = {
    "move": (states.BANK_TO_TRADING, states.TRADING_TO_BANK),
    "convert": (states.CONVERT,),
    "to-subaccount": (states.TO_SUBACCOUNT,),
    "from-subaccount": (states.FROM_SUBACCOUNT,),
    "to-user": (states.TO_USER,),
}


class NewTransferForm(RequestForm):
    """A request for a transfer of one kind; the fields of the kind come beside the common ones."""

    kind = forms.ChoiceField(label="Direction")
    subaccount_id = forms.TypedChoiceField(label="Sub-account", coerce=int, empty_value=None)
    by = forms.ChoiceField(label="Identify the other user by", choices=list(states.IDENTIFIED_BY.items()))
    identifier = forms.CharField(
        label="E-mail address or username",
        max_length=254,
        error_messages={"required": "Enter the other user's e-mail address or username."},
    )
    currency = forms.ChoiceField(label="Currency", error_messages={"required": "Choose the currency."})
    to_currency = forms.ChoiceField(label="Convert to", error_messages={"required": "Choose the target currency."})
    amount = AmountField(label="Amount", max_length=80, error_messages={"required": "Enter the amount."})
    reason = forms.CharField(
        label="Reason",
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 2}),
        error_messages={"required": "Enter the purpose of the transfer."},
    )
    request_key = forms.UUIDField(widget=forms.HiddenInput)

    def __init__(
        self,
        *arguments: Any,
        slug: str,
        currencies: list[Currency],
        subaccounts: Sequence[SubAccount] = (),
        **options: Any,
    ) -> None:
        super().__init__(*arguments, **options)
        self.slug = slug
        self._keep_those_of(slug)
        codes = [(row.code, f"{row.code}  {row.full_name}".strip()) for row in currencies]
        numbers = [(row.exchange_id, f"{row.exchange_id}  {row.email}") for row in subaccounts]
        choices_by_field = {
            "kind": [(kind, states.KINDS[kind]) for kind in SLUGS[slug]],
            "currency": [("", "Choose"), *codes],
            "to_currency": [("", "Choose"), *codes],
            "subaccount_id": [("", "Choose"), *numbers],
        }
        for name, choices in choices_by_field.items():
            if name in self.fields:
                self.fields[name].choices = choices  # type: ignore[attr-defined]
        for name in ("amount", "identifier"):
            if name in self.fields:
                self.fields[name].widget.attrs |= {
                    "autocomplete": "off",
                    "spellcheck": "false",
                    "autocapitalize": "off",
                }

    def _keep_those_of(self, slug: str) -> None:
        fields_by_slug = {"to-user": {"by", "identifier"}, "convert": {"to_currency"}, "move": {"kind"}}
        fields = fields_by_slug.get(slug, {"subaccount_id"})
        for name in {"kind", "subaccount_id", "by", "identifier", "to_currency"} - fields:
            del self.fields[name]

    @staticmethod
    def repeating(row: Transfer) -> dict[str, Any]:
        """The fields of a request that asks for the same as this one; a person still reads and sends the form."""
        names = ("kind", "currency", "to_currency", "by", "identifier", "subaccount_id", "reason")
        return {name: getattr(row, name) for name in names} | {"amount": decimal_text(plain(row.amount))}

    def arguments(self) -> dict[str, Any]:
        """The arguments of `workflow.request`, from a valid form."""
        values = {"kind": SLUGS[self.slug][0], **self.cleaned_data}
        return values | {"request_key": str(values["request_key"])}


class TransferEndForm(DecisionForm):
    """One person's decision on a transfer that was not seen, with a reason and a second factor."""

    comment = forms.CharField(
        label="Reason",
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 2}),
        error_messages={"required": "Enter what you checked and the reason for your decision."},
    )


class ReissueForm(TransferEndForm):
    """The same, asked for once more as a new transfer."""

    request_key = forms.UUIDField(widget=forms.HiddenInput)


class TransferVerdictForm(ResolutionForm):
    """The verdict of one person on a transfer that the desk could not settle."""

    verdict = forms.ChoiceField(
        label="Finding",
        choices=[("", "Choose"), ("moved", "The money was moved"), ("not_moved", "The money was not moved")],
        error_messages={"required": "Choose a finding: moved or not moved."},
    )


class TransferFilter(DatedForm):
    """Which transfers to list."""

    dated, dated_label = "created_at", "Requested"

    text = forms.CharField(label="Reference, user, sub-account, reason", required=False, max_length=SEARCH_MOST)
    state = forms.ChoiceField(
        label="State",
        required=False,
        choices=[("", "Any state"), ("open", "Open"), *((name, row.label) for name, row in STATES.items())],
    )
    kind = forms.ChoiceField(label="Type", required=False, choices=[("", "Any type"), *states.KINDS.items()])
    currency = forms.CharField(label="Currency", required=False, max_length=20)
    initiator = forms.CharField(label="Requested by", required=False, max_length=150)

    def narrow(self, rows: QuerySet[Transfer]) -> QuerySet[Transfer]:
        """Only the rows that pass every filter that is set."""
        chosen = self.chosen()
        if "state" in chosen:
            rows = rows.filter(state__in=OPEN_STATES if chosen["state"] == "open" else (chosen["state"],))
        if "kind" in chosen:
            rows = rows.filter(kind=chosen["kind"])
        if "currency" in chosen:
            code = chosen["currency"].upper()
            rows = rows.filter(Q(currency=code) | Q(to_currency=code))
        if "initiator" in chosen:
            rows = rows.filter(initiator__username=chosen["initiator"])
        return rows.filter(transfers_like(chosen["text"])) if "text" in chosen else rows


def transfers_named(text: str) -> Q:
    """Transfers that the text names exactly: by reference or number, or by an exchange id."""
    condition = Q(exchange_id=text) | Q(second_id=text)
    number = text.upper().removeprefix("T-")
    if number.isascii() and number.isdigit() and len(number) <= LONGEST_NUMBER:
        condition |= Q(pk=int(number))
    return condition


def transfers_like(text: str) -> Q:
    """Transfers that the text names, or that have it as sub-account or inside their reason or other user."""
    condition = transfers_named(text) | Q(reason__icontains=text) | Q(identifier__icontains=text)
    if text.isascii() and text.isdigit() and len(text) <= LONGEST_NUMBER:
        condition |= Q(subaccount_id=int(text))
    return condition
