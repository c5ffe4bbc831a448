"""The table of the withdrawal machine: every state, whose turn it is, and every move between states.

This is data, read by the machine, the database constraints, the pages, the documentation and the tests. A sentence says
what happened to the money first, then why, then who can do what. Each move has a number, by which docstrings of the
steps name it. The chain can take a proof back, so VERIFIED is no final state: move 31 leads back to it from a dispute
that was opened by nothing but a lost proof.
"""

from typing import Final

from desk.machines.table import NONE, WORK, Column, State, Table, Tone, Transition, Turn

COMMIT: Final = "commit"
ROLLBACK: Final = "rollback"
DECISIONS: Final = (NONE, COMMIT, ROLLBACK)

DRAFT: Final = "draft"
REVIEW: Final = "review"
QUEUED: Final = "queued"
HOLDING: Final = "holding"
HOLD_UNKNOWN: Final = "hold_unknown"
HELD: Final = "held"
COMMITTING: Final = "committing"
COMMIT_UNKNOWN: Final = "commit_unknown"
COMMITTED: Final = "committed"
SENT: Final = "sent"
SETTLED: Final = "settled"
VERIFIED: Final = "verified"
ROLLING_BACK: Final = "rolling_back"
ROLLED_BACK: Final = "rolled_back"
CANCELLED: Final = "cancelled"
REFUSED: Final = "refused"
LAPSED: Final = "lapsed"
EXPIRED: Final = "expired"
FAILED: Final = "failed"
DISPUTED: Final = "disputed"
INVESTIGATE: Final = "investigate"
RESOLVED_PAID: Final = "resolved_paid"
RESOLVED_NOT_PAID: Final = "resolved_not_paid"


