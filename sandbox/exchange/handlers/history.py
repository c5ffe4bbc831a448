"""Trading history: past and present orders, and the account's trades (exchange REST, Trading history; supplement 2.8).

Orders are listed newest first by the time of their creation; both ends of an interval are included.
"""

from sandbox.exchange.handlers import arguments
from sandbox.exchange.handlers.arguments import Arguments
from sandbox.exchange.handlers.transactions import ASC, DEFAULT_LIMIT, DESC, FARTHEST, MOST
from sandbox.exchange.orders.orders import Dealings, Trade
from sandbox.exchange.orders.orders_reports import history_record, trade_record
from sandbox.exchange.state import Exchange
from sandbox.exchange.terms import Caller

INCLUDE, ONLY, IGNORE = MARGIN_FILTERS = ("include", "only", "ignore")


def get_order_history(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """The account's orders; with `clientOrderId` the latest one of that id alone, whatever else is asked."""
    dealings, latest_ms = _dealings(exchange, caller)
    client_id = arguments.text(params, "clientOrderId")
    if client_id:
        named = [order for order in dealings.orders.values() if order.client_id == client_id]
        return [history_record(order) for order in named[-1:] if order.placed_ms <= latest_ms]
    symbol = symbol_filter(exchange, params)
    first_ms, last_ms = arguments.instant_ms(params, "from"), arguments.instant_ms(params, "till")
    offset, limit = _page(params)
    orders = [
        order
        for order in dealings.orders.values()
        if order.placed_ms <= latest_ms
        and (not symbol or order.pair.symbol.id == symbol)
        and _is_within(order.created_ms, first_ms, last_ms)
    ]
    orders.sort(key=lambda order: (order.created_ms, order.id), reverse=True)
    return [history_record(order) for order in orders[offset : offset + limit]]


def get_trade_history(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """The account's trades by number, or by time."""
    dealings, latest_ms = _dealings(exchange, caller)
    symbol = symbol_filter(exchange, params)
    order = arguments.choice(params, "sort", (ASC, DESC), DESC)
    by_time = arguments.choice(params, "by", ("timestamp", "id"), "id") == "timestamp"
    bound = arguments.instant_ms if by_time else arguments.index
    first, last = bound(params, "from"), bound(params, "till")
    margin = arguments.choice(params, "margin", MARGIN_FILTERS, INCLUDE)
    offset, limit = _page(params)
    trades = [
        trade
        for trade in dealings.trades
        if trade.at_ms <= latest_ms
        and (not symbol or trade.order.pair.symbol.id == symbol)
        and _is_wanted(trade, margin)
        and _is_within(trade.at_ms if by_time else trade.id, first, last)
    ]
    if order == DESC:
        trades.reverse()
    return [trade_record(trade) for trade in trades[offset : offset + limit]]


def get_order_trades(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """The trades of one of the account's orders, oldest first; none when there is no such order."""
    dealings, latest_ms = _dealings(exchange, caller)
    number = arguments.index(params, "orderId")
    if number is None:
        raise arguments.missing("orderId")
    order = dealings.orders.get(number)
    return [trade_record(trade) for trade in order.trades if trade.at_ms <= latest_ms] if order else []


def symbol_filter(exchange: Exchange, params: Arguments) -> str:
    """The id of an existing symbol, or empty when absent; 2001 when there is none."""
    symbol = arguments.text(params, "symbol").upper()
    return arguments.symbol_of_id(exchange, symbol).id if symbol else ""


def _dealings(exchange: Exchange, caller: Caller | None) -> tuple[Dealings, int]:
    """What the account did, and up to which instant the history knows it."""
    exchange.orders.forget(exchange.moment_ms)
    dealings = exchange.orders.dealings(arguments.account(exchange, caller))
    return dealings, exchange.moment_ms - exchange.config.history_delay_ms


def _page(params: Arguments) -> tuple[int, int]:
    return arguments.whole_number(params, "offset", 0, 0, FARTHEST), arguments.whole_number(
        params, "limit", DEFAULT_LIMIT, 0, MOST
    )


def _is_wanted(trade: Trade, margin: str) -> bool:
    return margin == INCLUDE or trade.order.margin is (margin == ONLY)


def _is_within(position: int, first: int | None, last: int | None) -> bool:
    return (first is None or position >= first) and (last is None or position <= last)
