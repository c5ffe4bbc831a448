"""The page of one block, by its hash or by its height: its header in words, and its transactions twenty a page."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from chaindata.cache import answers
from chaindata.cache.answers import Reading
from chaindata.explorer import home
from chaindata.headers.models import ChainHeader
from chaindata.shared.pages import TIP_TOPIC, PartFreshness, freshness_of, moment, page_of
from chaindata.wire import headers, merkle
from chaindata.wire.hashing import NotHexadecimal, from_display_hex, is_display_hex
from chaindata.wire.records.chain import Block, Transaction

TRANSACTIONS_SHOWN = 20  # the most that one bulk call of the service takes


@dataclass(frozen=True, slots=True)
class BlockPart:
    """The block, None until it was read; `height` and `hash` are what is known of it until then.

    `confirmations` grow with the tip; a block off the chain has none. `beyond`: the height is above that of the tip
    (`tip`), so nobody has found such a block yet. `fits` says whether exactly these transactions belong to the header
    that the desk has checked itself; None if it does not have the header.
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
    """A transaction of the block: its place, and its details once they were read. `is_unknown`: no chain has it now.

    `moves_tokens` says that it has a message to the property layer.
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


def block(hash_or_height: str, *, now: datetime) -> BlockPart:
    """The block that a hash of 64 digits or a height names."""
    reading, end = _reading(hash_or_height, now), home.tip_height(now=now)
    record: Block | None = reading.record
    height = record.height if record else int(hash_or_height) if _is_height(hash_or_height) else None
    return BlockPart(
        block=record,
        height=height,
        hash=record.hash if record else "" if _is_height(hash_or_height) else hash_or_height,
        time=moment(record.time) if record else None,
        confirmations=home.depth(height, record.confirmations, now=now) if record and record.is_main_chain else 0,
        tip=end,
        beyond=record is None and height is not None and end is not None and height > end,
        fits=_fits(record) if record else None,
        freshness=freshness_of(reading, topics=[TIP_TOPIC]),
    )


def members(hash_or_height: str, *, page: int, now: datetime) -> MembersPart:
    """A page of the block's transactions; a page after the last one is the last one."""
    reading = _reading(hash_or_height, now)
    record: Block | None = reading.record
    txids = record.tx if record else []
    page, pages, first = page_of(len(txids), page=page, size=TRANSACTIONS_SHOWN)
    listed = txids[first : first + TRANSACTIONS_SHOWN]
    calls = [("get_transaction_details", {"txid": txid}) for txid in listed if is_display_hex(txid)]
    readings = answers.read_many(calls, now=now)
    by_txid = {each["txid"]: reading for (_, each), reading in zip(calls, readings, strict=True)}
    moves = _token_moves(record, now)
    speaking = set(moves.record or []) if moves is not None else set()
    lines = [_member(first + n, txid, by_txid.get(txid), speaking) for n, txid in enumerate(listed)]
    topics = [moves.topic] if moves is not None else []
    return MembersPart(lines, len(txids), page, pages, freshness_of(reading, *readings, topics=topics))


def _token_moves(record: Block | None, now: datetime) -> Reading | None:
    """The transactions at the height with messages to the property layer; not read for a block off the chain."""
    if record is None or not record.is_main_chain or record.height < 0:
        return None
    return answers.read("get_token_transactions_of_block", now=now, index=record.height)


def _fits(record: Block) -> bool | None:
    """Whether the ids hash to the merkle root in our own copy of the header, whose work was checked."""
    row = ChainHeader.objects.filter(hash=record.hash.lower()).first()
    if row is None:
        return None
    try:
        root = merkle.root([from_display_hex(txid) for txid in record.tx])
    except (merkle.NotATree, NotHexadecimal):
        return False
    return root == headers.read(bytes.fromhex(row.raw)).merkle_root_bytes


def _member(position: int, txid: str, reading: Reading | None, speaking: Collection[str]) -> Member:
    """One line; a text in the list that is not the id of a transaction is shown as unknown."""
    if reading is None:
        return Member(position, txid, None, is_unknown=True)
    return Member(position, txid, reading.record, reading.freshness == "missing", moves_tokens=txid in speaking)


def _is_height(hash_or_height: str) -> bool:
    return len(hash_or_height) < 64


def _reading(hash_or_height: str, now: datetime) -> Reading:
    if _is_height(hash_or_height):
        return answers.read("get_block_by_height", now=now, height=int(hash_or_height))
    return answers.read("get_block_by_hash", now=now, hash=hash_or_height)
