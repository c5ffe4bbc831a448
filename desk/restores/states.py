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
    COMMAND: "A backup was put back by the command for it",
    HEADS: "The file of heads beside the database knows more than the database",
    BROKER: "The broker was told of more than the database has",
    EXCHANGE: "The exchange has an order that this desk placed, and the database has no row of it",
}

STATES: Final[dict[str, State]] = {
    OPEN: State(
        "Nothing is sent",
        "No call that moves money leaves the desk: its records are those of an earlier moment, so it can't know what "
        "it has sent since. Two people of treasury look at everything that waits to be sent and settle it; then the "
        "desk goes on.",
        Turn.PERSON,
        Tone.BAD,
        icon="history",
    ),
    SETTLED: State(
        "Settled",
        "Two people of treasury settled what waited to be sent, and the desk went on.",
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
