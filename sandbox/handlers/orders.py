"""Spot orders, and the rates that trading costs (REST "Spot orders"; supplement 2.7, 2.8)."""

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from sandbox.exchange import orders_checks, orders_life
from sandbox.exchange.amounts import ZERO, NotAnAmount, decimal_of
from sandbox.exchange.matching import SIDES
from sandbox.exchange.orders_funds import SPOT
from sandbox.exchange.orders_records import GTC, LIMIT, TIMES_IN_FORCE, TYPES, Asked, Order
from sandbox.exchange.orders_reports import order_record
from sandbox.exchange.orders_trading import rates
from sandbox.exchange.pairs import Pair
from sandbox.exchange.terms import ORDER_NOT_FOUND, VALIDATION_ERROR, Caller, Event, Refusal, Wait
from sandbox.handlers import given
from sandbox.handlers.given import Arguments
from sandbox.handlers.history import symbol_filter

if TYPE_CHECKING:
    from sandbox.world import World

LONGEST_ID: Final = 32
LONGEST_WAIT_MS: Final = 60_000
JUST_ENDED_MS: Final = 60_000  # who waits for an order still finds it this long after its end
_ID = re.compile(rf"[A-Za-z0-9._-]{{1,{LONGEST_ID}}}", re.ASCII)


def get_orders(world: "World", caller: Caller | None, arguments: Arguments) -> object:
    """The active orders, oldest first, of one symbol when it is named."""
    account, symbol = given.account(world, caller), symbol_filter(world, arguments)
    return [order_record(order) for order in world.exchange.orders.listed(account, margin=False, symbol=symbol)]


def create_order(world: "World", caller: Caller | None, arguments: Arguments) -> object:
    """A new order; the answer tells what it met at once."""
    account = given.account(world, caller)
    order = orders_life.place(world.exchange, account, asked(world, arguments), SPOT)
    return order_record(order, with_trades=True)


def put_order(world: "World", caller: Caller | None, arguments: Arguments) -> object:
    """A new order with the id of the path; an order of that id is never changed."""
    return create_order(world, caller, arguments)


def cancel_orders(world: "World", caller: Caller | None, arguments: Arguments) -> object:
    """Cancels the active orders, of one symbol when it is named."""
    account, symbol = given.account(world, caller), symbol_filter(world, arguments)
    return [order_record(order) for order in orders_life.cancel_all(world.exchange, account, symbol=symbol)]


def get_order(world: "World", caller: Caller | None, arguments: Arguments) -> object:
    """An active order; with `wait`, also one that ended within the last minute."""
    account, client_id = given.account(world, caller), given.text(arguments, "clientOrderId", required=True)
    order = world.exchange.orders.find(account, client_id, margin=False)
    if order is None and _wait_ms(arguments):
        order = _just_ended(world, account, client_id)
    if order is None:
        raise Refusal(ORDER_NOT_FOUND)
    return order_record(order)


def wait_for_order(world: "World", caller: Caller | None, arguments: Arguments) -> Wait | None:
    """The wait for the end of an active order; None when nobody wants to wait or there is nothing to wait for."""
    account, client_id = given.account(world, caller), given.text(arguments, "clientOrderId", required=True)
    order, wait_ms = world.exchange.orders.find(account, client_id, margin=False), _wait_ms(arguments)
    if order is None or not wait_ms:
        return None
    return Wait(wait_ms, lambda event: _is_end_of(order, event))


def cancel_order(world: "World", caller: Caller | None, arguments: Arguments) -> object:
    """Cancels one active order."""
    return order_record(orders_life.cancel(world.exchange, _active(world, caller, arguments)))


def replace_order(world: "World", caller: Caller | None, arguments: Arguments) -> object:
    """A new order in place of an active one; see `orders_life.replace` for what the answer is."""
    order = _active(world, caller, arguments)
    new = replaced(world, order, arguments)
    return order_record(new, with_trades=new is not order)


def get_trading_fee(world: "World", caller: Caller | None, arguments: Arguments) -> object:
    """The account's own rates of a symbol."""
    given.account(world, caller)
    return _fee(world, given.symbol_of_id(world, given.text(arguments, "symbol", required=True).upper()).id)


def get_trading_fees(world: "World", caller: Caller | None, arguments: Arguments) -> object:
    """The account's own rates of every symbol."""
    given.account(world, caller)
    return [_fee(world, symbol) | {"symbol": symbol} for symbol in world.exchange.symbols]


# Reading what an order asks for --------------------------------------------------------------------------------------


