"""Rows about the chain: what the service answered, the chain of headers that the desk follows, what people had sent."""

from chaindata.broadcasts.models import ChainBroadcast
from chaindata.cache.models import ChainAnswer
from chaindata.headers.models import ChainHeader, ChainReorganisation, ChainTip

__all__ = ["ChainAnswer", "ChainBroadcast", "ChainHeader", "ChainReorganisation", "ChainTip"]
