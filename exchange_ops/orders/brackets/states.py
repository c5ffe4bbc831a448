"""The table of the bracket machine: an entry order, the stop that guards what it filled, and the take profit.

This is data, read by the mover, the database constraints, the pages and the tests. The interface has no order of three
legs, and money or coins can't back a stop and a take profit at once: so the stop rests at the exchange, where it works
without the desk, and the take profit is a price that the desk watches.
"""

from typing import Final

from desk.machines.table import WORK, Column, State, Table, Tone, Transition, Turn

ENTERING: Final = "entering"
GUARDED: Final = "guarded"
UNGUARDED: Final = "unguarded"
TAKING: Final = "taking"
ENDING: Final = "ending"
CLOSED: Final = "closed"

NOT_ENTERED: Final = "not_entered"
BY_STOP: Final = "stop"
BY_TAKE: Final = "take"
BY_BOTH: Final = "both"
LET_GO: Final = "let_go"
CANCELLED: Final = "cancelled"
POSITION_GONE: Final = "position_gone"
OUTCOMES: Final[dict[str, str]] = {
    NOT_ENTERED: "The entry ended without a fill",
    BY_STOP: "Closed by the stop",
    BY_TAKE: "Closed by the take profit",
    BY_BOTH: "Closed by stop and take profit, a part each",
    LET_GO: "Watching ended by a person; its orders stayed",
    CANCELLED: "Ended by a person; its open orders were cancelled",
    POSITION_GONE: "The position was closed in another way; the stop was cancelled",
}

STATES: Final[dict[str, State]] = {
    ENTERING: State(
        "Entry open",
        "The entry is on its way or rests in the book. What it fills is guarded by a stop at the exchange, and the "
        "desk watches the take profit. An operator can end it.",
        Turn.WORKER,
        Tone.ACTIVE,
        icon="clock",
    ),
    GUARDED: State(
        "Guarded",
        "What the entry filled is guarded: the stop rests at the exchange and works without the desk; the take profit "
        "is watched by the desk while it runs. An operator can end it.",
        Turn.WORKER,
        Tone.GOOD,
        icon="shield-check",
    ),
    UNGUARDED: State(
        "No stop",
        "Something that the entry filled has no stop that is known to work, for the reason below. An operator can have "
        "the stop placed again, or end the bracket and close the rest by hand.",
        Turn.PERSON,
        Tone.BAD,
        icon="triangle-alert",
    ),
    TAKING: State(
        "Taking the profit",
        "The market reached the take profit: the stop is being cancelled, then the rest is closed at that price or a "
        "better one. What the book doesn't take gets a stop again. The desk goes on by itself.",
        Turn.WORKER,
        Tone.ACTIVE,
        icon="send",
    ),
    ENDING: State(
        "Being ended",
        "What is open of the entry and the stops is being cancelled; it can still be filled until it has been. "
        "Nothing else is placed.",
        Turn.WORKER,
        Tone.ACTIVE,
        icon="undo-2",
    ),
    CLOSED: State(
        "Ended",
        "Nothing is watched any more, and no order of the bracket is placed again.",
        Turn.NOBODY,
        Tone.QUIET,
        terminal=True,
        icon="circle-check",
    ),
}

_T = Transition
TRANSITIONS: Final[tuple[Transition, ...]] = (
    _T(1, "", "asked", ENTERING, ("operator",)),
    _T(2, ENTERING, "entered", GUARDED, ("worker",)),
    _T(3, ENTERING, "stop_missing", UNGUARDED, ("worker",)),
    _T(3, GUARDED, "stop_missing", UNGUARDED, ("worker",)),
    _T(4, UNGUARDED, "guarded_again", GUARDED, ("worker",)),
    _T(5, UNGUARDED, "stop_asked", GUARDED, ("operator", "worker")),
    _T(6, ENTERING, "take_reached", TAKING, ("worker",)),
    _T(6, GUARDED, "take_reached", TAKING, ("worker",)),
    _T(6, UNGUARDED, "take_reached", TAKING, ("worker",)),
    _T(7, TAKING, "take_missed", GUARDED, ("worker",)),
    _T(8, TAKING, "stop_missing", UNGUARDED, ("worker",)),
    *(_T(9, name, "end_asked", ENDING, ("operator",)) for name in (ENTERING, GUARDED, UNGUARDED, TAKING)),
    *(_T(10, name, "let_go", CLOSED, ("operator",)) for name in (ENTERING, GUARDED, UNGUARDED)),
    _T(11, GUARDED, "position_gone", ENDING, ("worker",)),
    *(_T(12, name, "closed", CLOSED, ("worker",)) for name in (ENTERING, GUARDED, UNGUARDED, TAKING, ENDING)),
)

_CONTENT: Final = Column.RECORDED | Column.FIXED  # what was asked for
TABLE: Final = Table(
    noun="a bracket",
    states=STATES,
    moves=TRANSITIONS,
    columns=WORK
    | {
        "account_id": _CONTENT,
        "initiator_id": _CONTENT,
        "initiated_via": _CONTENT,
        "entry_id": _CONTENT,
        "symbol": _CONTENT,
        "side": _CONTENT,
        "margin": _CONTENT,
        "stop_price": _CONTENT,
        "take_price": _CONTENT,
        "created_at": Column.FIXED,
    },
)
WATCHED: Final = (ENTERING, GUARDED, UNGUARDED, TAKING, ENDING)
EXITS: Final = {"buy": "sell", "sell": "buy"}  # the side that closes what the entry's side opened
