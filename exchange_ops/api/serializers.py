"""The members of requests and answers. Amounts are text in both directions; times are UTC in ISO form."""

from decimal import Decimal
from typing import Any

from django import forms
from django.core.validators import RegexValidator
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.fields import empty

from desk.fields import plain
from exchange_ops.forms import FRACTION_DIGITS, LONGEST_REASON, WHOLE_DIGITS, read_amount
from exchange_ops.models import Balance, Currency, LedgerEntry, Withdrawal, states, withdrawal_ends
from wire.values import decimal_text

# No NUL anywhere, and one character at least that is no blank. The same set in Python and in the expressions of a
# description, which disagree about what a blank is.
_TEXT = RegexValidator(
    r"^[^\x00]*[^\s\x00\x1c-\x1f\x85\ufeff][^\x00]*$", "This field may not be blank, and takes no null characters."
)
_TEXT_OR_NOTHING = RegexValidator(r"^[^\x00]*$", "Null characters are not allowed.")


@extend_schema_field({"type": "string", "pattern": r"^[0-9]{1,36}(\.[0-9]{1,24})?$", "example": "1.25"})
class AmountText(serializers.Field):
    """An exact amount as text, without exponent. A JSON number is refused: it may have lost digits on its way."""

    def to_internal_value(self, data: Any) -> Decimal:
        if not isinstance(data, str):
            raise serializers.ValidationError("Send the amount as text, in quotes.")
        try:
            return read_amount(data)
        except forms.ValidationError as problem:
            raise serializers.ValidationError(problem.messages) from None

    def to_representation(self, value: Decimal) -> str:
        return decimal_text(plain(value))


@extend_schema_field(
    {
        "type": "string",
        "pattern": rf"^(?=.*[1-9])[0-9]{{1,{WHOLE_DIGITS}}}(\.[0-9]{{1,{FRACTION_DIGITS}}})?$",
        "example": "1.25",
    }
)
class AmountIn(AmountText):
    """An amount above zero as text: exactly what its pattern says, without blanks around it."""


class StrictText(serializers.CharField):
    """Text as the description has it: nothing that could be turned into text, none of nothing but blanks, no NUL.

    Its length counts as it was sent, blanks at its ends included.
    """

    def __init__(self, **options: Any) -> None:
        check = _TEXT_OR_NOTHING if options.get("allow_blank") else _TEXT
        super().__init__(validators=[check], **options)

    def run_validation(self, data: Any = empty) -> Any:
        """Before any blanks are taken off."""
        if isinstance(data, str):
            self.run_validators(data)
        return super().run_validation(data)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            raise serializers.ValidationError("Send text.")
        return super().to_internal_value(data)


class StrictChoice(serializers.ChoiceField):
    """One of the words of a list, and nothing that could be turned into one."""

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            raise serializers.ValidationError("Send text.")
        return str(super().to_internal_value(data))


class StrictBody(serializers.Serializer):
    """The members of a request; one that is not known is refused, and the description says so too."""

    def to_internal_value(self, data: Any) -> Any:
        unknown = sorted(set(data) - set(self.fields)) if isinstance(data, dict) else []
        if unknown:
            raise serializers.ValidationError({str(name): ["This member is not known."] for name in unknown[:20]})
        return super().to_internal_value(data)


class StrictBoolean(serializers.BooleanField):
    """true or false, and no word or number for them."""

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            raise serializers.ValidationError("Send true or false.")
        return data


