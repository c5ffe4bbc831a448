"""The shape of what people and programs type. Whether it may be done is the domain's to say.

Figures are plain ASCII digits with one point: no exponents, no separators, no digits of other scripts, no signs.
Blanks around a value are dropped; anything invisible inside it is refused, never guessed at.
"""

import re
import uuid
from decimal import Decimal
from typing import Any

from django import forms
from django.db.models import Q, QuerySet

from desk.forms import SecondFactorForm
from exchange_ops.domain import withdrawal_endings
from exchange_ops.models import Currency, LedgerEntry, Withdrawal, states, withdrawal_ends
from exchange_ops.models.states import STATES

LONGEST_REASON = 500
WHOLE_DIGITS, FRACTION_DIGITS = 36, 24
_AMOUNT = re.compile(rf"\d{{1,{WHOLE_DIGITS}}}(\.\d{{1,{FRACTION_DIGITS}}})?", re.ASCII)
_SEARCH_MOST = 200
# The exchange's own words for kinds and statuses of its ledger, and ours for them: chips and filters say the same.
LEDGER_KINDS = {
    "payin": "Payin",
    "payout": "Payout",
    "deposit": "Deposit",
    "withdraw": "Withdraw",
    "bankToExchange": "Bank to trading",
    "exchangeToBank": "Trading to bank",
}
LEDGER_STATUSES = {"created": "Created", "pending": "Pending", "success": "Success", "failed": "Failed"}


class AmountField(forms.CharField):
    """A positive amount as exact Decimal; the text that was typed stays in the form when it is refused."""

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        return read_amount(text) if text else text


def read_amount(text: str) -> Decimal:
    """The amount a person or a program wrote; raises ValidationError with the sentence for them."""
    if not text.isascii():
        raise forms.ValidationError(
            "Use the digits 0 to 9 and a point; another character is in it.", code="odd_character"
        )
    if text.startswith("-"):
        raise forms.ValidationError("An amount is above zero.", code="negative")
    if "," in text:
        raise forms.ValidationError("Write the amount with a point and without thousands, like 1234.5.", code="comma")
    if not _AMOUNT.fullmatch(text):
        raise forms.ValidationError(_amount_problem(text), code="malformed")
    amount = Decimal(text)
    if amount == 0:
        raise forms.ValidationError("An amount is above zero.", code="zero")
    return amount


def _amount_problem(text: str) -> str:
    whole, point, rest = text.partition(".")
    if whole.isdigit() and (rest.isdigit() or not point):
        if len(whole) > WHOLE_DIGITS:
            return f"More than {WHOLE_DIGITS} digits before the point can't be an amount."
        return f"No currency has more than {FRACTION_DIGITS} digits after the point."
    return "Write the amount as digits with at most one point, like 0.25."


class NewWithdrawalForm(forms.Form):
    """A request for a payout. `request_key` makes a double click, a second tab and a reload the same request."""

    FEE_ON_TOP, FEE_FROM_AMOUNT = "on_top", "from_amount"

    currency = forms.ChoiceField(label="Currency", error_messages={"required": "Choose the currency."})
    amount = AmountField(label="Amount", max_length=80, error_messages={"required": "Enter the amount."})
    fee_from = forms.ChoiceField(
        label="The exchange's fee",
        choices=[(FEE_ON_TOP, "comes on top"), (FEE_FROM_AMOUNT, "is taken out of the amount")],
        initial=FEE_ON_TOP,
    )
    address = forms.CharField(
        label="Address",
        max_length=400,
        strip=False,
        error_messages={"required": "Enter the address that the money goes to."},
    )
    payment_id = forms.CharField(label="Payment id", max_length=400, strip=False, required=False)
    reason = forms.CharField(
        label="Reason",
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 2}),
        error_messages={"required": "Say what the payment is for; the approvers read it."},
    )
    request_key = forms.UUIDField(widget=forms.HiddenInput)

    def __init__(self, *arguments: Any, currencies: list[Currency], **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.currencies = currencies
        choices = [(row.code, f"{row.code}  {row.full_name}".strip()) for row in currencies]
        self.fields["currency"].choices = [("", "Choose"), *choices]  # type: ignore[attr-defined]
        widgets = {name: field.widget.attrs for name, field in self.fields.items()}
        for name in ("amount", "address", "payment_id"):
            widgets[name].update({"autocomplete": "off", "spellcheck": "false", "autocapitalize": "off"})

    def asked(self) -> dict[str, Any]:
        """What the domain wants to know, from a form that is valid."""
        cleaned = self.cleaned_data
        return {
            "currency": cleaned["currency"],
            "amount": cleaned["amount"],
            "address": cleaned["address"],
            "payment_id": cleaned["payment_id"],
            "include_fee": cleaned["fee_from"] == self.FEE_FROM_AMOUNT,
            "reason": cleaned["reason"],
            "request_key": str(cleaned["request_key"]),
        }

    def refuse(self, problems: dict[str, str]) -> None:
        """Put the domain's sentences beside the fields they are about; what has no field stands above the form."""
        for name, sentence in problems.items():
            self.add_error(name if name in self.fields else None, sentence)


def fresh_key() -> str:
    """A new request key for a form that is shown for the first time."""
    return str(uuid.uuid4())


class DecisionForm(SecondFactorForm):
    """A decision with its second factor: the digest on the screen, and a one-time code or a passkey's answer."""

    digest = forms.RegexField(r"^[0-9a-f]{64}$", widget=forms.HiddenInput)
    comment = forms.CharField(label="Comment", required=False, max_length=LONGEST_REASON)


class ReasonForm(forms.Form):
    """A reason for ending or stopping something."""

    reason = forms.CharField(
        label="Reason",
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 2}),
        error_messages={"required": "Give a reason; it goes into the timeline and the audit trail."},
    )


