"""Trading in a test: orders in a word, and orders of simulated traders to meet them."""

from decimal import Decimal
from pathlib import Path
from typing import Any

from sandbox.exchange.trading import orders_house
from sandbox.world.world import Caller, World
from tests.sandbox.worlds import DESK, Ticking, balance, call, opened


def without_traders(world: World) -> World:
    """The world with nobody but its customers in the books, until a test puts an order of a trader in."""
    world.exchange.refresh_book = None
    world.exchange.simulated_traders = None
    return world


def bare(folder: Path | None = None, clock: Ticking | None = None, **options: Any) -> World:
    """A world on a standing clock whose books are empty."""
    return without_traders(opened(folder, clock, still=True, **options))


def order(world: World, side: str, quantity: object, price: object = None, *more: Caller, **more_terms: object) -> Any:
    """The answer to a new ETHBTC order, by the desk unless another caller is named."""
    terms = {"symbol": "ETHBTC", "side": side, "quantity": quantity} | ({} if price is None else {"price": price})
    return call(world, "create_order", *more, **(terms | more_terms))


def trading(world: World, code: str, caller: Caller = DESK) -> tuple[Decimal, Decimal]:
    """Available and reserved on the trading account."""
    available, reserved = balance(world, code, caller, "get_trading_balances")
    return Decimal(available), Decimal(reserved)


def offered(world: World, side: str, price: int, quantity: int, symbol: str = "ETHBTC") -> int:
    """The number of an order that a simulated trader puts in, in ticks and increments."""
    number, _ = orders_house.offer(world.exchange, symbol, side, price, quantity)
    world.run_due()
    return number
