"""The chain of headers as rows: which are active, how much work they have, and what changes from one tip to the next.

A header is accepted only with its work and with the header before it. The first headers of a new desk are taken on
trust; from then on another chain replaces the one that the desk follows only if it has more work, and no block may be
far easier than the one before. On test networks work costs nothing, so the service decides which chain is the best.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from django.conf import settings
from django.db import transaction

from chaindata.headers.models import ChainHeader, ChainReorganisation, ChainTip
from chaindata.wire import headers
from chaindata.wire.headers import Header, NotAHeader

MOST_EASIER = 2  # a block may have this many times less work than the one before


class CannotFollow(Exception):
    """The desk can't follow these headers; the message is a sentence."""


class OtherChain(CannotFollow):
    """The service's chain has no block in common with the one that the desk followed."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of the tip: the new one and, after a reorganisation, the last common height."""

    tip: ChainHeader
    common_height: int | None


def easiest_target() -> int:
    """The easiest target of this desk's network."""
    return headers.EASIEST_TARGET[settings.CHAIN_NETWORKS[0]]


def active(height: int) -> ChainHeader | None:
    """The active header of that height."""
    return ChainHeader.objects.filter(height=height, is_active=True).first()


def lowest() -> ChainHeader | None:
    """The lowest header of the chain that the desk follows."""
    return ChainHeader.objects.filter(is_active=True).order_by("height").first()


def forget(*, world: str) -> None:
    """Delete all headers, to start again with another service."""
    with transaction.atomic():
        ChainTip.objects.filter(pk=1).update(header=None, world=world, read_at=None, problem="", problem_at=None)
        ChainHeader.objects.all().delete()


def is_main() -> bool:
    """Whether this is the main network, where work has a cost; elsewhere the service decides which chain is best."""
    return bool(settings.CHAIN_NETWORKS[0] == "main")


def check(path: Sequence[Header]) -> None:
    """Raises `CannotFollow` unless each header has its work and follows the one before it."""
    try:
        headers.check_chain(path, easiest_target=easiest_target())
    except NotAHeader as problem:
        raise CannotFollow(f"Invalid block headers from the chain-data service: {problem}") from None


# Upwards -------------------------------------------------------------------------------------------------------------


def adopt(*, path: Sequence[Header], first_height: int, first_work: int | None, now: datetime) -> Change | None:
    """Store headers, the lowest first, and follow them if they have more work; None if they don't.

    The parent of the first is stored already, unless no header is: then `first_work` is the work of the chain up to and
    including the first. Raises `CannotFollow`.
    """
    check(path)
    with transaction.atomic():
        tip_row = ChainTip.objects.select_for_update(of=("self",)).select_related("header").get(pk=1)
        parent = ChainHeader.objects.filter(hash=path[0].previous_hash).first()
        if parent is None and (tip_row.header is not None or first_work is None):
            raise CannotFollow("The chain-data service's headers do not connect to any stored header.")
        if parent is not None and parent.height + 1 != first_height:
            raise CannotFollow(
                f"The service reports height {first_height} for a header whose parent is at {parent.height}."
            )
        _keeps_its_difficulty(path, parent)
        rows = _rows(path, first_height, parent, first_work or 0, now)
        ChainHeader.objects.bulk_create(rows, ignore_conflicts=True)
        return _follow(tip_row, {row.hash: row for row in rows}, rows[-1], now)


def _keeps_its_difficulty(path: Sequence[Header], parent: ChainHeader | None) -> None:
    """Check that no block is far easier than the one before: on the main network the difficulty halves only over days.

    Whoever could add a few easy headers to the chain could prove anything at no cost.
    """
    if not is_main():
        return
    before = [headers.read(bytes.fromhex(parent.raw))] if parent is not None else []
    for earlier, later in pairwise((*before, *path)):
        if later.work * MOST_EASIER < earlier.work:
            raise CannotFollow("The chain-data service reports a block with far less work than its predecessor.")


def _rows(
    path: Sequence[Header], first_height: int, parent: ChainHeader | None, first_work: int, now: datetime
) -> list[ChainHeader]:
    work = int(parent.chainwork, 16) if parent is not None else first_work - path[0].work
    rows = []
    for place, header in enumerate(path):
        work += header.work
        rows.append(_row(header, first_height + place, work, now, is_active=False))
    return rows


def _row(header: Header, height: int, work: int, now: datetime, *, is_active: bool) -> ChainHeader:
    if work < 0:
        raise CannotFollow("The chain-data service reports less work for its chain than its headers add up to.")
    return ChainHeader(
        hash=header.hash,
        height=height,
        previous_hash=header.previous_hash,
        raw=header.raw.hex(),
        time=header.time,
        chainwork=headers.chainwork_text(work),
        is_active=is_active,
        seen_at=now,
    )


def _follow(tip_row: ChainTip, new: dict[str, ChainHeader], best: ChainHeader, now: datetime) -> Change | None:
    """Make the headers up to the best one the active chain, if it has more work."""
    old = tip_row.header
    if old is not None and old.hash == best.hash:
        return None
    if old is not None and best.chainwork <= old.chainwork and is_main():
        if best.chainwork < old.chainwork:
            raise CannotFollow("The chain-data service's best chain has less work than the chain tracked here.")
        return None
    way, below = _way_down(new, best)
    leaving = ChainHeader.objects.filter(is_active=True, height__gt=below)
    has_left = old is not None and leaving.exists()
    leaving.update(is_active=False)
    ChainHeader.objects.filter(hash__in=way).update(is_active=True)
    ChainTip.objects.filter(pk=1).update(header=best.hash)
    if not has_left or old is None:
        return Change(best, None)
    return record_reorganisation(old, best, common_height=below, now=now)


def record_reorganisation(old: ChainHeader, new: ChainHeader, *, common_height: int, now: datetime) -> Change:
    """Record that the blocks above the last common one left the chain."""
    ChainReorganisation.objects.create(
        found_at=now,
        common_height=common_height,
        old_tip=old.hash,
        old_height=old.height,
        new_tip=new.hash,
        new_height=new.height,
    )
    return Change(new, common_height)


def _way_down(new: dict[str, ChainHeader], best: ChainHeader) -> tuple[list[str], int]:
    """The hashes of the inactive headers from the best one down, and the height of the active one below them."""
    way: list[str] = []
    step: ChainHeader | None = best
    height = best.height
    while step is not None and not step.is_active:
        way.append(step.hash)
        height = step.height
        following = ChainHeader.objects.filter(hash=step.previous_hash).first()
        step = following if following is not None and following.is_active else new.get(step.previous_hash, following)
    return way, height - 1


# Downwards -----------------------------------------------------------------------------------------------------------


def prepend(*, path: Sequence[Header], now: datetime) -> None:
    """Store headers below the lowest stored one; the last of them is its parent. Raises `CannotFollow`."""
    check(path)
    with transaction.atomic():
        ChainTip.objects.select_for_update().get(pk=1)
        above = lowest()
        if above is None or path[-1].hash != above.previous_hash:
            raise CannotFollow("The headers do not connect to the chain tracked here.")
        work, height, rows = int(above.chainwork, 16), above.height, []
        child = headers.read(bytes.fromhex(above.raw))
        for header in reversed(path):
            work, height = work - child.work, height - 1
            rows.append(_row(header, height, work, now, is_active=True))
            child = header
        ChainHeader.objects.bulk_create(
            rows, update_conflicts=True, unique_fields=["hash"], update_fields=["is_active"]
        )
