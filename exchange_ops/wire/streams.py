"""Every method and notification of the exchange's sockets, one row per documented row.

Source: exchange streams, Endpoints and Events; supplement 1. Only facts stand here. Parameters are described
with the words of `wire.params`; on a socket all of them travel in `params`, so their place says nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from exchange_ops.wire import records
from exchange_ops.wire.catalogue import PERIODS, SORTS
from wire.params import BadArgument, Kind, Param, Place, Problem, to_text


class Address(Enum):
    """The sockets by their paths. The single old one takes the methods of public and trading (supplement 1.1)."""

    PUBLIC = "/api/2/ws/public"
    TRADING = "/api/2/ws/trading"
    ACCOUNT = "/api/2/ws/account"


SINGLE_PATH = "/api/2/ws"


@dataclass(frozen=True, slots=True)
class Method:
    """One method. `notifies` are the notifications that follow a success; `login` says that it needs a session."""

    name: str
    addresses: tuple[Address, ...]
    params: tuple[Param, ...] = ()
    result: object = bool
    login: bool = False
    notifies: tuple[str, ...] = ()
    note: str = ""

    def param(self, name: str) -> Param | None:
        """The parameter of that name."""
        return next((param for param in self.params if param.name == name), None)


@dataclass(frozen=True, slots=True)
class Event:
    """One notification and the type of its `params`."""

    name: str
    address: Address
    params: object
    note: str = ""


_BOTH = (Address.TRADING, Address.ACCOUNT)


def _param(name: str, kind: Kind = Kind.TEXT, **more: Any) -> Param:
    return Param(name, kind, Place.FORM, **more)


def _public(name: str, result: object, *params: Param, notifies: tuple[str, ...] = ()) -> Method:
    return Method(name, (Address.PUBLIC,), params, result, notifies=notifies)


def _trading(name: str, result: object, *params: Param, notifies: tuple[str, ...] = (), note: str = "") -> Method:
    return Method(name, (Address.TRADING,), params, result, login=True, notifies=notifies, note=note)


def _account(name: str, result: object, *params: Param, notifies: tuple[str, ...] = (), note: str = "") -> Method:
    return Method(name, (Address.ACCOUNT,), params, result, login=True, notifies=notifies, note=note)


_SYMBOL = _param("symbol", Kind.CODE, required=True)
_PERIOD = _param("period", choices=PERIODS, default="M30")
_LIMIT = _param("limit", Kind.INTEGER, default=100, lowest=0, highest=1000)
_OFFSET = _param("offset", Kind.INTEGER, default=0, lowest=0, highest=100_000)
_SNAPSHOT = _param(
    "limit", Kind.INTEGER, default=100, lowest=1, highest=1000, note="Number of entries in the snapshot."
)
_STRICT = _param("strictValidate", Kind.BOOLEAN, note="Reject instead of rounding price and quantity.")
_CLIENT_ORDER_ID = _param("clientOrderId", required=True, max_length=32)
_REQUEST_CLIENT_ID = _param("requestClientId", required=True, max_length=32, note="The clientOrderId of the new order.")
_CURRENCY = _param("currency", Kind.CODE)
_SENDERS = _param("showSenders", Kind.BOOLEAN, default=False)
_ORDER_NOTE = (
    "The specification calls this parameter “order”; clients also send “sort”. Both are accepted (supplement 1.6)."
)

_NEW_ORDER = (
    _CLIENT_ORDER_ID,
    _SYMBOL,
    _param("side", required=True, choices=records.SIDES),
    _param("type", choices=records.ORDER_TYPES, default="limit"),
    _param("timeInForce", choices=records.TIMES_IN_FORCE, default="GTC"),
    _param("quantity", Kind.DECIMAL, required=True),
    _param("price", Kind.DECIMAL, note="Required for limit orders."),
    _param("stopPrice", Kind.DECIMAL, note="Required for stop orders."),
    _param("expireTime", Kind.INSTANT, note="Required for GTD."),
    _STRICT,
    _param("postOnly", Kind.BOOLEAN),
)
_MARKUPS = (
    _param("takeLiquidityMarkup", Kind.DECIMAL, note="A fraction of the order's volume."),
    _param("provideLiquidityMarkup", Kind.DECIMAL, note="A fraction of the order's volume."),
)
_REPLACE_NOTE = "If the new order can't be placed, the result is the cancelled original (supplement 1.4)."


def _sorts(default: str) -> tuple[Param, Param]:
    return _param("order", choices=SORTS, default=default, note=_ORDER_NOTE), _param("sort", choices=SORTS)


def bind(method: Method, params: Mapping[str, object]) -> dict[str, object]:
    """The params of a request after every check of the table, in its order; None means absent. Raises `BadArgument`."""
    for name in params:
        if method.param(name) is None:
            raise BadArgument(name, Problem.UNKNOWN)
    bound: dict[str, object] = {}
    for param in method.params:
        value = params.get(param.name)
        if value is not None:
            to_text(param, value)
            bound[param.name] = value
        elif param.required:
            raise BadArgument(param.name, Problem.MISSING)
    return bound


METHODS: tuple[Method, ...] = (
    # Exchange streams: margin trading
    _trading("marginAccountsGet", list[records.MarginAccount]),
    _trading(
        "marginAccountSet",
        records.MarginAccount,
        _SYMBOL,
        _param("marginBalance", Kind.DECIMAL, required=True, lowest=0, note="Zero closes the account."),
        _param("strictValidate", Kind.BOOLEAN, note="Reject exponent notation and balances with too many decimals."),
        notifies=("marginAccountReport",),
    ),
    _trading("marginPositionClose", records.MarginAccount, _SYMBOL, notifies=("marginAccountReport",)),
    _trading("marginOrdersGet", list[records.OrderReport]),
    _trading("marginOrdersCancel", list[records.OrderReport]),
    _trading(
        "marginOrderNew",
        records.OrderReport,
        *(*_NEW_ORDER, *_MARKUPS),
        notifies=("marginOrderReport", "marginAccountReport"),
    ),
    _trading(
        "marginOrderCancel",
        records.OrderReport,
        _CLIENT_ORDER_ID,
        notifies=("marginOrderReport", "marginAccountReport"),
    ),
    _trading(
        "marginOrderCancelReplace",
        records.OrderReport,
        *(_CLIENT_ORDER_ID, _REQUEST_CLIENT_ID, _param("quantity", Kind.DECIMAL), _param("price", Kind.DECIMAL)),
        _STRICT,
        notifies=("marginOrderReport", "marginAccountReport"),
        note="Quantity and price are not marked optional; the effect of omitting one is not documented.",
    ),
    # Exchange streams: account management
    _account("subscribeTransactions", bool, notifies=("updateTransaction",)),
    _account("unsubscribeTransactions", bool),
    _account("subscribeBalance", bool, notifies=("balance",)),
    _account("unsubscribeBalance", bool),
    _account("getBalance", list[records.Balance], note="Non-zero balances only."),
    _account(
        "findTransactions",
        list[records.Transaction],
        *(_param("from", Kind.INSTANT), _param("till", Kind.INSTANT), _CURRENCY, *_sorts("DESC")),
        *(_LIMIT, _OFFSET, _SENDERS),
    ),
    _account(
        "loadTransactions",
        list[records.Transaction],
        _param("from", Kind.INTEGER, lowest=0, note="An index, inclusive."),
        _param("till", Kind.INTEGER, lowest=0, note="An index, exclusive."),
        *(_CURRENCY, *_sorts("ASC"), _LIMIT, _OFFSET, _SENDERS),
        note="Can be used to fill the gap after a reconnection.",
    ),
    # Supplement 1.2: session
    Method(
        "login",
        _BOTH,
        (
            _param("algo", required=True, choices=("BASIC", "HS256")),
            _param("pKey", required=True, note="The API key."),
            _param("sKey", sensitive=True, note="The API secret; BASIC only."),
            _param("nonce", note="Any text chosen by the client; HS256 only."),
            _param("signature", sensitive=True, note="Lower-case hex HMAC-SHA256 of the nonce; HS256 only."),
        ),
        bool,
    ),
    # Supplement 1.3: public market data
    _public("getCurrencies", list[records.Currency]),
    _public("getCurrency", records.Currency, _param("currency", Kind.CODE, required=True)),
    _public("getSymbols", list[records.Symbol]),
    _public("getSymbol", records.Symbol, _SYMBOL),
    _public(
        "getTrades",
        records.TradesReport,
        *(_SYMBOL, _param("sort", choices=SORTS, default="DESC")),
        _param("by", choices=("timestamp", "id"), default="timestamp"),
        *(_param("from", Kind.INSTANT_OR_INDEX), _param("till", Kind.INSTANT_OR_INDEX), _LIMIT, _OFFSET),
    ),
    _public("subscribeTicker", bool, _SYMBOL, notifies=("ticker",)),
    _public("unsubscribeTicker", bool, _SYMBOL),
    _public("subscribeOrderbook", bool, _SYMBOL, notifies=("snapshotOrderbook", "updateOrderbook")),
    _public("unsubscribeOrderbook", bool, _SYMBOL),
    _public("subscribeTrades", bool, _SYMBOL, _SNAPSHOT, notifies=("snapshotTrades", "updateTrades")),
    _public("unsubscribeTrades", bool, _SYMBOL),
    _public("subscribeCandles", bool, _SYMBOL, _PERIOD, _SNAPSHOT, notifies=("snapshotCandles", "updateCandles")),
    _public("unsubscribeCandles", bool, _SYMBOL, _PERIOD),
    # Supplement 1.4: spot trading
    _trading("subscribeReports", bool, notifies=("activeOrders", "report")),
    _trading(
        "newOrder",
        records.OrderReport,
        *_NEW_ORDER,
        notifies=("report",),
        note="The report notification arrives before the response.",
    ),
    _trading("cancelOrder", records.OrderReport, _CLIENT_ORDER_ID, notifies=("report",)),
    _trading(
        "cancelReplaceOrder",
        records.OrderReport,
        *(_CLIENT_ORDER_ID, _REQUEST_CLIENT_ID, _param("quantity", Kind.DECIMAL, required=True)),
        *(_param("price", Kind.DECIMAL), _STRICT),
        notifies=("report",),
        note=_REPLACE_NOTE,
    ),
    _trading("getOrders", list[records.OrderReport]),
    _trading("getTradingBalance", list[records.Balance], note="All currencies, including zero balances."),
    # Supplement 1.5: margin
    _trading(
        "marginSubscribe",
        bool,
        notifies=("marginOrders", "marginAccounts", "marginOrderReport", "marginAccountReport"),
    ),
)

by_name: dict[str, Method] = {method.name: method for method in METHODS}

ACTING = frozenset(
    {
        *("newOrder", "cancelOrder", "cancelReplaceOrder"),
        *("marginOrderNew", "marginOrderCancel", "marginOrderCancelReplace", "marginOrdersCancel"),
        *("marginAccountSet", "marginPositionClose"),
    }
)
"""The methods that move orders or money: without their answer nobody knows whether they were done."""

EVENTS: tuple[Event, ...] = (
    Event("marginOrderReport", Address.TRADING, records.OrderReport),
    Event("marginAccountReport", Address.TRADING, records.MarginAccount),
    Event("updateTransaction", Address.ACCOUNT, records.Transaction),
    Event("balance", Address.ACCOUNT, list[records.Balance]),
    Event("ticker", Address.PUBLIC, records.Ticker, "Sent right after subscribing, then on change and once a minute."),
    Event("snapshotOrderbook", Address.PUBLIC, records.BookReport, "May be sent again at any time."),
    Event(
        "updateOrderbook",
        Address.PUBLIC,
        records.BookReport,
        "The sequence number increases by one; a size of zero removes the level.",
    ),
    Event("snapshotTrades", Address.PUBLIC, records.TradesReport),
    Event("updateTrades", Address.PUBLIC, records.TradesReport),
    Event("snapshotCandles", Address.PUBLIC, records.CandlesReport),
    Event("updateCandles", Address.PUBLIC, records.CandlesReport),
    Event("activeOrders", Address.TRADING, list[records.OrderReport], "Sent again after maintenance."),
    Event("report", Address.TRADING, records.OrderReport),
    Event("marginOrders", Address.TRADING, list[records.OrderReport]),
    Event("marginAccounts", Address.TRADING, list[records.MarginAccount]),
)

event_by_name: dict[str, Event] = {event.name: event for event in EVENTS}
