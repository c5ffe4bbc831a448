"""The first page of the chain: its tip, the last blocks, what waits, its branches, and the node that tells of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from chaindata.cache import answers
from chaindata.cache.answers import Reading
from chaindata.explorer import fee_rates
from chaindata.explorer.fee_rates import FeeRates
from chaindata.headers import tip as tips
from chaindata.headers.models import ChainHeader, ChainReorganisation
from chaindata.shared.pages import TIP_TOPIC, PartFreshness, freshness_of, moment
from chaindata.wire.records.chain import Block, ChainState, Mempool, MempoolEntry, Node, NodeNetwork
from chaindata.wire.records.chain import Tip as Branch

BLOCKS_SHOWN = 10
WAITING_SHOWN = 15
SAT_PER_COIN = 100_000_000


@dataclass(frozen=True, slots=True)
class TipPart:
    """The end of the chain; nothing of it before the first reading. Silent: nobody heard of it lately, and `problem`.

    `state` is what the node says of the chain as a whole.
    """

    height: int | None
    hash: str
    time: datetime | None
    heard_at: datetime | None
    is_silent: bool
    problem: str
    state: ChainState | None
    freshness: PartFreshness


@dataclass(frozen=True, slots=True)
class Line:
    """One height in the list of blocks; `hash` and `time` come with its header, `block` with its details.

    `fill` is its size in percent of the largest block of the list, at least 1.
    """

    height: int
    hash: str
    time: datetime | None
    block: Block | None
    fill: int = 0


@dataclass(frozen=True, slots=True)
class BlocksPart:
    """Blocks by height, the highest first. `older` and `newer` are the heights at which the neighbours begin."""

    lines: Sequence[Line]
    older: int | None
    newer: int | None
    freshness: PartFreshness


@dataclass(frozen=True, slots=True)
class Waiting:
    """A transaction that waits for a block; its fee in satoshis, and satoshis for a byte."""

    txid: str
    entered_at: datetime | None
    size: int
    fee_sat: int
    rate: Decimal
    depends: int


@dataclass(frozen=True, slots=True)
class MempoolPart:
    """What waits for a block: the last to enter first, how many there are in all, and what they pay for a byte."""

    pool: Mempool | None
    waiting: Sequence[Waiting]
    count: int
    rates: FeeRates
    freshness: PartFreshness


@dataclass(frozen=True, slots=True)
class Turned:
    """Blocks that left the chain for others: how many, above which height, and when the desk noticed."""

    blocks: int
    height: int
    found_at: datetime


@dataclass(frozen=True, slots=True)
class BranchesPart:
    """The ends of all branches the node knows, the active one first; `turned` is the last time that blocks left."""

    branches: Sequence[Branch]
    turned: Turned | None
    freshness: PartFreshness


@dataclass(frozen=True, slots=True)
class NodePart:
    """The node behind the service, and its place in the network."""

    node: Node | None
    network: NodeNetwork | None
    freshness: PartFreshness


def tip(*, now: datetime) -> TipPart:
    """The tip as it is followed, and what the node says of the chain as a whole."""
    state, found = answers.look("get_blockchain_info", now=now), tips.tip(now)
    chain_state: ChainState | None = state.record
    height = found.height if found else chain_state.blocks if chain_state else None
    return TipPart(
        height=height,
        hash=found.hash if found else chain_state.bestblockhash if chain_state else "",
        time=moment(found.time) if found else None,
        heard_at=found.read_at if found else state.read_at,
        is_silent=found is not None and not found.is_current,
        problem=found.problem if found else state.problem,
        state=chain_state,
        freshness=freshness_of(state, topics=[TIP_TOPIC]),
    )


def blocks(*, now: datetime, below: int | None = None) -> BlocksPart:
    """Ten blocks, from the tip down, or from the height `below` down."""
    end = tip_height(now=now)
    if end is None:
        state = answers.look("get_blockchain_info", now=now)
        return BlocksPart((), None, None, freshness_of(state, topics=[TIP_TOPIC]))
    first = end if below is None else min(below, end)
    heights = range(first, max(first - BLOCKS_SHOWN, -1), -1)
    headers = {row.height: row for row in ChainHeader.objects.filter(is_active=True, height__in=heights)}
    readings = answers.look_many([_question(height, headers.get(height)) for height in heights], now=now)
    lines = [_line(height, headers.get(height), reading) for height, reading in zip(heights, readings, strict=True)]
    return BlocksPart(
        lines=_filled(lines),
        older=heights[-1] - 1 if heights and heights[-1] > 0 else None,
        newer=min(first + BLOCKS_SHOWN, end) if first < end else None,
        freshness=freshness_of(*readings, topics=[TIP_TOPIC]),
    )


def tip_height(*, now: datetime) -> int | None:
    """The height of the tip as far as it is known here."""
    if found := tips.tip(now):
        return int(found.height)
    state: ChainState | None = answers.look("get_blockchain_info", now=now).record
    return state.blocks if state else None


def mempool(*, now: datetime) -> MempoolPart:
    """How much waits, and the transactions that came last."""
    pool, listed = answers.look_many([("get_mempool_info", {}), ("get_raw_mempool", {"verbose": True})], now=now)
    entries = listed.record if isinstance(listed.record, dict) else {}
    newest = sorted(entries.items(), key=lambda item: (-item[1].time, item[0]))
    return MempoolPart(
        pool=pool.record,
        waiting=[_waiting(txid, entry) for txid, entry in newest[:WAITING_SHOWN]],
        count=len(entries),
        rates=fee_rates.of(entries.values(), least_fee=pool.record.mempoolminfee if pool.record else None),
        freshness=freshness_of(pool, listed, topics=[TIP_TOPIC]),
    )


def branches(*, now: datetime) -> BranchesPart:
    """The chain's ends."""
    reading = answers.look("get_chain_tips", now=now)
    found: list[Branch] = reading.record or []
    ordered = sorted(found, key=lambda one: (one.status != "active", -one.height, one.hash))
    row = ChainReorganisation.objects.order_by("-found_at").first()
    turned = Turned(row.old_height - row.common_height, row.common_height, row.found_at) if row else None
    return BranchesPart(ordered, turned, freshness_of(reading, topics=[TIP_TOPIC]))


