"""The chain-data service as the domain asks for it: `call` for any operation by its name."""

from chaindata.client.core import Absent, Calls, Declined, TooManyAtOnce, UnknownOperation, failure_of, open_transport
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


class ChainClient(Calls):
    """The service; its methods are named like the operations of the catalogue.

    Reads raise `Absent`, `Declined`, `Busy`, `Unreachable` or `BadReply`. What changes the chain raises `Declined`
    (nothing was done), `Unreachable` (nothing was sent) or `OutcomeUnknown`: find out by looking. `BadArgument` names a
    parameter that is out of its bounds, before anything is sent. Not for use by two threads at once.
    """
