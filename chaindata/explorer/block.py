"""The page of one block, by its hash or by its height: its header in words, and its transactions twenty a page."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from chaindata.cache import answers
from chaindata.cache.answers import Reading
from chaindata.explorer import home
from chaindata.headers.models import ChainHeader
from chaindata.shared.pages import TIP_TOPIC, PartFreshness, freshness_of, moment
from chaindata.wire import headers, merkle
from chaindata.wire.hashing import NotHexadecimal, from_display_hex, is_display_hex
from chaindata.wire.records.chain import Block, Transaction

TRANSACTIONS_SHOWN = 20  # what one bulk call of the service takes


@dataclass(frozen=True, slots=True)
class BlockPart:
    """The block, None until it was read; `height` and `hash` are what is known of it meanwhile.

    `confirmations` counts on with the tip; a block off the chain has none. `beyond` says that the height lies behind
    the tip, whose height `tip` is: nobody has found such a block yet. `fits` says whether exactly these transactions
    stand under the header that the desk has checked itself; None while it has none of this block.
    """

    block: Block | None
    height: int | None
    hash: str
    time: datetime | None
    confirmations: int
    tip: int | None
    beyond: bool
    fits: bool | None
    freshness: PartFreshness


@dataclass(frozen=True, slots=True)
class Member:
    """A transaction of the block: its place, and its details once they were read. Unknown: no chain has it any more.

    `moves_tokens` says that it speaks to the property layer.
    """

    position: int
    txid: str
    details: Transaction | None
    is_unknown: bool
    moves_tokens: bool = False


@dataclass(frozen=True, slots=True)
class MembersPart:
    """Twenty of the block's transactions. Pages count from 1."""

    members: Sequence[Member]
    count: int
    page: int
    pages: int
    freshness: PartFreshness


def block(named: str, *, now: datetime) -> BlockPart:
    """The block that a hash of 64 digits or a height names."""
    reading, end = _reading(named, now), home.tip_height(now=now)
    found: Block | None = reading.record
    height = found.height if found else int(named) if _is_height(named) else None
    return BlockPart(
        block=found,
        height=height,
        hash=found.hash if found else "" if _is_height(named) else named,
        time=moment(found.time) if found else None,
        confirmations=home.depth(height, found.confirmations, now=now) if found and found.is_main_chain else 0,
        tip=end,
        beyond=found is None and height is not None and end is not None and height > end,
        fits=_fits(found) if found else None,
        freshness=freshness_of(reading, topics=[TIP_TOPIC]),
    )


def members(named: str, *, page: int, now: datetime) -> MembersPart:
    """The transactions of the block on a page; a page behind the last one is the last one."""
    reading = _reading(named, now)
    found: Block | None = reading.record
    txids = found.tx if found else []
    last = max(1, -(-len(txids) // TRANSACTIONS_SHOWN))
    page = min(max(page, 1), last)
    first = (page - 1) * TRANSACTIONS_SHOWN
    listed = txids[first : first + TRANSACTIONS_SHOWN]
    wanted = [("get_transaction_details", {"txid": txid}) for txid in listed if is_display_hex(txid)]
    readings = answers.look_many(wanted, now=now)
    by_txid = {each["txid"]: reading for (_, each), reading in zip(wanted, readings, strict=True)}
    moved = _token_moves(found, now)
    speaking = set(moved.record or []) if moved is not None else set()
    lines = [_member(first + n, txid, by_txid.get(txid), speaking) for n, txid in enumerate(listed)]
    topics = [moved.topic] if moved is not None else []
    return MembersPart(lines, len(txids), page, last, freshness_of(reading, *readings, topics=topics))


def _token_moves(found: Block | None, now: datetime) -> Reading | None:
    """Which transactions at the height spoke to the property layer; not asked of a block that is off the chain."""
    if found is None or not found.is_main_chain or found.height < 0:
        return None
    return answers.look("get_token_transactions_of_block", now=now, index=found.height)


def _fits(found: Block) -> bool | None:
    """Whether the ids hash to the root in our own copy of the header, whose work was checked."""
    row = ChainHeader.objects.filter(hash=found.hash.lower()).first()
    if row is None:
        return None
    try:
        root = merkle.root([from_display_hex(txid) for txid in found.tx])
    except (merkle.NotATree, NotHexadecimal):
        return False
    return root == headers.read(bytes.fromhex(row.raw)).merkle_root_bytes


def _member(position: int, txid: str, reading: Reading | None, speaking: Collection[str]) -> Member:
    """A line; what is called a transaction and has no id of one is none."""
    if reading is None:
        return Member(position, txid, None, is_unknown=True)
    return Member(position, txid, reading.record, reading.freshness == "missing", moves_tokens=txid in speaking)


def _is_height(named: str) -> bool:
    return len(named) < 64


def _reading(named: str, now: datetime) -> Reading:
    if _is_height(named):
        return answers.look("get_block_by_height", now=now, height=int(named))
    return answers.look("get_block_by_hash", now=now, hash=named)
