"""Amounts and the exchange's ids in requests and answers: text in both directions."""

import re
from decimal import Decimal
from typing import Any, Final

from django import forms
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from desk.fields import plain
from exchange_ops.shared.forms import FRACTION_DIGITS, WHOLE_DIGITS, read_amount
from wire.values import decimal_text

_ID: Final = r"^[1-9][0-9]{0,17}$"


@extend_schema_field({"type": "string", "pattern": r"^[0-9]{1,36}(\.[0-9]{1,24})?$", "example": "1.25"})
class AmountText(serializers.Field[Decimal, Any, str, Any]):
    """An exact amount as text, without exponent. A JSON number is refused: it may have lost digits on its way."""

    def to_internal_value(self, data: Any) -> Decimal:
        if not isinstance(data, str):
            raise serializers.ValidationError("Send the amount as a string.")
        try:
            return read_amount(data)
        except forms.ValidationError as problem:
            raise serializers.ValidationError(problem.messages) from None

    def to_representation(self, value: Decimal) -> str:
        return decimal_text(plain(value))


@extend_schema_field({"type": "string", "pattern": r"^-?[0-9]{1,36}(\.[0-9]{1,24})?$", "example": "-0.25"})
class SignedAmountText(AmountText):
    """An exact figure that may be below zero."""


@extend_schema_field(
    {
        "type": "string",
        "pattern": rf"^(?=.*[1-9])[0-9]{{1,{WHOLE_DIGITS}}}(\.[0-9]{{1,{FRACTION_DIGITS}}})?$",
        "example": "1.25",
    }
)
class AmountIn(AmountText):
    """An amount above zero as text: exactly what its pattern says, without blanks around it."""


@extend_schema_field({"type": "string", "pattern": r"^-?[0-9]{1,19}$", "example": "828680665"})
class ExchangeIdText(serializers.Field[int, Any, str, Any]):
    """A numeric id of the exchange as text: beyond 2^53 a JSON number loses digits in many readers."""

    def to_representation(self, value: int) -> str:
        return str(value)


@extend_schema_field({"type": "string", "pattern": _ID, "example": "828680665"})
class ExchangeIdIn(serializers.Field[int, Any, str, Any]):
    """A numeric id of the exchange as text, of at most 18 digits. A JSON number is refused: it may have lost digits."""

    def to_internal_value(self, data: Any) -> int:
        if not isinstance(data, str) or not re.fullmatch(_ID[1:-1], data):
            raise serializers.ValidationError("Send the ID as a string of digits.")
        return int(data)

    def to_representation(self, value: int) -> str:
        return str(value)
