"""The state of the property layer at the tip: what it has counted, and the digest by which two nodes compare theirs."""

from dataclasses import dataclass
from datetime import datetime

from chaindata.cache import answers
from chaindata.shared.pages import TIP_TOPIC, PartFreshness, freshness_of, moment
from chaindata.wire.records.tokens import ConsensusHash, Layer


@dataclass(frozen=True, slots=True)
class LayerPart:
    """The layer about itself, None until it was read. Its block may be behind the tip: then balances are as of it."""

    layer: Layer | None
    consensus: ConsensusHash | None
    time: datetime | None
    version: str
    freshness: PartFreshness


def layer(*, now: datetime) -> LayerPart:
    """The state."""
    state, digest = answers.look_many([("get_token_layer", {}), ("get_consensus_hash", {})], now=now)
    found: Layer | None = state.record
    version = (found.tokenprotocolversion or found.wormholeversion or "") if found else ""
    time = moment(found.blocktime) if found else None
    return LayerPart(found, digest.record, time, version, freshness_of(state, digest, topics=[TIP_TOPIC]))
