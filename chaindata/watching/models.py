"""Addresses that the company watches, and the movements seen at them."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from chaindata.watching import states
from desk.machines.rows import Event, Subject, is_a_move

LONGEST_TITLE, LONGEST_NOTE, LONGEST_REASON = 80, 300, 500
SENTENCE = 300


class Purpose(models.TextChoices):
    """Whose it is and what for; the first two are the company's own."""

    RESERVE = "reserve", "Own reserve (cold storage)"
    OPERATIONS = "operations", "Own operations"
    COUNTERPARTY = "counterparty", "Counterparty"
    OTHER = "other", "Other"


OWN = (Purpose.RESERVE, Purpose.OPERATIONS)


class WatchedAddress(Subject):
    """One watched address. `address` is the printed cash address, of which only one row may be watched at a time.

    Transactions in blocks up to `from_height`, the tip when watching began, are no movements. Everything up to
    `settled_height` was read and is buried, so a reading goes back only that far. `balance_sat` and `unconfirmed_sat`
    are as last read. `reason` is why watching ended.
    """

    table, mark, name = states.ADDRESSES, "A-", "watched-address"

    address = models.CharField(max_length=120)
    title = models.CharField(max_length=LONGEST_TITLE)
    purpose = models.CharField(max_length=12, choices=Purpose.choices)
    note = models.CharField(max_length=LONGEST_NOTE, default="", blank=True)
    added_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    from_height = models.BigIntegerField()
    settled_height = models.BigIntegerField()
    read_at = models.DateTimeField(null=True)
    balance_sat = models.BigIntegerField(null=True)
    unconfirmed_sat = models.BigIntegerField(null=True)
    reason = models.CharField(max_length=LONGEST_REASON, default="", blank=True)
    last_problem = models.CharField(max_length=SENTENCE, default="", blank=True)

    state = models.CharField(max_length=10, choices=states.ADDRESSES.choices)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(state__in=list(states.ADDRESS_STATES)), name="watchedaddress_known_state"
            ),
            models.CheckConstraint(
                condition=Q(settled_height__gte=models.F("from_height")), name="watchedaddress_reads_forward"
            ),
            models.UniqueConstraint(
                fields=["address"], condition=Q(state=states.WATCHED), name="watchedaddress_one_watch"
            ),
        ]
        indexes: ClassVar = [models.Index(fields=["state", "next_action_at"], name="watchedaddress_due")]

    @property
    def is_own(self) -> bool:
        """Whether the company holds its keys."""
        return self.purpose in OWN


class WatchedAddressEvent(Event):
    """One move of a watched address, written in the same transaction as the row that it moved."""

    watched = models.ForeignKey(WatchedAddress, on_delete=models.PROTECT, related_name="events")

    class Meta:
        ordering: ClassVar = ["version"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["watched", "version"], name="watchedaddressevent_one_per_version"),
            models.CheckConstraint(
                condition=is_a_move(states.ADDRESSES), name="watchedaddressevent_is_a_move_of_the_table"
            ),
        ]


class ChainMovement(Subject):
    """One transaction that paid or spent coins of a watched address since watching began.

    `change_sat` is the change of its balance; `spends` whether it spent from the address, which takes its key. `height`
    is None while it waits for a block; `is_missing` says that neither the chain nor the mempool has it any more.
    """

    table, mark, name = states.MOVEMENTS, "CM-", "chain-movement"

    watched = models.ForeignKey(WatchedAddress, on_delete=models.PROTECT, related_name="movements")
    txid = models.CharField(max_length=64, db_index=True)
    change_sat = models.BigIntegerField()
    spends = models.BooleanField()
    height = models.BigIntegerField(null=True)
    is_missing = models.BooleanField(default=False)
    reason = models.CharField(max_length=LONGEST_REASON, default="", blank=True)

    state = models.CharField(max_length=10, choices=states.MOVEMENTS.choices)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(state__in=list(states.MOVEMENT_STATES)), name="chainmovement_known_state"
            ),
            models.UniqueConstraint(fields=["watched", "txid"], name="chainmovement_one_per_transaction"),
            models.CheckConstraint(
                condition=Q(state=states.TO_REVIEW) | ~Q(reason=""), name="chainmovement_reviewed_with_a_reason"
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["watched", "-id"], name="chainmovement_newest"),
            models.Index(fields=["id"], condition=Q(state=states.TO_REVIEW), name="chainmovement_to_review"),
        ]


class ChainMovementEvent(Event):
    """One move of a movement, written in the same transaction as the row that it moved."""

    movement = models.ForeignKey(ChainMovement, on_delete=models.PROTECT, related_name="events")

    class Meta:
        ordering: ClassVar = ["version"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["movement", "version"], name="chainmovementevent_one_per_version"),
            models.CheckConstraint(
                condition=is_a_move(states.MOVEMENTS), name="chainmovementevent_is_a_move_of_the_table"
            ),
        ]
