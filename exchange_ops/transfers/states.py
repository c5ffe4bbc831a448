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
IDENTIFIED_BY: Final = {EMAIL: "e-mail address", USERNAME: "user name"}

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
        "Nothing was sent. The request is being put under the rules. The desk goes on by itself.",
        Turn.WORKER,
        Tone.ACTIVE,
        icon="circle-dashed",
    ),
    "review": State(
        "Waiting for approvals",
        "Nothing was sent. The money would leave for good, so the rules ask for approvals first. "
        "Treasury can approve or reject; the person who asked can cancel.",
        Turn.PERSON,
        Tone.WARN,
        icon="users-round",
    ),
    "approved": State(
        "Waiting to be sent",
        "Nothing was sent yet. A worker sends it once, as soon as it can. "
        "The desk goes on by itself; the person who asked can cancel until then.",
        Turn.WORKER,
        Tone.ACTIVE,
        icon="clock",
    ),
    "sending": State(
        "Being sent",
        "The exchange is being told at this moment to move the money. It can't be taken back any more. "
        "The desk goes on by itself.",
        Turn.WORKER,
        Tone.ACTIVE,
        icon="loader",
    ),
    "unknown": State(
        "Outcome unknown",
        "Unknown whether the money moved, because the exchange's answer did not arrive. The desk reads the exchange's "
        "ledger until it knows and never sends it again. Nobody should repeat this transfer meanwhile.",
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
        "The money was not moved: the exchange refused the transfer for the reason below. It can be asked for again.",
        Turn.NOBODY,
        Tone.BAD,
        icon="circle-x",
        terminal=True,
    ),
    "not_seen": State(
        "Not seen, waiting for a decision",
        "The money seems not to have moved: the answer was lost, and the exchange's ledger and balances showed nothing "
        "of it. Treasury decides: close it, or ask for it anew. The desk never sends it again by itself.",
        Turn.PERSON,
        Tone.WARN,
        icon="hand",
    ),
    "investigate": State(
        "Review by two people",
        "Unknown: the exchange's ledger does not say clearly what happened to the money. "
        "Two people of treasury have to look at the evidence and close it together. Nobody should repeat it.",
        Turn.PERSON,
        Tone.BAD,
        icon="users-round",
    ),
    "closed": State(
        "Closed, not moved",
        "The money was not moved, as far as the exchange's ledger shows; treasury closed it. "
        "Should the ledger show it later, the desk raises the alarm.",
        Turn.NOBODY,
        Tone.QUIET,
        icon="ban",
        terminal=True,
    ),
    "cancelled": State(
        "Cancelled",
        "Nothing was sent. The request was taken back before the exchange was asked.",
        Turn.NOBODY,
        Tone.QUIET,
        icon="ban",
        terminal=True,
    ),
    "rejected": State(
        "Rejected",
        "Nothing was sent. Treasury rejected the request before the exchange was asked.",
        Turn.NOBODY,
        Tone.QUIET,
        icon="circle-x",
        terminal=True,
    ),
    "resolved_moved": State(
        "Closed by two people: moved",
        "The money was moved, as two people of treasury found from the evidence. Their reasons are in the timeline.",
        Turn.NOBODY,
        Tone.QUIET,
        icon="stamp",
        terminal=True,
    ),
    "resolved_not_moved": State(
        "Closed by two people: not moved",
        "The money was not moved, as two people of treasury found from the evidence. "
        "Their reasons are in the timeline.",
        Turn.NOBODY,
        Tone.QUIET,
        icon="stamp",
        terminal=True,
    ),
    "lapsed": State(
        "Not sent in time",
        "Nothing was sent. The transfer waited for more than an hour after it was cleared to be sent, for the reason "
        "below, and is too old to be sent now. It can be asked for again.",
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
        "lookalikes": Column.SIGNED,
        "attempt": Column.COUNTER,
        "exchange_id": Column.ONCE,
        "second_id": Column.ONCE,
        "looks": Column.TIMER | Column.TOUCHED,
    },
)
OPEN_STATES: Final = TABLE.open
IN_FLIGHT: Final = ("sending", "unknown")
