"""The life of an order: placed, waiting for its stop price, resting, filled, replaced, cancelled, expired (exchange
REST, Order status; supplement 1.4, 2.8).

Choices where the documents are silent:

- A stop order waits for the next trade at or beyond its stop price, whatever the last price was when it came in. While
  it waits it reserves what its limit, or its stop price and a tenth more, may cost. A stop order at the market that
  can't be paid for when it wakes expires.
- A replacement asks for the whole quantity: what the old order had filled counts as filled. When nothing is left to
  fill, or the money does not reach, the old order is cancelled and is the answer. The record of the old order stays in
  the history as canceled; only the new one is reported.
- What is left of an order at the market, of IOC and of FOK expires; a post-only order that would take is canceled.
- An account's order may trade with another one of the same account: the interface documents no prevention of that, so
  both sides are filled and both pay their fee.
- Whoever takes a rebate is paid from the fee of the other side; what that does not cover comes from the traders' purse.
"""

from collections.abc import Iterable
from decimal import Decimal
from typing import Final

from sandbox.amounts import EXACT
from sandbox.engine.clock import DAY_MS
from sandbox.exchange.accounts.ledger import HOUSE, Entry, Wallet
from sandbox.exchange.listing.symbols import Symbol
from sandbox.exchange.orders.matching import BUY, POST_ONLY, SELL, Pair
from sandbox.exchange.orders.orders import (
    DAY,
    FOK,
    MARKET,
    STOP_MARKET,
    Backing,
    Order,
    OrderTerms,
    Settled,
    Status,
    Trade,
)
from sandbox.exchange.orders.orders_reports import MarketTrade, Report
from sandbox.exchange.state import FUNDS, NOTHING, Exchange, Meeting, Met
from sandbox.exchange.terms import CLIENT_ORDER_ID_TAKEN, NOTHING_CHANGED, ORDER_NOT_FOUND, Refusal
from sandbox.exchange.trading.orders_funds import of_house

TAKEN_DESCRIPTION = "ClientOrderId must be unique during trading session"


def place(exchange: Exchange, account: str, terms: OrderTerms, backing: Backing[Exchange]) -> Order:
    """Places an order and lets it trade. Raises 20008 for an id that is taken, 20001, or what else the backing says."""
    _must_be_free(exchange, account, terms.client_id)
    exchange.look_at(terms.pair.symbol.id)
    order = _new(exchange, account, terms, backing)
    _reserve(exchange, order)
    order.client_id = terms.client_id or f"{exchange.random.getrandbits(128):032x}"
    _begin(exchange, order)
    return order


def enter_for_exchange(exchange: Exchange, account: str, terms: OrderTerms, backing: Backing[Exchange]) -> Order:
    """Takes in an order that the exchange places and fills itself, not from the book (`fill_apart`)."""
    order = _new(exchange, account, terms, backing)
    order.client_id = f"{exchange.random.getrandbits(128):032x}"
    exchange.orders.enter(order)
    report(exchange, order, order.status)
    return order


def find(exchange: Exchange, account: str, client_id: str, *, margin: bool = False) -> Order:
    """The account's active order of this id; raises 20002."""
    order = exchange.orders.find(account, client_id, margin=margin)
    if order is None:
        raise Refusal(ORDER_NOT_FOUND)
    return order


def cancel(exchange: Exchange, order: Order) -> Order:
    """Cancels an active order."""
    take_out(exchange, order)
    end_order(exchange, order, Status.CANCELED)
    return order


def cancel_all(exchange: Exchange, account: str, *, margin: bool = False, symbol: str = "") -> list[Order]:
    """Cancels the account's active orders of one kind, oldest first, of one symbol when it is given."""
    return [cancel(exchange, order) for order in exchange.orders.listed(account, margin=margin, symbol=symbol)]


def expire(exchange: Exchange, order_id: int) -> None:
    """Ends an order whose time has come, if it is still active."""
    order = exchange.orders.active.get(order_id)
    if order is not None:
        take_out(exchange, order)
        end_order(exchange, order, Status.EXPIRED)


