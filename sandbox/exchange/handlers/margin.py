"""Margin orders, isolated accounts and their positions (exchange REST, Margin orders; supplement 1.5, 2.7)."""

from decimal import Decimal

from sandbox.amounts import NotAnAmount, decimal_of
from sandbox.exchange.handlers import arguments, orders
from sandbox.exchange.handlers.arguments import Arguments
from sandbox.exchange.handlers.history import symbol_filter
from sandbox.exchange.margin import margin
from sandbox.exchange.margin.margin_funds import ISOLATED
from sandbox.exchange.margin.margin_reports import account_record, position_record
from sandbox.exchange.orders.matching import Pair
from sandbox.exchange.orders.orders_reports import order_record
from sandbox.exchange.state import Exchange
from sandbox.exchange.terms import Caller
from sandbox.exchange.trading import orders_life

# Orders --------------------------------------------------------------------------------------------------------------


def get_margin_orders(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """The active margin orders, oldest first, of one symbol when it is named."""
    account, symbol = arguments.account(exchange, caller), symbol_filter(exchange, params)
    return [order_record(order) for order in exchange.orders.listed(account, margin=True, symbol=symbol)]


def create_margin_order(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """A new margin order, backed by the isolated account of its symbol; the answer tells what it met at once."""
    account, terms = arguments.account(exchange, caller), orders.order_terms(exchange, params)
    margin.must_have_margin(terms.pair)
    margin.find(exchange, account, terms.pair.symbol.id)
    return order_record(orders_life.place(exchange, account, terms, ISOLATED), with_trades=True)


def put_margin_order(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """A new margin order with the id of the path; an order of that id is never changed."""
    return create_margin_order(exchange, caller, params)


def cancel_margin_orders(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """Cancels the active margin orders, of one symbol when it is named."""
    account, symbol = arguments.account(exchange, caller), symbol_filter(exchange, params)
    return [order_record(each) for each in orders_life.cancel_all(exchange, account, margin=True, symbol=symbol)]


def get_margin_order(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """An active margin order."""
    account, client_id = arguments.account(exchange, caller), arguments.text(params, "clientOrderId", required=True)
    return order_record(orders_life.find(exchange, account, client_id, margin=True))


def cancel_margin_order(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """Cancels one active margin order."""
    account, client_id = arguments.account(exchange, caller), arguments.text(params, "clientOrderId", required=True)
    order = orders_life.find(exchange, account, client_id, margin=True)
    return order_record(orders_life.cancel(exchange, order))


# Accounts ------------------------------------------------------------------------------------------------------------


def get_margin_accounts(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """The isolated accounts, with their positions."""
    return [
        account_record(exchange, account) for account in exchange.margins.accounts(arguments.account(exchange, caller))
    ]


def get_margin_account(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """The isolated account of a symbol, with its position."""
    owner, pair = arguments.account(exchange, caller), _pair(exchange, params)
    return account_record(exchange, margin.find(exchange, owner, pair.symbol.id))


def set_margin_account(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """Opens the isolated account of a symbol, changes its balance, or closes it with a balance of zero."""
    owner, pair = arguments.account(exchange, caller), _pair(exchange, params)
    strict = arguments.flag(params, "strictValidate", False)
    return margin.set_balance(exchange, owner, pair, _balance(params), strict=strict)


def close_margin_accounts(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """Closes all positions at the market and all isolated accounts."""
    return margin.close(exchange, exchange.margins.accounts(arguments.account(exchange, caller)))


def close_margin_account(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """Closes the position of a symbol at the market, and its isolated account."""
    owner, pair = arguments.account(exchange, caller), _pair(exchange, params)
    closed = margin.close(exchange, [margin.find(exchange, owner, pair.symbol.id)])
    return closed[0] if closed else get_margin_account(exchange, caller, params)


# Positions -----------------------------------------------------------------------------------------------------------


def get_margin_positions(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """The open positions."""
    accounts = exchange.margins.accounts(arguments.account(exchange, caller))
    return [position_record(exchange, each, each.position) for each in accounts if each.position is not None]


def get_margin_position(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """The open position of a symbol."""
    owner, pair = arguments.account(exchange, caller), _pair(exchange, params)
    return margin.record_of(exchange, margin.find_position(exchange, owner, pair.symbol.id))


def close_margin_positions(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """Closes all positions at the market; their accounts stay."""
    accounts = exchange.margins.accounts(arguments.account(exchange, caller))
    return margin.close_positions(exchange, [each for each in accounts if each.position is not None])


def close_margin_position(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """Closes the position of a symbol, at the market or at a limit; its account stays."""
    owner, pair = arguments.account(exchange, caller), _pair(exchange, params)
    strict, price = arguments.flag(params, "strictValidate", False), None
    if params.get("price") not in (None, ""):
        price = orders.price_of(pair, orders.number(params, "price"), strict=strict)
    account = margin.find_position(exchange, owner, pair.symbol.id)
    if price is None:
        return margin.close_positions(exchange, [account])
    return margin.close_at_limit(exchange, account, price)


def _pair(exchange: Exchange, params: Arguments) -> Pair:
    symbol = arguments.symbol_of_id(exchange, arguments.text(params, "symbol", required=True).upper())
    return exchange.pair(symbol.id)


def _balance(params: Arguments) -> Decimal:
    value = params.get("marginBalance")
    if value is None or value == "":
        raise arguments.missing("marginBalance")
    try:
        return decimal_of(value)
    except NotAnAmount:
        raise arguments.odd("marginBalance", "must be a positive number, or zero") from None
