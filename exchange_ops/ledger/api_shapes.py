"""The members of what /api/v1/ says of the ledger and the wallets."""

from typing import ClassVar

from rest_framework import serializers

from exchange_ops.ledger.directions import IN, MOVED, OTHER, OUT
from exchange_ops.ledger.models import COUNTED_TO, Balance, LedgerEntry
from exchange_ops.shared.api.fields import AmountText, ExchangeIdText, SignedAmountText


class LedgerEntryOut(serializers.ModelSerializer[LedgerEntry]):
    """One entry of the exchange's ledger, in its latest version.

    `amount` is unsigned; `direction` shows which way it went. `change` is the signed effect on the account's
    holdings, including the fee; zero until the entry is successful.
    """

    index = ExchangeIdText(read_only=True)
    direction = serializers.ChoiceField(choices=[IN, OUT, MOVED, OTHER], read_only=True)
    amount = AmountText(read_only=True)
    change = SignedAmountText(read_only=True)
    fee = AmountText(read_only=True, allow_null=True)

    class Meta:
        model = LedgerEntry
        fields = (
            *("exchange_id", "index", "type", "sub_type", "status", "direction", "currency", "amount"),
            *("change", "fee", "address"),
            *("payment_id", "hash", "confirmations", "error_code", "created_at", "updated_at", "seen_at", "foreign"),
            *("withdrawal", "transfer"),
        )
        read_only_fields = fields
        extra_kwargs: ClassVar = {
            "confirmations": {
                "help_text": f"As of the last sync; counted only up to {COUNTED_TO} once the entry is final."
            }
        }


class BalanceOut(serializers.ModelSerializer[Balance]):
    """One wallet's balance in one currency, as last synced."""

    available = AmountText(read_only=True)
    reserved = AmountText(read_only=True)

    class Meta:
        model = Balance
        fields = ("currency", "wallet", "available", "reserved", "read_at")
        read_only_fields = fields
