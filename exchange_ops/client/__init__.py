"""The exchange's client: a method for each operation that the domain uses or that needs a rule of its own.

`call` and `listing` call any operation of the catalogue by its name.
"""

from exchange_ops.client.account import AccountCalls
from exchange_ops.client.core import PAGE, UnknownOperation, WouldPayAtOnce
from exchange_ops.client.listings import Aside, Listing, aside_of, read_each
from exchange_ops.client.margin import MarginCalls
from exchange_ops.client.market import MarketCalls
from exchange_ops.client.orders import OrderCalls
from exchange_ops.client.paging import HIGHEST_INDEX
from exchange_ops.client.subaccounts import SubAccountCalls
from exchange_ops.client.withdrawals import WithdrawalCalls

__all__ = [
    "HIGHEST_INDEX",
    "PAGE",
    "Aside",
    "ExchangeClient",
    "Listing",
    "UnknownOperation",
    "WouldPayAtOnce",
    "aside_of",
    "read_each",
]


class ExchangeClient(MarketCalls, OrderCalls, AccountCalls, WithdrawalCalls, SubAccountCalls, MarginCalls):
    """One key at the exchange; its methods are named like the operations of the catalogue.

    Reads raise `Refused`, `Unreachable` or `BadReply`. Whatever changes something raises `Refused` (nothing was done),
    `Unreachable` (nothing was sent) or `OutcomeUnknown`: never send it again, find out by reading. `BadArgument`
    names a parameter that is out of its bounds, before anything is sent. Not for use by two threads at once.
    """
