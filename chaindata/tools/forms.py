"""The forms of the tools. What the bytes mean is decided in `tools` and `payloads`.

Blanks around a value are dropped. Numbers are ASCII digits; a refused form keeps what was typed.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from django import forms

from chaindata.tools import payloads, tools
from chaindata.tools.payloads import Figure, Operation

_WHOLE_NUMBER = re.compile(r"[0-9]{1,20}", re.ASCII)
_FIGURE = re.compile(r"[0-9]{1,20}(\.[0-9]{1,18})?", re.ASCII)
_TXID = re.compile(r"[0-9a-fA-F]{64}", re.ASCII)
_INSTANT = "%Y-%m-%d %H:%M"
LONGEST_TEXT_BYTES = 255
HIGHEST_PROPERTY = 2**32 - 1
_PLAIN = {"autocomplete": "off", "spellcheck": "false", "autocapitalize": "off"}


def plain_input(**more: str) -> forms.TextInput:
    """An input without autocorrection and autocompletion."""
    return forms.TextInput(attrs={**_PLAIN, **more})


class AddressForm(forms.Form):
    """An address in any form."""

    address = forms.CharField(
        label="Address",
        max_length=tools.LONGEST_ADDRESS,
        widget=plain_input(placeholder="bitcoincash:q…, simpleledger:q…, 1…"),
        error_messages={
            "required": "Enter an address in any format.",
            "max_length": "This is too long for an address on this chain.",
        },
    )


class HexForm(forms.Form):
    """Bytes as hexadecimal text."""

    hex = forms.CharField(
        label="Hexadecimal data",
        max_length=tools.MOST_HEX,
        strip=True,
        widget=forms.Textarea(attrs={**_PLAIN, "rows": 6, "class": "mono"}),
        error_messages={
            "required": "Paste the data in hexadecimal.",
            "max_length": f"Enter up to {tools.MOST_HEX // 2:,} bytes.",
        },
    )


class TxidForm(forms.Form):
    """The id of a transaction."""

    txid = forms.CharField(
        label="Transaction ID",
        max_length=80,
        widget=plain_input(placeholder="64 hexadecimal digits"),
        error_messages={"required": "Enter a transaction ID.", "max_length": "Enter 64 hexadecimal digits."},
    )

    def clean_txid(self) -> str:
        """64 hexadecimal digits, in small letters."""
        text: str = self.cleaned_data["txid"]
        if not _TXID.fullmatch(text):
            raise forms.ValidationError(
                f"IDs must be 64 hexadecimal digits; this one is {len(text)} characters.", code="malformed"
            )
        return text.lower()


# Payloads -------------------------------------------------------------------------------------------------------------


class WholeNumberField(forms.CharField):
    """A whole number in ASCII digits, within its bounds."""

    def __init__(self, *, lowest: int, highest: int, **options: Any) -> None:
        self.lowest, self.highest = lowest, highest
        super().__init__(max_length=40, widget=plain_input(inputmode="numeric"), **options)

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        if not text:
            return None
        if not _WHOLE_NUMBER.fullmatch(text) or not self.lowest <= int(text) <= self.highest:
            sentence = f"Enter a whole number from {self.lowest:,} to {self.highest:,}."
            raise forms.ValidationError(sentence, code="malformed")
        return int(text)


class FigureField(forms.CharField):
    """An amount of tokens as it was typed: how many decimals it may have depends on the property."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=60, widget=plain_input(inputmode="decimal"), **options)

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        if text and not _FIGURE.fullmatch(text):
            raise forms.ValidationError("Enter the amount in digits with one decimal point, such as 0.25.", code="odd")
        return Figure(text)


