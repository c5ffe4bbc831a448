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
    BY_BOTH: "Closed partly by the stop, partly by the take profit",
    LET_GO: "Monitoring stopped by a person; orders kept",
    CANCELLED: "Ended by a person; open orders cancelled",
    POSITION_GONE: "Position closed by another order; stop cancelled",
}

STATES: Final[dict[str, State]] = {
    ENTERING: State(
        "Entry open",
        (
            "The entry is being placed or rests in the book. Each fill gets a stop on the exchange, and the take "
            "profit is monitored by Countersign. An operator can end the bracket."
        ),
        Turn.WORKER,
        Tone.ACTIVE,
        icon="clock",
    ),
    GUARDED: State(
        "Protected",
        (
            "The position is protected: the stop rests on the exchange and works even if Countersign is down; the "
            "take profit is monitored by Countersign. An operator can end the bracket."
        ),
        Turn.WORKER,
        Tone.GOOD,
        icon="shield-check",
    ),
    UNGUARDED: State(
        "No stop",
        (
            "All or part of the position has no working stop, for the reason below. An operator can place the stop "
            "again, or end the bracket and close the position manually."
        ),
        Turn.PERSON,
        Tone.BAD,
        icon="triangle-alert",
    ),
    TAKING: State(
        "Taking profit",
        (
            "The market reached the take profit: the stop is being cancelled, then the position will be closed at that "
            "price or better. Any unfilled remainder will get a new stop. No action needed."
        ),
        Turn.WORKER,
        Tone.ACTIVE,
        icon="send",
    ),
    ENDING: State(
        "Ending",
        (
            "Open entry and stop orders are being cancelled; they can still fill until the exchange confirms. No "
            "further orders will be placed."
        ),
        Turn.WORKER,
        Tone.ACTIVE,
        icon="undo-2",
    ),
    CLOSED: State(
        "Ended",
        "Monitoring has stopped; this bracket places no further orders.",
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
