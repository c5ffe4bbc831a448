"""A transfer inside the exchange, everything that happened to it, its calls and everybody who agreed to it.

Only `exchange_ops.transfers.machine.move` writes `state` and `version`; triggers refuse anybody else.
"""

from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from desk.machines.rows import CALL_OUTCOMES, Call, Event, Subject, Vote, is_a_move
from exchange_ops.policy.freeze_scopes import Movement
from exchange_ops.shared.amounts import amount_field
from exchange_ops.shared.models import Account, OfAccount
from exchange_ops.transfers import states


class Transfer(OfAccount, Subject):
    """One requested movement: `amount` of `currency` changes its place, or its network with `to_currency`.

    `identifier` names the other user by `by` (e-mail or user name), `subaccount_id` is the exchange's number of the
    sub-account. `exchange_id` is the transaction on this side, `second_id` the other one of a conversion.
    `ledger_seen_at` is when the exchange's ledger showed it. All times are the desk's.
    """

    table, mark, name = states.TABLE, "T-", "transfer"
    BEHIND_A_FREEZE = (states.REVIEW, states.APPROVED)
    """States in which a freeze of the account makes it wait."""

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="transfers")
    initiator = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="transfers")
    initiated_via = models.CharField(max_length=10, default="page")
    request_key = models.CharField(max_length=80)
    reissues = models.OneToOneField(
        "self",
        on_delete=models.PROTECT,
        null=True,
        related_name="reissued_as",
        help_text="the older one it replaces",
    )

    kind = models.CharField(max_length=20, choices=list(states.KINDS.items()))
    currency = models.CharField(max_length=20)
    amount = amount_field()
    to_currency = models.CharField(max_length=20, default="", blank=True)
    by = models.CharField(max_length=10, default="", blank=True, db_column="identified_by")
    identifier = models.CharField(max_length=254, default="", blank=True)
    subaccount_id = models.BigIntegerField(null=True)
    reason = models.CharField(max_length=500)

    digest = models.CharField(max_length=64, default="", blank=True)
    policy_version = models.PositiveIntegerField(default=0)
    policy_trace = models.JSONField(default=list)
    quorum_required = models.PositiveSmallIntegerField(default=0)
    group_needs = models.JSONField(null=True)
    lookalikes = models.JSONField(default=list)
    quote_value = amount_field(null=True)
    quote_currency = models.CharField(max_length=20, default="", blank=True)
    quote_at = models.DateTimeField(null=True)

    state = models.CharField(
        max_length=20, choices=[(name, s.label) for name, s in states.STATES.items()], default="draft"
    )
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    decided_at = models.DateTimeField(null=True)

    attempt = models.PositiveIntegerField(default=0)
    exchange_id = models.CharField(max_length=80, null=True)
    second_id = models.CharField(max_length=80, null=True)
    ledger_seen_at = models.DateTimeField(null=True)
    sent_at = models.DateTimeField(null=True)
    looks = models.PositiveIntegerField(default=0)
    lease_epoch = models.PositiveIntegerField(default=0)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["initiator", "request_key"], name="transfer_one_per_request_key"),
            models.UniqueConstraint(fields=["account", "exchange_id"], name="transfer_one_per_exchange_id"),
            models.UniqueConstraint(fields=["account", "second_id"], name="transfer_one_per_second_id"),
            models.UniqueConstraint(
                fields=["account", "kind", "currency"],
                condition=Q(state__in=states.IN_FLIGHT),
                name="transfer_one_in_a_lane",
            ),
            models.CheckConstraint(condition=Q(state__in=tuple(states.STATES)), name="transfer_known_state"),
            models.CheckConstraint(condition=Q(kind__in=tuple(states.KINDS)), name="transfer_known_kind"),
            models.CheckConstraint(condition=Q(amount__gt=0), name="transfer_amount_is_positive"),
            models.CheckConstraint(
                condition=Q(kind=states.TO_USER, by__in=tuple(states.IDENTIFIED_BY)) & ~Q(identifier="")
                | ~Q(kind=states.TO_USER) & Q(by="", identifier=""),
                name="transfer_names_the_other_user",
            ),
            models.CheckConstraint(
                condition=Q(kind=states.CONVERT) & ~Q(to_currency="") & ~Q(to_currency=F("currency"))
                | ~Q(kind=states.CONVERT) & Q(to_currency=""),
                name="transfer_names_the_other_currency",
            ),
            models.CheckConstraint(
                condition=Q(kind__in=states.SUBACCOUNT_KINDS, subaccount_id__isnull=False)
                | ~Q(kind__in=states.SUBACCOUNT_KINDS) & Q(subaccount_id__isnull=True),
                name="transfer_names_the_sub_account",
            ),
            models.CheckConstraint(
                condition=~Q(exchange_id="") & ~Q(second_id=""), name="transfer_exchange_id_is_not_blank"
            ),
            models.CheckConstraint(
                condition=~Q(state=states.DONE) | Q(exchange_id__isnull=False), name="transfer_done_has_a_transaction"
            ),
            models.CheckConstraint(
                condition=~Q(kind__in=states.LEAVING_KINDS)
                | ~Q(state__in=(states.REVIEW, states.APPROVED, states.SENDING, states.UNKNOWN, states.DONE))
                | Q(quorum_required__gte=1),
                name="transfer_to_others_needs_an_approval",
            ),
            models.CheckConstraint(
                condition=~Q(
                    state__in=(
                        states.SENDING,
                        states.UNKNOWN,
                        states.DONE,
                        states.REFUSED,
                        states.NOT_SEEN,
                        states.CLOSED,
                    )
                )
                | Q(attempt__gte=1),
                name="transfer_sent_has_an_attempt",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["state", "next_action_at"], name="transfer_due"),
            models.Index(fields=["account", "-created_at"], name="transfer_newest"),
            models.Index(fields=["account", "updated_at", "id"], name="transfer_by_change"),
            models.Index(fields=["account", "currency", "amount", "id"], name="transfer_by_amount"),
        ]

    @property
    def destination(self) -> str:
        """Where the money goes, as one text that the rules and the approvers read."""
        if self.kind == states.TO_USER:
            return f"{self.by}:{self.identifier}"
        if self.kind in states.SUBACCOUNT_KINDS:
            return f"subaccount:{self.subaccount_id}"
        return self.to_currency

    @property
    def movement(self) -> Movement:
        """What a freeze is compared with."""
        return Movement(self.account_id, tuple(code for code in (self.currency, self.to_currency) if code))

    @property
    def leaves(self) -> bool:
        """Whether the money leaves the company for good, so that the rules of withdrawals hold."""
        return self.kind in states.LEAVING_KINDS

    @property
    def kind_label(self) -> str:
        """The kind in a few words."""
        return states.KINDS[self.kind]