class ShortTextField(forms.CharField):
    """A text of at most 255 bytes, the limit of a payload."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=300, widget=plain_input(), **options)

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        if len(text.encode()) > LONGEST_TEXT_BYTES:
            sentence = f"The limit is {LONGEST_TEXT_BYTES} bytes; this is {len(text.encode())}."
            raise forms.ValidationError(sentence, code="too_long")
        return text


class InstantField(forms.CharField):
    """A moment in UTC, or the seconds since 1970 that the payload holds."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=40, widget=plain_input(placeholder="2030-12-31 23:59"), **options)

    def clean(self, value: Any) -> Any:
        text = super().clean(value).replace("T", " ")
        if _WHOLE_NUMBER.fullmatch(text) and 0 < int(text) < 2**63:
            return int(text)
        try:
            return int(datetime.strptime(text, _INSTANT).replace(tzinfo=UTC).timestamp())
        except ValueError:
            sentence = "Enter the time as 2030-12-31 23:59 (UTC) or as a Unix timestamp."
            raise forms.ValidationError(sentence, code="odd") from None


def _required(sentence: str) -> dict[str, Any]:
    return {"error_messages": {"required": sentence}}


FIELDS: dict[str, Callable[[], forms.Field]] = {
    "propertyId": lambda: WholeNumberField(
        label="Property", lowest=1, highest=HIGHEST_PROPERTY, **_required("Enter the property number.")
    ),
    "amount": lambda: FigureField(label="Amount, in tokens", **_required("Enter the amount.")),
    "memo": lambda: ShortTextField(label="Memo", required=False),
    "ecosystem": lambda: forms.ChoiceField(label="Ecosystem", choices=[("1", "1 (main)")]),
    "propertyPrecision": lambda: WholeNumberField(
        label="Decimal places", lowest=0, highest=8, **_required("Enter a number from 0 to 8.")
    ),
    "previousId": lambda: WholeNumberField(
        label="Previous ID",
        lowest=0,
        highest=HIGHEST_PROPERTY,
        help_text="0; for a managed property, 1 makes its tokens freezable.",
        initial="0",
        **_required("Enter 0 if there is no previous ID."),
    ),
    "category": lambda: ShortTextField(label="Category", required=False),
    "subcategory": lambda: ShortTextField(label="Subcategory", required=False),
    "name": lambda: ShortTextField(label="Name", **_required("Enter a name for the property.")),
    "url": lambda: ShortTextField(label="Website", required=False),
    "data": lambda: ShortTextField(label="Description", required=False),
    "propertyIdDesired": lambda: WholeNumberField(
        label="Payment property",
        lowest=1,
        highest=HIGHEST_PROPERTY,
        help_text="Nodes accept only 1 (WHC).",
        initial="1",
        **_required("Enter the property that buyers pay with."),
    ),
    "tokensPerUnit": lambda: FigureField(label="Tokens per WHC", **_required("Enter the price.")),
    "deadline": lambda: InstantField(label="Ends", **_required("Enter the sale's end time.")),
    "earlyBonus": lambda: WholeNumberField(
        label="Early bonus, % per week", lowest=0, highest=255, initial="0", **_required("Enter 0 for none.")
    ),
    "totalNumber": lambda: FigureField(label="Tokens for sale", **_required("Enter the quantity for sale.")),
    "distributionProperty": lambda: WholeNumberField(
        label="Distribute to holders of property",
        lowest=1,
        highest=HIGHEST_PROPERTY,
        **_required("Enter the number of the property whose holders receive the tokens."),
    ),
    "toAddress": lambda: forms.CharField(
        label="Address",
        max_length=tools.LONGEST_ADDRESS,
        widget=plain_input(),
        **_required("Enter the holder's address."),
    ),
}
"""Fields by the members of the wire."""


class PayloadForm(forms.Form):
    """The members of one of the fourteen operations."""

    def __init__(self, *arguments: Any, operation: Operation, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.operation = operation
        for name in operation.fields:
            self.fields[name] = FIELDS[name]()

    def clean_toAddress(self) -> str:  # noqa: N802  # named like the member of the wire
        """Its cash address, with the prefix that the payload repeats."""
        try:
            return payloads.cash_address_of(text=self.cleaned_data["toAddress"])
        except payloads.CannotMake as problem:
            raise forms.ValidationError(problem.problems["toAddress"], code="not_an_address") from None

    @property
    def values(self) -> dict[str, Any]:
        """The values of a valid form by the wire's members; the ecosystem as a number where the operation takes one."""
        cleaned = dict(self.cleaned_data)
        if self.operation.slug == "send-all":
            cleaned["ecosystem"] = int(cleaned["ecosystem"])
        return cleaned
