"""The states of watched addresses and of the movements seen at them.

An address is watched until somebody stops it with a reason. A movement waits until somebody reviews it with a reason.
"""

from typing import Final

from desk.machines.table import WORK, Column, State, Table, Tone, Transition, Turn

WATCHED: Final = "watched"
STOPPED: Final = "stopped"
TO_REVIEW: Final = "seen"
REVIEWED: Final = "reviewed"

ADDRESS_STATES: Final[dict[str, State]] = {
    WATCHED: State(
        "Watched",
        "Synced every 30 seconds. Each new transaction needs review.",
        Turn.WORKER,
        Tone.GOOD,
        icon="eye",
    ),
    STOPPED: State(
        "No longer watched",
        "No longer synced. Earlier movements still need review.",
        Turn.NOBODY,
        Tone.QUIET,
        terminal=True,
        icon="eye-off",
    ),
}
MOVEMENT_STATES: Final[dict[str, State]] = {
    TO_REVIEW: State(
        "To review",
        "A transaction moved funds to or from a watched address. Someone must check that it was intended.",
        Turn.PERSON,
        Tone.WARN,
        icon="hand",
    ),
    REVIEWED: State(
        "Reviewed",
        "Someone reviewed this movement and recorded a reason.",
        Turn.NOBODY,
        Tone.GOOD,
        terminal=True,
    ),
}

_T = Transition
KEEPERS: Final = ("treasury", "admin")
REVIEWERS: Final = ("operator", "treasury", "admin")
ADDRESS_MOVES: Final = (
    _T(1, "", "began", WATCHED, KEEPERS),
    _T(2, WATCHED, "stopped", STOPPED, KEEPERS),
)
MOVEMENT_MOVES: Final = (
    _T(1, "", "seen", TO_REVIEW, ("worker",)),
    _T(2, TO_REVIEW, "reviewed", REVIEWED, REVIEWERS),
)
_CONTENT: Final = Column.RECORDED | Column.FIXED
ADDRESSES: Final = Table(
    noun="a watched address",
    states=ADDRESS_STATES,
    moves=ADDRESS_MOVES,
    columns=WORK
    | {
        "address": _CONTENT,
        "title": _CONTENT,
        "purpose": _CONTENT,
        "note": _CONTENT,
        "added_by_id": _CONTENT,
        "from_height": _CONTENT,
        "created_at": Column.FIXED,
        "settled_height": Column.TIMER | Column.TOUCHED,
        "read_at": Column.CLOCK | Column.TOUCHED,
        "balance_sat": Column.COPY | Column.TOUCHED,
        "unconfirmed_sat": Column.COPY | Column.TOUCHED,
    },
)
MOVEMENTS: Final = Table(
    noun="a movement of a watched address",
    states=MOVEMENT_STATES,
    moves=MOVEMENT_MOVES,
    columns=WORK
    | {
        "watched_id": _CONTENT,
        "txid": _CONTENT,
        "change_sat": _CONTENT,
        "spends": _CONTENT,
        "created_at": Column.FIXED,
        "height": Column.COPY | Column.TOUCHED,
        "is_missing": Column.COPY | Column.TOUCHED,
    },
)
