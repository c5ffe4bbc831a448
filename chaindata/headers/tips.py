"""The tip of the chain as last read, and whether a block has left the chain since: from our own rows alone."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Exists, OuterRef

from chaindata.headers.models import ChainHeader, ChainReorganisation, ChainTip
from desk import clock

SILENT_AFTER = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class Tip:
    """The newest block of the chain that the desk follows. `time` is its own time, in seconds since 1970.

    `problem` is a sentence about the last attempt if it failed; `is_current` says whether the tip was read lately.
    """

    height: int
    hash: str
    time: int
    read_at: datetime
    problem: str
    is_current: bool


def tip(now: datetime) -> Tip | None:
    """The tip as last read; None before the first reading."""
    row = ChainTip.objects.select_related("header").filter(pk=1).first()
    if row is None or row.header is None or row.read_at is None:
        return None
    header = row.header
    is_current = clock.is_fresh(row.read_at, now, within=SILENT_AFTER)
    return Tip(header.height, header.hash, header.time, row.read_at, row.problem, is_current)


def confirmations(height: int, last_tip: Tip | None) -> int:
    """The confirmations of a block of the followed chain, itself included; 0 if they are not known yet."""
    return max(last_tip.height - height + 1, 0) if last_tip is not None else 0


def is_replaced(*, height: int, block_hash: str) -> bool:
    """Whether another block stands at that height now, or none because the chain is shorter.

    False as long as the chain that is followed does not reach down there: then nothing is known.
    """
    active = ChainHeader.objects.filter(height=height, is_active=True).values_list("hash", flat=True).first()
    if active is not None:
        return active != block_hash
    row = ChainTip.objects.select_related("header").filter(pk=1).first()
    return row is not None and row.header is not None and row.header.height < height


def may_be_replaced(*, height: str, seen_at: str) -> Exists:
    """A condition on rows that rest on a block: a reorganisation since they were looked at reached down to it.

    `height` and `seen_at` are the names of their columns.
    """
    return Exists(
        ChainReorganisation.objects.filter(common_height__lt=OuterRef(height), found_at__gte=OuterRef(seen_at))
    )
