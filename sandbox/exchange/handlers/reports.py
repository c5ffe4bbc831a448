"""What only sockets ask of orders and margin accounts: the active ones as reports, and margin orders replaced (exchange
streams, Margin trading; supplement 1.4, 1.5)."""

from sandbox.exchange.handlers import arguments, orders
from sandbox.exchange.handlers.arguments import Arguments
from sandbox.exchange.margin.margin_reports import STATUS, account_record
from sandbox.exchange.orders.orders_reports import order_record, status_report
from sandbox.exchange.state import Exchange
from sandbox.exchange.terms import Caller
from sandbox.exchange.trading import orders_life


def get_order_reports(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """The active spot orders, oldest first."""
    account = arguments.account(exchange, caller)
    return [status_report(order) for order in exchange.orders.listed(account, margin=False)]


def get_margin_order_reports(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """The active margin orders, oldest first."""
    account = arguments.account(exchange, caller)
    return [status_report(order) for order in exchange.orders.listed(account, margin=True)]


def get_margin_account_reports(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """The isolated accounts, with their positions."""
    report = {"reportType": STATUS, "reportReason": STATUS}
    accounts = exchange.margins.accounts(arguments.account(exchange, caller))
    return [account_record(exchange, account) | report for account in accounts]


def replace_margin_order(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """A new margin order in place of an active one; see `orders_life.replace` for what the answer is."""
    account, client_id = arguments.account(exchange, caller), arguments.text(params, "clientOrderId", required=True)
    order = orders_life.find(exchange, account, client_id, margin=True)
    return order_record(orders.replaced(exchange, order, params))