class WithdrawalOut(serializers.ModelSerializer):
    """A request as the desk knows it now. `sentence` says what happened to the money first."""

    reference = serializers.CharField(read_only=True)
    amount = AmountText(read_only=True)
    fee = AmountText(source="known_fee", read_only=True, allow_null=True)
    arrives = AmountText(read_only=True, allow_null=True)
    leaves = AmountText(read_only=True, allow_null=True)
    state = serializers.ChoiceField(choices=list(states.STATES), read_only=True)
    sentence = serializers.CharField(read_only=True)
    label = serializers.CharField(read_only=True, help_text="The state, or how it ended, in a few words.")
    end = serializers.ChoiceField(
        source="end.name",
        choices=["", *withdrawal_ends.ENDS],
        read_only=True,
        default="",
        help_text="How it ended without being paid, from the event that ended it; empty otherwise.",
    )
    turn = serializers.CharField(read_only=True, help_text="Who acts next: person, worker, exchange, chain or nobody.")
    initiator = serializers.CharField(source="initiator.username", read_only=True)

    class Meta:
        model = Withdrawal
        fields = (
            "id",
            "reference",
            "state",
            "label",
            "end",
            "turn",
            "sentence",
            "currency",
            "amount",
            "include_fee",
            "fee",
            "arrives",
            "leaves",
            "address",
            "payment_id",
            "reason",
            "initiator",
            "initiated_via",
            "request_key",
            "quorum_required",
            "decision",
            "exchange_id",
            "hash",
            "confirmations",
            "approve_until",
            "rollback_at",
            "last_problem",
            "created_at",
            "updated_at",
        )
        read_only_fields = fields


class WithdrawalIn(StrictBody):
    """A request for a payout. It is only recorded: people decide."""

    currency = StrictText(max_length=20)
    amount = AmountIn()
    address = StrictText(max_length=400, trim_whitespace=False)
    payment_id = StrictText(max_length=400, required=False, default="", allow_blank=True, trim_whitespace=False)
    include_fee = StrictBoolean(required=False, default=False, help_text="Whether the fee is taken out of the amount.")
    reason = StrictText(max_length=LONGEST_REASON)
    request_key = StrictText(
        max_length=80,
        min_length=8,
        trim_whitespace=False,
        help_text="Yours, and new for each request: sent again, it gives the same request.",
    )


class LedgerEntryOut(serializers.ModelSerializer):
    """One line of the exchange's ledger, in its newest version."""

    amount = AmountText(read_only=True)
    fee = AmountText(read_only=True, allow_null=True)

    class Meta:
        model = LedgerEntry
        fields = (
            "exchange_id",
            "index",
            "type",
            "sub_type",
            "status",
            "currency",
            "amount",
            "fee",
            "address",
            "payment_id",
            "hash",
            "confirmations",
            "error_code",
            "created_at",
            "updated_at",
            "seen_at",
            "foreign",
            "withdrawal",
            "transfer",
        )
        read_only_fields = fields


class BalanceOut(serializers.ModelSerializer):
    """What one wallet held of one currency when it was last read."""

    available = AmountText(read_only=True)
    reserved = AmountText(read_only=True)

    class Meta:
        model = Balance
        fields = ("currency", "wallet", "available", "reserved", "read_at")
        read_only_fields = fields


class CurrencyOut(serializers.ModelSerializer):
    """One currency as the exchange describes it; `payout_problem` says why it can't be paid out now."""

    payout_fee = AmountText(read_only=True, allow_null=True)
    payout_minimal_amount = AmountText(read_only=True, allow_null=True)
    payout_problem = serializers.CharField(read_only=True)

    class Meta:
        model = Currency
        fields = (
            "code",
            "full_name",
            "crypto",
            "payout_enabled",
            "delisted",
            "payout_is_payment_id",
            "payout_fee",
            "payout_minimal_amount",
            "precision_payout",
            "payout_problem",
            "read_at",
        )
        read_only_fields = fields


class WithdrawalPage(serializers.Serializer):
    """Newest first; `older` is the address of the next page."""

    items = WithdrawalOut(many=True)
    older = serializers.CharField(allow_null=True)


class LedgerPage(serializers.Serializer):
    """Most recently changed first; `older` is the address of the next page."""

    items = LedgerEntryOut(many=True)
    older = serializers.CharField(allow_null=True)


class BalanceList(serializers.Serializer):
    """Both wallets of every currency."""

    items = BalanceOut(many=True)


class CurrencyList(serializers.Serializer):
    """Every currency that the exchange describes."""

    items = CurrencyOut(many=True)
