"""A withdrawal, everything that happened to it, every call made for it and everybody who agreed to it.

Only `exchange_ops.domain.lifecycle.move` writes `state`, `version` and `decision`; triggers refuse anybody else.
"""

from decimal import Decimal
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from desk.witnessed import Witnessed
from exchange_ops.models import states, withdrawal_ends
from exchange_ops.models.accounts import Account
from exchange_ops.models.amounts import amount_field

CALL_OUTCOMES = ("prepared", "sent", "accepted", "refused", "not_sent", "unknown", "found", "absent")


def _pairs() -> Q:
    condition = Q()
    for state, decision in states.DECISION_PAIRS:
        condition |= Q(state=state, decision=decision)
    return condition


def _moves() -> Q:
    condition = Q()
    for move in states.TRANSITIONS:
        condition |= Q(from_state=move.source, event=move.event, to_state=move.target)
    return condition


class Withdrawal(Witnessed):
    """One payment that was asked for. `amount` is in `currency`; with `include_fee` the fee is taken out of it.

    `window_from` to `closes_at` is the exchange's hour, and `approve_until`, `rollback_at`, `put_stop_at` lie inside
    it: all of them in the exchange's time (`domain.clocks.exchange_now`). Every other time is the desk's.
    """

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
    mode = models.CharField(
        max_length=20, choices=[(mode, mode) for mode in states.MODES], default=states.HOLD_THEN_APPROVE
    )

    state = models.CharField(
        max_length=20, choices=[(name, s.label) for name, s in states.STATES.items()], default="draft"
    )
    version = models.PositiveIntegerField(default=1)
    decision = models.CharField(max_length=10, choices=[(d, d) for d in states.DECISIONS], default=states.NONE)
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
    lease_until = models.DateTimeField(null=True)
    next_action_at = models.DateTimeField(null=True, db_index=True)
    last_problem = models.CharField(max_length=500, default="", blank=True)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

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
                condition=Q(decision=states.NONE) | Q(decided_at__isnull=False), name="withdrawal_decision_has_a_time"
            ),
            models.CheckConstraint(
                condition=~Q(state="committing") | Q(exchange_id__isnull=False), name="withdrawal_commit_needs_a_hold"
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["state", "next_action_at"], name="withdrawal_due"),
            models.Index(fields=["account", "-created_at"], name="withdrawal_newest"),
            models.Index(fields=["tag"], name="withdrawal_by_tag"),
        ]

    def __str__(self) -> str:
        return self.reference

    @property
    def reference(self) -> str:
        """The name people use for it, for instance W-1042."""
        return f"W-{self.pk}"

    @property
    def subject(self) -> str:
        """How the audit trail and the live topics name it, for instance withdrawal:1042."""
        return f"withdrawal:{self.pk}"

    @property
    def known_fee(self) -> Decimal | None:
        """What the exchange says the fee is, else its estimate, else nothing."""
        told: Decimal | None = self.fee
        estimated: Decimal | None = self.fee_estimate
        return estimated if told is None else told

    @property
    def arrives(self) -> Decimal | None:
        """What reaches the address, in `currency`; empty while the fee is unknown and is taken out of the amount."""
        amount: Decimal = self.amount
        if not self.include_fee:
            return amount
        return None if self.known_fee is None else amount - self.known_fee

    @property
    def leaves(self) -> Decimal | None:
        """What leaves the account, in `currency`; empty while the fee is unknown and comes on top of the amount."""
        amount: Decimal = self.amount
        if self.include_fee:
            return amount
        return None if self.known_fee is None else amount + self.known_fee

    @property
    def is_open(self) -> bool:
        """Whether anybody or anything still has to act on it."""
        return self.state in states.OPEN_STATES

    @property
    def turn(self) -> str:
        """Who acts next: person, worker, exchange, chain or nobody."""
        return states.STATES[self.state].turn

    @property
    def end(self) -> withdrawal_ends.End | None:
        """How it ended, from the event that did; None while it goes on and where the state says it all.

        Rows of lists carry the event (`domain.withdrawal_endings.with_ends`); of a single row it is read.
        """
        if self.state not in withdrawal_ends.SHARED:
            return None
        carried = self.__dict__
        if "ended_by" in carried:
            event, person = carried["ended_by"], carried["ended_by_person"]
        else:
            known = self.events.filter(event__in=withdrawal_ends.EVENTS).order_by("-version")
            event, person = known.values_list("event", "actor").first() or ("", None)
        return withdrawal_ends.of(event, by_requester=person == self.initiator_id)

    @property
    def label(self) -> str:
        """The end, or the state, in a few words."""
        end = self.end
        return end.label if end else states.STATES[self.state].label

    @property
    def sentence(self) -> str:
        """The state for people: what happened to the money, then why, then who can do what."""
        return states.STATES[self.state].sentence

    @property
    def tone(self) -> str:
        """How the state is shown: quiet, active, good, warn or bad."""
        return states.STATES[self.state].tone


