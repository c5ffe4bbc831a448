"""What each room has that waits to be sent, for people to judge after a restore."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from desk import rooms

if TYPE_CHECKING:
    from desk.models import Person
    from desk.restores.models import RestoreEvent

GO_ON: Final = "go_on"
CANCEL: Final = "cancel"
MOST_OUTSIDE: Final = 50  # of one kind that people see
VERDICTS: Final = {GO_ON: "Not sent: continue", CANCEL: "Cancel"}
EFFECTS: Final = {
    GO_ON: "The request continues in its current state, with its current approvals.",
    CANCEL: "Nothing will be sent. Request it again only if the exchange did not carry it out.",
}


@dataclass(frozen=True, slots=True)
class Item:
    """One row that waits. A verdict on it signs its `subject` and its `state`.

    `title` says what it would do, `label` where it stands. `evidence` are sentences about what outside systems show of
    it; `asked_by` is the number of the person who asked for it.
    """

    subject: str
    reference: str
    title: str
    label: str
    url: str
    since: datetime
    state: str
    asked_by: int | None = None
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Act:
    """The settling of a restore, as the rows that it ends record it."""

    restore: str
    person: "Person"
    session_key: str
    now: datetime
    evidence: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Source:
    """What waits in one room. `name` is the name in its subjects.

    `items` gives the rows that were there when the restore was noticed and wait to be sent. Which of the two came
    first is told by the numbers of the audit trail: the machine that wrote a row may have had a clock that was ahead.
    `cancel` ends the row of a number in the transaction of the settling; `go_on` makes it due at once. Both do nothing
    where the row has moved on. `lock` locks the rows of these numbers until the transaction ends, before the trail's
    turn is taken.
    """

    name: str
    items: Callable[["RestoreEvent"], Iterable[Item]]
    lock: Callable[[Collection[int]], Any]
    cancel: Callable[[int, Act], Any]
    go_on: Callable[[int, Act], Any]


@dataclass(frozen=True, slots=True)
class Outside:
    """Something that an outside system shows and no row of the desk records. `url` is where to look at it."""

    sentence: str
    url: str


def sources() -> list[Source]:
    """Every source, in the order of the rooms."""
    return rooms.waiting()


def items(notice: "RestoreEvent") -> list[Item]:
    """Everything that existed when the restore was noticed and waits to be sent."""
    return [item for source in sources() for item in source.items(notice)]


def outside(since: datetime) -> list[Outside]:
    """What outside systems show since then and no row here records."""
    return [movement for look in rooms.outside() for movement in look(since)]


def not_read_yet(since: datetime) -> list[str]:
    """Sentences about what still has to be read from outside, after `since`, before anybody can judge."""
    return list(dict.fromkeys(sentence for look in rooms.not_read_yet() for sentence in look(since)))
