"""The declaration of a machine: its states, its moves, and what its columns are for.

A table is plain data and knows no model. The mover, the triggers of the database, the replay of the trail, the pages,
the documentation and the tests read it; `problems` names its mistakes.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Flag, StrEnum, auto
from functools import cached_property
from typing import Final

NONE: Final = "none"


class Turn(StrEnum):
    """Who acts next."""

    PERSON = "person"
    WORKER = "worker"
    EXCHANGE = "exchange"
    CHAIN = "chain"
    NOBODY = "nobody"


class Tone(StrEnum):
    """How a state is coloured."""

    QUIET = "quiet"
    ACTIVE = "active"
    GOOD = "good"
    WARN = "warn"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class State:
    """One state: `label` for lists, `sentence` for people, who acts next, and which decisions may be set in it.

    `icon` is shown beside the label; without one it is that of the tone.
    """

    label: str
    sentence: str
    turn: Turn
    tone: Tone
    terminal: bool = False
    decisions: tuple[str, ...] = (NONE,)
    icon: str = ""


@dataclass(frozen=True, slots=True)
class Transition:
    """One allowed move: `event` takes a row from `source` to `target`; only `who` may cause it."""

    row: int
    source: str
    event: str
    target: str
    who: tuple[str, ...]


class Column(Flag):
    """What a column of the moving row is for. A column without flags is written by moves alone, and recorded."""

    RECORDED = auto()
    """Part of what the first event records."""
    FIXED = auto()
    """Never edited once the row is there."""
    SIGNED = auto()
    """Part of what approvals sign: another value makes another digest, and no approval counts for it."""
    COUNTER = auto()
    """Begins at zero."""
    ONCE = auto()
    """Empty at first; what it was filled with is never edited."""
    DECISION = auto()
    """What was decided: begins as none, changes with an event alone, and is in every row of the trail."""
    TOUCHED = auto()
    """May change without a move, because nothing is decided by it."""
    TIMER = auto()
    """Says when to look again, or how often that was done; not recorded."""
    LEASE = auto()
    """Keeps two workers apart; not recorded."""
    CLOCK = auto()
    """When the row was last written or read; not recorded."""
    WORDS = auto()
    """A sentence about the last try, for people."""
    COPY = auto()
    """A copy of what the other side says, read again from it without a move: not compared with the trail."""
    WITNESSED = auto()
    """Something is decided by it although its other flags say otherwise: every write of it is witnessed."""


_REASONS: Final = {
    Column.TIMER: "time of the next check; a wrong time only delays or repeats a check, which decides nothing",
    Column.LEASE: "keeps two workers apart for a minute; what was sent is recorded in the call",
    Column.CLOCK: "when the row was last written or read",
    Column.WORDS: "a note on the last attempt, for display",
    Column.COPY: "the exchange's own figure, refreshed from it",
}
_UNRECORDED = Column.TIMER | Column.LEASE | Column.CLOCK
WORK: Final[dict[str, Column]] = {
    "next_action_at": Column.TIMER | Column.TOUCHED,
    "lease_until": Column.LEASE,
    "last_problem": Column.WORDS | Column.TOUCHED,
    "updated_at": Column.CLOCK,
}
"""The columns that every machine works with, for the `columns` of a table."""


@dataclass(frozen=True)
class Table:
    """One machine as data. `noun` is what messages call a row ("a transfer").

    `at_rest` are the states in which nothing is due and no claim is kept; by default, those that end it.
    """

    noun: str
    states: Mapping[str, State]
    moves: tuple[Transition, ...]
    columns: Mapping[str, Column]
    at_rest: frozenset[str] | None = None
    _named: dict[Column, tuple[str, ...]] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def over(self) -> tuple[str, ...]:
        """The states in which it is nobody's turn."""
        return tuple(name for name, state in self.states.items() if state.turn == Turn.NOBODY)

    @cached_property
    def allowed(self) -> frozenset[tuple[str, str, str]]:
        """Every move: source, event, target."""
        return frozenset((move.source, move.event, move.target) for move in self.moves)

    @cached_property
    def ends(self) -> tuple[str, ...]:
        """The states that nothing leaves by itself."""
        return tuple(name for name, state in self.states.items() if state.terminal)

    @cached_property
    def resting(self) -> frozenset[str]:
        """The states in which nothing is due and no claim is kept."""
        return frozenset(self.ends) if self.at_rest is None else self.at_rest

    @cached_property
    def open(self) -> tuple[str, ...]:
        """The states in which somebody or something still has to act."""
        return tuple(name for name, state in self.states.items() if not state.terminal and state.turn != Turn.NOBODY)

    @cached_property
    def at_work(self) -> tuple[str, ...]:
        """The states in which the desk goes on by itself."""
        return tuple(
            name for name, state in self.states.items() if state.turn in {Turn.WORKER, Turn.EXCHANGE, Turn.CHAIN}
        )

    @cached_property
    def born(self) -> tuple[str, ...]:
        """The states in which a row may begin."""
        return tuple(dict.fromkeys(move.target for move in self.moves if not move.source))

    @cached_property
    def choices(self) -> list[tuple[str, str]]:
        """The states as choices of a field."""
        return [(name, state.label) for name, state in self.states.items()]

    @cached_property
    def unrecorded(self) -> frozenset[str]:
        """The columns that the trail leaves out because they change too often."""
        return frozenset(self.named(_UNRECORDED))

    @cached_property
    def loose(self) -> dict[str, str]:
        """The columns that decide and prove nothing, each with the reason; they are neither witnessed nor compared."""
        return {
            name: reason
            for name, column in self.columns.items()
            for flag, reason in _REASONS.items()
            if flag in column and Column.WITNESSED not in column
        }

    @cached_property
    def beside_the_trail(self) -> frozenset[str]:
        """The columns that change without a row of the trail, so that a replay does not compare them."""
        return frozenset({*self.loose, *self.named(Column.COPY)})

    def named(self, flags: Column) -> tuple[str, ...]:
        """The columns that have any of these flags, in their order."""
        if flags not in self._named:
            self._named[flags] = tuple(name for name, column in self.columns.items() if column & flags)
        return self._named[flags]

    def problems(self) -> Iterator[str]:
        """A sentence for every mistake in the table."""
        for name, column in self.columns.items():
            if Column.WITNESSED in column and not any(flag in column for flag in _REASONS):
                yield f"{name} must not be WITNESSED: none of its other flags exempts it from being witnessed anyway."
        for move in self.moves:
            for name in filter(None, (move.source, move.target)):
                if name not in self.states:
                    yield f"{move.event} names {name!r}, which is not a state."
            if not move.who:
                yield f"Nobody is allowed to trigger {move.event} from {move.source or 'nothing'}."
        reached = {""}
        while more := {move.target for move in self.moves if move.source in reached} - reached:
            reached |= more
        sources = {move.source for move in self.moves}
        for name, state in self.states.items():
            if name not in reached:
                yield f"No transition leads to {name}."
            if state.turn not in set(Turn):
                yield f"{name} has an unknown turn: {state.turn!r}."
            if name not in sources and state.turn != Turn.NOBODY:
                yield f"No transition leads out of {name}, so its turn can't be {state.turn}."
