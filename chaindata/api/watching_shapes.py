"""The members of watched addresses and movements in requests and answers."""

from typing import Any

from rest_framework import serializers

from chaindata.watching import states
from chaindata.watching.models import (
    LONGEST_NOTE,
    LONGEST_REASON,
    LONGEST_TITLE,
    ChainMovement,
    Purpose,
    WatchedAddress,
)
from desk.api.fields import StrictBody, StrictChoice, StrictInteger, StrictText


class WatchedAddressOut(serializers.ModelSerializer[WatchedAddress]):
    """A watched or formerly watched address; `waiting` is the number of movements to review.

    Amounts are null until the first sync; `unconfirmed_sat` may be negative.
    """

    reference = serializers.CharField(read_only=True)
    purpose = serializers.ChoiceField(choices=Purpose.values, read_only=True)
    state = serializers.ChoiceField(choices=list(states.ADDRESS_STATES), read_only=True)
    added_by = serializers.CharField(source="added_by.username", read_only=True)
    from_height = serializers.IntegerField(
        read_only=True, help_text="Transactions in this or earlier blocks are not reported."
    )
    read_at = serializers.DateTimeField(read_only=True, allow_null=True)
    balance_sat = serializers.IntegerField(read_only=True, allow_null=True)
    unconfirmed_sat = serializers.IntegerField(read_only=True, allow_null=True)
    waiting = serializers.IntegerField(read_only=True)
    reason = serializers.CharField(read_only=True, help_text="Reason for stopping; empty while the address is watched.")

    class Meta:
        model = WatchedAddress
        fields = (
            *("id", "reference", "address", "title", "purpose", "note", "state", "added_by", "from_height"),
            *("read_at", "balance_sat", "unconfirmed_sat", "waiting", "reason", "last_problem"),
            *("created_at", "updated_at"),
        )
        read_only_fields = fields


class ChainMovementOut(serializers.ModelSerializer[ChainMovement]):
    """A transaction to or from a watched address. `reviewer` and `reviewed_at` are null until it is reviewed."""

    reference = serializers.CharField(read_only=True)
    state = serializers.ChoiceField(choices=list(states.MOVEMENT_STATES), read_only=True)
    change_sat = serializers.IntegerField(
        read_only=True, help_text="Balance change; negative for an outgoing transaction."
    )
    spends = serializers.BooleanField(read_only=True, help_text="Whether the transaction spent funds from the address.")
    height = serializers.IntegerField(read_only=True, allow_null=True, help_text="Null while unconfirmed.")
    is_missing = serializers.BooleanField(
        read_only=True, help_text="Whether the transaction is no longer in the chain or the mempool."
    )
    reviewer = serializers.CharField(read_only=True, allow_null=True)
    reviewed_at = serializers.DateTimeField(read_only=True, allow_null=True)

    class Meta:
        model = ChainMovement
        fields = (
            *("id", "reference", "txid", "change_sat", "spends", "height", "is_missing", "state", "reason"),
            *("reviewer", "reviewed_at", "created_at"),
        )
        read_only_fields = fields


class WatchIn(StrictBody):
    """An address to watch from now on."""

    address = StrictText(max_length=200, help_text="A cash, legacy or SLP address.")
    title = StrictText(max_length=LONGEST_TITLE, help_text="Name used in alerts.")
    purpose = StrictChoice(choices=Purpose.values)
    note = StrictText(max_length=LONGEST_NOTE, required=False, default="", allow_blank=True)


class WatchStopIn(StrictBody):
    """Why watching stops; recorded in the audit trail."""

    reason = StrictText(max_length=LONGEST_REASON)


class MovementReviewIn(StrictBody):
    """Why a movement is in order, or what was done about it; recorded in the audit trail."""

    movement = StrictInteger(
        required=False,
        default=None,
        allow_null=True,
        min_value=1,
        max_value=2**63 - 1,
        help_text="Movement ID. If omitted, all unreviewed incoming movements are marked as reviewed.",
    )
    reason = StrictText(max_length=LONGEST_REASON)


class MovementsReviewedOut(serializers.Serializer[Any]):
    """How many movements this reviewed, and how many on the address still need review."""

    reviewed = serializers.IntegerField()
    waiting = serializers.IntegerField()
