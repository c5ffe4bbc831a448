"""A withdrawal, everything that happened to it, every call made for it and everybody who agreed to it.

Only `exchange_ops.withdrawals.machine.move` writes `state`, `version` and `decision`; triggers refuse anybody else.
"""

from decimal import Decimal
from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from desk.machines.rows import CALL_OUTCOMES, Call, Event, Subject, Vote, is_a_move
from desk.machines.table import NONE
from desk.rows.witnessed import Witnessed
from exchange_ops.addresses import destinations
from exchange_ops.policy import modes
from exchange_ops.policy.freeze_scopes import Movement
from exchange_ops.shared.amounts import amount_field
from exchange_ops.shared.models import Account, OfAccount
from exchange_ops.withdrawals import endings, states


def _pairs() -> Q:
    condition = Q()
    for state, decision in states.DECISION_PAIRS:
        condition |= Q(state=state, decision=decision)
    return condition


class Withdrawal(OfAccount, Subject):
    """One requested payment. `amount` is in `currency`; with `include_fee` the fee is taken out of it.

    `window_from` to `closes_at` is the exchange's hour, and `approve_until`, `rollback_at`, `put_stop_at` lie inside
    it: all of them in the exchange's time (`shared.clocks.exchange_now`). Every other time is the desk's.

    `group_needs` are those of the approvals that groups have to give (`policy.group_needs.as_json`). `fee_limit` is the
    highest network fee that approvals cover, in `currency`; `earlier_fee_limit` is the one before it, where the
    exchange's fee rose above that.
    """

    table, mark, name = states.TABLE, "W-", "withdrawal"

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="withdrawals")
    initiator = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="withdrawals")
    initiated_via = models.CharField(max_length=10, default="page")
    request_key = models.CharField(max_length=80)

    currency = models.CharField(max_length=20)
    amount = amount_field()
    include_fee = models.BooleanField(default=False)
    address = models.CharField(max_length=256)
    payment_id = models.CharField(max_length=256, default="", blank=True)
    reason = models.CharField(max_length=500, default="", blank=True)

    digest = models.CharField(max_length=64, default="", blank=True)
    policy_version = models.PositiveIntegerField(default=0)
    policy_trace = models.JSONField(default=list)
    quorum_required = models.PositiveSmallIntegerField(default=0)
    group_needs = models.JSONField(null=True)
    mode = models.CharField(
        max_length=20, choices=[(mode, mode) for mode in modes.MODES], default=modes.HOLD_THEN_APPROVE
    )

    state = models.CharField(
        max_length=20, choices=[(name, s.label) for name, s in states.STATES.items()], default="draft"
    )
    decision = models.CharField(max_length=10, choices=[(d, d) for d in states.DECISIONS], default=NONE)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    decided_at = models.DateTimeField(null=True)

    attempt = models.PositiveIntegerField(default=0)
    tag = models.CharField(max_length=40, default="", blank=True)
    exchange_id = models.CharField(max_length=80, null=True)
    exchange_status = models.CharField(max_length=40, default="", blank=True)
    exchange_index = models.BigIntegerField(null=True)
    exchange_error_code = models.CharField(max_length=80, default="", blank=True)
    hash = models.CharField(max_length=256, default="", blank=True)
    confirmations = models.IntegerField(null=True)

    fee_estimate = amount_field(null=True)
    fee_limit = amount_field(null=True)
    earlier_fee_limit = amount_field(null=True)
    fee_estimated_at = models.DateTimeField(null=True)
    fee = amount_field(null=True)
    echo = models.JSONField(default=list)
    echo_ok = models.BooleanField(null=True)
    quote_value = amount_field(null=True)
    quote_currency = models.CharField(max_length=20, default="", blank=True)
    quote_at = models.DateTimeField(null=True)

    window_from = models.DateTimeField(null=True)
    closes_at = models.DateTimeField(null=True)
    approve_until = models.DateTimeField(null=True)
    rollback_at = models.DateTimeField(null=True)
    put_stop_at = models.DateTimeField(null=True)
    put_count = models.PositiveIntegerField(default=0)
    delete_count = models.PositiveIntegerField(default=0)
    lease_epoch = models.PositiveIntegerField(default=0)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["initiator", "request_key"], name="withdrawal_one_per_request_key"),
            models.UniqueConstraint(fields=["account", "exchange_id"], name="withdrawal_one_per_exchange_id"),
            models.UniqueConstraint(
                fields=["account", "currency", "amount", "address", "payment_id"],
                condition=Q(state__in=states.IN_FLIGHT_HOLDS),
                name="withdrawal_one_equal_hold_in_flight",
            ),
            models.CheckConstraint(condition=_pairs(), name="withdrawal_state_and_decision_agree"),
            models.CheckConstraint(condition=Q(amount__gt=Decimal(0)), name="withdrawal_amount_is_positive"),
            models.CheckConstraint(condition=~Q(exchange_id=""), name="withdrawal_exchange_id_is_not_blank"),
            models.CheckConstraint(
                condition=Q(decision=NONE) | Q(decided_at__isnull=False),
                name="withdrawal_decision_has_a_time",
            ),
            models.CheckConstraint(
                condition=~Q(state=states.COMMITTING) | Q(exchange_id__isnull=False),
                name="withdrawal_commit_needs_a_hold",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["state", "next_action_at"], name="withdrawal_due"),
            models.Index(fields=["account", "-created_at"], name="withdrawal_newest"),
            models.Index(fields=["account", "updated_at", "id"], name="withdrawal_by_change"),
            models.Index(fields=["account", "currency", "amount", "id"], name="withdrawal_by_amount"),
            models.Index(fields=["account", "currency", "address"], name="withdrawal_by_address"),
            models.Index(fields=["hash"], name="withdrawal_by_hash"),
            models.Index(fields=["tag"], name="withdrawal_by_tag"),
        ]

    @property
    def movement(self) -> Movement:
        """What a freeze is compared with."""
        return Movement(self.account_id, (self.currency,), destination=destinations.identity(self.address))

    @property
    def known_fee(self) -> Decimal | None:
        """The fee reported by the exchange, else its estimate, else None."""
        reported: Decimal | None = self.fee
        estimated: Decimal | None = self.fee_estimate
        return estimated if reported is None else reported

    @property
    def arrives(self) -> Decimal | None:
        """What reaches the address, in `currency`; None while the fee is unknown and is taken out of the amount."""
        amount: Decimal = self.amount
        if not self.include_fee:
            return amount
        return None if self.known_fee is None else amount - self.known_fee

    @property
    def leaves(self) -> Decimal | None:
        """What leaves the account, in `currency`; None while the fee is unknown and comes on top of the amount."""
        amount: Decimal = self.amount
        if self.include_fee:
            return amount
        return None if self.known_fee is None else amount + self.known_fee

    @property
    def most_leaves(self) -> Decimal | None:
        """The most that approvals let leave the account, in `currency`; None while the fee is not known."""
        amount: Decimal = self.amount
        if self.include_fee:
            return amount
        return None if self.fee_limit is None else amount + self.fee_limit

    @property
    def least_arrives(self) -> Decimal | None:
        """The least that approvals let reach the address, in `currency`; None while the fee is not known."""
        amount: Decimal = self.amount
        if not self.include_fee:
            return amount
        return None if self.fee_limit is None else amount - self.fee_limit

    @property
    def end(self) -> endings.End | None:
        """How it ended, by the event that ended it; None while it is open, and where the state says everything.

        Rows of lists carry the event (`queries.with_ends`); for a single row it is queried.
        """
        if self.state not in endings.SHARED:
            return None
        annotations = self.__dict__
        if "ended_by" in annotations:
            event, person = annotations["ended_by"], annotations["ended_by_person"]
        else:
            endings_of_row = self.events.filter(event__in=endings.EVENTS).order_by("-version")
            event, person = endings_of_row.values_list("event", "actor").first() or ("", None)
        return endings.by_event(event, by_requester=person == self.initiator_id)

    @property
    def is_cancellable(self) -> bool:
        """Whether a request can still be taken back: nothing was decided, and the exchange was not told to pay."""
        return self.state in states.CANCELLABLE and self.decision == NONE

    @property
    def label(self) -> str:
        """The end, or the state, in a few words."""
        end = self.end
        return end.label if end else states.STATES[self.state].label


