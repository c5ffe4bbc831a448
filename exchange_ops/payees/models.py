"""Payees: recipients that people approved before anything is paid to them, and the events that moved them."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from desk.machines.rows import Event, Subject, Vote, is_a_move
from exchange_ops.payees import states
from exchange_ops.shared.models import Account, OfAccount

LONGEST_TITLE = 80
LONGEST_TEXT = 500


class Payee(OfAccount, Subject):
    """A recipient at one account: an address in normal form and a payment id, in one currency.

    `owner` is who is paid there, `supplier` the company's own reference (supplier number, cost centre), `group` what
    rules name it by. `evidence` says how the address was checked. Two of treasury sign `digest`. It counts from
    `counts_from` until `expires_at`.
    """

    table, mark, name = states.TABLE, "PY-", "payee"

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="payees")
    initiator = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="payees")
    title = models.CharField(max_length=LONGEST_TITLE)
    owner = models.CharField(max_length=LONGEST_TITLE)
    group = models.CharField(max_length=LONGEST_TITLE, default="", blank=True, db_column="in_group")
    supplier = models.CharField(max_length=LONGEST_TITLE, default="", blank=True)
    currency = models.CharField(max_length=20)
    address = models.CharField(max_length=256)
    payment_id = models.CharField(max_length=256, default="", blank=True)
    evidence = models.CharField(max_length=LONGEST_TEXT)
    digest = models.CharField(max_length=64)
    counts_from = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(null=True)

    state = models.CharField(max_length=20, choices=states.TABLE.choices)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(state__in=list(states.STATES)), name="payee_known_state"),
            # A renewal is added, approved and cools off while the payee that it renews still counts.
            *(
                models.UniqueConstraint(
                    fields=["account", "currency", "address", "payment_id"],
                    condition=Q(state=state),
                    name=f"payee_one_{state}_per_recipient",
                )
                for state in states.TABLE.open
            ),
            models.CheckConstraint(
                condition=~Q(state__in=[states.COOLING_OFF, states.ACTIVE])
                | Q(counts_from__isnull=False, expires_at__isnull=False),
                name="payee_approved_has_its_times",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["account", "currency", "address"], name="payee_by_address"),
            models.Index(fields=["account", "title", "id"], name="payee_by_title"),
        ]


class PayeeEvent(Event):
    """One move, written in the same transaction as the row that it moved."""

    payee = models.ForeignKey(Payee, on_delete=models.PROTECT, related_name="events")

    class Meta:
        ordering: ClassVar = ["version"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["payee", "version"], name="payeeevent_one_per_version"),
            models.CheckConstraint(condition=is_a_move(states.TABLE), name="payeeevent_is_a_move"),
        ]


class PayeeApproval(Vote):
    """One person's vote on exactly the content of `digest`, given with a second factor unless it is a rejection."""

    REVIEW = "review"
    APPROVE, REJECT = "approve", "reject"

    payee = models.ForeignKey(Payee, on_delete=models.PROTECT, related_name="approvals")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="payee_approvals")

    class Meta:
        ordering: ClassVar = ["at", "id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["confirmation"],
                condition=Q(confirmation__isnull=False),
                name="payeeapproval_one_per_second_factor",
            ),
            models.UniqueConstraint(fields=["payee", "person", "verdict"], name="payeeapproval_one_per_person"),
            models.CheckConstraint(condition=~Q(person=F("initiator")), name="payeeapproval_never_by_who_added_it"),
            models.CheckConstraint(
                condition=Q(verdict="reject") | Q(confirmation__isnull=False),
                name="payeeapproval_needs_a_second_factor",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.verdict} by {self.person_id}"
