"""Rows about the chain: what the service answered, and the chain of headers that the desk follows."""

from chaindata.models.answers import ChainAnswer
from chaindata.models.headers import ChainHeader, ChainReorganisation, ChainTip

__all__ = ["ChainAnswer", "ChainHeader", "ChainReorganisation", "ChainTip"]
