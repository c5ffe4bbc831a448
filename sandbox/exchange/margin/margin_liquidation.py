"""Liquidation: the end of a position whose mark has reached its liquidation price (supplement 1.5).

Positions are looked at behind every trade of their symbol, and once a minute while there are any. The exchange cancels
the account's orders and sells or buys at the market; what the book does not take it takes over at the mark itself,
which is a trade of the account too. The account stays, with what is left of its balance. What the mark was is not in
the journal: a liquidation therefore happens as an input of its own (`Exchange.happen`), and a replay looks at no
position.

A liquidation waits until nothing else is due at its instant: a replay lives all timers of an instant before an input.
"""

from collections.abc import Mapping
from typing import Final

from sandbox.exchange.accounts.ledger import HOUSE, Wallet
from sandbox.exchange.margin.margin import close_at
from sandbox.exchange.margin.margin_funds import LIQUIDATED, LIQUIDATION, WATCH, WATCH_MS, is_past
from sandbox.exchange.margin.margin_reports import CLOSED, add_account_news, mark_of
from sandbox.exchange.orders.matching import BUY, SELL
from sandbox.exchange.orders.orders import IOC, MARKET, OrderTerms, Settled
from sandbox.exchange.positions.margin_records import CHECK, MarginAccount
from sandbox.exchange.state import Exchange, Met
from sandbox.exchange.trading.orders_life import enter_for_exchange, fill_apart, wake_stops

ACTION: Final = "margin-liquidation"
TAKEN_OVER: Final = "taken over"  # in the journal: what the exchange itself took of a position


def watch(exchange: Exchange, symbol: str) -> None:
    """Has the positions of a symbol looked at, now and in a minute, while there are any."""
    if not exchange.margins.holding(symbol):
        exchange.margins.watched.discard(symbol)
        return
    exchange.timers.set(exchange.moment_ms + WATCH_MS, WATCH, symbol)
    exchange.margins.ask(symbol, exchange.moment_ms)


def check(exchange: Exchange) -> None:
    """Liquidates the positions whose time has come, in the symbols that were asked about."""
    due_ms = exchange.timers.next_due_ms()
    if due_ms is not None and due_ms <= exchange.moment_ms:
        exchange.timers.set(exchange.moment_ms, CHECK, "")
        return
    for symbol in exchange.margins.take_to_check():
        if not exchange.recorded_fills.replaying and exchange.margins.holding(symbol):
            _check(exchange, symbol)


def _check(exchange: Exchange, symbol: str) -> None:
    if not any(is_past(exchange, account, liquidation=True) for account in exchange.margins.holding(symbol)):
        return
    exchange.look_at(symbol)  # which may change the mark and the positions
    for account in exchange.margins.holding(symbol):
        if is_past(exchange, account, liquidation=True):
            mark = mark_of(exchange, account.pair)
            exchange.happen(ACTION, live_liquidation, account=account.owner, symbol=symbol, mark=mark)


def live_liquidation(exchange: Exchange, arguments: Mapping[str, object]) -> None:
    """Liquidates one position; raises ValueError when the record can't be read."""
    match arguments:
        case {"account": str(owner), "symbol": str(symbol), "mark": int(mark)}:
            account = exchange.margins.find(owner, symbol)
        case _:
            raise ValueError("not a liquidation")
    if account is None or account.position is None:
        raise ValueError("there is no position to liquidate")
    close_at(exchange, account, None, LIQUIDATION)
    if account.position is not None:
        _take_over(exchange, account, mark)


def _take_over(exchange: Exchange, account: MarginAccount, mark: int) -> None:
    """Ends what is left of a position at the mark: the exchange itself takes the other side (supplement 6).

    It is a trade like others, but for its fee, which there is none. Journals from before it was one say nothing of it.
    """
    quantity, outcomes = account.quantity, exchange.recorded_fills
    if outcomes.replaying and not outcomes.is_next(TAKEN_OVER):
        exchange.margins.traded[account.pair.symbol.id] = (mark, exchange.moment_ms)
        _close_position(exchange, account, quantity, mark)
        return
    if outcomes.replaying:
        met = outcomes.next_met()
    else:
        met = Met(((exchange.orders.new_trade_id(exchange.moment_ms), 0, mark, abs(quantity)),), TAKEN_OVER)
        outcomes.note(met)
    terms = OrderTerms(account.pair, SELL if quantity > 0 else BUY, MARKET, IOC, abs(quantity))
    order = enter_for_exchange(exchange, account.owner, terms, LIQUIDATION)
    settled = _close_position(exchange, account, quantity, mark)
    fill_apart(exchange, order, met.trades[0], settled)
    wake_stops(exchange)


def _close_position(exchange: Exchange, account: MarginAccount, quantity: int, mark: int) -> Settled:
    """Takes the position out of the account, on the ledger as well; what that did."""
    change = account.traded(-quantity, mark, exchange.margins.new_position_id, exchange.moment_ms)
    gained = max(change.gain, -account.balance)
    account.balance += gained
    quote = account.pair.quote
    entries = ((HOUSE, Wallet.LENDING, quote, -gained), (account.owner, Wallet.MARGIN, quote, gained))
    exchange.ledger.move(exchange.moment_ms, "liquidation", str(change.position_id), entries)
    add_account_news(exchange, account, CLOSED, LIQUIDATED)
    return Settled((), 0, True, change.position_id)
