"""The passing of time: what each timer does when it goes off, and what happens unasked, by its name in the journal.

A timer whose subject has moved on in the meantime does nothing. What the simulated market does to customers
(`Exchange.happen`), and what happens to the chain, is lived again from its recorded arguments alone; a replay runs no
simulated market.
"""

from collections.abc import Callable, Mapping

from sandbox.engine.clock import Timer
from sandbox.exchange.accounts.transactions import Payout
from sandbox.exchange.funds import chain_blocks, network, withdrawals
from sandbox.exchange.margin import margin_liquidation
from sandbox.exchange.margin.margin_funds import WATCH
from sandbox.exchange.positions.margin_records import CHECK
from sandbox.exchange.state import Exchange
from sandbox.exchange.trading import orders_house, orders_life

_PAYOUT_ACTIONS: dict[str, Callable[[Exchange, Payout], None]] = {
    "hold_end": withdrawals.end_hold,
    "payout_send": network.send,
    "payout_confirm": network.confirm_payout,
}


def live_until(exchange: Exchange, until_ms: int) -> None:
    """Runs what is due in the order of its instants: at each of them timers first, then the simulated market, as a
    replay has it, where what the market did is an input."""
    while True:
        due_ms = exchange.timers.next_due_ms()
        is_last = due_ms is None or due_ms > until_ms
        if exchange.live_until(until_ms if due_ms is None or is_last else due_ms - 1, is_last=is_last):
            continue
        timer = exchange.timers.take_due(until_ms)
        if timer is None:
            break
        exchange.moment_ms = max(exchange.moment_ms, timer.due_ms)
        go_off(exchange, timer)
    exchange.moment_ms = max(exchange.moment_ms, until_ms)


def go_off(exchange: Exchange, timer: Timer) -> None:
    """Does what the timer was set for, at the present moment of the exchange."""
    if timer.action in _PAYOUT_ACTIONS:
        payout = exchange.payouts[timer.subject]
        if payout.step == timer.expected and not payout.ended:
            _PAYOUT_ACTIONS[timer.action](exchange, payout)
    elif timer.action == "payin_confirm":
        network.confirm_payin(exchange, exchange.transaction(timer.subject))
    elif timer.action == "order_end":
        orders_life.expire(exchange, int(timer.subject))
    elif timer.action == WATCH:
        margin_liquidation.watch(exchange, timer.subject)
    elif timer.action == CHECK:
        margin_liquidation.check(exchange)
    elif timer.action == chain_blocks.BLOCK:
        chain_blocks.come(exchange, timer.expected)
    elif timer.action == "listed":
        exchange.add_news(exchange.transaction(timer.subject))
    else:
        raise ValueError(f"no timer is called {timer.action!r}")


JOURNALED_EVENTS: dict[str, Callable[[Exchange, Mapping[str, object]], None]] = {
    orders_house.TRADES: orders_house.live_trades,
    margin_liquidation.ACTION: margin_liquidation.live_liquidation,
    chain_blocks.BROADCAST: chain_blocks.live_broadcast,
    chain_blocks.LEAP: chain_blocks.leap,
    chain_blocks.MARK: chain_blocks.mark,
}
