"""Spot orders, and the rates that trading costs (exchange REST, Spot orders; supplement 2.7, 2.8).

Without `strict`, price and quantity are rounded half down to the symbol's steps; with it they must be multiples of them
(supplement 2.8). What is below one step is refused either way.
"""

import re
from decimal import Decimal
from typing import Final

from sandbox.amounts import ZERO, NotAnAmount, decimal_of, text_of
from sandbox.exchange.handlers import arguments
from sandbox.exchange.handlers.arguments import Arguments
from sandbox.exchange.handlers.history import symbol_filter
from sandbox.exchange.orders.matching import SIDES, Pair, to_nearest
from sandbox.exchange.orders.orders import (
    FOK,
    GTC,
    GTD,
    IOC,
    LIMIT,
    MARKET,
    STOP_LIMIT,
    STOP_MARKET,
    TIMES_IN_FORCE,
    TYPES,
    Order,
    OrderTerms,
)
from sandbox.exchange.orders.orders_reports import order_record
from sandbox.exchange.state import Exchange
from sandbox.exchange.terms import (
    ORDER_NOT_FOUND,
    PRICE_BAD,
    PRICE_INVALID,
    PRICE_TOO_LOW,
    QUANTITY_BAD,
    QUANTITY_INVALID,
    QUANTITY_TOO_LOW,
    VALIDATION_ERROR,
    Caller,
    Event,
    Refusal,
    Wait,
)
from sandbox.exchange.trading import orders_life
from sandbox.exchange.trading.orders_funds import SPOT
from sandbox.exchange.trading.orders_life import rates

# From decimals to ticks and increments --------------------------------------------------------------------------------


WITH_PRICE: Final = (LIMIT, STOP_LIMIT)
WITH_STOP_PRICE: Final = (STOP_LIMIT, STOP_MARKET)
QUANTITY_DESCRIPTION = "Quantity not a valid number or not set"


def quantity_of(pair: Pair, value: Decimal | None, *, strict: bool) -> int:
    """The quantity in increments; raises 2010, 2011 or 2012. None stands for one that is missing or no number."""
    increment = pair.symbol.increment
    if value is None or value < 0:
        raise Refusal(QUANTITY_INVALID, QUANTITY_DESCRIPTION)
    if value < increment:
        raise Refusal(QUANTITY_TOO_LOW, f"Minimum quantity {text_of(increment)}")
    steps, is_exact = to_nearest(value, increment)
    if strict and not is_exact:
        raise Refusal(QUANTITY_BAD, f"Quantity must be a multiple of {text_of(increment)}")
    return steps


def price_of(pair: Pair, value: Decimal | None, *, strict: bool) -> int:
    """The price in ticks; raises 2020, 2021 or 2022. None stands for one that is missing or no number."""
    tick = pair.symbol.tick
    if value is None or value <= 0:
        raise Refusal(PRICE_INVALID)
    if value < tick:
        raise Refusal(PRICE_TOO_LOW, f"Minimum price {text_of(tick)}")
    steps, is_exact = to_nearest(value, tick)
    if strict and not is_exact:
        raise Refusal(PRICE_BAD, f"Price must be a multiple of {text_of(tick)}")
    return steps


def stop_price_of(pair: Pair, value: Decimal | None, *, strict: bool) -> int:
    """The stop price in ticks; raises 2022, without a description, for whatever is wrong with it."""
    if value is None or value < pair.symbol.tick:
        raise Refusal(PRICE_BAD)
    steps, is_exact = to_nearest(value, pair.symbol.tick)
    if strict and not is_exact:
        raise Refusal(PRICE_BAD)
    return steps


def time_in_force_of(kind: str, requested: str) -> str:
    """The time in force of a type of order; a market order is IOC or FOK, and GTC, the default, means IOC there."""
    if kind != MARKET or requested in (IOC, FOK):
        return requested
    if requested in ("", "GTC"):
        return IOC
    raise Refusal(VALIDATION_ERROR, "Param 'timeInForce' must be IOC or FOK for a market order")


