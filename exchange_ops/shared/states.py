"""The words in which every machine says whose turn it is and how a state looks, and the shape of its tables."""

from dataclasses import dataclass
from typing import Final

PERSON: Final = "person"
WORKER: Final = "worker"
EXCHANGE: Final = "exchange"
CHAIN: Final = "chain"
NOBODY: Final = "nobody"

QUIET: Final = "quiet"
ACTIVE: Final = "active"
GOOD: Final = "good"
WARN: Final = "warn"
BAD: Final = "bad"

NONE: Final = "none"


@dataclass(frozen=True, slots=True)
class State:
    """One state: `label` for lists, `sentence` for people, who acts next, and which decisions may be latched in it."""

    label: str
    sentence: str
    turn: str
    tone: str
    terminal: bool = False
    decisions: tuple[str, ...] = (NONE,)


@dataclass(frozen=True, slots=True)
class Transition:
    """One allowed move: `event` takes a row from `source` to `target`; `who` are the only ones that may cause it."""

    row: int
    source: str
    event: str
    target: str
    who: tuple[str, ...]
