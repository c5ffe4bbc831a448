"""Market data over a socket (exchange supplement 1.3): queries, and subscriptions to what `market_feed` tells."""

from sandbox.exchange.terms import Event
from sandbox.server.sockets.market_feed import BOOK, CANDLES, TICKER, TRADES, Feed
from sandbox.server.sockets.stream_session import Method, Params, Part, StreamSession

FEED = "feed"  # where a session keeps the feed of its world
NOTIFICATIONS = (
    "ticker",
    "snapshotOrderbook",
    "updateOrderbook",
    "snapshotTrades",
    "updateTrades",
    "snapshotCandles",
    "updateCandles",
)
# Each subscription with what it follows and the REST operation of the same question.
_CHANNELS = {
    "Ticker": (TICKER, "get_ticker"),
    "Orderbook": (BOOK, "get_orderbook"),
    "Trades": (TRADES, "get_symbol_trades"),
    "Candles": (CANDLES, "get_symbol_candles"),
}
_QUERIES = {
    "getCurrencies": "get_currencies",
    "getCurrency": "get_currency",
    "getSymbols": "get_symbols",
    "getSymbol": "get_symbol",
}
OPERATIONS = {
    **_QUERIES,
    "getTrades": "get_symbol_trades",
    **{f"subscribe{name}": operation for name, (_, operation) in _CHANNELS.items()},
    **{f"unsubscribe{name}": operation for name, (_, operation) in _CHANNELS.items()},
}


def _asking(operation: str) -> Method:
    return lambda session, params: session.world.perform(operation, None, params)


def get_trades(session: StreamSession, params: Params) -> object:
    """The trades of one symbol, beside its name."""
    trades = session.world.perform("get_symbol_trades", None, params)
    return {"data": trades, "symbol": _symbol(session, params)}


def _subscribing(kind: str) -> Method:
    def subscribe(session: StreamSession, params: Params) -> object:
        key = _key(kind, session, params)
        limit = params.get("limit")
        session.subscribed.add(key)
        session.behind(lambda: _feed(session).follow(key, session, limit if isinstance(limit, int) else 100))
        return True

    return subscribe


def _unsubscribing(kind: str) -> Method:
    def unsubscribe(session: StreamSession, params: Params) -> object:
        key = _key(kind, session, params)
        session.subscribed.discard(key)
        _feed(session).leave(key, session)
        return True

    return unsubscribe


def _key(kind: str, session: StreamSession, params: Params) -> tuple[str, str, str]:
    period = str(params["period"]) if kind == CANDLES else ""
    return kind, _symbol(session, params), period


def _symbol(session: StreamSession, params: Params) -> str:
    """The symbol that is meant; raises 2001."""
    record = session.world.perform("get_symbol", None, {"symbol": params["symbol"]})
    return str(record["id"]) if isinstance(record, dict) else ""


def _feed(session: StreamSession) -> Feed:
    feed = session.part_state[FEED]
    if not isinstance(feed, Feed):
        raise TypeError("a session of market data needs a feed")
    return feed


def hear(session: StreamSession, event: Event) -> None:
    """Lets the feed know of trades and orders."""
    _feed(session).hear(event)


def closed(session: StreamSession) -> None:
    """Ends every subscription."""
    for key in tuple(session.subscribed):
        if isinstance(key, tuple):
            _feed(session).leave(key, session)


PART = Part(
    methods={
        **{name: _asking(operation) for name, operation in _QUERIES.items()},
        "getTrades": get_trades,
        **{f"subscribe{name}": _subscribing(kind) for name, (kind, _) in _CHANNELS.items()},
        **{f"unsubscribe{name}": _unsubscribing(kind) for name, (kind, _) in _CHANNELS.items()},
    },
    operations=OPERATIONS,
    notifications=NOTIFICATIONS,
    hear=hear,
    closed=closed,
)