def replace(exchange: Exchange, order: Order, client_id: str, quantity: int, price: int | None) -> Order:
    """Puts a new order in place of an active one; the answer is the new order, or the old one, cancelled, when the new
    one can't be placed.

    `price` is ignored where the order has none, None leaves it as it is. Raises 20008 or 20009, having changed nothing.
    """
    old = order.terms
    price = old.price if price is None or old.price is None else price
    if (quantity, price) == (old.quantity, old.price):
        raise Refusal(NOTHING_CHANGED)
    _must_be_free(exchange, order.account, client_id)
    exchange.look_at(order.pair.symbol.id)
    if not order.is_active:  # the market was faster
        raise Refusal(ORDER_NOT_FOUND)
    is_waiting = order.status is Status.SUSPENDED
    take_out(exchange, order)
    end_order(exchange, order, Status.CANCELED, is_reported=False)
    terms = old._replace(client_id=client_id, quantity=quantity, price=price)
    new = _new(exchange, order.account, terms, order.backing)
    new.created_ms, new.filled, new.spent = order.created_ms, order.filled, order.spent
    new.remaining = quantity - order.filled
    new.status = Status.SUSPENDED if is_waiting else Status.NEW
    try:
        if new.remaining <= 0:
            raise Refusal(ORDER_NOT_FOUND)
        _reserve(exchange, new)
    except Refusal:
        report(exchange, order, Status.CANCELED)
        return order
    _begin(exchange, new, replaced=order.client_id)
    return new


def _must_be_free(exchange: Exchange, account: str, client_id: str) -> None:
    if client_id and exchange.orders.is_taken(account, client_id, exchange.moment_ms):
        raise Refusal(CLIENT_ORDER_ID_TAKEN, TAKEN_DESCRIPTION)


def _new(exchange: Exchange, account: str, terms: OrderTerms, backing: Backing[Exchange]) -> Order:
    order = Order(exchange.orders.next_id(), account, terms, backing, exchange.moment_ms)
    take, provide = rates(exchange, terms.pair.symbol)
    if terms.take_markup or terms.provide_markup:
        take, provide = EXACT.add(take, terms.take_markup), EXACT.add(provide, terms.provide_markup)
    order.take, order.provide, order.cover = terms.pair.rates(take, provide)
    if terms.stop_price is not None:
        order.status = Status.SUSPENDED
    return order


