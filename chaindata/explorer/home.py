"""The first page of the chain: tip, last blocks, mempool, branches, the service's node, and the property layer."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from chaindata.cache import answers
from chaindata.cache.answers import Reading
from chaindata.explorer import fee_rates
from chaindata.explorer.fee_rates import FeeRates
from chaindata.headers import tips
from chaindata.headers.models import ChainHeader, ChainReorganisation
from chaindata.shared.pages import TIP_TOPIC, PartFreshness, freshness_of, moment
from chaindata.wire.records import chain
from chaindata.wire.records.chain import Block, ChainState, Mempool, MempoolEntry, Node, NodeNetwork
from chaindata.wire.records.tokens import ConsensusHash, Layer

BLOCKS_SHOWN = 10
WAITING_SHOWN = 15
BLOCKS_BACK = 100  # blocks in which messages of the property layer are counted, the last one included
MOST_BUSY = 12
SAT_PER_COIN = 100_000_000


@dataclass(frozen=True, slots=True)
class TipPart:
    """The tip of the chain, empty before the first reading. `is_silent`: nobody heard of it lately; `problem` says why.

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
    """The mempool: the newest transactions first, how many there are in all, and what they pay for a byte."""

    pool: Mempool | None
    waiting: Sequence[Waiting]
    count: int
    rates: FeeRates
    freshness: PartFreshness


@dataclass(frozen=True, slots=True)
class Reorganisation:
    """Blocks that left the chain for others: how many, above which height, and when the desk noticed."""

    blocks: int
    height: int
    found_at: datetime


@dataclass(frozen=True, slots=True)
class BranchesPart:
    """The ends of all branches the node knows, the active one first; `reorganisation` is the last one."""

    branches: Sequence[chain.Tip]
    reorganisation: Reorganisation | None
    freshness: PartFreshness


@dataclass(frozen=True, slots=True)
class NodePart:
    """The node behind the service, and its place in the network."""

    node: Node | None
    network: NodeNetwork | None
    freshness: PartFreshness


@dataclass(frozen=True, slots=True)
class LayerPart:
    """The layer about itself, None until it was read. Its block may be behind the tip: then balances are as of it.

    `busy` are the heights of the last blocks with transactions of the layer, the highest first, among the last `among`;
    None until they were read. `busy_more` says how many there are besides those `MOST_BUSY`.
    """

    layer: Layer | None
    consensus: ConsensusHash | None
    time: datetime | None
    version: str
    busy: Sequence[int] | None
    busy_more: int
    among: int
    freshness: PartFreshness


def tip(*, now: datetime) -> TipPart:
    """The tip of the chain that the desk follows, and what the node says of the chain as a whole."""
    state, last_tip = answers.read("get_blockchain_info", now=now), tips.tip(now)
    chain_state: ChainState | None = state.record
    height = last_tip.height if last_tip else chain_state.blocks if chain_state else None
    return TipPart(
        height=height,
        hash=last_tip.hash if last_tip else chain_state.bestblockhash if chain_state else "",
        time=moment(last_tip.time) if last_tip else None,
        heard_at=last_tip.read_at if last_tip else state.read_at,
        is_silent=last_tip is not None and not last_tip.is_current,
        problem=last_tip.problem if last_tip else state.problem,
        state=chain_state,
        freshness=freshness_of(state, topics=[TIP_TOPIC]),
    )


def blocks(*, now: datetime, below: int | None = None) -> BlocksPart:
    """Ten blocks, from the tip down, or from the height `below` down."""
    end = tip_height(now=now)
    if end is None:
        state = answers.read("get_blockchain_info", now=now)
        return BlocksPart((), None, None, freshness_of(state, topics=[TIP_TOPIC]))
    first = end if below is None else min(below, end)
    heights = range(first, max(first - BLOCKS_SHOWN, -1), -1)
    headers = {row.height: row for row in ChainHeader.objects.filter(is_active=True, height__in=heights)}
    readings = answers.read_many([_question(height, headers.get(height)) for height in heights], now=now)
    lines = [_line(height, headers.get(height), reading) for height, reading in zip(heights, readings, strict=True)]
    return BlocksPart(
        lines=_with_fill(lines),
        older=heights[-1] - 1 if heights and heights[-1] > 0 else None,
        newer=min(first + BLOCKS_SHOWN, end) if first < end else None,
        freshness=freshness_of(*readings, topics=[TIP_TOPIC]),
    )