def asked(world: "World", arguments: Arguments) -> Asked:
    """The order that the arguments ask for, whichever kind of account backs it; refuses the first thing that is odd."""
    pair = _pair(world, arguments)
    side = given.choice(arguments, "side", SIDES)
    kind = given.choice(arguments, "type", TYPES, LIMIT)
    wanted = given.choice(arguments, "timeInForce", TIMES_IN_FORCE, GTC)
    strict = given.flag(arguments, "strictValidate", False)
    quantity = orders_checks.quantity_of(pair, number(arguments, "quantity"), strict=strict)
    price = stop_price = None
    if kind in orders_checks.WITH_PRICE:
        price = orders_checks.price_of(pair, number(arguments, "price"), strict=strict)
    if kind in orders_checks.WITH_STOP_PRICE:
        if arguments.get("stopPrice") in (None, ""):
            raise given.missing("stopPrice")
        stop_price = orders_checks.stop_price_of(pair, number(arguments, "stopPrice"), strict=strict)
    in_force = orders_checks.time_in_force_of(kind, wanted)
    expire_ms = given.instant_ms(arguments, "expireTime")
    return Asked(
        pair=pair,
        side=side,
        type=kind,
        time_in_force=in_force,
        quantity=quantity,
        price=price,
        stop_price=stop_price,
        expire_ms=orders_checks.expiry_of(in_force, expire_ms, world.exchange.moment_ms),
        post_only=given.flag(arguments, "postOnly", False),
        client_id=client_id_of(arguments),
        take_markup=_markup(arguments, "takeLiquidityMarkup"),
        provide_markup=_markup(arguments, "provideLiquidityMarkup"),
    )


def replaced(world: "World", order: Order, arguments: Arguments) -> Order:
    """The replacement of an active order as the arguments ask for it, whichever kind of account backs it."""
    strict = given.flag(arguments, "strictValidate", False)
    quantity = orders_checks.quantity_of(order.pair, number(arguments, "quantity"), strict=strict)
    price = None
    if order.price is not None and arguments.get("price") not in (None, ""):
        price = orders_checks.price_of(order.pair, number(arguments, "price"), strict=strict)
    new_id = client_id_of(arguments, "requestClientId", required=True)
    return orders_life.replace(world.exchange, order, new_id, quantity, price)


def number(arguments: Arguments, name: str) -> Decimal | None:
    """A decimal number, or None when it is missing or none: which of its own codes refuses that depends on the name."""
    try:
        return decimal_of(arguments.get(name), signed=True)
    except NotAnAmount:
        return None


def client_id_of(arguments: Arguments, name: str = "clientOrderId", *, required: bool = False) -> str:
    """The trader's id of an order: letters, digits, dots, dashes and underscores; empty when absent."""
    client_id = given.text(arguments, name, required=required, longest=LONGEST_ID)
    if client_id and not _ID.fullmatch(client_id):
        raise Refusal(VALIDATION_ERROR, f"Fields are not valid: {name}")
    return client_id


def _markup(arguments: Arguments, name: str) -> Decimal:
    if arguments.get(name) in (None, ""):
        return ZERO
    fraction = number(arguments, name)
    if fraction is None or not 0 <= fraction < 1:
        raise given.odd(name, "must be a fraction from 0 to 1")
    return fraction


def _pair(world: "World", arguments: Arguments) -> Pair:
    symbol = given.symbol_of_id(world, given.text(arguments, "symbol", required=True).upper())
    return world.exchange.pair(symbol.id)


def _active(world: "World", caller: Caller | None, arguments: Arguments) -> Order:
    account = given.account(world, caller)
    return orders_life.find(world.exchange, account, given.text(arguments, "clientOrderId", required=True))


def _wait_ms(arguments: Arguments) -> int:
    return given.whole(arguments, "wait", 0, 0, LONGEST_WAIT_MS)


def _just_ended(world: "World", account: str, client_id: str) -> Order | None:
    order = world.exchange.orders.of(account).latest.get(client_id)
    if order is None or order.margin or order.updated_ms < world.exchange.moment_ms - JUST_ENDED_MS:
        return None
    return order


def _is_end_of(order: Order, event: Event) -> bool:
    return event.kind == "report" and event.account == order.account and not order.is_active


def _fee(world: "World", symbol: str) -> dict[str, object]:
    take, provide = rates(world.exchange, world.exchange.symbols[symbol])
    return {"takeLiquidityRate": format(take, "f"), "provideLiquidityRate": format(provide, "f")}
