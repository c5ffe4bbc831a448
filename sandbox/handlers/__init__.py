"""One function per operation: what the sandbox's exchange does when a call comes in.

`HANDLERS` maps operation names of the catalogue, `STREAM_HANDLERS` the queries that only sockets have. A handler takes
the world, the caller (None for public operations) and the arguments in plain JSON form (decimals and instants as
text), and returns what goes out as JSON. It either raises `Refusal` and changes nothing, or does all of it.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from sandbox.exchange.terms import Caller
from sandbox.handlers import account, public, transactions, transfers, withdrawals
from sandbox.handlers.given import Arguments

if TYPE_CHECKING:
    from sandbox.world import World

Handler: TypeAlias = "Callable[[World, Caller | None, Arguments], object]"

HANDLERS: dict[str, Handler] = {
    function.__name__: function
    for function in (
        public.get_currencies,
        public.get_currency,
        public.get_symbols,
        public.get_symbol,
        public.get_tickers,
        public.get_ticker,
        account.get_balances,
        account.get_deposit_address,
        account.create_deposit_address,
        account.get_deposit_addresses,
        account.get_used_addresses,
        withdrawals.create_withdrawal,
        withdrawals.commit_withdrawal,
        withdrawals.rollback_withdrawal,
        transfers.convert_currency,
        withdrawals.estimate_withdrawal,
        account.is_own_address,
        transfers.transfer_funds,
        transfers.transfer_to_user,
        transactions.get_transactions,
        transactions.get_transaction,
        account.get_subaccounts,
        account.get_trading_balances,
    )
}

STREAM_HANDLERS: dict[str, Handler] = {
    function.__name__: function
    for function in (
        transactions.find_transactions,
        transactions.load_transactions,
        transactions.get_stream_balance,
    )
}

# The operations that may change the world, and are therefore journaled.
CHANGING: frozenset[str] = frozenset(
    {
        "create_deposit_address",
        "create_withdrawal",
        "commit_withdrawal",
        "rollback_withdrawal",
        "convert_currency",
        "transfer_funds",
        "transfer_to_user",
    }
)
