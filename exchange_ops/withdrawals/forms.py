"""The form fields of payouts. Whether a request is allowed is decided by the domain."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django import forms
from django.db.models import Q, QuerySet

from desk.actions.file_field import HINT, FileField
from desk.audit.words import SYSTEM
from desk.fields import plain
from desk.lists.filters import SEARCH_MOST, DatedForm, PatternField
from exchange_ops.addresses import destinations
from exchange_ops.market.models import Currency
from exchange_ops.payees.models import Payee
from exchange_ops.shared.forms import LONGEST_REASON, AmountField, DecisionForm, RequestForm
from exchange_ops.wire import payment_requests
from exchange_ops.wire.payment_requests import PaymentRequest
from exchange_ops.withdrawals import endings, queries, states
from exchange_ops.withdrawals.models import Withdrawal
from exchange_ops.withdrawals.states import STATES
from exchange_ops.withdrawals.templates.models import PayoutTemplate
from wire.values import decimal_text

LONGEST_TYPED: Final = 1000


class NewWithdrawalForm(RequestForm):
    """A request for a payout. `request_key` makes a double click, a second tab and a reload the same request."""

    FEE_ON_TOP, FEE_FROM_AMOUNT = "on_top", "from_amount"

    ANOTHER = "Another recipient"
    STALE = "This payee is not an approved payee in this currency now. Choose another one, or fill in the address."
    DIFFERS = "The recipient below is not this payee. Use “Fill in payee”, or choose “Another recipient”."

    payee = forms.ChoiceField(label="Approved payee", required=False, error_messages={"invalid_choice": STALE})
    currency = forms.ChoiceField(label="Currency", error_messages={"required": "Choose the currency."})
    amount = AmountField(label="Amount", max_length=80, error_messages={"required": "Enter the amount."})
    fee_from = forms.ChoiceField(
        label="Network fee",
        choices=[(FEE_ON_TOP, "added to amount"), (FEE_FROM_AMOUNT, "deducted from amount")],
        initial=FEE_ON_TOP,
    )
    address = forms.CharField(
        label="Address",
        max_length=400,
        strip=False,
        error_messages={"required": "Enter the recipient's address."},
    )
    payment_id = forms.CharField(label="Payment ID", max_length=400, strip=False, required=False)
    reason = forms.CharField(
        label="Reason",
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 2}),
        error_messages={"required": "Enter the purpose of the payment. Approvers will see it."},
    )
    file = FileField(
        label="Invoice or contract",
        required=False,
        help_text=f"Shown to approvers and kept as evidence. {HINT}",
    )
    request_key = forms.UUIDField(widget=forms.HiddenInput)

    def __init__(
        self, *arguments: Any, currencies: list[Currency], payees: Sequence[Payee] = (), **options: Any
    ) -> None:
        super().__init__(*arguments, **options)
        self.currencies = currencies
        self.payees = {str(row.pk): row for row in payees}
        named = [(number, _payee_label(row)) for number, row in self.payees.items()]
        self.fields["payee"].choices = [("", self.ANOTHER), *named]  # type: ignore[attr-defined]
        choices = [(row.code, f"{row.code}  {row.full_name}".strip()) for row in currencies]
        self.fields["currency"].choices = [("", "Choose"), *choices]  # type: ignore[attr-defined]
        widgets = {name: field.widget.attrs for name, field in self.fields.items()}
        for name in ("amount", "address", "payment_id"):
            widgets[name].update({"autocomplete": "off", "spellcheck": "false", "autocapitalize": "off"})

    @classmethod
    def repeating(cls, row: Withdrawal | PayoutTemplate) -> dict[str, Any]:
        """The fields of a request for the same as this payout or template; a person still reads and sends the form."""
        return {
            "currency": row.currency,
            "amount": decimal_text(plain(row.amount)),
            "fee_from": cls.FEE_FROM_AMOUNT if row.include_fee else cls.FEE_ON_TOP,
            "address": row.address,
            "payment_id": row.payment_id,
            "reason": row.reason,
        }

    def clean(self) -> dict[str, Any]:
        """A payee that is chosen is the recipient in the fields: nothing is sent to another one than is shown."""
        cleaned = super().clean() or {}
        row = self.payees.get(cleaned.get("payee") or "")
        if row is not None and not _is_recipient(row, cleaned):
            self.add_error("payee", self.DIFFERS)
        return cleaned

    def arguments(self) -> dict[str, Any]:
        """The arguments of `workflow.unsaved`, from a valid form: all but the file."""
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


def _payee_label(row: Payee) -> str:
    payment_id = f", payment ID {row.payment_id}" if row.payment_id else ""
    return f"{row.title}, {row.currency} {row.address}{payment_id}"


def _is_recipient(row: Payee, cleaned: Mapping[str, Any]) -> bool:
    """Whether the recipient that was typed is this payee; a field that is refused anyway is no difference."""
    currency, address, payment_id = (cleaned.get(name) for name in ("currency", "address", "payment_id"))
    return (
        currency in (None, row.currency)
        and (address is None or destinations.same_address(code=row.currency, one=address.strip(), other=row.address))
        and (payment_id is None or payment_id.strip() == row.payment_id)
    )


@dataclass(frozen=True, slots=True)
class SplitRequest:
    """A payment request split into the fields of the form.

    `fields` are all fields as they are filled then: amount, payment id and reason keep what was typed into them.
    `differences` are sentences about what was typed and is not what the request says.
    """

    request: PaymentRequest
    fields: dict[str, str]
    differences: tuple[str, ...]


def split_request(typed: Mapping[str, Any]) -> SplitRequest | None:
    """The payment request in the address field, split; None for a plain address. Raises `CannotRead` as `read` does."""
    request = payment_requests.read(typed.get("currency", ""), typed.get("address", "")[:LONGEST_TYPED])
    if request is None:
        return None
    holds = {
        "amount": decimal_text(request.amount) if request.amount is not None else "",
        "payment_id": request.payment_id,
    }
    fields = {name: typed.get(name, "") for name in ("amount", "payment_id", "fee_from", "reason")}
    differences = [
        f"The payment request specifies {text} as the {spoken}; the field has a different value."
        for name, text, spoken in (
            ("amount", holds["amount"], "amount"),
            ("payment_id", holds["payment_id"], "payment ID"),
        )
        if text and fields[name].strip() not in {"", text}
    ]
    fields |= {name: text for name, text in holds.items() if text and not fields[name].strip()}
    fields["reason"] = fields["reason"].strip() or request.label
    return SplitRequest(request, {**fields, "currency": request.code, "address": request.address}, tuple(differences))


class ReleaseForm(DecisionForm):
    """One person's order to release a hold whose request is closed."""

    comment = forms.CharField(
        label="Reason",
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 2}),
        error_messages={"required": "Explain why the hold can be released and what you checked."},
    )


