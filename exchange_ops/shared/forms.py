"""Forms for what people and programs type. They check the shape; the domain decides what may be done.

Figures are plain ASCII digits with one point: no exponents, no separators, no digits of other scripts, no signs.
Blanks around a value are dropped; anything invisible inside it is refused, never guessed at.
"""

import re
import uuid
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from django import forms

from desk.forms import SecondFactorForm
from desk.machines.rows import Subject
from desk.personal import formats
from desk.personal.formats import MINUS

LONGEST_REASON = 500
WHOLE_DIGITS, FRACTION_DIGITS = 36, 24
# What is typed for the marks that the pages write between thousands (desk/personal/formats.py).
_ALIKE = {"\u202f": "\u202f\u2009\u00a0 ", "\u2019": "\u2019'"}
_DECIMAL_COMMA = re.compile(r"0,\d{1,24}|\d{1,36},(\d{1,2}|\d{4,24})", re.ASCII)
_INSTANT = re.compile(r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d))?", re.ASCII)
_AMOUNT = re.compile(rf"\d{{1,{WHOLE_DIGITS}}}(\.\d{{1,{FRACTION_DIGITS}}})?", re.ASCII)


class AmountField(forms.CharField):
    """A positive amount as an exact Decimal; a refused text stays in the form."""

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        return read_amount(text) if text else text


class GroupedAmountField(AmountField):
    """An amount that may be copied from a page: thousands are read in the reader's own grouping, and in no other."""

    def clean(self, value: Any) -> Any:
        text = forms.CharField.clean(self, value)
        return read_grouped_amount(text, mark=formats.current().mark) if text else text


def read_grouped_amount(text: str, *, mark: str) -> Decimal:
    """The amount that a person wrote, with thousands grouped by `mark` or not at all; raises ValidationError.

    The decimal sign is a point. Only whole groups of three are read, so that no decimal comma becomes a thousandfold.
    """
    marks = _ALIKE.get(mark, mark)
    if marks and (match := re.fullmatch(rf"([1-9]\d{{0,2}})((?:[{marks}]\d{{3}})+)(\.\d+)?", text, re.ASCII)):
        text = match[1] + re.sub(rf"[{marks}]", "", match[2]) + (match[3] or "")
    elif "," in text:
        point = text.replace(",", ".") if _DECIMAL_COMMA.fullmatch(text) else ""
        grouped = f"enter 1{mark}234.5 or 1234.5" if mark else "enter 1234.5"
        like = f"enter {point}, not {text}" if point else grouped
        raise forms.ValidationError(f"Use a decimal point: {like}.", code="comma")
    return read_amount(text.replace(MINUS, "-"))


def read_amount(text: str) -> Decimal:
    """The amount a person or a program wrote; raises ValidationError with the sentence for them."""
    if not text.isascii():
        raise forms.ValidationError("Use only the digits 0 to 9 and a decimal point.", code="odd_character")
    if text.startswith("-"):
        raise forms.ValidationError("Enter an amount greater than zero.", code="negative")
    if "," in text:
        raise forms.ValidationError(
            "Enter the amount with a decimal point and no thousands separator, for example 1234.5.", code="comma"
        )
    if not _AMOUNT.fullmatch(text):
        raise forms.ValidationError(_amount_problem(text), code="malformed")
    amount = Decimal(text)
    if amount == 0:
        raise forms.ValidationError("Enter an amount greater than zero.", code="zero")
    return amount


def _amount_problem(text: str) -> str:
    integer, point, fraction = text.partition(".")
    if integer.isdigit() and (fraction.isdigit() or not point):
        if len(integer) > WHOLE_DIGITS:
            return f"Enter at most {WHOLE_DIGITS} digits before the decimal point."
        return f"Enter at most {FRACTION_DIGITS} digits after the decimal point."
    return "Enter the amount in digits with one decimal point, for example 0.25."


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
        error_messages={"required": "Enter a reason. It is shown in the history and the audit trail."},
    )


class CancelForm(ReasonForm):
    """Cancelling a request. Its requester may leave out the reason; anybody else has to give one."""

    def __init__(self, *arguments: Any, by_requester: bool, **options: Any) -> None:
        super().__init__(*arguments, **options)
        if by_requester:
            self.fields["reason"].required = False
            self.fields["reason"].help_text = "Shown in the history and the audit trail."


class ResolutionForm(DecisionForm):
    """The verdict of one person on a case that the desk could not settle."""

    verdict = forms.ChoiceField(
        label="Finding",
        choices=[("", "Choose"), ("paid", "Paid"), ("not_paid", "Not paid")],
        error_messages={"required": "Choose a finding: paid or not paid."},
    )
    comment = forms.CharField(
        label="Evidence",
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 3}),
        error_messages={"required": "Enter what you checked: statements, transactions, responses."},
    )


class InstantField(forms.CharField):
    """A moment in UTC, as the browser's own picker writes it."""

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        return read_instant(text) if text else None


def read_instant(text: str) -> datetime:
    """The moment a person wrote, in UTC; raises ValidationError with the sentence for them."""
    match = _INSTANT.fullmatch(text)
    if match is None:
        raise forms.ValidationError("Enter a date and time in UTC, for example 2026-11-30 18:00.", code="malformed")
    try:
        return datetime(*(int(part or 0) for part in match.groups()), tzinfo=UTC)  # type: ignore[misc,arg-type]
    except ValueError:
        raise forms.ValidationError("This date or time does not exist.", code="malformed") from None


class RequestForm(forms.Form):
    """A request to the domain, which may refuse it. `original` is the ended row whose content fills it, if any."""

    original: Subject | None = None

    def refuse(self, problems: dict[str, str]) -> None:
        """Show the domain's sentences beside their fields, and those without a field above the form."""
        for name, sentence in problems.items():
            self.add_error(name if name in self.fields else None, sentence)
