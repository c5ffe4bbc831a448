"""The table of actions on sub-accounts: every state of an action, whose turn it is, and every move.

This is data, read by the machine, the database constraints, the pages, the interface and the tests. Source of the
rules: exchange REST, Sub-account status; supplement 2.7 and 2.11. An answer that is not the documented one counts for
nothing by itself: only what the exchange's list and its payout settings show afterwards ends an action as done.
"""

from typing import Final

from desk.machines.table import WORK, Column, State, Table, Tone, Transition, Turn

FREEZE: Final = "freeze"
ACTIVATE: Final = "activate"
SETTINGS: Final = "settings"
KINDS: Final = {FREEZE: "Freeze", ACTIVATE: "Activate", SETTINGS: "Change payout settings"}
# The purpose of each one's second factor; payout settings need none.
PURPOSES: Final = {FREEZE: "freeze-subaccounts", ACTIVATE: "activate-subaccounts"}
# A sub-account has at most one call under way in each lane; a freeze and an activation must not overtake each other.
LANES: Final = {FREEZE: "status", ACTIVATE: "status", SETTINGS: "settings"}

REQUESTED: Final = "requested"
SENDING: Final = "sending"
ACCEPTED: Final = "accepted"
UNKNOWN: Final = "unknown"
DONE: Final = "done"
REFUSED: Final = "refused"
NOT_DONE: Final = "not_done"
CANCELLED: Final = "cancelled"

STATES: Final[dict[str, State]] = {
    "requested": State(
        "Queued",
        "Nothing has been sent yet. The request goes to the exchange shortly; until then an administrator can "
        "withdraw the request.",
        Turn.WORKER,
        Tone.ACTIVE,
        icon="clock",
    ),
    "sending": State(
        "Sending",
        "Sending to the exchange. No action needed.",
        Turn.WORKER,
        Tone.ACTIVE,
        icon="send",
    ),
    "accepted": State(
        "Accepted, verifying",
        "Accepted by the exchange; waiting for its list of sub-accounts to show the change.",
        Turn.EXCHANGE,
        Tone.ACTIVE,
        icon="hourglass",
    ),
    "unknown": State(
        "Outcome unknown",
        (
            "It is not yet known whether the change was made: the exchange gave no clear response. The exchange's list "
            "is checked until the outcome is known. No action needed."
        ),
        Turn.EXCHANGE,
        Tone.WARN,
        icon="circle-question-mark",
    ),
    "done": State(
        "Done",
        "Done, confirmed by the exchange's list.",
        Turn.NOBODY,
        Tone.GOOD,
        icon="circle-check",
        terminal=True,
    ),
    "refused": State(
        "Refused by the exchange",
        "No changes made: the exchange rejected the request for the reason below.",
        Turn.NOBODY,
        Tone.BAD,
        icon="circle-x",
        terminal=True,
    ),
    "not_done": State(
        "Not done",
        "No changes made, according to the exchange's list. An administrator can request the change again.",
        Turn.NOBODY,
        Tone.BAD,
        icon="circle-x",
        terminal=True,
    ),
    "cancelled": State(
        "Withdrawn",
        "Nothing was sent: the request was withdrawn first.",
        Turn.NOBODY,
        Tone.QUIET,
        icon="ban",
        terminal=True,
    ),
}

_T = Transition
TRANSITIONS: Final[tuple[Transition, ...]] = (
    _T(1, "", "created", "requested", ("admin",)),
    _T(2, "requested", "claimed", "sending", ("worker",)),
    _T(3, "sending", "accepted", "accepted", ("worker",)),
    _T(4, "sending", "refused", "refused", ("worker",)),
    _T(5, "sending", "not_sent", "requested", ("worker",)),
    _T(6, "sending", "lost", "unknown", ("worker", "sweeper")),
    _T(7, "accepted", "seen", "done", ("reconciler",)),
    _T(7, "accepted", "seen_unchanged", "not_done", ("reconciler",)),
    _T(8, "unknown", "seen", "done", ("reconciler",)),
    _T(9, "unknown", "seen_unchanged", "requested", ("reconciler",)),
    _T(10, "unknown", "seen_unchanged", "not_done", ("reconciler",)),
    _T(11, "requested", "taken_back", "cancelled", ("admin",)),
)

_CONTENT: Final = Column.RECORDED | Column.FIXED  # what was asked for
TABLE: Final = Table(
    noun="an action on a sub-account",
    states=STATES,
    moves=TRANSITIONS,
    columns=WORK
    | {
        "sub_account_id": Column.FIXED,
        "kind": _CONTENT,
        "lane": Column.FIXED,
        "wanted_payout": _CONTENT,
        "wanted_description": _CONTENT,
        "reason": _CONTENT,
        "requested_by_id": _CONTENT,
        "request_key": Column.FIXED,
        "confirmation_id": _CONTENT,
        "digest": _CONTENT,
        "created_at": Column.FIXED,
        "attempt": Column.COUNTER,
        "looks": Column.TIMER | Column.TOUCHED,
    },
)
OPEN_STATES: Final = TABLE.open
IN_FLIGHT: Final = ("sending", "accepted", "unknown")

# The exchange's words for the status. A frozen one is listed like a disabled one (supplement 2.11): one word for both.
NEW, LISTED_ACTIVE, LISTED_CLOSED = "new", "active", "disable"
# What we know of a closed one, from our own freeze or because activating it was answered with false.
AS_FROZEN, AS_DISABLED = "frozen", "disabled"
REQUESTED_STATUSES: Final = ("active", "frozen")
