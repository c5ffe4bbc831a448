"""What every page of the chain says about its figures: how fresh they are, how old, and what is wrong."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from chaindata.cache.answers import Reading

# A part is as fresh as the worst of its readings.
_WORST_FIRST = ("refused", "failed", "absent", "stale", "missing", "fresh")
TIP_TOPIC = "chain:tip"


@dataclass(frozen=True, slots=True)
class PartFreshness:
    """How fresh a part of a page is: `word` is of its worst reading, `read_at` of the oldest that can still change.

    `topics` is what the part follows, `problem` a sentence about what went wrong; `is_final` says that none of it can
    change any more.
    """

    word: str
    read_at: datetime | None
    is_final: bool
    problem: str
    topics: str


def freshness_of(*readings: Reading, topics: Iterable[str] = ()) -> PartFreshness:
    """The freshness of a part with these readings; `topics` are what it follows besides."""
    words = {reading.freshness for reading in readings}
    open_ones = [reading for reading in readings if not reading.is_final]
    ages = [reading.read_at for reading in open_ones or readings if reading.read_at is not None]
    all_topics = [*topics, *(reading.topic for reading in readings)]
    return PartFreshness(
        word=next((word for word in _WORST_FIRST if word in words), "fresh"),
        read_at=min(ages, default=None),
        is_final=bool(readings) and not open_ones,
        problem=next((reading.problem for reading in readings if reading.problem), ""),
        topics=" ".join(dict.fromkeys(all_topics)),
    )


def moment(seconds: int | None) -> datetime | None:
    """Unix time as a datetime; None for None, and for what no datetime can hold."""
    if seconds is None:
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError):
        return None


def page_of(count: int, *, page: int, size: int) -> tuple[int, int, int]:
    """The nearest page that exists, how many there are, and the place of its first row. Pages count from 1."""
    pages = max(1, -(-count // size))
    nearest = min(max(page, 1), pages)
    return nearest, pages, (nearest - 1) * size
