"""What happens when orders meet: fills, their settlement on the ledger, stop orders that wake, and the ends of orders.

An account's order may trade with another one of the same account: the interface documents no prevention of that, so
both sides are filled and both pay their fee.

Whoever takes a rebate is paid from the fee of the other side; what that does not cover comes from the traders' purse.
"""

from collections.abc import Iterable
from decimal import Decimal
from typing import Final

from sandbox.exchange.accounts.ledger import HOUSE, Entry, Wallet
from sandbox.exchange.listing.symbols import Symbol
from sandbox.exchange.orders.matching import BUY, POST_ONLY, SELL
from sandbox.exchange.orders.orders_records import FOK, STOP_MARKET, Order, Settled, Status, Trade
from sandbox.exchange.orders.orders_reports import MarketTrade, Report
from sandbox.exchange.orders.pairs import Pair
from sandbox.exchange.recorded_fills import FUNDS, NOTHING, Meeting, Met
from sandbox.exchange.state import Exchange
from sandbox.exchange.terms import Refusal
from sandbox.exchange.trading.orders_funds import of_house

_TENTH_MORE: Final = 11, 10  # what a purchase at the market reserves of what the book asks for


def report(exchange: Exchange, order: Order, kind: str, trade: Trade | None = None, replaced: str = "") -> None:
    """Puts what happened to an order among the news."""
    if exchange.telling:
        news = (order, kind, order.status, order.filled, order.updated_ms, trade, replaced)
        exchange.events.append(tuple.__new__(Report, news))


def end(exchange: Exchange, order: Order, status: Status, *, is_reported: bool = True) -> None:
    """Ends an active order that is out of its book: frees its reserve, and reports it unless it was only replaced."""
    order.status = status
    order.updated_ms = exchange.moment_ms
    order.backing.release(exchange, order)
    exchange.orders.leave(order)
    if is_reported:
        report(exchange, order, status)


def take_out(exchange: Exchange, order: Order) -> None:
    """Takes an active order out of the book, or from among the waiting stops."""
    order.pair.book.cancel(order.id)
    if order.is_stop:
        order.pair.stops.remove(order.id)