def node(*, now: datetime) -> NodePart:
    """The node about itself."""
    info, network = answers.look_many([("get_node_info", {}), ("get_network_info", {})], now=now)
    return NodePart(info.record, network.record, freshness_of(info, network))


def depth(height: int | None, answered: int, *, now: datetime) -> int:
    """Confirmations of a height by the tip that is followed, or what an answer told when that does not reach so far."""
    return max(tips.confirmations(height, tips.tip(now)) if height is not None else 0, answered)


def _question(height: int, header: ChainHeader | None) -> tuple[str, dict[str, object]]:
    """By hash where the header is known, so that the list never shows a block that has left the chain."""
    return ("get_block_by_hash", {"hash": header.hash}) if header else ("get_block_by_height", {"height": height})


def _line(height: int, header: ChainHeader | None, reading: Reading) -> Line:
    block: Block | None = reading.record
    known = header or block
    return Line(height, known.hash if known else "", moment(known.time) if known else None, block)


def _filled(lines: Sequence[Line]) -> list[Line]:
    """The same, each with how much of the largest it is."""
    largest = max((line.block.size for line in lines if line.block), default=0)
    return [
        replace(line, fill=max(1, 100 * line.block.size // largest)) if line.block and largest else line
        for line in lines
    ]


def _waiting(txid: str, entry: MempoolEntry) -> Waiting:
    fee_sat = int(entry.fee * SAT_PER_COIN)
    return Waiting(
        txid=txid,
        entered_at=moment(entry.time),
        size=entry.size,
        fee_sat=fee_sat,
        rate=rate(fee_sat, entry.size),
        depends=len(entry.depends),
    )


def rate(fee_sat: int, size: int) -> Decimal:
    """Satoshis for a byte, to two digits after the point; zero for no bytes."""
    return (Decimal(fee_sat) / size).quantize(Decimal("0.01")) if size > 0 else Decimal(0)
