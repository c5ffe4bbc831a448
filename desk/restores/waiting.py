"""What of each room waits to be sent, as people have to judge it after a restore."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from desk import rooms

if TYPE_CHECKING:
    from desk.models import Person

GO_ON: Final = "go_on"
CANCEL: Final = "cancel"
MOST_OUTSIDE: Final = 50  # of one kind that people are shown
VERDICTS: Final = {GO_ON: "It did not happen: go on", CANCEL: "Cancel it here"}
EFFECTS: Final = {
    GO_ON: "It goes on from where it stands, with the approvals that it has.",
    CANCEL: "Nothing is sent for it any more. It can be asked for again.",
}


@dataclass(frozen=True, slots=True)
class Item:
    """One row that waits. `state` is what a word on it signs beside its subject.

    `title` is what it would do, `label` where it stands. `evidence` are sentences about what outside systems show of
    it, `asked_by` is the number of who asked for it.
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
    """The settling of a restore, as the rows that it ends tell of it."""

    restore: str
    person: "Person"
    session_key: str
    now: datetime
    evidence: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Source:
    """What of one room waits. `name` is that of its subjects.

    `items` gives the rows that were there before a moment and wait to be sent. `cancel` ends the one of a number, in
    the settling's transaction; `go_on` has its worker look at once. Both leave alone what has moved on. `lock` keeps
    the rows of these numbers from others until the transaction ends, before the trail's turn is taken.
    """

    name: str
    items: Callable[[datetime], Iterable[Item]]
    lock: Callable[[Collection[int]], Any]
    cancel: Callable[[int, Act], Any]
    go_on: Callable[[int, Act], Any]


@dataclass(frozen=True, slots=True)
class Outside:
    """What an outside system shows of after a moment, and no row of the desk tells of. `url` is where to look at it."""

    sentence: str
    url: str


def sources() -> list[Source]:
    """Every source, in the order of the rooms."""
    return rooms.waiting()


def items(before: datetime) -> list[Item]:
    """Everything that was there before this moment and waits to be sent."""
    return [item for source in sources() for item in source.items(before)]


def outside(since: datetime) -> list[Outside]:
    """What outside systems show since then that no row here tells of."""
    return [movement for look in rooms.outside() for movement in look(since)]


def not_read_yet(since: datetime) -> list[str]:
    """What has to be read from outside before anybody can judge, as sentences; empty once it was, after `since`."""
    return [sentence for look in rooms.not_read_yet() for sentence in look(since)]
