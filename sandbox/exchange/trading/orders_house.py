"""The simulated traders' way into the books: orders without an account, backed by the house and outside the journal.

Traders put orders in with `offer`, in ticks and increments, and take them out of the book itself. They need no money,
pay the symbol's fees, and are forgotten with the process. What their orders do to customers, fills of resting orders
and the waking of stop orders, becomes an input of its own in the journal (`Exchange.happen`), with everything needed to
live it again without them; trades among themselves are only told.

Traders act while the world lives, never in a replay, and never after an input of a customer has begun to change
something: on `Exchange.refresh_book`, and at their own instants between inputs.
"""

from collections.abc import Mapping
from typing import Final

from sandbox.exchange.orders.matching import BUY, SELL, Outcome
from sandbox.exchange.orders.orders_reports import MarketTrade
from sandbox.exchange.state import Exchange, meeting_of
from sandbox.exchange.trading.orders_life import hit, numbered, publish, wake_stops

TRADES: Final = "market-trades"


def offer(
    exchange: Exchange,
    symbol_id: str,
    side: str,
    price: int | None,
    quantity: int,
    *,
    post_only: bool = False,
    time_in_force: str = "GTC",
) -> tuple[int, Outcome]:
    """Puts an order of a simulated trader into the book of a symbol that exists; returns its number and its outcome."""
    pair, number = exchange.pair(symbol_id), exchange.orders.new_house_id()
    outcome = pair.book.add(number, side, price, quantity, post_only=post_only, time_in_force=time_in_force)
    if outcome.fills:
        meetings = numbered(exchange, outcome.fills)
        if any(maker_id or pair.stops.reached(at) for _, maker_id, at, _ in meetings):
            exchange.happen(TRADES, live_trades, symbol=symbol_id, side=side, trades=[list(each) for each in meetings])
        else:
            for trade_id, _, at, part in meetings:
                publish(exchange, MarketTrade(pair, trade_id, at, part, side, exchange.moment_ms))
    return number, outcome


def live_trades(exchange: Exchange, arguments: Mapping[str, object]) -> None:
    """What an order of a simulated trader did to customers; raises ValueError when the record can't be read."""
    match arguments:
        case {"symbol": str(symbol_id), "side": ("buy" | "sell") as side, "trades": list(recorded)}:
            meetings = [meeting_of(each) for each in recorded]
        case _:
            raise ValueError("not trades of the market")
    pair = exchange.pair(symbol_id)
    if exchange.recorded_fills.replaying:
        for _, maker_id, _, quantity in meetings:
            if maker_id:
                pair.book.reduce(maker_id, quantity)
    hit(exchange, pair, BUY if side == "buy" else SELL, meetings)
    wake_stops(exchange)
