"""The shape of what people type about margin accounts and positions. Whether it may be done is the domain's to say."""

import re
from decimal import Decimal
from typing import Any

from django import forms

from exchange_ops.orders.forms import TokensField
from exchange_ops.policy.oversteps import MOST_CONFIRMED
from exchange_ops.positions import states
from exchange_ops.positions.request_checks import Wish
from exchange_ops.positions.workflow import LONGEST_NOTE
from exchange_ops.shared.forms import GroupedAmountField, RequestForm

WHOLE_POSITION, PART_OF_POSITION = "whole", "part"
MOST_POSITIONS = 200
_POSITION = re.compile(r"([^\s:]{1,40}):([0-9]{1,18}):(-?[0-9]{1,36}(?:\.[0-9]{1,24})?)", re.ASCII)
_CONFIRMED = re.compile(r"([^\s:]{1,40}):([a-z_]{1,20}:[0-9a-z.]{1,60})", re.ASCII)
_FIGURE = {"autocomplete": "off", "spellcheck": "false", "placeholder": " "}


class CollateralForm(RequestForm):
    """How much collateral the margin account of a symbol is to have."""

    symbol = forms.ChoiceField(label="Symbol", error_messages={"required": "Choose a symbol."})
    amount = GroupedAmountField(
        label="Collateral", max_length=80, error_messages={"required": "Enter the collateral amount."}
    )
    confirmed = TokensField(required=False, label="Confirmation")
    request_key = forms.UUIDField(widget=forms.HiddenInput)

    def __init__(self, *arguments: Any, symbols: list[str], **options: Any) -> None:
        super().__init__(*arguments, **options)
        choices = [(code, code) for code in symbols]
        chosen = len(choices) == 1
        self.fields["symbol"].choices = choices if chosen else [("", "Choose"), *choices]  # type: ignore[attr-defined]
        if chosen:
            self.fields["symbol"].widget = forms.HiddenInput()
        self.fields["amount"].widget.attrs |= _FIGURE

    def wish(self, *, exists: bool) -> Wish:
        """The action that a valid form requests."""
        cleaned = self.cleaned_data
        kind = states.SET if exists else states.OPEN
        return Wish(kind=kind, symbol=cleaned["symbol"], amount=cleaned["amount"])


class CloseForm(RequestForm):
    """How much of a position is to be closed, and at which price; `position_id` is the one that was shown."""

    how_much = forms.ChoiceField(
        label="Scope",
        choices=[(WHOLE_POSITION, "Whole position"), (PART_OF_POSITION, "Part of position")],
        initial=WHOLE_POSITION,
    )
    quantity = GroupedAmountField(label="Quantity", max_length=80, required=False)
    order_type = forms.ChoiceField(label="Price", choices=list(states.ORDER_TYPES.items()), initial=states.MARKET)
    price = GroupedAmountField(label="Limit price", max_length=80, required=False)
    position_id = forms.IntegerField(min_value=0, max_value=2**63 - 1, widget=forms.HiddenInput)
    confirmed = TokensField(required=False, label="Confirmation")
    request_key = forms.UUIDField(widget=forms.HiddenInput)

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        for name in ("quantity", "price"):
            self.fields[name].widget.attrs |= _FIGURE

    def clean(self) -> dict[str, Any]:
        """The page hides fields that the choice doesn't take, so values that remain in them are dropped."""
        cleaned = super().clean() or self.cleaned_data
        for name, choice, takes in (("quantity", "how_much", PART_OF_POSITION), ("price", "order_type", states.LIMIT)):
            if cleaned.get(choice) != takes:
                cleaned[name] = None
                self.errors.pop(name, None)
        return cleaned

    def wish(self, symbol: str) -> Wish:
        """The action that a valid form requests."""
        cleaned = self.cleaned_data
        is_part = cleaned["how_much"] == PART_OF_POSITION
        return Wish(
            kind=states.REDUCE if is_part else states.CLOSE,
            symbol=symbol,
            quantity=(cleaned["quantity"] or Decimal(0)) if is_part else None,
            order_type=cleaned["order_type"],
            price=cleaned["price"] or None,
            position_id=cleaned["position_id"],
        )


class CloseAccountForm(RequestForm):
    """Closing a margin account, with the position that was shown, if there was one."""

    position_id = forms.IntegerField(min_value=0, max_value=2**63 - 1, required=False, widget=forms.HiddenInput)
    confirmed = TokensField(required=False, label="Confirmation")
    request_key = forms.UUIDField(widget=forms.HiddenInput)


class PositionsField(forms.Field):
    """The positions that were shown, each by its symbol, the exchange's number and its signed quantity."""

    widget = forms.MultipleHiddenInput

    def clean(self, value: Any) -> list[tuple[str, int, Decimal]]:
        matches = [_POSITION.fullmatch(str(text)) for text in value or []]
        if not matches or len(matches) > MOST_POSITIONS or not all(matches):
            raise forms.ValidationError(
                "Not sent: the list of positions is invalid. Reload the page and try again.", code="malformed"
            )
        return [(match[1], int(match[2]), Decimal(match[3])) for match in matches if match is not None]


class SymbolTokensField(forms.Field):
    """The confirmations by name, each token sent behind its symbol; gives them by symbol."""

    widget = forms.MultipleHiddenInput

    def clean(self, value: Any) -> dict[str, list[str]]:
        matches = [_CONFIRMED.fullmatch(str(text)) for text in value or []]
        if len(matches) > MOST_POSITIONS * MOST_CONFIRMED or not all(matches):
            raise forms.ValidationError("Tick the box to confirm.", code="malformed")
        tokens: dict[str, list[str]] = {}
        for match in matches:
            if match is not None:
                tokens.setdefault(match[1], []).append(match[2])
        return tokens


class CloseAllForm(RequestForm):
    """Closing every position that was shown."""

    positions = PositionsField()
    confirmed = SymbolTokensField(required=False, label="Confirmation")
    request_key = forms.UUIDField(widget=forms.HiddenInput)


class NoteForm(RequestForm):
    """What an unclear action did, in a person's words."""

    note = forms.CharField(
        label="Result",
        max_length=LONGEST_NOTE,
        widget=forms.Textarea(attrs={"rows": 2}),
        error_messages={"required": "Enter what you checked and the result."},
    )