class WithdrawalEvent(Event):
    """One move, written in the same transaction as the row it moved; `version` is the row's version after it."""

    withdrawal = models.ForeignKey(Withdrawal, on_delete=models.PROTECT, related_name="events")
    decision = models.CharField(max_length=10, choices=[(d, d) for d in states.DECISIONS])
    changes = models.JSONField(default=dict)

    class Meta:
        ordering: ClassVar = ["version"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["withdrawal", "version"], name="withdrawalevent_one_per_version"),
            models.CheckConstraint(condition=is_a_move(states.TABLE), name="withdrawalevent_is_a_move_of_the_table"),
        ]


class ExternalCall(Call):
    """One call to the exchange that can change something, written and committed before its bytes leave.

    `watermark` and `balances` are what we knew of the ledger at that moment; after `send_by` the call is never sent.
    """

    owner = "withdrawal"

    HOLD, COMMIT, ROLLBACK, ORPHAN = "hold", "commit", "rollback", "orphan"

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="+")
    withdrawal = models.ForeignKey(Withdrawal, on_delete=models.PROTECT, related_name="calls")
    kind = models.CharField(max_length=10)
    epoch = models.PositiveIntegerField()
    tag = models.CharField(max_length=40, default="", blank=True)
    exchange_id = models.CharField(max_length=80, default="", blank=True)
    watermark = models.BigIntegerField(default=0)
    balances = models.JSONField(default=dict)
    http_status = models.PositiveIntegerField(null=True)

    class Meta:
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["withdrawal", "kind", "attempt"], name="externalcall_one_per_attempt"),
            models.CheckConstraint(condition=Q(outcome__in=CALL_OUTCOMES), name="externalcall_known_outcome"),
        ]
        indexes: ClassVar = [models.Index(fields=["tag"], name="externalcall_by_tag")]

    def __str__(self) -> str:
        return f"{self.kind} {self.attempt}"

    def answer_columns(self, value: Any) -> dict[str, Any]:
        """The columns that keep what an accepted call gave: the id of the hold that it made."""
        return {"exchange_id": str(value)[:80]} if self.kind == self.HOLD else {}


