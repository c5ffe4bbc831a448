"""Rows about the chain: what the service answered, the chain of headers that the desk follows, what people had sent."""

from chaindata.broadcasts.models import ChainBroadcast, ChainBroadcastEvent
from chaindata.cache.models import ChainAnswer
from chaindata.headers.models import ChainHeader, ChainReorganisation, ChainTip

__all__ = ["ChainAnswer", "ChainBroadcast", "ChainBroadcastEvent", "ChainHeader", "ChainReorganisation", "ChainTip"]