STATES: Final[dict[str, State]] = {
    "draft": State(
        "Being checked",
        "Nothing has been sent. The address and the network fee are being checked with the exchange. No "
        "action needed; the requester can withdraw the request.",
        Turn.WORKER,
        Tone.ACTIVE,
        icon="circle-dashed",
    ),
    "review": State(
        "Waiting for approvals before the hold",
        "Nothing has been sent or reserved. The policy requires approval before the "
        "reservation. Treasury can approve or reject; the requester can withdraw the request.",
        Turn.PERSON,
        Tone.WARN,
        icon="users-round",
    ),
    "queued": State(
        "Waiting to be reserved",
        "Nothing has been sent. The funds are about to be reserved at the exchange. No action needed; the "
        "requester can withdraw the request.",
        Turn.WORKER,
        Tone.ACTIVE,
        icon="clock",
    ),
    "holding": State(
        "Reserving the money",
        "Nothing has been paid. The funds are being reserved at the exchange. No action needed.",
        Turn.WORKER,
        Tone.ACTIVE,
        icon="loader",
    ),
    "hold_unknown": State(
        "Reservation unknown",
        "Not paid. The exchange did not respond, so the funds may or may not be reserved. The "
        "exchange's ledger is being checked. Do not request this payment again in the meantime.",
        Turn.EXCHANGE,
        Tone.WARN,
        icon="circle-question-mark",
    ),
    "held": State(
        "Reserved, waiting for approvals",
        "Not paid. The funds are reserved at the exchange and are released if there is no decision "
        "by the deadline. Treasury can approve or reject; the requester can withdraw the request.",
        Turn.PERSON,
        Tone.WARN,
        icon="hourglass",
    ),
    "committing": State(
        "Approved, being paid",
        "Approved, payment not confirmed yet. The payment order is retried until the exchange "
        "confirms it. Treasury can recall the approval until the first order is sent.",
        Turn.WORKER,
        Tone.ACTIVE,
        icon="send",
        decisions=(COMMIT,),
    ),
    "commit_unknown": State(
        "Payment unknown",
        "It is unknown whether this was paid: the exchange did not confirm the payment order in "
        "time. The order is not sent again; the exchange's ledger is being checked. Do not pay this "
        "again.",
        Turn.EXCHANGE,
        Tone.BAD,
        icon="circle-question-mark",
        decisions=(COMMIT,),
    ),
    "committed": State(
        "Accepted by the exchange, awaiting broadcast",
        "The exchange accepted the payment order; it can no longer be stopped. There is no "
        "transaction hash yet. No action needed.",
        Turn.EXCHANGE,
        Tone.ACTIVE,
        icon="send",
        decisions=(COMMIT,),
    ),
    "sent": State(
        "On its way",
        "Sent. The transaction is on the network and awaits confirmations. No action needed.",
        Turn.EXCHANGE,
        Tone.ACTIVE,
        icon="arrow-up-right",
        decisions=(COMMIT,),
    ),
    "settled": State(
        "Paid",
        "Paid, confirmed by the exchange. No action needed.",
        Turn.NOBODY,
        Tone.GOOD,
        icon="circle-check",
        decisions=(COMMIT,),
    ),
    "verified": State(
        "Paid and proven",
        "Paid, and verified on-chain: the payment is in a block that Countersign checked. No action needed.",
        Turn.NOBODY,
        Tone.GOOD,
        icon="badge-check",
        decisions=(COMMIT,),
    ),
    "disputed": State(
        "Paid, but the records disagree",
        "The exchange reports this payout as paid, but other evidence disagrees. Two treasurers must review "
        "the evidence and submit the same finding. Do not pay this again.",
        Turn.PERSON,
        Tone.BAD,
        icon="triangle-alert",
        decisions=(COMMIT,),
    ),
    "rolling_back": State(
        "Being released",
        (
            "Not paid. The reserved funds are being released; the release is retried until the exchange's "
            "ledger confirms it. No action needed."
        ),
        Turn.WORKER,
        Tone.ACTIVE,
        icon="undo-2",
        decisions=(ROLLBACK,),
    ),
    "rolled_back": State(
        "Funds released, not paid",
        "Not paid. The exchange's ledger confirms that the reserved funds were released. You can request it again.",
        Turn.NOBODY,
        Tone.QUIET,
        icon="undo-2",
        terminal=True,
        decisions=(ROLLBACK,),
    ),
    "refused": State(
        "Refused by the exchange",
        "Not paid, and nothing is reserved. The exchange rejected the request for the reason below. "
        "You can request it again.",
        Turn.NOBODY,
        Tone.BAD,
        icon="circle-x",
        terminal=True,
    ),
    "lapsed": State(
        "Lapsed, not paid",
        "Not paid. The exchange's ledger shows no open reservation for this payout. You can request it again.",
        Turn.NOBODY,
        Tone.QUIET,
        icon="circle-pause",
        terminal=True,
    ),
    "expired": State(
        "Expired, not paid",
        "Not paid. The exchange never confirmed the payment order, and its ledger shows no payment. "
        "You can request it again.",
        Turn.NOBODY,
        Tone.BAD,
        icon="circle-x",
        terminal=True,
        decisions=(COMMIT,),
    ),
    "cancelled": State(
        "Cancelled",
        "Nothing was sent or reserved. The request was closed before it reached the exchange.",
        Turn.NOBODY,
        Tone.QUIET,
        icon="ban",
        terminal=True,
    ),
    "failed": State(
        "Failed at the exchange",
        "Not paid. The exchange accepted the payment order, then marked it as failed. The funds should be back "
        "in the account; check the balance before you request it again.",
        Turn.NOBODY,
        Tone.BAD,
        icon="circle-x",
        terminal=True,
        decisions=(COMMIT,),
    ),
    "investigate": State(
        "Review by two people",
        "It is unknown whether this was paid: the exchange's ledger is inconclusive, or reports a "
        "payout that was not ordered. Two treasurers must review the evidence and submit the same "
        "finding. Do not pay this again.",
        Turn.PERSON,
        Tone.BAD,
        icon="users-round",
        decisions=DECISIONS,
    ),
    "resolved_paid": State(
        "Closed by two people: paid",
        "Paid, according to two treasurers' findings. Their reasons are in the timeline.",
        Turn.NOBODY,
        Tone.QUIET,
        icon="stamp",
        terminal=True,
        decisions=DECISIONS,
    ),
    "resolved_not_paid": State(
        "Closed by two people: not paid",
        "Not paid, according to two treasurers' findings. Their reasons are in the timeline.",
        Turn.NOBODY,
        Tone.QUIET,
        icon="stamp",
        terminal=True,
        decisions=DECISIONS,
    ),
}