class Approval(Vote):
    """One person's vote on exactly the content of `digest`, with a second factor wherever it lets money go.

    `stage` says what it is for: review (before a hold), release (of a hold) or resolution (of an unclear case).
    """

    REVIEW, RELEASE, RESOLUTION = "review", "release", "resolution"
    APPROVE, REJECT, PAID, NOT_PAID = "approve", "reject", "paid", "not_paid"

    withdrawal = models.ForeignKey(Withdrawal, on_delete=models.PROTECT, related_name="approvals")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="approvals")

    class Meta:
        ordering: ClassVar = ["at", "id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["confirmation"], condition=Q(confirmation__isnull=False), name="approval_one_per_second_factor"
            ),
            models.UniqueConstraint(
                fields=["withdrawal", "digest", "stage", "person", "verdict"], name="approval_one_word_per_person"
            ),
            models.CheckConstraint(condition=~Q(person=F("initiator")), name="approval_never_by_the_initiator"),
            models.CheckConstraint(
                condition=Q(verdict="reject") | Q(confirmation__isnull=False), name="approval_needs_a_second_factor"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.verdict} by {self.person_id}"


class HoldReleaseVote(Witnessed):
    """One person's order to release a hold whose request is closed, given with a second factor.

    `digest` is what the person confirmed; two different people are needed, and never the one who requested the payment.
    """

    withdrawal = models.ForeignKey(Withdrawal, on_delete=models.PROTECT, related_name="release_votes")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    digest = models.CharField(max_length=64)
    reason = models.CharField(max_length=500)
    confirmation = models.OneToOneField("desk.StepUp", on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField()

    class Meta:
        ordering: ClassVar = ["at", "id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["withdrawal", "person"], name="holdreleasevote_one_per_person")
        ]

    def __str__(self) -> str:
        return f"release vote {self.pk}"


UNSEEN, ABSENT, WRONG, NOT_PROVEN = "unseen", "absent", "wrong", "not_proven"
WAITING, BLOCK_LEFT, PROVEN = "waiting", "left", "proven"
STANDINGS = (UNSEEN, ABSENT, WRONG, NOT_PROVEN, WAITING, BLOCK_LEFT, PROVEN)


class PayoutProof(Witnessed):
    """The proof of one payout on the chain, as of the last check. It decides nothing: only the machine moves states.

    `standing`: unseen, absent (the chain knows no such transaction), wrong (it pays something else), not_proven (what
    the service gave as proof does not hold), waiting (not in a block that is followed), left (its block left the chain)
    or proven, at whatever depth. `checks` are the steps of the last check, each with name, holds and sentence.
    `looked_at` is the last check that got an answer, `tried_at` the last attempt, with `problem` when it failed. One
    with `final_at` is buried; it is checked again only when another block stands at its height.
    """

    withdrawal = models.OneToOneField(Withdrawal, on_delete=models.PROTECT, related_name="proof")
    txid = models.CharField(max_length=64)
    wanted_sat = models.BigIntegerField()
    standing = models.CharField(max_length=12, choices=[(name, name) for name in STANDINGS], default=UNSEEN)
    sentence = models.CharField(max_length=500, default="", blank=True)
    checks = models.JSONField(default=list)
    output = models.PositiveIntegerField(null=True)
    block_hash = models.CharField(max_length=64, default="", blank=True)
    height = models.BigIntegerField(null=True)
    depth = models.PositiveIntegerField(default=0)
    tip_hash = models.CharField(max_length=64, default="", blank=True)
    absent_since = models.DateTimeField(null=True)
    final_at = models.DateTimeField(null=True)
    looked_at = models.DateTimeField(null=True)
    tried_at = models.DateTimeField(null=True)
    problem = models.CharField(max_length=300, default="", blank=True)
    next_look_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(standing__in=STANDINGS), name="payoutproof_known_standing"),
            models.CheckConstraint(
                condition=~Q(standing=PROVEN) | (Q(depth__gte=1) & ~Q(block_hash="")), name="payoutproof_has_a_block"
            ),
        ]
        indexes: ClassVar = [models.Index(fields=["next_look_at"], name="payoutproof_due")]

    def __str__(self) -> str:
        return f"proof of W-{self.withdrawal_id}"
