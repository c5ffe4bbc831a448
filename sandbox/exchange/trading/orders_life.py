"""The life of an order: placed, waiting for its stop price, resting, replaced, cancelled, expired (exchange REST, Order
status; supplement 1.4, 2.8).

Choices where the documents are silent:

- A stop order waits for the next trade at or beyond its stop price, whatever the last price was when it came in. While
  it waits it reserves what its limit, or its stop price and a tenth more, may cost. A stop order at the market that
  can't be paid for when it wakes expires.
- A replacement asks for the whole quantity: what the old order had filled counts as filled. When nothing is left to
  fill, or the money does not reach, the old order is cancelled and is the answer. The record of the old order stays in
  the history as canceled; only the new one is reported.
- What is left of an order at the market, of IOC and of FOK expires; a post-only order that would take is canceled.
"""

from sandbox.amounts import EXACT
from sandbox.engine.clock import DAY_MS
from sandbox.exchange.orders.orders_records import DAY, MARKET, Backing, Order, OrderTerms, Status
from sandbox.exchange.state import Exchange
from sandbox.exchange.terms import CLIENT_ORDER_ID_TAKEN, NOTHING_CHANGED, ORDER_NOT_FOUND, Refusal
from sandbox.exchange.trading.orders_trading import cover, end, rates, report, take_out, trade, wake_stops

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
    """Takes in an order that the exchange places and fills itself, not from the book (`orders_trading.fill_apart`)."""
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
    end(exchange, order, Status.CANCELED)
    return order


def cancel_all(exchange: Exchange, account: str, *, margin: bool = False, symbol: str = "") -> list[Order]:
    """Cancels the account's active orders of one kind, oldest first, of one symbol when it is given."""
    return [cancel(exchange, order) for order in exchange.orders.listed(account, margin=margin, symbol=symbol)]


def expire(exchange: Exchange, order_id: int) -> None:
    """Ends an order whose time has come, if it is still active."""
    order = exchange.orders.active.get(order_id)
    if order is not None:
        take_out(exchange, order)
        end(exchange, order, Status.EXPIRED)


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
    end(exchange, order, Status.CANCELED, is_reported=False)
    terms = old._replace(client_id=client_id, quantity=quantity, price=price)
    new = _new(exchange, order.account, terms, order.backing)
    new.created_ms, new.filled, new.spent = order.created_ms, order.filled, order.spent
    new.left = quantity - order.filled
    new.status = Status.SUSPENDED if is_waiting else Status.NEW
    try:
        if new.left <= 0:
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
        order.backing.reserve(exchange, order, terms.price * order.left)
    else:
        order.backing.reserve(exchange, order, -(-(terms.stop_price or 0) * order.left * 11 // 10))


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
