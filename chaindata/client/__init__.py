"""The chain-data service as the domain asks for it: any operation by its name, bulks in pieces, and sending once."""

from chaindata.client.core import Absent, Declined, TooManyAtOnce, UnknownOperation, failure_of, open_transport
from chaindata.client.limits import Busy
from chaindata.client.sending import SendingCalls

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


class ChainClient(SendingCalls):
    """The service: `call`, `answer` and `parts` ask by the names of the catalogue, `send_raw_transaction` acts.

    Reads raise `Absent`, `Declined`, `Busy`, `Unreachable` or `BadReply`. What changes the chain raises `Declined`
    (nothing was done), `Unreachable` (nothing was sent) or `OutcomeUnknown`: find out by looking. `BadArgument` names a
    parameter that is out of its bounds, before anything is sent. Not for use by two threads at once.
    """