def _reserve(exchange: Exchange, order: Order) -> None:
    terms = order.terms
    if terms.type == MARKET:
        cover(exchange, order)
    elif terms.price is not None:
        order.backing.reserve(exchange, order, terms.price * order.remaining)
    else:
        order.backing.reserve(exchange, order, -(-(terms.stop_price or 0) * order.remaining * 11 // 10))


def _begin(exchange: Exchange, order: Order, replaced: str = "") -> None:
    """Takes in an order that is covered, tells it, and lets it trade or wait."""
    terms = order.terms
    exchange.orders.enter(order)
    if terms.expire_ms is not None or terms.time_in_force == DAY:
        next_day_ms = (exchange.moment_ms // DAY_MS + 1) * DAY_MS
        due_ms = next_day_ms if terms.expire_ms is None else terms.expire_ms
        exchange.timers.set(due_ms, "order_end", str(order.id))
    is_waiting = order.status is Status.SUSPENDED
    report(exchange, order, "replaced" if replaced else order.status, replaced=replaced)
    if is_waiting:
        order.pair.stops.add(order.id, terms.side, terms.stop_price or 0)
    else:
        trade(exchange, order)
        wake_stops(exchange)


# When orders meet -----------------------------------------------------------------------------------------------------


_TENTH_MORE: Final = 11, 10  # what a purchase at the market reserves of what the book asks for


def report(exchange: Exchange, order: Order, kind: str, trade: Trade | None = None, replaced: str = "") -> None:
    """Puts what happened to an order among the news."""
    if exchange.has_listeners:
        news = (order, kind, order.status, order.filled, order.updated_ms, trade, replaced)
        exchange.events.append(tuple.__new__(Report, news))


def end_order(exchange: Exchange, order: Order, status: Status, *, is_reported: bool = True) -> None:
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
        taken, notional = order.pair.book.walk(order.terms.side, order.remaining)
        if (order.terms.time_in_force == FOK and taken < order.remaining) or order.terms.post_only:
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
        end_order(exchange, order, Status.CANCELED if met.reason == POST_ONLY else Status.EXPIRED)


def hit(exchange: Exchange, pair: Pair, side: str, meetings: Iterable[Meeting]) -> None:
    """Settles what an order of a simulated trader met; the book has been told."""
    for meeting in meetings:
        _settle(exchange, pair, meeting, side, None)


def wake_stops(exchange: Exchange) -> None:
    """Wakes the stop orders that the latest trades reached, and those that their trades reach, until none is left."""
    traded = exchange.orders.traded
    while traded:
        pair, price = traded.popleft()
        for order_id in pair.stops.wake(price):
            _wake(exchange, exchange.orders.active[order_id])


def _wake(exchange: Exchange, order: Order) -> None:
    order.status = Status.NEW
    order.updated_ms = exchange.moment_ms
    report(exchange, order, "new")
    if order.terms.type == STOP_MARKET and order.is_buy and not _covered_again(exchange, order):
        end_order(exchange, order, Status.EXPIRED)
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
        met = outcomes.next_met()
        for _, maker_id, _, quantity in met.trades:
            if maker_id:
                book.reduce(maker_id, quantity)
        remaining = order.remaining - sum(quantity for _, _, _, quantity in met.trades)
        if remaining and not met.reason and order.price is not None:
            book.rest(order.id, terms.side, order.price, remaining)
        return met
    fills, _, reason = book.add(
        order.id, terms.side, order.price, order.remaining, post_only=terms.post_only, time_in_force=terms.time_in_force
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
        taker_side = _side(exchange, pair, taker, price, quantity, is_buy=side == BUY, is_taker=True)
        maker_side = _side(exchange, pair, maker, price, quantity, is_buy=side == SELL, is_taker=False)
        fees = taker_side.fee + maker_side.fee
        earned: Entry = (HOUSE, Wallet.FEES if fees >= 0 else Wallet.TRADERS, pair.quote, fees)
        exchange.ledger.move(
            exchange.moment_ms, "trade", str(trade_id), (*taker_side.entries, *maker_side.entries, earned)
        )
        at_ms = exchange.moment_ms
        if taker is not None:
            _filled(exchange, Trade(trade_id, taker, price, quantity, taker_side.fee, at_ms, True), taker_side)
        if maker is not None:
            _filled(exchange, Trade(trade_id, maker, price, quantity, maker_side.fee, at_ms, False), maker_side)
    if pair.stops.reached(price):
        orders.traded.append((pair, price))
    publish(exchange, MarketTrade(pair, trade_id, price, quantity, side, exchange.moment_ms))


def _side(
    exchange: Exchange, pair: Pair, order: Order | None, price: int, quantity: int, *, is_buy: bool, is_taker: bool
) -> Settled:
    if order is None:
        symbol = pair.symbol
        return of_house(pair, is_buy, price, quantity, pair.rate(symbol.take_rate if is_taker else symbol.provide_rate))
    order.remaining -= quantity
    return order.backing.settle(exchange, order, price, quantity, order.take if is_taker else order.provide)


def _filled(exchange: Exchange, trade: Trade, settled: Settled) -> None:
    order = trade.order
    order.filled += trade.quantity
    order.spent += trade.price * trade.quantity
    order.status = Status.PARTIALLY_FILLED if order.remaining else Status.FILLED
    order.updated_ms = exchange.moment_ms
    if order.margin:
        trade = trade._replace(liquidation=settled.liquidation, position_id=settled.position_id)
    order.trades.append(trade)
    exchange.orders.dealings(order.account).trades.append(trade)
    report(exchange, order, "trade", trade)
    if not order.remaining:
        order.backing.release(exchange, order)
        exchange.orders.leave(order)


def fill_apart(exchange: Exchange, order: Order, meeting: Meeting, settled: Settled) -> None:
    """Fills an entered order with what the exchange itself takes of it, apart from the book.

    `settled` is what that did to whoever backs the order; it is on the ledger already.
    """
    trade_id, _, price, quantity = meeting
    pair, orders, at_ms = order.pair, exchange.orders, exchange.moment_ms
    orders.last_trade_id = max(orders.last_trade_id, trade_id)
    order.remaining -= quantity
    _filled(exchange, Trade(trade_id, order, price, quantity, settled.fee, at_ms, True), settled)
    if pair.stops.reached(price):
        orders.traded.append((pair, price))
    publish(exchange, MarketTrade(pair, trade_id, price, quantity, order.terms.side, at_ms))


def publish(exchange: Exchange, trade: MarketTrade) -> None:
    """Tells everybody of a trade."""
    for listener in exchange.trade_listeners:
        listener(trade)
    if exchange.has_listeners:
        exchange.events.append(trade)


def rates(exchange: Exchange, symbol: Symbol) -> tuple[Decimal, Decimal]:
    """What the accounts of this exchange pay as taker and as maker, as fractions of the volume."""
    config = exchange.config
    take = symbol.take_rate if config.take_liquidity_rate is None else config.take_liquidity_rate
    return take, symbol.provide_rate if config.provide_liquidity_rate is None else config.provide_liquidity_rate