_T = Transition
TRANSITIONS: Final[tuple[Transition, ...]] = (
    _T(1, "", "created", "draft", ("operator",)),
    _T(2, "draft", "submitted", "queued", ("worker",)),
    _T(2, "draft", "submitted", "review", ("worker",)),
    _T(2, "draft", "checks_failed", "cancelled", ("worker",)),
    _T(3, "review", "approval_recorded", "review", ("approver",)),
    _T(3, "review", "quorum_reached", "queued", ("approver",)),
    _T(3, "review", "judged_again", "review", ("worker", "treasury")),
    _T(3, "queued", "judged_again", "queued", ("worker", "treasury")),
    _T(3, "queued", "judged_again", "review", ("worker", "treasury")),
    _T(4, "queued", "hold_claimed", "holding", ("worker",)),
    _T(5, "holding", "hold_accepted", "held", ("worker",)),
    _T(6, "holding", "hold_refused", "refused", ("worker",)),
    _T(7, "holding", "hold_not_sent", "queued", ("worker",)),
    _T(8, "holding", "hold_unknown", "hold_unknown", ("worker", "sweeper")),
    _T(9, "hold_unknown", "hold_adopted", "held", ("reconciler",)),
    _T(10, "hold_unknown", "hold_not_found", "lapsed", ("reconciler",)),
    _T(11, "hold_unknown", "hold_ambiguous", "investigate", ("reconciler",)),
    _T(12, "held", "echo_agrees", "held", ("worker",)),
    _T(12, "held", "echo_differs", "rolling_back", ("worker",)),
    _T(12, "held", "executed_without_us", "investigate", ("worker", "reconciler")),
    _T(12, "committing", "executed_without_us", "investigate", ("worker", "reconciler")),
    _T(13, "held", "approval_recorded", "held", ("approver",)),
    _T(13, "held", "quorum_reached", "committing", ("approver",)),
    _T(14, "held", "rejected", "rolling_back", ("approver",)),
    _T(14, "held", "cancelled", "rolling_back", ("initiator",)),
    _T(14, "held", "time_over", "rolling_back", ("sweeper",)),
    _T(14, "held", "frozen", "rolling_back", ("treasury", "worker")),
    _T(14, "held", "policy_changed", "rolling_back", ("worker",)),
    _T(14, "held", "fee_drifted", "rolling_back", ("worker",)),  # by earlier versions of the desk
    _T(14, "held", "ended_at_exchange", "rolling_back", ("reconciler",)),
    _T(32, "held", "fee_rose", "held", ("worker",)),
    _T(32, "committing", "fee_rose", "held", ("worker",)),
    _T(33, "held", "judged_again", "held", ("worker",)),
    _T(33, "committing", "judged_again", "held", ("worker",)),
    _T(15, "committing", "recalled", "rolling_back", ("approver",)),
    _T(15, "committing", "frozen", "rolling_back", ("treasury", "worker")),
    _T(15, "committing", "time_over", "rolling_back", ("sweeper",)),
    _T(15, "committing", "echo_differs", "rolling_back", ("worker",)),
    _T(16, "committing", "commit_claimed", "committing", ("worker",)),
    _T(17, "committing", "commit_confirmed", "committed", ("worker", "reconciler")),
    _T(18, "committing", "commit_unconfirmed", "committing", ("worker",)),
    _T(19, "committing", "commit_stopped", "commit_unknown", ("sweeper",)),
    _T(20, "commit_unknown", "commit_confirmed", "committed", ("reconciler",)),
    _T(20, "commit_unknown", "commit_not_carried_out", "expired", ("reconciler",)),
    _T(20, "commit_unknown", "still_unclear", "investigate", ("reconciler",)),
    _T(21, "rolling_back", "rollback_claimed", "rolling_back", ("worker",)),
    _T(22, "rolling_back", "released", "rolled_back", ("worker", "reconciler")),
    _T(23, "rolling_back", "rollback_unconfirmed", "rolling_back", ("worker",)),
    _T(23, "rolling_back", "escalated", "rolling_back", ("worker",)),
    _T(23, "rolling_back", "paid_anyway", "investigate", ("worker", "reconciler")),
    _T(24, "committed", "hash_seen", "sent", ("reconciler",)),
    _T(25, "sent", "exchange_succeeded", "settled", ("reconciler",)),
    _T(25, "committed", "exchange_succeeded", "settled", ("reconciler",)),
    _T(26, "settled", "proven", "verified", ("chain",)),
    _T(27, "sent", "proof_lost", "disputed", ("chain",)),
    _T(27, "settled", "proof_lost", "disputed", ("chain",)),
    _T(27, "verified", "proof_lost", "disputed", ("chain",)),
    _T(27, "settled", "exchange_failed", "disputed", ("reconciler",)),
    _T(27, "verified", "exchange_failed", "disputed", ("reconciler",)),
    _T(28, "committed", "exchange_failed", "failed", ("reconciler",)),
    _T(28, "sent", "exchange_failed", "failed", ("reconciler",)),
    _T(29, "draft", "cancelled", "cancelled", ("initiator", "approver")),
    _T(29, "review", "cancelled", "cancelled", ("initiator",)),
    _T(29, "review", "rejected", "cancelled", ("approver",)),
    _T(29, "queued", "cancelled", "cancelled", ("initiator", "approver")),
    _T(30, "investigate", "resolution_recorded", "investigate", ("treasury",)),
    _T(30, "investigate", "resolved", "resolved_paid", ("treasury",)),
    _T(30, "investigate", "resolved", "resolved_not_paid", ("treasury",)),
    _T(30, "disputed", "resolution_recorded", "disputed", ("treasury",)),
    _T(30, "disputed", "resolved", "resolved_paid", ("treasury",)),
    _T(30, "disputed", "resolved", "resolved_not_paid", ("treasury",)),
    _T(31, "disputed", "proven_again", "verified", ("chain",)),
)

