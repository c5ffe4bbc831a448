"""The members of what /api/v1/chain/ answers. Amounts are whole satoshis; times are UTC in ISO form."""

from typing import Any

from rest_framework import serializers

_STANDINGS = "fresh, stale, absent (not loaded yet: retry in a few seconds), refused or failed."


class ChainTipOut(serializers.Serializer[Any]):
    """The chain tip; height, hash and time are null until a block has been received."""

    height = serializers.IntegerField(allow_null=True)
    hash = serializers.CharField(allow_null=True)
    time = serializers.DateTimeField(allow_null=True)
    heard_at = serializers.DateTimeField(allow_null=True)
    is_current = serializers.BooleanField(help_text="Whether the tip was synced recently.")
    problem = serializers.CharField(help_text="Error from the last attempt; empty if the attempt succeeded.")


class StandingOut(serializers.Serializer[Any]):
    """The status and age of the data."""

    standing = serializers.CharField(help_text=_STANDINGS)
    read_at = serializers.DateTimeField(allow_null=True)
    is_final = serializers.BooleanField(help_text="Whether the data is final, barring a deep reorganisation.")
    problem = serializers.CharField(help_text="Error from the last attempt; empty if the attempt succeeded.")


class ChainBlockBody(serializers.Serializer[Any]):
    """A block; `reward_sat` is the block reward, `txids` its transactions in block order."""

    hash = serializers.CharField()
    height = serializers.IntegerField()
    confirmations = serializers.IntegerField()
    is_on_chain = serializers.BooleanField()
    time = serializers.DateTimeField(allow_null=True)
    size = serializers.IntegerField()
    bits = serializers.CharField()
    chainwork = serializers.CharField()
    merkle_root = serializers.CharField()
    previous_hash = serializers.CharField(allow_null=True)
    next_hash = serializers.CharField(allow_null=True)
    reward_sat = serializers.IntegerField()
    txids = serializers.ListField(child=serializers.CharField())


class ChainBlockOut(StandingOut):
    """A block by hash or height; `block` is null until it has loaded."""

    block = ChainBlockBody(allow_null=True)


class ChainInputOut(serializers.Serializer[Any]):
    """An input; for a coinbase, all fields except `n` are null."""

    n = serializers.IntegerField()
    txid = serializers.CharField(allow_null=True)
    vout = serializers.IntegerField(allow_null=True)
    address = serializers.CharField(allow_null=True)
    value_sat = serializers.IntegerField(allow_null=True)


class ChainOutputOut(serializers.Serializer[Any]):
    """An output; `spent_by` is the transaction that spends it, null while unspent."""

    n = serializers.IntegerField()
    value_sat = serializers.IntegerField()
    addresses = serializers.ListField(child=serializers.CharField())
    script = serializers.CharField(help_text="The locking script in hexadecimal.")
    spent_by = serializers.CharField(allow_null=True)


class ChainTransactionBody(serializers.Serializer[Any]):
    """A transaction; `height` and `block_hash` are null while unconfirmed, `fee_sat` is null for a coinbase."""

    txid = serializers.CharField()
    height = serializers.IntegerField(allow_null=True)
    block_hash = serializers.CharField(allow_null=True)
    confirmations = serializers.IntegerField()
    time = serializers.DateTimeField(allow_null=True)
    size = serializers.IntegerField()
    fee_sat = serializers.IntegerField(allow_null=True)
    inputs = ChainInputOut(many=True)
    outputs = ChainOutputOut(many=True)


class ChainTransactionOut(StandingOut):
    """A transaction by ID; `transaction` is null until it has loaded."""

    transaction = ChainTransactionBody(allow_null=True)


class ChainBalanceBody(serializers.Serializer[Any]):
    """An address's balance; `unconfirmed_sat` is the unconfirmed change, which may be negative."""

    balance_sat = serializers.IntegerField()
    unconfirmed_sat = serializers.IntegerField()
    received_sat = serializers.IntegerField()
    sent_sat = serializers.IntegerField()
    transactions = serializers.IntegerField()


class ChainAddressOut(StandingOut):
    """An address in all formats; `legacy_address` is empty if there is none, `balance` null until it has loaded."""

    cash_address = serializers.CharField()
    legacy_address = serializers.CharField()
    slp_address = serializers.CharField()
    balance = ChainBalanceBody(allow_null=True)
