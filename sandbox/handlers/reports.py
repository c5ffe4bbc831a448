"""What only sockets ask of orders and margin accounts: the active ones as reports, and margin orders replaced (streams,
Margin trading; supplement 1.4, 1.5)."""

from typing import TYPE_CHECKING

from sandbox.exchange import orders_life
from sandbox.exchange.margin_reports import STATUS, account_record
from sandbox.exchange.orders_reports import order_record, status_report
from sandbox.exchange.terms import Caller
from sandbox.handlers import given, orders
from sandbox.handlers.given import Arguments

if TYPE_CHECKING:
    from sandbox.world import World


def get_order_reports(world: "World", caller: Caller | None, arguments: Arguments) -> object:
    """The active spot orders, oldest first."""
    account = given.account(world, caller)
    return [status_report(order) for order in world.exchange.orders.listed(account, margin=False)]


def get_margin_order_reports(world: "World", caller: Caller | None, arguments: Arguments) -> object:
    """The active margin orders, oldest first."""
    account = given.account(world, caller)
    return [status_report(order) for order in world.exchange.orders.listed(account, margin=True)]


def get_margin_account_reports(world: "World", caller: Caller | None, arguments: Arguments) -> object:
    """The isolated accounts, with their positions."""
    told = {"reportType": STATUS, "reportReason": STATUS}
    accounts = world.exchange.margins.of(given.account(world, caller))
    return [account_record(world.exchange, account) | told for account in accounts]


def replace_margin_order(world: "World", caller: Caller | None, arguments: Arguments) -> object:
    """A new margin order in place of an active one; see `orders_life.replace` for what the answer is."""
    account, client_id = given.account(world, caller), given.text(arguments, "clientOrderId", required=True)
    order = orders_life.find(world.exchange, account, client_id, margin=True)
    return order_record(orders.replaced(world, order, arguments))
