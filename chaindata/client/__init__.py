"""The chain-data service as the domain asks for it: a method for each operation, and `call` for any by its name."""

from chaindata.client.addresses import AddressCalls
from chaindata.client.blockchain import BlockchainCalls
from chaindata.client.core import Absent, Declined, TooManyAtOnce, UnknownOperation, failure_of, open_transport
from chaindata.client.limits import Busy
from chaindata.client.payloads import Head, PayloadCalls
from chaindata.client.simple_ledger import SimpleLedgerCalls
from chaindata.client.token_layers import TokenLayerCalls
from chaindata.client.transactions import Broadcast, Sent, TransactionCalls

__all__ = [
    "Absent",
    "Broadcast",
    "Busy",
    "ChainClient",
    "Declined",
    "Head",
    "Sent",
    "TooManyAtOnce",
    "UnknownOperation",
    "failure_of",
    "open_transport",
]


class ChainClient(BlockchainCalls, TransactionCalls, AddressCalls, TokenLayerCalls, SimpleLedgerCalls, PayloadCalls):
    """The service; its methods are named like the operations of the catalogue.

    Reads raise `Absent`, `Declined`, `Busy`, `Unreachable` or `BadReply`. What changes the chain raises `Declined`
    (nothing was done), `Unreachable` (nothing was sent) or `OutcomeUnknown`: find out by looking. `BadArgument` names a
    parameter that is out of its bounds, before anything is sent. Not for use by two threads at once.
    """
