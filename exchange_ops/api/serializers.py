"""The members of requests and answers. Amounts are text in both directions; times are UTC in ISO form."""

from decimal import Decimal
from typing import Any

from django import forms
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from desk.fields import plain
from exchange_ops.forms import LONGEST_REASON, read_amount
from exchange_ops.models import Balance, Currency, LedgerEntry, Withdrawal, states, withdrawal_ends
from wire.values import decimal_text


@extend_schema_field({"type": "string", "pattern": r"^\d{1,36}(\.\d{1,24})?$", "example": "1.25"})
class AmountText(serializers.Field):
    """An exact amount as text, without exponent. A JSON number is refused: it may have lost digits on its way."""

    def to_internal_value(self, data: Any) -> Decimal:
        if not isinstance(data, str):
            raise serializers.ValidationError("Send the amount as text, in quotes.")
        try:
            return read_amount(data.strip())
        except forms.ValidationError as problem:
            raise serializers.ValidationError(problem.messages) from None

    def to_representation(self, value: Decimal) -> str:
        return decimal_text(plain(value))


class StrictText(serializers.CharField):
    """Text, and nothing that could be turned into text."""

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            raise serializers.ValidationError("Send text.")
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
        choices=list(withdrawal_ends.ENDS),
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


class WithdrawalIn(serializers.Serializer):
    """A request for a payout. It is only recorded: people decide."""

    currency = StrictText(max_length=20)
    amount = AmountText()
    address = StrictText(max_length=400, trim_whitespace=False)
    payment_id = StrictText(max_length=400, required=False, default="", allow_blank=True, trim_whitespace=False)
    include_fee = StrictBoolean(required=False, default=False, help_text="Whether the fee is taken out of the amount.")
    reason = StrictText(max_length=LONGEST_REASON)
    request_key = StrictText(
        max_length=80, min_length=8, help_text="Yours, and new for each request: sent again, it gives the same request."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        unknown = sorted(set(self.initial_data) - set(self.fields))
        if unknown:
            raise serializers.ValidationError({name: ["This member is not known."] for name in unknown[:20]})
        return attrs


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
