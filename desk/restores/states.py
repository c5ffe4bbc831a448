"""The table of a restore: it is open from the moment the desk notices, until two people have settled it."""

from typing import Final

from desk.machines.table import Column, State, Table, Tone, Transition, Turn

OPEN: Final = "open"
SETTLED: Final = "settled"

COMMAND: Final = "command"
HEADS: Final = "heads"
BROKER: Final = "broker"
EXCHANGE: Final = "exchange"
SIGNS: Final = {
    COMMAND: "Backup restored by command",
    HEADS: "The file of heads is ahead of the database",
    BROKER: "The broker is ahead of the database",
    EXCHANGE: "The exchange has an order from this desk that is missing in the database",
}

STATES: Final[dict[str, State]] = {
    OPEN: State(
        "Nothing is sent",
        "No money moves: the database is from an earlier point in time, so later payments may be missing. Two "
        "treasurers must review and decide on everything pending; then sending resumes.",
        Turn.PERSON,
        Tone.BAD,
        icon="history",
    ),
    SETTLED: State(
        "Settled",
        "Two treasurers decided on the pending requests, and sending resumed.",
        Turn.NOBODY,
        Tone.QUIET,
        terminal=True,
        icon="circle-check",
    ),
}

_T = Transition
TRANSITIONS: Final[tuple[Transition, ...]] = (
    _T(1, "", "noticed", OPEN, ("desk",)),
    _T(2, OPEN, "noticed_again", OPEN, ("desk",)),
    _T(3, OPEN, "words_given", OPEN, ("treasury",)),
    _T(4, OPEN, "settled", SETTLED, ("treasury",)),
)
NOTICED: Final = ("noticed", "noticed_again")
_CONTENT: Final = Column.RECORDED | Column.FIXED
TABLE: Final = Table(
    noun="a restore",
    states=STATES,
    moves=TRANSITIONS,
    columns={
        "sign": _CONTENT,
        "newest": _CONTENT,
        "as_of": _CONTENT,
        "created_at": Column.FIXED,
        "last_problem": Column.WORDS | Column.TOUCHED,
        "updated_at": Column.CLOCK,
    },
)