class WithdrawalEvent(Witnessed):
    """One move, written in the same transaction as the row it moved; `version` is the row's version after it."""

    withdrawal = models.ForeignKey(Withdrawal, on_delete=models.PROTECT, related_name="events")
    version = models.PositiveIntegerField()
    event = models.CharField(max_length=40)
    from_state = models.CharField(max_length=20, default="", blank=True)
    to_state = models.CharField(max_length=20)
    decision = models.CharField(max_length=10, choices=[(d, d) for d in states.DECISIONS])
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    evidence = models.JSONField(default=dict)
    changes = models.JSONField(default=dict)
    audit_number = models.BigIntegerField(help_text="number of the row of the audit trail written with it")
    at = models.DateTimeField()

    class Meta:
        ordering: ClassVar = ["version"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["withdrawal", "version"], name="withdrawalevent_one_per_version"),
            models.CheckConstraint(condition=_moves(), name="withdrawalevent_is_a_move_of_the_table"),
        ]

    def __str__(self) -> str:
        return f"{self.event} ({self.version})"


class ExternalCall(Witnessed):
    """One call to the exchange that can change something, written and committed before its bytes leave.

    `watermark` and `balances` are what we knew of the ledger at that moment; after `send_by` it is never sent.
    """

    HOLD, COMMIT, ROLLBACK, ORPHAN = "hold", "commit", "rollback", "orphan"
    PREPARED, SENT, ACCEPTED, REFUSED = "prepared", "sent", "accepted", "refused"
    NOT_SENT, UNKNOWN, FOUND, ABSENT = "not_sent", "unknown", "found", "absent"

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="+")
    withdrawal = models.ForeignKey(Withdrawal, on_delete=models.PROTECT, related_name="calls")
    kind = models.CharField(max_length=10)
    attempt = models.PositiveIntegerField()
    epoch = models.PositiveIntegerField()
    tag = models.CharField(max_length=40, default="", blank=True)
    exchange_id = models.CharField(max_length=80, default="", blank=True)
    fingerprint = models.CharField(max_length=64)
    watermark = models.BigIntegerField(default=0)
    balances = models.JSONField(default=dict)
    prepared_at = models.DateTimeField()
    send_by = models.DateTimeField()
    sent_at = models.DateTimeField(null=True)
    answered_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=10, choices=[(o, o) for o in CALL_OUTCOMES], default=PREPARED)
    http_status = models.PositiveIntegerField(null=True)
    error_code = models.IntegerField(null=True)
    detail = models.CharField(max_length=500, default="", blank=True)

    class Meta:
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["withdrawal", "kind", "attempt"], name="externalcall_one_per_attempt"),
            models.CheckConstraint(condition=Q(outcome__in=CALL_OUTCOMES), name="externalcall_known_outcome"),
        ]
        indexes: ClassVar = [models.Index(fields=["tag"], name="externalcall_by_tag")]

    def __str__(self) -> str:
        return f"{self.kind} {self.attempt}"


class Approval(Witnessed):
    """One person's word on exactly the content of `digest`, given with a second factor where it lets money go.

    `stage` says what it was given for: review (before a hold), release (of a hold) or resolution (of an unclear case).
    """

    REVIEW, RELEASE, RESOLUTION = "review", "release", "resolution"
    APPROVE, REJECT, PAID, NOT_PAID = "approve", "reject", "paid", "not_paid"

    withdrawal = models.ForeignKey(Withdrawal, on_delete=models.PROTECT, related_name="approvals")
    initiator = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="approvals")
    digest = models.CharField(max_length=64)
    stage = models.CharField(max_length=10)
    verdict = models.CharField(max_length=10)
    comment = models.CharField(max_length=500, default="", blank=True)
    confirmation = models.ForeignKey("desk.StepUp", on_delete=models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField()

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