class TransferEvent(Event):
    """One move, written in the same transaction as the row it moved; `version` is the row's version after it."""

    transfer = models.ForeignKey(Transfer, on_delete=models.PROTECT, related_name="events")
    changes = models.JSONField(default=dict)

    class Meta:
        ordering: ClassVar = ["version"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["transfer", "version"], name="transferevent_one_per_version"),
            models.CheckConstraint(condition=is_a_move(states.TABLE), name="transferevent_is_a_move_of_the_table"),
        ]


class TransferCall(Call):
    """The call of one attempt, written and committed before its bytes leave; after `send_by` it is never sent.

    `watermark` is the highest index of the ledger known before, `balances` what both wallets held, `expected` what the
    transfer changes in them. A transaction born from the call was created between `created_from` and `created_until`,
    in the exchange's time. Of all attempts of a transfer one at most may have reached the exchange.
    """

    owner = "transfer"

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="+")
    transfer = models.ForeignKey(Transfer, on_delete=models.PROTECT, related_name="calls")
    epoch = models.PositiveIntegerField()
    operation = models.CharField(max_length=40)
    watermark = models.BigIntegerField(default=0)
    balances = models.JSONField(default=dict)
    expected = models.JSONField(default=dict)
    created_from = models.DateTimeField()
    created_until = models.DateTimeField()
    exchange_id = models.CharField(max_length=80, default="", blank=True)
    second_id = models.CharField(max_length=80, default="", blank=True)

    class Meta:
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["transfer", "attempt"], name="transfercall_one_per_attempt"),
            models.UniqueConstraint(
                fields=["transfer"], condition=~Q(outcome="not_sent"), name="transfercall_sent_once_at_most"
            ),
            models.CheckConstraint(condition=Q(outcome__in=CALL_OUTCOMES), name="transfercall_known_outcome"),
        ]

    def __str__(self) -> str:
        return f"{self.operation} {self.attempt}"

    def answer_columns(self, value: Any) -> dict[str, Any]:
        """The columns that keep what an accepted call gave: the ids of the transactions it made."""
        first, second = (*value, "")[:2]
        return {"exchange_id": first, "second_id": second}


class TransferApproval(Vote):
    """One person's vote on exactly the content of `digest`, given with a second factor unless it is a rejection.

    `stage` says what it is for: review (before sending) or resolution (of an unclear case).
    """

    REVIEW, RESOLUTION = "review", "resolution"
    APPROVE, REJECT, MOVED, NOT_MOVED = "approve", "reject", "moved", "not_moved"

    transfer = models.ForeignKey(Transfer, on_delete=models.PROTECT, related_name="approvals")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="transfer_approvals")

    class Meta:
        ordering: ClassVar = ["at", "id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["confirmation"],
                condition=Q(confirmation__isnull=False),
                name="transferapproval_one_per_second_factor",
            ),
            models.UniqueConstraint(
                fields=["transfer", "digest", "stage", "person", "verdict"], name="transferapproval_one_word_per_person"
            ),
            models.CheckConstraint(condition=~Q(person=F("initiator")), name="transferapproval_never_by_the_initiator"),
            models.CheckConstraint(
                condition=Q(verdict="reject") | Q(confirmation__isnull=False),
                name="transferapproval_needs_a_second_factor",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.verdict} by {self.person_id}"
