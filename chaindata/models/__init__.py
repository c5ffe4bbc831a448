"""Rows about the chain: what the service answered, the chain of headers that the desk follows, what people had sent."""

from chaindata.models.answers import ChainAnswer
from chaindata.models.broadcasts import ChainBroadcast
from chaindata.models.headers import ChainHeader, ChainReorganisation, ChainTip

__all__ = ["ChainAnswer", "ChainBroadcast", "ChainHeader", "ChainReorganisation", "ChainTip"]