def tip_height(*, now: datetime) -> int | None:
    """The height of the tip, as far as it is known here."""
    if last_tip := tips.tip(now):
        return int(last_tip.height)
    state: ChainState | None = answers.read("get_blockchain_info", now=now).record
    return state.blocks if state else None


def mempool(*, now: datetime) -> MempoolPart:
    """How much waits for a block, and the newest transactions."""
    pool, listed = answers.read_many([("get_mempool_info", {}), ("get_raw_mempool", {"verbose": True})], now=now)
    entries = listed.record if isinstance(listed.record, dict) else {}
    newest = sorted(entries.items(), key=lambda item: (-item[1].time, item[0]))
    return MempoolPart(
        pool=pool.record,
        waiting=[_waiting(txid, entry) for txid, entry in newest[:WAITING_SHOWN]],
        count=len(entries),
        rates=fee_rates.summarise(entries.values(), least_fee=pool.record.mempoolminfee if pool.record else None),
        freshness=freshness_of(pool, listed, topics=[TIP_TOPIC]),
    )


def branches(*, now: datetime) -> BranchesPart:
    """The ends of the chain's branches."""
    reading = answers.read("get_chain_tips", now=now)
    ends: list[chain.Tip] = reading.record or []
    ordered = sorted(ends, key=lambda one: (one.status != "active", -one.height, one.hash))
    row = ChainReorganisation.objects.order_by("-found_at").first()
    reorganisation = (
        Reorganisation(row.old_height - row.common_height, row.common_height, row.found_at) if row else None
    )
    return BranchesPart(ordered, reorganisation, freshness_of(reading, topics=[TIP_TOPIC]))


def node(*, now: datetime) -> NodePart:
    """What the node says of itself."""
    info, network = answers.read_many([("get_node_info", {}), ("get_network_info", {})], now=now)
    return NodePart(info.record, network.record, freshness_of(info, network))


def layer(*, now: datetime) -> LayerPart:
    """The state of the property layer at the tip: what it has counted, and the digest by which nodes compare theirs."""
    state, digest = answers.read_many([("get_token_layer", {}), ("get_consensus_hash", {})], now=now)
    record: Layer | None = state.record
    version = (record.tokenprotocolversion or record.wormholeversion or "") if record else ""
    readings, among = [state, digest], 0
    if record:
        first = max(0, record.block - BLOCKS_BACK + 1)
        among = record.block - first + 1
        readings.append(answers.read("get_seed_blocks", now=now, startBlock=first, endBlock=record.block))
    heights: list[int] | None = readings[-1].record if record else None
    return LayerPart(
        layer=record,
        consensus=digest.record,
        time=moment(record.blocktime) if record else None,
        version=version,
        busy=None if heights is None else sorted(heights, reverse=True)[:MOST_BUSY],
        busy_more=max(0, len(heights or ()) - MOST_BUSY),
        among=among,
        freshness=freshness_of(*readings, topics=[TIP_TOPIC]),
    )


def depth(height: int | None, confirmations: int, *, now: datetime) -> int:
    """Confirmations of a height by the tip that the desk follows, or those in the answer if they are more."""
    return max(tips.confirmations(height, tips.tip(now)) if height is not None else 0, confirmations)


def _question(height: int, header: ChainHeader | None) -> tuple[str, dict[str, object]]:
    """By hash if the header is known, so that the list never shows a block that has left the chain."""
    return ("get_block_by_hash", {"hash": header.hash}) if header else ("get_block_by_height", {"height": height})


def _line(height: int, header: ChainHeader | None, reading: Reading) -> Line:
    block: Block | None = reading.record
    source = header or block
    return Line(height, source.hash if source else "", moment(source.time) if source else None, block)


def _with_fill(lines: Sequence[Line]) -> list[Line]:
    """The lines with their sizes in percent of the largest block."""
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
