"""The chain-data service as the domain asks for it: any operation by its name, bulks in pieces, and sending once."""

from chaindata.client.core import (
    Absent,
    ChainClient,
    Declined,
    TooManyAtOnce,
    UnknownOperation,
    failure_of,
    open_transport,
)
from chaindata.client.limits import Busy

__all__ = [
    "Absent",
    "Busy",
    "ChainClient",
    "Declined",
    "TooManyAtOnce",
    "UnknownOperation",
    "failure_of",
    "open_transport",
]
