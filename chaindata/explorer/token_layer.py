"""The state of the property layer at the tip: what it has counted, and the digest by which two nodes compare theirs."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from chaindata.cache import answers
from chaindata.shared.pages import TIP_TOPIC, PartFreshness, freshness_of, moment
from chaindata.wire.records.tokens import ConsensusHash, Layer

LOOKED_BACK = 100  # blocks, the last one included
MOST_LISTED = 12


@dataclass(frozen=True, slots=True)
class LayerPart:
    """The layer about itself, None until it was read. Its block may be behind the tip: then balances are as of it.

    `busy` are the heights of the last blocks with transactions of the layer, the highest first, among the last `among`;
    None until they were read. `busy_more` says how many there are besides those `MOST_LISTED`.
    """

    layer: Layer | None
    consensus: ConsensusHash | None
    time: datetime | None
    version: str
    busy: Sequence[int] | None
    busy_more: int
    among: int
    freshness: PartFreshness


def layer(*, now: datetime) -> LayerPart:
    """The state."""
    state, digest = answers.look_many([("get_token_layer", {}), ("get_consensus_hash", {})], now=now)
    found: Layer | None = state.record
    version = (found.tokenprotocolversion or found.wormholeversion or "") if found else ""
    readings, among = [state, digest], 0
    if found:
        first = max(0, found.block - LOOKED_BACK + 1)
        among = found.block - first + 1
        readings.append(answers.look("get_seed_blocks", now=now, startBlock=first, endBlock=found.block))
    heights: list[int] | None = readings[-1].record if found else None
    return LayerPart(
        layer=found,
        consensus=digest.record,
        time=moment(found.blocktime) if found else None,
        version=version,
        busy=None if heights is None else sorted(heights, reverse=True)[:MOST_LISTED],
        busy_more=max(0, len(heights or ()) - MOST_LISTED),
        among=among,
        freshness=freshness_of(*readings, topics=[TIP_TOPIC]),
    )
