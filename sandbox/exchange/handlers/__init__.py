"""One function per operation: what the sandbox's exchange does when a call comes in.

`HANDLERS` maps operation names of the catalogue, `STREAM_HANDLERS` those that only sockets have. A handler takes
the exchange, the caller (None for public operations) and the arguments in plain JSON form (decimals and instants as
text), and returns what goes out as JSON. It either raises `Refusal` and changes nothing, or does all of it.
"""

from collections.abc import Callable
from typing import TypeAlias

from exchange_ops.wire.catalogue import by_name
from sandbox.exchange.handlers import (
    account,
    history,
    margin,
    market,
    orders,
    public,
    reports,
    subaccounts,
    transactions,
    transfers,
    withdrawals,
)
from sandbox.exchange.handlers.arguments import Arguments
from sandbox.exchange.state import Exchange
from sandbox.exchange.terms import Caller, Wait

Handler: TypeAlias = "Callable[[Exchange, Caller | None, Arguments], object]"

HANDLERS: dict[str, Handler] = {
    function.__name__: function
    for function in (
        public.get_currencies,
        public.get_currency,
        public.get_symbols,
        public.get_symbol,
        market.get_tickers,
        market.get_ticker,
        market.get_trades,
        market.get_symbol_trades,
        market.get_orderbooks,
        market.get_orderbook,
        market.get_candles,
        market.get_symbol_candles,
        orders.get_orders,
        orders.create_order,
        orders.cancel_orders,
        orders.get_order,
        orders.put_order,
        orders.cancel_order,
        orders.replace_order,
        margin.get_margin_orders,
        margin.create_margin_order,
        margin.cancel_margin_orders,
        margin.cancel_margin_order,
        history.get_order_history,
        history.get_trade_history,
        history.get_order_trades,
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
        subaccounts.get_subaccounts,
        subaccounts.freeze_subaccounts,
        subaccounts.activate_subaccounts,
        subaccounts.transfer_subaccount_funds,
        subaccounts.get_subaccount_settings,
        account.get_trading_balances,
        orders.get_trading_fee,
        orders.get_trading_fees,
        margin.get_margin_accounts,
        margin.get_margin_account,
        margin.set_margin_account,
        margin.close_margin_accounts,
        margin.close_margin_account,
        margin.get_margin_positions,
        margin.get_margin_position,
        margin.close_margin_positions,
        margin.close_margin_position,
        margin.get_margin_order,
        margin.put_margin_order,
        subaccounts.set_subaccount_settings,
        subaccounts.get_subaccount_balances,
        subaccounts.get_subaccount_deposit_address,
    )
}

STREAM_HANDLERS: dict[str, Handler] = {
    function.__name__: function
    for function in (
        transactions.find_transactions,
        transactions.load_transactions,
        transactions.get_stream_balance,
        reports.get_order_reports,
        reports.get_margin_order_reports,
        reports.get_margin_account_reports,
        reports.replace_margin_order,
    )
}

# The REST operation whose right and consequences each of these shares.
STREAM_OPERATIONS: dict[str, str] = {
    "find_transactions": "get_transactions",
    "load_transactions": "get_transactions",
    "get_stream_balance": "get_balances",
    "get_order_reports": "get_orders",
    "get_margin_order_reports": "get_margin_orders",
    "get_margin_account_reports": "get_margin_accounts",
    "replace_margin_order": "put_margin_order",
}

# The operations that may want to be waited for before they are performed, and what tells for what.
WAITING: "dict[str, Callable[[Exchange, Caller | None, Arguments], Wait | None]]" = {"get_order": orders.wait_for_order}

# Every handler by the name of its operation, whichever side asks for it.
EVERY: dict[str, Handler] = HANDLERS | STREAM_HANDLERS

# The operations that may change the world, and are therefore journaled: all that the catalogue does not GET.
CHANGING: frozenset[str] = frozenset(
    name for name in EVERY if by_name[STREAM_OPERATIONS.get(name, name)].method != "GET"
)
