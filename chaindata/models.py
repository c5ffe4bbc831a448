"""Rows about the chain: answers of the service, the chain of headers that is followed, what people send and watch."""

from chaindata.broadcasts.models import ChainBroadcast, ChainBroadcastEvent
from chaindata.cache.models import ChainAnswer
from chaindata.headers.models import ChainHeader, ChainReorganisation, ChainTip
from chaindata.watching.models import ChainMovement, ChainMovementEvent, WatchedAddress, WatchedAddressEvent

__all__ = [
    "ChainAnswer",
    "ChainBroadcast",
    "ChainBroadcastEvent",
    "ChainHeader",
    "ChainMovement",
    "ChainMovementEvent",
    "ChainReorganisation",
    "ChainTip",
    "WatchedAddress",
    "WatchedAddressEvent",
]
