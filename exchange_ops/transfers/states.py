"""The table of the transfer machine: kinds, states, whose turn it is, and every move between states.

A transfer has no second phase: the one call moves the money or does not, and can't be taken back. So it is sent once,
and an unknown outcome is resolved by reading the ledger, never by sending again. This is data, read by the machine, the
database constraints, the pages, the documentation and the tests. A sentence says what happened to the money first. Each
move has a number, by which docstrings of the steps name it.
"""

from typing import Final

from desk.machines.table import WORK, Column, State, Table, Tone, Transition, Turn

BANK_TO_TRADING: Final = "bank_to_trading"
TRADING_TO_BANK: Final = "trading_to_bank"
TO_USER: Final = "to_user"
CONVERT: Final = "convert"
TO_SUBACCOUNT: Final = "to_subaccount"
FROM_SUBACCOUNT: Final = "from_subaccount"
KINDS: Final = {
    BANK_TO_TRADING: "From bank to trading account",
    TRADING_TO_BANK: "From trading to bank account",
    TO_USER: "To another user of the exchange",
    CONVERT: "Convert to another network",
    TO_SUBACCOUNT: "To a sub-account",
    FROM_SUBACCOUNT: "From a sub-account",
}
SUBACCOUNT_KINDS: Final = (TO_SUBACCOUNT, FROM_SUBACCOUNT)
# Kinds that take money out of the company for good: the rules of withdrawals hold for them.
LEAVING_KINDS: Final = (TO_USER,)
EMAIL, USERNAME = "email", "username"
IDENTIFIED_BY: Final = {EMAIL: "e-mail address", USERNAME: "username"}

DRAFT: Final = "draft"
REVIEW: Final = "review"
APPROVED: Final = "approved"
SENDING: Final = "sending"
UNKNOWN: Final = "unknown"
DONE: Final = "done"
REFUSED: Final = "refused"
NOT_SEEN: Final = "not_seen"
INVESTIGATE: Final = "investigate"
CLOSED: Final = "closed"
CANCELLED: Final = "cancelled"
REJECTED: Final = "rejected"
RESOLVED_MOVED: Final = "resolved_moved"
RESOLVED_NOT_MOVED: Final = "resolved_not_moved"
LAPSED: Final = "lapsed"

STATES: Final[dict[str, State]] = {
    "draft": State(
        "Being checked",
        "Nothing has been sent. The request is being checked against the policy. No action needed.",
        Turn.WORKER,
        Tone.ACTIVE,
        icon="circle-dashed",
    ),
    "review": State(
        "Waiting for approvals",
        "Nothing has been sent. The money would leave the company, so the policy requires approval. "
        "Treasury can approve or reject; the requester can withdraw the request.",
        Turn.PERSON,
        Tone.WARN,
        icon="users-round",
    ),
    "approved": State(
        "Waiting to be sent",
        "Nothing has been sent yet. The transfer is about to be sent. No action needed; the "
        "requester can withdraw the request until then.",
        Turn.WORKER,
        Tone.ACTIVE,
        icon="clock",
    ),
    "sending": State(
        "Being sent",
        "The transfer is being sent to the exchange. It can no longer be withdrawn. No action needed.",
        Turn.WORKER,
        Tone.ACTIVE,
        icon="loader",
    ),
    "unknown": State(
        "Outcome unknown",
        "It is unknown whether the money moved: the exchange did not respond. The exchange's ledger "
        "is being checked; the transfer is not sent again. Do not repeat this transfer in the meantime.",
        Turn.EXCHANGE,
        Tone.WARN,
        icon="circle-question-mark",
    ),
    "done": State(
        "Moved",
        "The money was moved. No action needed.",
        Turn.NOBODY,
        Tone.GOOD,
        icon="circle-check",
        terminal=True,
    ),
    "refused": State(
        "Refused by the exchange",
        "The money was not moved. The exchange rejected the transfer for the reason below. You can request it again.",
        Turn.NOBODY,
        Tone.BAD,
        icon="circle-x",
        terminal=True,
    ),
    "not_seen": State(
        "Not seen, waiting for a decision",
        "The money does not appear to have moved: the exchange did not respond, and its ledger and "
        "balances show no transfer. Treasury can close it or request it again. The transfer is never sent "
        "again automatically.",
        Turn.PERSON,
        Tone.WARN,
        icon="hand",
    ),
    "investigate": State(
        "Review by two people",
        "It is unknown whether the money moved: the exchange's ledger is inconclusive. Two "
        "treasurers must review the evidence and submit the same finding. Do not repeat this "
        "transfer.",
        Turn.PERSON,
        Tone.BAD,
        icon="users-round",
    ),
    "closed": State(
        "Closed, not moved",
        "The money was not moved, according to the exchange's ledger; treasury closed the transfer. If it "
        "appears in the ledger later, an incident is opened.",
        Turn.NOBODY,
        Tone.QUIET,
        icon="ban",
        terminal=True,
    ),
    "cancelled": State(
        "Cancelled",
        "Nothing was sent. The request was withdrawn before it reached the exchange.",
        Turn.NOBODY,
        Tone.QUIET,
        icon="ban",
        terminal=True,
    ),
    "rejected": State(
        "Rejected",
        "Nothing was sent. Treasury rejected the request.",
        Turn.NOBODY,
        Tone.QUIET,
        icon="circle-x",
        terminal=True,
    ),
    "resolved_moved": State(
        "Closed by two people: moved",
        "The money was moved, according to two treasurers' findings. Their reasons are in the timeline.",
        Turn.NOBODY,
        Tone.QUIET,
        icon="stamp",
        terminal=True,
    ),
    "resolved_not_moved": State(
        "Closed by two people: not moved",
        "The money was not moved, according to two treasurers' findings. Their reasons are in the timeline.",
        Turn.NOBODY,
        Tone.QUIET,
        icon="stamp",
        terminal=True,
    ),
    "lapsed": State(
        "Not sent in time",
        "Nothing was sent. The transfer expired: it could not be sent within an hour of its approval, for the "
        "reason below. You can request it again.",
        Turn.NOBODY,
        Tone.QUIET,
        icon="clock",
        terminal=True,
    ),
}

