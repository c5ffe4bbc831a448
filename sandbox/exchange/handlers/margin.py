"""Margin orders, isolated accounts and their positions (REST "Margin orders"; supplement 1.5, 2.7)."""

from decimal import Decimal
from typing import TYPE_CHECKING

from sandbox.amounts import NotAnAmount, decimal_of
from sandbox.exchange.handlers import arguments, orders
from sandbox.exchange.handlers.arguments import Arguments
from sandbox.exchange.handlers.history import symbol_filter
from sandbox.exchange.margin import margin
from sandbox.exchange.margin.margin_funds import ISOLATED
from sandbox.exchange.margin.margin_reports import account_record, position_record
from sandbox.exchange.orders.orders_reports import order_record
from sandbox.exchange.orders.pairs import Pair
from sandbox.exchange.terms import Caller
from sandbox.exchange.trading import orders_checks, orders_life

if TYPE_CHECKING:
    from sandbox.world.world import World


# Orders --------------------------------------------------------------------------------------------------------------


def get_margin_orders(world: "World", caller: Caller | None, params: Arguments) -> object:
    """The active margin orders, oldest first, of one symbol when it is named."""
    account, symbol = arguments.account(world, caller), symbol_filter(world, params)
    return [order_record(order) for order in world.exchange.orders.listed(account, margin=True, symbol=symbol)]


def create_margin_order(world: "World", caller: Caller | None, params: Arguments) -> object:
    """A new margin order, backed by the isolated account of its symbol; the answer tells what it met at once."""
    account, asked = arguments.account(world, caller), orders.asked(world, params)
    margin.must_have_margin(asked.pair)
    margin.find(world.exchange, account, asked.pair.symbol.id)
    return order_record(orders_life.place(world.exchange, account, asked, ISOLATED), with_trades=True)


def put_margin_order(world: "World", caller: Caller | None, params: Arguments) -> object:
    """A new margin order with the id of the path; an order of that id is never changed."""
    return create_margin_order(world, caller, params)


def cancel_margin_orders(world: "World", caller: Caller | None, params: Arguments) -> object:
    """Cancels the active margin orders, of one symbol when it is named."""
    account, symbol = arguments.account(world, caller), symbol_filter(world, params)
    return [order_record(each) for each in orders_life.cancel_all(world.exchange, account, margin=True, symbol=symbol)]


def get_margin_order(world: "World", caller: Caller | None, params: Arguments) -> object:
    """An active margin order."""
    account, client_id = arguments.account(world, caller), arguments.text(params, "clientOrderId", required=True)
    return order_record(orders_life.find(world.exchange, account, client_id, margin=True))


def cancel_margin_order(world: "World", caller: Caller | None, params: Arguments) -> object:
    """Cancels one active margin order."""
    account, client_id = arguments.account(world, caller), arguments.text(params, "clientOrderId", required=True)
    order = orders_life.find(world.exchange, account, client_id, margin=True)
    return order_record(orders_life.cancel(world.exchange, order))


# Accounts ------------------------------------------------------------------------------------------------------------


def get_margin_accounts(world: "World", caller: Caller | None, params: Arguments) -> object:
    """The isolated accounts, with their positions."""
    exchange = world.exchange
    return [account_record(exchange, account) for account in exchange.margins.of(arguments.account(world, caller))]


def get_margin_account(world: "World", caller: Caller | None, params: Arguments) -> object:
    """The isolated account of a symbol, with its position."""
    owner, pair = arguments.account(world, caller), _pair(world, params)
    return account_record(world.exchange, margin.find(world.exchange, owner, pair.symbol.id))


def set_margin_account(world: "World", caller: Caller | None, params: Arguments) -> object:
    """Opens the isolated account of a symbol, changes its balance, or closes it with a balance of zero."""
    owner, pair = arguments.account(world, caller), _pair(world, params)
    strict = arguments.flag(params, "strictValidate", False)
    return margin.set_balance(world.exchange, owner, pair, _balance(params), strict=strict)


def close_margin_accounts(world: "World", caller: Caller | None, params: Arguments) -> object:
    """Closes all positions at the market and all isolated accounts."""
    return margin.close(world.exchange, world.exchange.margins.of(arguments.account(world, caller)))


def close_margin_account(world: "World", caller: Caller | None, params: Arguments) -> object:
    """Closes the position of a symbol at the market, and its isolated account."""
    owner, pair = arguments.account(world, caller), _pair(world, params)
    closed = margin.close(world.exchange, [margin.find(world.exchange, owner, pair.symbol.id)])
    return closed[0] if closed else get_margin_account(world, caller, params)


# Positions -----------------------------------------------------------------------------------------------------------


def get_margin_positions(world: "World", caller: Caller | None, params: Arguments) -> object:
    """The open positions."""
    exchange = world.exchange
    accounts = exchange.margins.of(arguments.account(world, caller))
    return [position_record(exchange, each, each.position) for each in accounts if each.position is not None]


def get_margin_position(world: "World", caller: Caller | None, params: Arguments) -> object:
    """The open position of a symbol."""
    exchange, owner, pair = world.exchange, arguments.account(world, caller), _pair(world, params)
    return margin.shown(exchange, margin.find_position(exchange, owner, pair.symbol.id))


def close_margin_positions(world: "World", caller: Caller | None, params: Arguments) -> object:
    """Closes all positions at the market; their accounts stay."""
    accounts = world.exchange.margins.of(arguments.account(world, caller))
    return margin.close_positions(world.exchange, [each for each in accounts if each.position is not None])


def close_margin_position(world: "World", caller: Caller | None, params: Arguments) -> object:
    """Closes the position of a symbol, at the market or at a limit; its account stays."""
    exchange, owner, pair = world.exchange, arguments.account(world, caller), _pair(world, params)
    strict, price = arguments.flag(params, "strictValidate", False), None
    if params.get("price") not in (None, ""):
        price = orders_checks.price_of(pair, orders.number(params, "price"), strict=strict)
    account = margin.find_position(exchange, owner, pair.symbol.id)
    if price is None:
        return margin.close_positions(exchange, [account])
    return margin.close_at_limit(exchange, account, price)


def _pair(world: "World", params: Arguments) -> Pair:
    symbol = arguments.symbol_of_id(world, arguments.text(params, "symbol", required=True).upper())
    return world.exchange.pair(symbol.id)


def _balance(params: Arguments) -> Decimal:
    value = params.get("marginBalance")
    if value is None or value == "":
        raise arguments.missing("marginBalance")
    try:
        return decimal_of(value)
    except NotAnAmount:
        raise arguments.odd("marginBalance", "must be a positive number, or zero") from None