class WithdrawalFilter(DatedForm):
    """Which withdrawals to list."""

    dated, dated_label = "created_at", "Requested"

    text = forms.CharField(label="Reference, address, hash, reason", required=False, max_length=SEARCH_MOST)
    state = forms.ChoiceField(
        label="State",
        required=False,
        choices=[
            ("", "Any state"),
            ("open", "Open"),
            *((name, endings.SHARED.get(name, row.label)) for name, row in STATES.items()),
            ("How it ended", [(name, end.label) for name, end in endings.ENDS.items()]),
        ],
    )
    turn = forms.ChoiceField(
        label="Waiting for",
        required=False,
        choices=[
            ("", "Anyone"),
            ("person", "People"),
            ("worker", SYSTEM),
            ("exchange", "The exchange"),
            ("nobody", "Nobody"),
        ],
    )
    currency = forms.CharField(label="Currency", required=False, max_length=20)
    initiator = forms.CharField(label="Requested by", required=False, max_length=150)
    batch = PatternField(
        "([Bb][Tt]-)?[0-9]{1,15}",
        label="Batch",
        required=False,
        error_messages={"invalid": "Enter the reference of a batch, for example BT-12."},
    )

    def narrow(self, rows: QuerySet[Withdrawal]) -> QuerySet[Withdrawal]:
        """Only the rows that pass every filter that is set."""
        chosen = self.chosen()
        if chosen.get("state") in endings.ENDS:
            rows = queries.ended_as(rows, chosen["state"])
        elif "state" in chosen:
            names = states.OPEN_STATES if chosen["state"] == "open" else (chosen["state"],)
            rows = rows.filter(state__in=names)
        if "turn" in chosen:
            rows = rows.filter(state__in=[name for name, row in STATES.items() if row.turn == chosen["turn"]])
        if "currency" in chosen:
            rows = rows.filter(currency=chosen["currency"].upper())
        if "initiator" in chosen:
            rows = rows.filter(initiator__username=chosen["initiator"])
        if "batch" in chosen:
            rows = rows.filter(batch_line__batch=int(chosen["batch"].upper().removeprefix("BT-")))
        return rows.filter(withdrawals_like(chosen["text"])) if "text" in chosen else rows


def withdrawals_named(text: str) -> Q:
    """Withdrawals that the text names exactly: by reference or number, exchange id or chain transaction."""
    condition = Q(exchange_id=text) | Q(hash=text)
    number = text.upper().removeprefix("W-")
    if number.isascii() and number.isdigit() and len(number) <= 18:
        condition |= Q(pk=int(number))
    return condition


def withdrawals_like(text: str) -> Q:
    """Withdrawals that the text names, or that have it as their payment id or inside their address or reason."""
    return withdrawals_named(text) | Q(address__icontains=text) | Q(reason__icontains=text) | Q(payment_id=text)
