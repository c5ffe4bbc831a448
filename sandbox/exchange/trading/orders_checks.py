"""From the decimals of a request to an order in ticks and increments, or to the refusal the documents name for them.

Without `strict`, price and quantity are rounded half down to the symbol's steps; with it they must be multiples of them
(supplement 2.8). What is below one step is refused either way.
"""

from decimal import Decimal
from typing import Final

from sandbox.amounts import text_of
from sandbox.exchange.orders.orders_records import FOK, GTD, IOC, LIMIT, MARKET, STOP_LIMIT, STOP_MARKET
from sandbox.exchange.orders.pairs import Pair, to_nearest
from sandbox.exchange.terms import (
    PRICE_BAD,
    PRICE_INVALID,
    PRICE_TOO_LOW,
    QUANTITY_BAD,
    QUANTITY_INVALID,
    QUANTITY_TOO_LOW,
    VALIDATION_ERROR,
    Refusal,
)

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


def time_in_force_of(kind: str, wanted: str) -> str:
    """The time in force of a type of order; a market order is IOC or FOK, and GTC, the default, means IOC there."""
    if kind != MARKET or wanted in (IOC, FOK):
        return wanted
    if wanted in ("", "GTC"):
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