def cover(exchange: Exchange, order: Order, share: tuple[int, int] = _TENTH_MORE) -> None:
    """Reserves for an order at the market so large a share of what it is going to meet; raises `Refusal`."""
    if not order.is_buy:
        order.backing.reserve(exchange, order, 0)
        return
    if exchange.recorded_fills.replaying:
        notional = sum(price * quantity for _, _, price, quantity in exchange.recorded_fills.peek().trades)
    else:
        taken, notional = order.pair.book.walk(order.terms.side, order.left)
        if (order.terms.time_in_force == FOK and taken < order.left) or order.terms.post_only:
            notional = 0
    order.backing.reserve(exchange, order, -(-notional * share[0] // share[1]))


def trade(exchange: Exchange, order: Order) -> None:
    """Matches an entered order that is not waiting for its stop price: fills, then rest or end."""
    met = _met(exchange, order)
    if met.trades:
        side = order.terms.side
        for meeting in met.trades:
            _settle(exchange, order.pair, meeting, side, order)
    if met.reason:
        end(exchange, order, Status.CANCELED if met.reason == POST_ONLY else Status.EXPIRED)


def hit(exchange: Exchange, pair: Pair, side: str, meetings: Iterable[Meeting]) -> None:
    """Settles what an order of a simulated trader met; the book has been told."""
    for meeting in meetings:
        _settle(exchange, pair, meeting, side, None)


def wake_stops(exchange: Exchange) -> None:
    """Wakes the stop orders that the latest trades reached, and those that their trades reach, until none is left."""
    traded = exchange.orders.traded
    while traded:
        pair, price = traded.popleft()
        for order_id in pair.stops.take(price):
            _wake(exchange, exchange.orders.active[order_id])


def _wake(exchange: Exchange, order: Order) -> None:
    order.status = Status.NEW
    order.updated_ms = exchange.moment_ms
    report(exchange, order, "new")
    if order.terms.type == STOP_MARKET and order.is_buy and not _covered_again(exchange, order):
        end(exchange, order, Status.EXPIRED)
        return
    trade(exchange, order)


def _covered_again(exchange: Exchange, order: Order) -> bool:
    """Reserves for a woken purchase at the market what it costs now instead of what was guessed."""
    order.backing.release(exchange, order)
    try:
        cover(exchange, order, (1, 1))
    except Refusal:
        exchange.recorded_fills.note(Met((), FUNDS))
        return False
    return True


def _met(exchange: Exchange, order: Order) -> Met:
    """Asks the book, or the journal when it is lived again."""
    terms, book, outcomes = order.terms, order.pair.book, exchange.recorded_fills
    if outcomes.replaying:
        met = outcomes.take()
        for _, maker_id, _, quantity in met.trades:
            if maker_id:
                book.reduce(maker_id, quantity)
        left = order.left - sum(quantity for _, _, _, quantity in met.trades)
        if left and not met.reason and order.price is not None:
            book.rest(order.id, terms.side, order.price, left)
        return met
    fills, _, reason = book.add(
        order.id, terms.side, order.price, order.left, post_only=terms.post_only, time_in_force=terms.time_in_force
    )
    met = Met(numbered(exchange, fills), reason) if fills else Met((), reason) if reason else NOTHING
    outcomes.note(met)
    return met


def numbered(exchange: Exchange, fills: Iterable[tuple[int, int, int]]) -> tuple[Meeting, ...]:
    """The fills as trades with numbers; the makers that are simulated traders lose theirs."""
    new, moment_ms = exchange.orders.new_trade_id, exchange.moment_ms
    return tuple((new(moment_ms), max(maker_id, 0), price, quantity) for maker_id, price, quantity in fills)


def _settle(exchange: Exchange, pair: Pair, meeting: Meeting, side: str, taker: Order | None) -> None:
    """Settles one trade; a side without an order is a simulated trader's."""
    trade_id, maker_id, price, quantity = meeting
    orders = exchange.orders
    maker = orders.active[maker_id] if maker_id else None
    orders.last_trade_id = max(orders.last_trade_id, trade_id)
    if taker is not None or maker is not None:
        taken = _side(exchange, pair, taker, price, quantity, is_buy=side == BUY, is_taker=True)
        made = _side(exchange, pair, maker, price, quantity, is_buy=side == SELL, is_taker=False)
        fees = taken.fee + made.fee
        earned: Entry = (HOUSE, Wallet.FEES if fees >= 0 else Wallet.TRADERS, pair.quote, fees)
        exchange.ledger.move(exchange.moment_ms, "trade", str(trade_id), (*taken.entries, *made.entries, earned))
        at_ms = exchange.moment_ms
        if taker is not None:
            _filled(exchange, Trade(trade_id, taker, price, quantity, taken.fee, at_ms, True), taken)
        if maker is not None:
            _filled(exchange, Trade(trade_id, maker, price, quantity, made.fee, at_ms, False), made)
    if pair.stops.reached(price):
        orders.traded.append((pair, price))
    publish(exchange, MarketTrade(pair, trade_id, price, quantity, side, exchange.moment_ms))


def _side(
    exchange: Exchange, pair: Pair, order: Order | None, price: int, quantity: int, *, is_buy: bool, is_taker: bool
) -> Settled:
    if order is None:
        symbol = pair.symbol
        return of_house(pair, is_buy, price, quantity, pair.rate(symbol.take_rate if is_taker else symbol.provide_rate))
    order.left -= quantity
    return order.backing.settle(exchange, order, price, quantity, order.take if is_taker else order.provide)


def _filled(exchange: Exchange, made: Trade, settled: Settled) -> None:
    order = made.order
    order.filled += made.quantity
    order.spent += made.price * made.quantity
    order.status = Status.PARTIALLY_FILLED if order.left else Status.FILLED
    order.updated_ms = exchange.moment_ms
    if order.margin:
        made = made._replace(liquidation=settled.liquidation, position_id=settled.position_id)
    order.trades.append(made)
    exchange.orders.of(order.account).trades.append(made)
    report(exchange, order, "trade", made)
    if not order.left:
        order.backing.release(exchange, order)
        exchange.orders.leave(order)


def fill_apart(exchange: Exchange, order: Order, meeting: Meeting, settled: Settled) -> None:
    """Fills an entered order with what the exchange itself takes of it, apart from the book.

    `settled` is what that did to whoever backs the order; it is on the ledger already.
    """
    trade_id, _, price, quantity = meeting
    pair, orders, at_ms = order.pair, exchange.orders, exchange.moment_ms
    orders.last_trade_id = max(orders.last_trade_id, trade_id)
    order.left -= quantity
    _filled(exchange, Trade(trade_id, order, price, quantity, settled.fee, at_ms, True), settled)
    if pair.stops.reached(price):
        orders.traded.append((pair, price))
    publish(exchange, MarketTrade(pair, trade_id, price, quantity, order.terms.side, at_ms))


def publish(exchange: Exchange, trade: MarketTrade) -> None:
    """Tells everybody of a trade."""
    for listener in exchange.trade_listeners:
        listener(trade)
    if exchange.telling:
        exchange.events.append(trade)


def rates(exchange: Exchange, symbol: Symbol) -> tuple[Decimal, Decimal]:
    """What the accounts of this exchange pay as taker and as maker, as fractions of the volume."""
    config = exchange.config
    take = symbol.take_rate if config.take_liquidity_rate is None else config.take_liquidity_rate
    return take, symbol.provide_rate if config.provide_liquidity_rate is None else config.provide_liquidity_rate