def expiry_of(time_in_force: str, expire_ms: int | None, now_ms: int) -> int | None:
    """When a GTD order ends, which must be in the future; None for all others, whatever was given."""
    if time_in_force != GTD:
        return None
    if expire_ms is None:
        raise Refusal(VALIDATION_ERROR, "Param 'expireTime' required")
    if expire_ms <= now_ms:
        raise Refusal(VALIDATION_ERROR, "Param 'expireTime' must be in the future")
    return expire_ms


# Operations -----------------------------------------------------------------------------------------------------------


LONGEST_ID: Final = 32
LONGEST_WAIT_MS: Final = 60_000
JUST_ENDED_MS: Final = 60_000  # who waits for an order still finds it this long after its end
_ID = re.compile(rf"[A-Za-z0-9._-]{{1,{LONGEST_ID}}}", re.ASCII)


def get_orders(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """The active orders, oldest first, of one symbol when it is named."""
    account, symbol = arguments.account(exchange, caller), symbol_filter(exchange, params)
    return [order_record(order) for order in exchange.orders.listed(account, margin=False, symbol=symbol)]


def create_order(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """A new order; the answer tells what it met at once."""
    account = arguments.account(exchange, caller)
    order = orders_life.place(exchange, account, order_terms(exchange, params), SPOT)
    return order_record(order, with_trades=True)


def put_order(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """A new order with the id of the path; an order of that id is never changed."""
    return create_order(exchange, caller, params)


def cancel_orders(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """Cancels the active orders, of one symbol when it is named."""
    account, symbol = arguments.account(exchange, caller), symbol_filter(exchange, params)
    return [order_record(order) for order in orders_life.cancel_all(exchange, account, symbol=symbol)]


def get_order(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """An active order; with `wait`, also one that ended within the last minute."""
    account, client_id = arguments.account(exchange, caller), arguments.text(params, "clientOrderId", required=True)
    order = exchange.orders.find(account, client_id, margin=False)
    if order is None and _wait_ms(params):
        order = _just_ended(exchange, account, client_id)
    if order is None:
        raise Refusal(ORDER_NOT_FOUND)
    return order_record(order)


def wait_for_order(exchange: Exchange, caller: Caller | None, params: Arguments) -> Wait | None:
    """The wait for the end of an active order; None when nobody wants to wait or there is nothing to wait for."""
    account, client_id = arguments.account(exchange, caller), arguments.text(params, "clientOrderId", required=True)
    order, wait_ms = exchange.orders.find(account, client_id, margin=False), _wait_ms(params)
    if order is None or not wait_ms:
        return None
    return Wait(wait_ms, lambda event: _is_end_of(order, event))


def cancel_order(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """Cancels one active order."""
    return order_record(orders_life.cancel(exchange, _active(exchange, caller, params)))


def replace_order(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """A new order in place of an active one; see `orders_life.replace` for what the answer is."""
    order = _active(exchange, caller, params)
    new = replaced(exchange, order, params)
    return order_record(new, with_trades=new is not order)


def get_trading_fee(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """The account's own rates of a symbol."""
    arguments.account(exchange, caller)
    return _fee(exchange, arguments.symbol_of_id(exchange, arguments.text(params, "symbol", required=True).upper()).id)


def get_trading_fees(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """The account's own rates of every symbol."""
    arguments.account(exchange, caller)
    return [_fee(exchange, symbol) | {"symbol": symbol} for symbol in exchange.symbols]


# Reading what an order asks for --------------------------------------------------------------------------------------


def order_terms(exchange: Exchange, params: Arguments) -> OrderTerms:
    """The order that the arguments ask for, whichever kind of account backs it; refuses the first thing that is odd."""
    pair = _pair(exchange, params)
    side = arguments.choice(params, "side", SIDES)
    kind = arguments.choice(params, "type", TYPES, LIMIT)
    requested = arguments.choice(params, "timeInForce", TIMES_IN_FORCE, GTC)
    strict = arguments.flag(params, "strictValidate", False)
    quantity = quantity_of(pair, number(params, "quantity"), strict=strict)
    price = stop_price = None
    if kind in WITH_PRICE:
        price = price_of(pair, number(params, "price"), strict=strict)
    if kind in WITH_STOP_PRICE:
        if params.get("stopPrice") in (None, ""):
            raise arguments.missing("stopPrice")
        stop_price = stop_price_of(pair, number(params, "stopPrice"), strict=strict)
    in_force = time_in_force_of(kind, requested)
    expire_ms = arguments.instant_ms(params, "expireTime")
    return OrderTerms(
        pair=pair,
        side=side,
        type=kind,
        time_in_force=in_force,
        quantity=quantity,
        price=price,
        stop_price=stop_price,
        expire_ms=expiry_of(in_force, expire_ms, exchange.moment_ms),
        post_only=arguments.flag(params, "postOnly", False),
        client_id=client_id_of(params),
        take_markup=_markup(params, "takeLiquidityMarkup"),
        provide_markup=_markup(params, "provideLiquidityMarkup"),
    )


def replaced(exchange: Exchange, order: Order, params: Arguments) -> Order:
    """The replacement of an active order as the arguments ask for it, whichever kind of account backs it."""
    strict = arguments.flag(params, "strictValidate", False)
    quantity = quantity_of(order.pair, number(params, "quantity"), strict=strict)
    price = None
    if order.price is not None and params.get("price") not in (None, ""):
        price = price_of(order.pair, number(params, "price"), strict=strict)
    new_id = client_id_of(params, "requestClientId", required=True)
    return orders_life.replace(exchange, order, new_id, quantity, price)


def number(params: Arguments, name: str) -> Decimal | None:
    """A decimal number, or None when it is missing or none: which of its own codes refuses that depends on the name."""
    try:
        return decimal_of(params.get(name), signed=True)
    except NotAnAmount:
        return None


def client_id_of(params: Arguments, name: str = "clientOrderId", *, required: bool = False) -> str:
    """The trader's id of an order: letters, digits, dots, dashes and underscores; empty when absent."""
    client_id = arguments.text(params, name, required=required, longest=LONGEST_ID)
    if client_id and not _ID.fullmatch(client_id):
        raise Refusal(VALIDATION_ERROR, f"Fields are not valid: {name}")
    return client_id


def _markup(params: Arguments, name: str) -> Decimal:
    if params.get(name) in (None, ""):
        return ZERO
    fraction = number(params, name)
    if fraction is None or not 0 <= fraction < 1:
        raise arguments.odd(name, "must be a fraction from 0 to 1")
    return fraction


def _pair(exchange: Exchange, params: Arguments) -> Pair:
    symbol = arguments.symbol_of_id(exchange, arguments.text(params, "symbol", required=True).upper())
    return exchange.pair(symbol.id)


def _active(exchange: Exchange, caller: Caller | None, params: Arguments) -> Order:
    account = arguments.account(exchange, caller)
    return orders_life.find(exchange, account, arguments.text(params, "clientOrderId", required=True))


def _wait_ms(params: Arguments) -> int:
    return arguments.whole_number(params, "wait", 0, 0, LONGEST_WAIT_MS)


def _just_ended(exchange: Exchange, account: str, client_id: str) -> Order | None:
    order = exchange.orders.dealings(account).latest.get(client_id)
    if order is None or order.margin or order.updated_ms < exchange.moment_ms - JUST_ENDED_MS:
        return None
    return order


def _is_end_of(order: Order, event: Event) -> bool:
    return event.kind == "report" and event.account == order.account and not order.is_active


def _fee(exchange: Exchange, symbol: str) -> dict[str, object]:
    take, provide = rates(exchange, exchange.symbols[symbol])
    return {"takeLiquidityRate": format(take, "f"), "provideLiquidityRate": format(provide, "f")}
