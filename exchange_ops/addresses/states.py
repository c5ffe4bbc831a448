"""The table of a request for a new deposit address: every state, whose turn it is, and every move between states."""

from typing import Final

from desk.machines.table import WORK, Column, State, Table, Tone, Transition, Turn

REQUESTED: Final = "asked"
SENDING: Final = "sending"
UNKNOWN: Final = "unknown"
MADE: Final = "made"
REFUSED: Final = "refused"
NOT_SENT: Final = "not_sent"
ABSENT: Final = "absent"

REQUEST_STATES: Final[dict[str, State]] = {
    "asked": State(
        "Queued",
        "No new address has been created yet. The request is about to be sent to the exchange. No action needed.",
        Turn.WORKER,
        Tone.ACTIVE,
    ),
    "sending": State(
        "Sending",
        "The request is being sent to the exchange. No action needed.",
        Turn.WORKER,
        Tone.ACTIVE,
    ),
    "unknown": State(
        "Outcome unknown",
        "It is unknown whether a new address was created: the exchange did not respond. The "
        "exchange's list is being checked; the request will not be sent again. The current address remains "
        "valid.",
        Turn.EXCHANGE,
        Tone.WARN,
    ),
    "made": State(
        "New address created",
        "The exchange created a new address. Older addresses remain valid.",
        Turn.NOBODY,
        Tone.GOOD,
        terminal=True,
    ),
    "refused": State(
        "Refused by the exchange",
        (
            "No new address was created: the exchange rejected the request for the reason below. The current "
            "address remains valid."
        ),
        Turn.NOBODY,
        Tone.BAD,
        terminal=True,
    ),
    "not_sent": State(
        "Not sent",
        "No new address was created: the request was not sent, for the reason below. The current "
        "address remains valid. An operator can try again.",
        Turn.NOBODY,
        Tone.QUIET,
        terminal=True,
    ),
    "absent": State(
        "No new address",
        "No new address was created: the exchange did not respond, and its list shows no new address. "
        "The current address remains valid. An operator can try again.",
        Turn.NOBODY,
        Tone.QUIET,
        terminal=True,
    ),
}

_T = Transition
# A late answer is found in the exchange's list. Each move has the name of the state that it leads to.
TRANSITIONS: Final[tuple[Transition, ...]] = (
    _T(1, "", "asked", "asked", ("operator",)),
    _T(2, "asked", "sending", "sending", ("worker",)),
    _T(3, "asked", "not_sent", "not_sent", ("worker",)),
    _T(4, "sending", "made", "made", ("worker",)),
    _T(5, "sending", "refused", "refused", ("worker",)),
    _T(6, "sending", "not_sent", "not_sent", ("worker",)),
    _T(7, "sending", "unknown", "unknown", ("worker", "sweeper")),
    _T(8, "unknown", "made", "made", ("reconciler",)),
    _T(9, "unknown", "absent", "absent", ("reconciler",)),
)
_CONTENT: Final = Column.RECORDED | Column.FIXED  # what was asked for
TABLE: Final = Table(
    noun="a request for an address",
    states=REQUEST_STATES,
    moves=TRANSITIONS,
    columns=WORK
    | {
        "account_id": _CONTENT,
        "currency": _CONTENT,
        "initiator_id": _CONTENT,
        "initiated_via": _CONTENT,
        "request_key": Column.FIXED,
        "created_at": Column.FIXED,
        "looks": Column.TIMER | Column.TOUCHED,
    },
)
OPEN_REQUESTS: Final = TABLE.open
# Those that used one of the day's five, or may have.
SPENT_REQUESTS: Final = ("sending", "unknown", "made")