class ResolutionForm(DecisionForm):
    """The verdict of one person on a case that the desk could not settle."""

    verdict = forms.ChoiceField(
        label="Verdict",
        choices=[("", "Choose"), ("paid", "It was paid"), ("not_paid", "It was not paid")],
        error_messages={"required": "Say whether it was paid."},
    )
    comment = forms.CharField(
        label="Evidence",
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 3}),
        error_messages={"required": "Say what you looked at: statements, transactions, answers."},
    )


class ThawForm(DecisionForm):
    """One person's agreement to let money leave again."""

    comment = forms.CharField(
        label="Reason",
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 2}),
        error_messages={"required": "Say why money may leave again."},
    )


class FilterForm(forms.Form):
    """Filters in the address of a list: a value that makes no sense filters nothing and is not an error page."""

    def chosen(self) -> dict[str, Any]:
        """The filters that are set and make sense."""
        self.is_valid()
        return {name: value for name, value in self.cleaned_data.items() if value not in (None, "")}


class WithdrawalFilter(FilterForm):
    """Which withdrawals to list."""

    state = forms.ChoiceField(
        required=False,
        choices=[
            ("", "Any state"),
            ("open", "Open"),
            *((name, withdrawal_ends.SHARED.get(name, row.label)) for name, row in STATES.items()),
            ("How it ended", [(name, end.label) for name, end in withdrawal_ends.ENDS.items()]),
        ],
    )
    turn = forms.ChoiceField(
        required=False,
        choices=[
            ("", "Anybody"),
            ("person", "People"),
            ("worker", "The desk"),
            ("exchange", "The exchange"),
            ("nobody", "Nobody"),
        ],
    )
    currency = forms.CharField(required=False, max_length=20)
    initiator = forms.CharField(required=False, max_length=150)
    text = forms.CharField(required=False, max_length=_SEARCH_MOST)

    def narrow(self, rows: QuerySet[Withdrawal]) -> QuerySet[Withdrawal]:
        """Only the rows that every filter which is set lets through."""
        chosen = self.chosen()
        if chosen.get("state") in withdrawal_ends.ENDS:
            rows = withdrawal_endings.ended_as(rows, chosen["state"])
        elif "state" in chosen:
            wanted = states.OPEN_STATES if chosen["state"] == "open" else (chosen["state"],)
            rows = rows.filter(state__in=wanted)
        if "turn" in chosen:
            rows = rows.filter(state__in=[name for name, row in STATES.items() if row.turn == chosen["turn"]])
        if "currency" in chosen:
            rows = rows.filter(currency=chosen["currency"].upper())
        if "initiator" in chosen:
            rows = rows.filter(initiator__username=chosen["initiator"])
        return rows.filter(withdrawals_like(chosen["text"])) if "text" in chosen else rows


def withdrawals_named(text: str) -> Q:
    """Withdrawals that the text names exactly: by reference or number, exchange id or chain transaction."""
    found = Q(exchange_id=text) | Q(hash=text)
    number = text.upper().removeprefix("W-")
    if number.isascii() and number.isdigit() and len(number) <= 18:
        found |= Q(pk=int(number))
    return found


def withdrawals_like(text: str) -> Q:
    """Withdrawals that the text names, or that have it as payment id or somewhere in their address or reason."""
    return withdrawals_named(text) | Q(address__icontains=text) | Q(reason__icontains=text) | Q(payment_id=text)


class LedgerFilter(FilterForm):
    """Which lines of the exchange's ledger to list."""

    currency = forms.CharField(required=False, max_length=20)
    type = forms.ChoiceField(
        required=False,
        choices=[
            ("", "Any kind"),
            *LEDGER_KINDS.items(),
        ],
    )
    status = forms.ChoiceField(
        required=False,
        choices=[("", "Any status"), *LEDGER_STATUSES.items()],
    )
    origin = forms.ChoiceField(
        required=False, choices=[("", "Any origin"), ("ours", "Asked for here"), ("foreign", "Made elsewhere")]
    )
    text = forms.CharField(required=False, max_length=_SEARCH_MOST)

    def narrow(self, rows: QuerySet[LedgerEntry]) -> QuerySet[LedgerEntry]:
        """Only the lines that every filter which is set lets through."""
        chosen = self.chosen()
        if "currency" in chosen:
            rows = rows.filter(currency=chosen["currency"].upper())
        rows = rows.filter(**{name: chosen[name] for name in ("type", "status") if name in chosen})
        if "origin" in chosen:
            foreign = chosen["origin"] == "foreign"
            rows = rows.filter(foreign=True) if foreign else rows.filter(withdrawal__isnull=False)
        if "text" in chosen:
            rows = rows.filter(entries_like(chosen["text"]))
        return rows


def entries_like(text: str) -> Q:
    """Ledger lines that a piece of text names: exchange id, hash or a piece of the address."""
    return Q(exchange_id=text) | Q(hash=text) | Q(address__icontains=text)


class FindForm(forms.Form):
    """What was typed into the one search box."""

    q = forms.CharField(max_length=_SEARCH_MOST, error_messages={"required": "Type something to find."})
