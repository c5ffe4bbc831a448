"""The tip of the chain as it was last heard: which block, how long ago, and what was wrong at the last try."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from chaindata.headers.models import ChainTip

SILENT_AFTER = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class Tip:
    """The newest block of the chain that is followed. `time` is its own, in seconds since 1970; `read_at` when heard.

    `problem` is a sentence about the last try when it did not succeed; `is_current` whether the tip was heard lately.
    """

    height: int
    hash: str
    time: int
    read_at: datetime
    problem: str
    is_current: bool


def tip(now: datetime) -> Tip | None:
    """The tip as last heard; None as long as none was."""
    row = ChainTip.objects.select_related("header").filter(pk=1).first()
    if row is None or row.header is None or row.read_at is None:
        return None
    header = row.header
    is_current = now - row.read_at <= SILENT_AFTER
    return Tip(header.height, header.hash, header.time, row.read_at, row.problem, is_current)


def confirmations(height: int, found: Tip | None) -> int:
    """How many blocks deep a block of the followed chain is; its own counts, and 0 means that it is not known yet."""
    return max(found.height - height + 1, 0) if found is not None else 0