_CONTENT: Final = Column.RECORDED | Column.FIXED | Column.SIGNED  # what was asked for
_FIGURE: Final = Column.COPY | Column.TOUCHED  # read from the exchange, never state or content
TABLE: Final = Table(
    noun="a withdrawal",
    states=STATES,
    moves=TRANSITIONS,
    columns=WORK
    | {
        "account_id": _CONTENT,
        "initiator_id": _CONTENT,
        "initiated_via": Column.RECORDED | Column.FIXED,
        "request_key": Column.FIXED,
        "currency": _CONTENT,
        "amount": _CONTENT,
        "include_fee": _CONTENT,
        "address": _CONTENT,
        "payment_id": _CONTENT,
        "reason": _CONTENT,
        "created_at": Column.FIXED,
        # What it was judged by.
        "fee_limit": Column.SIGNED,
        "quorum_required": Column.SIGNED,
        "group_needs": Column.SIGNED,
        "mode": Column.SIGNED,
        "decision": Column.DECISION,
        "put_count": Column.COUNTER,
        "delete_count": Column.COUNTER,
        "exchange_id": Column.ONCE,
        "exchange_status": _FIGURE,
        "exchange_index": _FIGURE,
        "confirmations": _FIGURE,
        "hash": Column.TOUCHED,
    },
)
OPEN_STATES: Final = TABLE.open
CLOSED_STATES: Final = TABLE.ends
REPEATABLE: Final = (ROLLED_BACK, CANCELLED, REFUSED, LAPSED, EXPIRED)  # ended unpaid: the same can be requested again
CANCELLABLE: Final = frozenset({DRAFT, REVIEW, QUEUED, HELD})  # as long as nothing was decided
PAID: Final = (COMMITTED, SENT, SETTLED, VERIFIED, RESOLVED_PAID)  # the exchange executed it, or two people found so
# It is certain that the money stayed: people are told to ask again after these.
NOT_PAID: Final = (ROLLED_BACK, REFUSED, LAPSED, EXPIRED, CANCELLED, FAILED, RESOLVED_NOT_PAID)
IN_FLIGHT_HOLDS: Final = ("holding", "hold_unknown")
DECISION_PAIRS: Final = tuple((name, decision) for name, state in STATES.items() for decision in state.decisions)
