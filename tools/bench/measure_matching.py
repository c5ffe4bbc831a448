"""The matching engine and the whole life of orders, against the fastest engine in pure Python on PyPI that is exact.

The peer is akhil4n-orderbook 0.1.1, fed with Decimals, and once more with our whole numbers. Everybody gets the same
hundred thousand events: 45 of 100 cancel an order that rests, a quarter of the others cross the spread, about two
hundred levels. That all trade the same is looked at first.

Ours are measured twice: the book alone, and orders as the sandbox keeps them, with status, reports, rates, fees,
reserves and postings of a double-entry ledger, of which the peer has nothing. What a request costs before it is an
order is in neither. The garbage collector is off for all, as in the standard library's `timeit`.
"""

import gc
import random
from collections.abc import Callable
from decimal import Decimal
from typing import NamedTuple

from orderbook import Order, OrderBook, OrderSide  # akhil4n-orderbook

from sandbox.exchange.accounts.ledger import HOUSE, UNIT, Wallet
from sandbox.exchange.orders.matching import BUY, SELL, Book
from sandbox.exchange.orders.orders import GTC, LIMIT, OrderTerms
from sandbox.exchange.state import Exchange
from sandbox.exchange.trading import orders_life
from sandbox.exchange.trading.orders_funds import SPOT
from sandbox.settings.config import Config
from sandbox.settings.keys import DESK_ACCOUNT, OTHER_ACCOUNT
from sandbox.world.seeding import exchange
from tools.bench.rounds import line, spend

EVENTS = 100_000
MIDDLE = 20_000


class Event(NamedTuple):
    """An order to come in, or with a side of "" one to be cancelled; numbers count from one."""

    number: int
    side: str
    price: int
    quantity: int


def events() -> list[Event]:
    """The flow, made with a book of our own so that only resting orders are cancelled."""
    dice, book = random.Random(1), Book("ETHBTC")
    events: list[Event] = []
    resting: list[int] = []
    number, middle = 0, MIDDLE
    while len(events) < EVENTS:
        if resting and dice.random() < 0.45:
            place = dice.randrange(len(resting))
            resting[place], resting[-1] = resting[-1], resting[place]
            cancelled = resting.pop()
            if book.cancel(cancelled):
                events.append(Event(cancelled, "", 0, 0))
            continue
        number += 1
        middle += dice.choice((-1, 0, 0, 0, 0, 0, 0, 1))
        side, quantity = dice.choice((BUY, SELL)), dice.randrange(1, 100)
        away = -dice.randrange(20) if dice.random() < 0.27 else dice.randrange(1, 100)
        events.append(Event(number, side, middle - away if side == BUY else middle + away, quantity))
        if book.add(number, side, events[-1].price, quantity).resting:
            resting.append(number)
    return events


# The three -----------------------------------------------------------------------------------------------------------


def of_book(flow: list[Event]) -> tuple[int, int]:
    """Trades and quantity of our book."""
    book = Book("ETHBTC")
    add, cancel = book.add, book.cancel
    trades = []
    for number, side, price, quantity in flow:
        if side:
            fills, _, _ = add(number, side, price, quantity)
            if fills:
                trades += fills
        else:
            cancel(number)
    return len(trades), sum(quantity for _, _, quantity in trades)


def of_orders(flow: list[Event], world: Exchange) -> tuple[int, int]:
    """Trades and quantity of orders with everything that belongs to them."""
    pair = world.pair("ETHBTC")
    orders = {}
    for number, side, price, quantity in flow:
        if side:
            account = DESK_ACCOUNT if number & 1 else OTHER_ACCOUNT
            terms = OrderTerms(pair, side, LIMIT, GTC, quantity, price, client_id=str(number))
            orders[number] = orders_life.place(world, account, terms, SPOT)
        else:
            orders_life.cancel(world, orders[number])
    takers = [trade for trade in world.orders.dealings(DESK_ACCOUNT).trades if trade.taker]
    takers += [trade for trade in world.orders.dealings(OTHER_ACCOUNT).trades if trade.taker]
    return len(takers), sum(trade.quantity for trade in takers)


def of_peer(flow: list[tuple[int, str, object, object]]) -> tuple[int, object]:
    """Trades and quantity of the peer."""
    book, numbers = OrderBook(), {}
    add, cancel = book.add_limit_order, book.cancel_order
    for number, side, price, quantity in flow:
        if side:
            order = Order(OrderSide.BID if side == BUY else OrderSide.ASK, price, quantity)
            numbers[number] = order.order_id
            add(order)
        else:
            cancel(numbers[number])
    return len(book.trade_log), sum(trade.quantity_filled for trade in book.trade_log)


def rich_world() -> Exchange:
    """An exchange without simulated traders whose two accounts can pay for everything, and whose news are collected."""
    world = exchange(seed=1, symbols=13, started_ms=0, config=Config(), still=True)
    world.has_listeners = True
    world.refresh_book = None
    world.trade_listeners = []
    for account in (DESK_ACCOUNT, OTHER_ACCOUNT):
        for code in ("ETH", "BTC"):
            amount = 10**9 * UNIT
            entries = ((HOUSE, Wallet.OUTSIDE, code, -amount), (account, Wallet.TRADING, code, amount))
            world.ledger.move(0, "opening", "", entries)
    return world


def _agree(flow: list[Event], decimals: list[tuple[int, str, object, object]]) -> None:
    trades, quantity = of_book(flow)
    assert (trades, quantity) == of_orders(flow, rich_world()) == of_peer(flow)
    assert of_peer(decimals) == (trades, Decimal(quantity).scaleb(-4))
    print(f"{EVENTS:,} events, {trades:,} trades, {quantity:,} increments: the same from everybody")


def main() -> None:
    """Measures and prints."""
    flow = events()
    decimals = [
        (number, side, Decimal(price).scaleb(-6), Decimal(quantity).scaleb(-4))
        for number, side, price, quantity in flow
    ]
    _agree(flow, decimals)
    ways: list[Callable[[], object]] = [
        lambda: of_book(flow),
        lambda: of_orders(flow, worlds.pop()),
        lambda: of_peer(decimals),
        lambda: of_peer(flow),
    ]
    worlds = [rich_world() for _ in range(10)]
    gc.collect()
    gc.disable()
    core, full, exact, peer_ms = spend(*ways, pieces=EVENTS // 1_000, rounds=9)
    for what, ours, target in (("in the book", core, 6), ("with all their records", full, 1.7)):
        result = {"what": f"a thousand events {what}", "ours_ms": ours}
        print(line(**result, peer="akhil4n-orderbook with decimals", peer_ms=exact, target=target))
        print(line(**result, peer="akhil4n-orderbook with whole numbers", peer_ms=peer_ms, target=0))


if __name__ == "__main__":
    main()
