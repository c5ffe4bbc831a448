"""The members of what /api/v1/chain/ answers. Amounts are whole satoshis; times are UTC in ISO form."""

from typing import Any

from rest_framework import serializers

_STANDINGS = "fresh, stale, absent (not loaded yet: retry in a few seconds), refused or failed."


class ChainTipOut(serializers.Serializer[Any]):
    """The tip of the chain that the desk follows; height, hash and time are null as long as none was heard."""

    height = serializers.IntegerField(allow_null=True)
    hash = serializers.CharField(allow_null=True)
    time = serializers.DateTimeField(allow_null=True)
    heard_at = serializers.DateTimeField(allow_null=True)
    is_current = serializers.BooleanField(help_text="Whether it was synced recently.")
    problem = serializers.CharField(help_text="The error of the last attempt; empty when it succeeded.")


class StandingOut(serializers.Serializer[Any]):
    """How far an answer can be trusted, and how old it is."""

    standing = serializers.CharField(help_text=_STANDINGS)
    read_at = serializers.DateTimeField(allow_null=True)
    is_final = serializers.BooleanField(help_text="Whether it is final, barring a deep reorganisation.")
    problem = serializers.CharField(help_text="The error of the last attempt; empty when it succeeded.")


class ChainBlockBody(serializers.Serializer[Any]):
    """A block; `reward_sat` are the new coins, `txids` its transactions in their order."""

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
    """A block by hash or height; `block` is null until it was read."""

    block = ChainBlockBody(allow_null=True)


class ChainInputOut(serializers.Serializer[Any]):
    """An input; of a coinbase everything but `n` is null."""

    n = serializers.IntegerField()
    txid = serializers.CharField(allow_null=True)
    vout = serializers.IntegerField(allow_null=True)
    address = serializers.CharField(allow_null=True)
    value_sat = serializers.IntegerField(allow_null=True)


class ChainOutputOut(serializers.Serializer[Any]):
    """An output; `spent_by` is the transaction that spends it, null as long as none does."""

    n = serializers.IntegerField()
    value_sat = serializers.IntegerField()
    addresses = serializers.ListField(child=serializers.CharField())
    script = serializers.CharField(help_text="The locking script in hexadecimal.")
    spent_by = serializers.CharField(allow_null=True)


class ChainTransactionBody(serializers.Serializer[Any]):
    """A transaction; `height` and `block_hash` are null while it waits, `fee_sat` is null for a coinbase."""

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
    """A transaction by its id; `transaction` is null until it was read."""

    transaction = ChainTransactionBody(allow_null=True)


class ChainBalanceBody(serializers.Serializer[Any]):
    """What an address holds; `unconfirmed_sat` is what waits for a block, and may be negative."""

    balance_sat = serializers.IntegerField()
    unconfirmed_sat = serializers.IntegerField()
    received_sat = serializers.IntegerField()
    sent_sat = serializers.IntegerField()
    transactions = serializers.IntegerField()


class ChainAddressOut(StandingOut):
    """An address in its forms; `legacy_address` is empty for hashes without one, `balance` null until it was read."""

    cash_address = serializers.CharField()
    legacy_address = serializers.CharField()
    slp_address = serializers.CharField()
    balance = ChainBalanceBody(allow_null=True)