_T = Transition
TRANSITIONS: Final[tuple[Transition, ...]] = (
    _T(0, "", "created", "draft", ("operator", "treasury")),
    _T(1, "draft", "submitted", "review", ("operator", "treasury")),
    _T(1, "draft", "submitted", "approved", ("operator", "treasury")),
    _T(2, "review", "approval_recorded", "review", ("approver",)),
    _T(2, "review", "quorum_reached", "approved", ("approver",)),
    _T(2, "review", "judged_again", "review", ("worker",)),
    _T(2, "approved", "judged_again", "review", ("worker",)),
    _T(2, "approved", "judged_again", "approved", ("worker",)),
    _T(2, "review", "rejected", "rejected", ("approver",)),
    _T(2, "review", "cancelled", "cancelled", ("initiator",)),
    _T(2, "approved", "cancelled", "cancelled", ("initiator", "treasury")),
    _T(3, "approved", "send_claimed", "sending", ("worker",)),
    _T(4, "sending", "accepted", "done", ("worker",)),
    _T(5, "sending", "refused", "refused", ("worker",)),
    _T(6, "sending", "not_sent", "approved", ("worker",)),
    _T(7, "sending", "outcome_unknown", "unknown", ("worker", "sweeper")),
    _T(8, "unknown", "found", "done", ("reconciler",)),
    _T(9, "unknown", "ambiguous", "investigate", ("reconciler",)),
    _T(10, "unknown", "not_found", "not_seen", ("reconciler",)),
    _T(11, "not_seen", "closed", "closed", ("treasury",)),
    _T(11, "not_seen", "issued_anew", "closed", ("treasury",)),
    _T(12, "not_seen", "appeared_late", "investigate", ("reconciler",)),
    _T(12, "closed", "appeared_late", "investigate", ("reconciler",)),
    _T(13, "done", "listed", "done", ("reconciler",)),
    _T(13, "done", "not_listed", "investigate", ("reconciler",)),
    _T(13, "done", "listed_differently", "investigate", ("reconciler",)),
    _T(13, "investigate", "listed", "done", ("reconciler",)),
    _T(14, "investigate", "resolution_recorded", "investigate", ("treasury",)),
    _T(14, "investigate", "resolved", "resolved_moved", ("treasury",)),
    _T(14, "investigate", "resolved", "resolved_not_moved", ("treasury",)),
    _T(15, "approved", "lapsed", "lapsed", ("worker",)),
    _T(16, "approved", "seen_before_sending", "investigate", ("worker",)),
)

_CONTENT: Final = Column.RECORDED | Column.FIXED | Column.SIGNED  # what was asked for
TABLE: Final = Table(
    noun="a transfer",
    states=STATES,
    moves=TRANSITIONS,
    # A closed transfer is still looked for in the ledger, so every state has a next check.
    at_rest=frozenset(),
    columns=WORK
    | {
        "account_id": _CONTENT,
        "initiator_id": _CONTENT,
        "initiated_via": Column.RECORDED | Column.FIXED,
        "request_key": Column.FIXED,
        "reissues_id": _CONTENT,
        "kind": _CONTENT,
        "currency": _CONTENT,
        "amount": _CONTENT,
        "to_currency": _CONTENT,
        "by": _CONTENT,
        "identifier": _CONTENT,
        "subaccount_id": _CONTENT,
        "reason": _CONTENT,
        "created_at": Column.FIXED,
        # What it was judged by.
        "quorum_required": Column.SIGNED,
        "group_needs": Column.SIGNED,
        "lookalikes": Column.SIGNED,
        "attempt": Column.COUNTER,
        "exchange_id": Column.ONCE,
        "second_id": Column.ONCE,
        "looks": Column.TIMER | Column.TOUCHED,
    },
)
OPEN_STATES: Final = TABLE.open
REPEATABLE: Final = (REFUSED, CANCELLED, REJECTED, LAPSED)  # certainly not moved: the same can be requested again
IN_FLIGHT: Final = ("sending", "unknown")
