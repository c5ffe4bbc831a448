"""Every operation of the exchange's REST interface, one row per documented row, in its order.

Source: exchange REST, Endpoints; then supplement 2.7. Rights where the specification is silent: supplement 2.4.
Only facts stand here. Where the sources disagree, the row's note says what was picked.
"""

from enum import Enum
from typing import Any

from exchange_ops.wire import records
from wire.operation import Kind, Operation, Param, Place

PREFIX = "/api/2"


class Right(Enum):
    """The access rights that a key may carry, by their documented names."""

    ORDERS = "Place/cancel orders"
    HISTORY = "Orderbook, History, Trading balance"
    PAYMENTS = "Payment information"
    WITHDRAW = "Withdraw cryptocurrencies"


MARKET_DATA = "Public market data"
SPOT_ORDERS = "Spot orders"
MARGIN_ORDERS = "Margin orders"
TRADING_HISTORY = "Trading history"
ACCOUNT = "Account management"
SUBACCOUNTS = "Sub-accounts"
TRADING = "Trading account"
MARGIN = "Margin accounts and positions"

SORTS = ("ASC", "DESC")
PERIODS = ("M1", "M3", "M5", "M15", "M30", "H1", "H4", "D1", "D7", "1M")
_LIMIT_NOTE = "The machine description says 1..1000, the reference 0..1000: 0 is taken, and nothing listed."


def _path(name: str, kind: Kind = Kind.TEXT, **more: Any) -> Param:
    return Param(name, kind, Place.PATH, required=True, **more)


def _query(name: str, kind: Kind = Kind.TEXT, **more: Any) -> Param:
    return Param(name, kind, Place.QUERY, **more)


def _form(name: str, kind: Kind = Kind.TEXT, **more: Any) -> Param:
    return Param(name, kind, Place.FORM, **more)


_CURRENCY = _path("currency", Kind.CODE)
_SYMBOL = _path("symbol", Kind.CODE)
_SYMBOLS = _query("symbols", Kind.CODES, note="Absent or empty: all symbols.")
_SYMBOL_FILTER = _query("symbol", Kind.CODE)
_LIMIT = _query("limit", Kind.INTEGER, default=100, lowest=0, highest=1000, note=_LIMIT_NOTE)
_OFFSET = _query("offset", Kind.INTEGER, default=0, lowest=0, highest=100_000)
_DESC = _query("sort", choices=SORTS, default="DESC")
_ASC = _query("sort", choices=SORTS, default="ASC")
_FROM = _query("from", Kind.INSTANT_OR_INDEX, note="A number is an id or index, or milliseconds when by is timestamp.")
_TILL = _query("till", Kind.INSTANT_OR_INDEX, note="As from; inclusive for trade ids.")
_PERIOD = _query("period", choices=PERIODS, default="M30")
_CLIENT_ORDER_ID = _path("clientOrderId", max_length=32)

_ORDER_FIELDS = (
    _form("symbol", Kind.CODE, required=True),
    _form(
        "side",
        required=True,
        choices=records.SIDES,
        note="Listed as required and with the default sell: picked required, no default.",
    ),
    _form("type", choices=records.ORDER_TYPES, default="limit"),
    _form(
        "timeInForce",
        choices=records.TIMES_IN_FORCE,
        default="GTC",
        note="A market order can't rest: without it, IOC is meant there (supplement 2.8).",
    ),
    _form("quantity", Kind.DECIMAL, required=True),
    _form("price", Kind.DECIMAL, note="Needed for limit types."),
    _form("stopPrice", Kind.DECIMAL, note="Needed for stop types."),
    _form("expireTime", Kind.INSTANT, note="Needed for GTD."),
    _form("strictValidate", Kind.BOOLEAN, default=False, note="Refuse instead of rounding price and quantity."),
    _form("postOnly", Kind.BOOLEAN, default=False),
    _form("takeLiquidityMarkup", Kind.DECIMAL, note="A fraction of the order's volume."),
    _form("provideLiquidityMarkup", Kind.DECIMAL, note="A fraction of the order's volume."),
)
_NEW_ORDER = (_form("clientOrderId", max_length=32, note="The exchange makes one when absent."), *_ORDER_FIELDS)
_PUT_TIME_NOTE = "timeInForce is listed as required here and with the default GTC: picked required, no default."
_PUT_ORDER = (
    _CLIENT_ORDER_ID,
    *(
        _form("timeInForce", choices=records.TIMES_IN_FORCE, required=True, note=_PUT_TIME_NOTE)
        if param.name == "timeInForce"
        else param
        for param in _ORDER_FIELDS
    ),
)


def _public(name: str, path: str, result: object, *params: Param, note: str = "") -> Operation:
    return Operation(
        name, "GET", PREFIX + path, params, None, result, repeatable=True, public=True, group=MARKET_DATA, note=note
    )


def _signed(
    group: str,
    right: Right | None,
    name: str,
    call: str,
    result: object,
    *params: Param,
    repeatable: bool = False,
    note: str = "",
) -> Operation:
    method, path = call.split(" ")
    repeats = repeatable or method == "GET"
    return Operation(name, method, PREFIX + path, params, right, result, repeats, group=group, note=note)


OPERATIONS: tuple[Operation, ...] = (
    # Public market data
    _public(
        "get_currencies",
        "/public/currency",
        list[records.Currency],
        _query("currencies", Kind.CODES, note="Absent or empty: all currencies."),
    ),
    _public("get_currency", "/public/currency/{currency}", records.Currency, _CURRENCY),
    _public("get_symbols", "/public/symbol", list[records.Symbol], _SYMBOLS),
    _public("get_symbol", "/public/symbol/{symbol}", records.Symbol, _SYMBOL),
    _public("get_tickers", "/public/ticker", list[records.Ticker], _SYMBOLS),
    _public("get_ticker", "/public/ticker/{symbol}", records.Ticker, _SYMBOL),
    _public(
        "get_trades",
        "/public/trades",
        dict[str, list[records.PublicTrade]],
        *(_SYMBOLS, _DESC, _FROM, _TILL, _LIMIT, _OFFSET),
    ),
    _public(
        "get_symbol_trades",
        "/public/trades/{symbol}",
        list[records.PublicTrade],
        *(_SYMBOL, _DESC, _query("by", choices=("timestamp", "id"), default="timestamp")),
        *(_FROM, _TILL, _LIMIT, _OFFSET),
    ),
    _public(
        "get_orderbooks",
        "/public/orderbook",
        dict[str, records.OrderBook],
        _SYMBOLS,
        _query("limit", Kind.INTEGER, default=100, lowest=0, note="Levels a side; 0 means the full book."),
        note="The machine description gives limit the default 10, the reference 100: picked 100.",
    ),
    _public(
        "get_orderbook",
        "/public/orderbook/{symbol}",
        records.OrderBook,
        _SYMBOL,
        _query("limit", Kind.INTEGER, default=100, lowest=0, note="Levels a side; 0 means the full book."),
        _query("volume", Kind.DECIMAL, note="When given, limit is ignored and the average prices come along."),
    ),
    _public(
        "get_candles",
        "/public/candles",
        dict[str, list[records.Candle]],
        *(_SYMBOLS, _PERIOD, _ASC, _FROM, _TILL, _LIMIT, _OFFSET),
    ),
    _public(
        "get_symbol_candles",
        "/public/candles/{symbol}",
        list[records.Candle],
        *(_SYMBOL, _PERIOD, _ASC, _FROM, _TILL, _LIMIT, _OFFSET),
    ),
    # Spot orders
    _signed(SPOT_ORDERS, Right.ORDERS, "get_orders", "GET /order", list[records.Order], _SYMBOL_FILTER),
    _signed(SPOT_ORDERS, Right.ORDERS, "create_order", "POST /order", records.Order, *_NEW_ORDER),
    _signed(
        SPOT_ORDERS,
        Right.ORDERS,
        "cancel_orders",
        "DELETE /order",
        list[records.Order],
        _form("symbol", Kind.CODE, note="Absent: the orders of all symbols."),
    ),
    _signed(
        SPOT_ORDERS,
        Right.ORDERS,
        "get_order",
        "GET /order/{clientOrderId}",
        records.Order,
        _CLIENT_ORDER_ID,
        _query("wait", Kind.INTEGER, lowest=0, highest=60_000, note="Milliseconds to wait for the order to finish."),
    ),
    _signed(
        SPOT_ORDERS,
        Right.ORDERS,
        "put_order",
        "PUT /order/{clientOrderId}",
        records.Order,
        *_PUT_ORDER,
        note="Creates an order; a used id is refused with 20008, an existing order is never changed (supplement 2.7).",
    ),
    _signed(
        SPOT_ORDERS, Right.ORDERS, "cancel_order", "DELETE /order/{clientOrderId}", records.Order, _CLIENT_ORDER_ID
    ),
    _signed(
        SPOT_ORDERS,
        Right.ORDERS,
        "replace_order",
        "PATCH /order/{clientOrderId}",
        records.Order,
        _CLIENT_ORDER_ID,
        _form("quantity", Kind.DECIMAL, required=True),
        _form("price", Kind.DECIMAL),
        _form("requestClientId", required=True, max_length=32, note="The clientOrderId of the new order."),
    ),
    # Margin orders
    _signed(MARGIN_ORDERS, Right.ORDERS, "get_margin_orders", "GET /margin/order", list[records.Order], _SYMBOL_FILTER),
    _signed(MARGIN_ORDERS, Right.ORDERS, "create_margin_order", "POST /margin/order", records.Order, *_NEW_ORDER),
    _signed(
        MARGIN_ORDERS,
        Right.ORDERS,
        "cancel_margin_orders",
        "DELETE /margin/order",
        list[records.Order],
        _form("symbol", Kind.CODE, note="Absent: the orders of all symbols."),
        note="The specification does not show the reply; supplement 2.7: the list of cancelled orders.",
    ),
    _signed(
        MARGIN_ORDERS,
        Right.ORDERS,
        "cancel_margin_order",
        "DELETE /margin/order/{clientOrderId}",
        records.Order,
        _CLIENT_ORDER_ID,
    ),
    # Trading history
    _signed(
        TRADING_HISTORY,
        Right.HISTORY,
        "get_order_history",
        "GET /history/order",
        list[records.Order],
        _SYMBOL_FILTER,
        _query("clientOrderId", max_length=32, note="When given, all other parameters are ignored."),
        *(_query("from", Kind.INSTANT), _query("till", Kind.INSTANT), _LIMIT, _OFFSET),
        note="An unknown clientOrderId gives an empty list.",
    ),
    _signed(
        TRADING_HISTORY,
        Right.HISTORY,
        "get_trade_history",
        "GET /history/trades",
        list[records.AccountTrade],
        *(_SYMBOL_FILTER, _DESC, _query("by", choices=("timestamp", "id"), default="id")),
        *(_FROM, _TILL, _LIMIT, _OFFSET),
        _query("margin", choices=("include", "only", "ignore"), default="include"),
    ),
    _signed(
        TRADING_HISTORY,
        Right.HISTORY,
        "get_order_trades",
        "GET /history/order/{orderId}/trades",
        list[records.AccountTrade],
        _path("orderId", Kind.INTEGER, lowest=0, note="The exchange's id, not the trader's."),
    ),
    # Account management
    _signed(ACCOUNT, Right.PAYMENTS, "get_balances", "GET /account/balance", list[records.Balance]),
    _signed(
        ACCOUNT,
        Right.PAYMENTS,
        "get_deposit_address",
        "GET /account/crypto/address/{currency}",
        records.DepositAddress,
        _CURRENCY,
    ),
    _signed(
        ACCOUNT,
        Right.PAYMENTS,
        "create_deposit_address",
        "POST /account/crypto/address/{currency}",
        records.DepositAddress,
        _CURRENCY,
        note="At most five new ones in 24 hours and currency (supplement 2.10).",
    ),
    _signed(
        ACCOUNT,
        Right.PAYMENTS,
        "get_deposit_addresses",
        "GET /account/crypto/addresses/{currency}",
        list[records.DepositAddress],
        _CURRENCY,
        note="The last ten.",
    ),
    _signed(
        ACCOUNT,
        Right.PAYMENTS,
        "get_used_addresses",
        "GET /account/crypto/used-addresses/{currency}",
        list[records.UsedAddress],
        _CURRENCY,
        note="The last ten different ones; long-unused ones may be left out.",
    ),
    _signed(
        ACCOUNT,
        Right.WITHDRAW,
        "create_withdrawal",
        "POST /account/crypto/withdraw",
        records.Identifier,
        _form("currency", Kind.CODE, required=True),
        _form("amount", Kind.DECIMAL, required=True),
        _form("address", required=True),
        _form("paymentId"),
        _form("includeFee", Kind.BOOLEAN, default=False, note="The amount then includes the fee."),
        _form("autoCommit", Kind.BOOLEAN, default=True, note="When false, commit or roll back within one hour."),
        _form("publicComment", max_length=255),
    ),
    _signed(
        ACCOUNT,
        Right.WITHDRAW,
        "commit_withdrawal",
        "PUT /account/crypto/withdraw/{id}",
        records.Outcome,
        _path("id"),
        repeatable=True,
    ),
    _signed(
        ACCOUNT,
        Right.WITHDRAW,
        "rollback_withdrawal",
        "DELETE /account/crypto/withdraw/{id}",
        records.Outcome,
        _path("id"),
        repeatable=True,
    ),
    _signed(
        ACCOUNT,
        Right.PAYMENTS,
        "convert_currency",
        "POST /account/crypto/transfer-convert",
        records.TransactionIds,
        _form("fromCurrency", Kind.CODE, required=True),
        _form("toCurrency", Kind.CODE, required=True),
        _form("amount", Kind.DECIMAL, required=True),
    ),
    _signed(
        ACCOUNT,
        Right.WITHDRAW,
        "estimate_withdrawal",
        "GET /account/crypto/estimate-withdraw",
        records.Fee,
        _query("currency", Kind.CODE, required=True),
        _query("amount", Kind.DECIMAL, required=True),
    ),
    _signed(
        ACCOUNT,
        Right.PAYMENTS,
        "is_own_address",
        "GET /account/crypto/is-mine/{address}",
        records.Outcome,
        _path("address"),
    ),
    _signed(
        ACCOUNT,
        Right.PAYMENTS,
        "transfer_funds",
        "POST /account/transfer",
        records.Identifier,
        _form("currency", Kind.CODE, required=True),
        _form("amount", Kind.DECIMAL, required=True),
        _form("type", required=True, choices=("bankToExchange", "exchangeToBank")),
    ),
    _signed(
        ACCOUNT,
        Right.WITHDRAW,
        "transfer_to_user",
        "POST /account/transfer/internal",
        records.TransactionId,
        _form("currency", Kind.CODE, required=True),
        _form("amount", Kind.DECIMAL, required=True),
        _form("by", required=True, choices=("email", "username")),
        _form("identifier", required=True, sensitive=True, note="The e-mail address or user name."),
        note="The supplement also saw the right Payment information; the specification's is kept.",
    ),
    _signed(
        ACCOUNT,
        Right.PAYMENTS,
        "get_transactions",
        "GET /account/transactions",
        list[records.Transaction],
        *(_query("currency", Kind.CODE), _DESC, _query("by", choices=("timestamp", "index"), default="timestamp")),
        *(_FROM, _TILL, _LIMIT, _OFFSET),
        _query("showSenders", Kind.BOOLEAN, default=False),
    ),
    _signed(
        ACCOUNT,
        Right.PAYMENTS,
        "get_transaction",
        "GET /account/transactions/{id}",
        records.Transaction,
        _path("id"),
    ),
    # Sub-accounts
    _signed(SUBACCOUNTS, None, "get_subaccounts", "GET /sub-acc", records.SubAccounts),
    _signed(
        SUBACCOUNTS,
        None,
        "freeze_subaccounts",
        "POST /sub-acc/freeze",
        records.Outcome,
        _form("ids", Kind.INTEGERS, required=True),
    ),
    _signed(
        SUBACCOUNTS,
        None,
        "activate_subaccounts",
        "POST /sub-acc/activate",
        records.Outcome,
        _form("ids", Kind.INTEGERS, required=True),
        note="False when the accounts are disabled.",
    ),
    _signed(
        SUBACCOUNTS,
        Right.WITHDRAW,
        "transfer_subaccount_funds",
        "POST /sub-acc/transfer",
        records.TransactionId,
        _form("subAccountId", Kind.INTEGER, required=True),
        _form("amount", Kind.DECIMAL, required=True),
        _form("currency", Kind.CODE, required=True),
        _form("type", required=True, choices=("deposit", "withdraw")),
    ),
    _signed(
        SUBACCOUNTS,
        Right.PAYMENTS,
        "get_subaccount_settings",
        "GET /sub-acc/acl",
        records.WithdrawalSettings,
        _query("subAccountIds", Kind.INTEGERS, required=True, note="Whether it may be left out is not documented."),
    ),
    # Supplement 2.7
    _signed(TRADING, Right.HISTORY, "get_trading_balances", "GET /trading/balance", list[records.Balance]),
    _signed(TRADING, Right.ORDERS, "get_trading_fee", "GET /trading/fee/{symbol}", records.TradingFee, _SYMBOL),
    _signed(
        TRADING,
        Right.ORDERS,
        "get_trading_fees",
        "GET /trading/fee/all",
        list[records.TradingFee],
        note="The literal path goes before the one with a symbol.",
    ),
    _signed(MARGIN, Right.ORDERS, "get_margin_accounts", "GET /margin/account", list[records.MarginAccount]),
    _signed(MARGIN, Right.ORDERS, "get_margin_account", "GET /margin/account/{symbol}", records.MarginAccount, _SYMBOL),
    _signed(
        MARGIN,
        Right.ORDERS,
        "set_margin_account",
        "PUT /margin/account/{symbol}",
        records.MarginAccount,
        _SYMBOL,
        _form("marginBalance", Kind.DECIMAL, required=True, lowest=0, note="Zero closes the account."),
        _form("strictValidate", Kind.BOOLEAN, default=False),
    ),
    _signed(
        MARGIN,
        Right.ORDERS,
        "close_margin_accounts",
        "DELETE /margin/account",
        list[records.MarginAccount],
        note="Closes all positions at market and all accounts.",
    ),
    _signed(
        MARGIN, Right.ORDERS, "close_margin_account", "DELETE /margin/account/{symbol}", records.MarginAccount, _SYMBOL
    ),
    _signed(MARGIN, Right.ORDERS, "get_margin_positions", "GET /margin/position", list[records.Position]),
    _signed(MARGIN, Right.ORDERS, "get_margin_position", "GET /margin/position/{symbol}", records.Position, _SYMBOL),
    _signed(
        MARGIN,
        Right.ORDERS,
        "close_margin_positions",
        "DELETE /margin/position",
        list[records.Position],
        note="Closes all positions at market.",
    ),
    _signed(
        MARGIN,
        Right.ORDERS,
        "close_margin_position",
        "DELETE /margin/position/{symbol}",
        list[records.Position],
        _SYMBOL,
        _form("price", Kind.DECIMAL, note="Given: closes at this limit."),
        _form("strictValidate", Kind.BOOLEAN, default=False),
    ),
    _signed(
        MARGIN_ORDERS,
        Right.ORDERS,
        "get_margin_order",
        "GET /margin/order/{clientOrderId}",
        records.Order,
        _CLIENT_ORDER_ID,
    ),
    _signed(
        MARGIN_ORDERS,
        Right.ORDERS,
        "put_margin_order",
        "PUT /margin/order/{clientOrderId}",
        records.Order,
        *_PUT_ORDER,
        note="Needs a margin account of the symbol, else 20032.",
    ),
    _signed(
        SUBACCOUNTS,
        Right.PAYMENTS,
        "set_subaccount_settings",
        "PUT /sub-acc/acl/{subAccountUserId}",
        records.WithdrawalSettings,
        _path("subAccountUserId", Kind.INTEGER),
        _form("isPayoutEnabled", Kind.BOOLEAN),
        _form("description"),
    ),
    _signed(
        SUBACCOUNTS,
        Right.PAYMENTS,
        "get_subaccount_balances",
        "GET /sub-acc/balance/{id}",
        records.SubAccountBalancesReply,
        _path("id", Kind.INTEGER),
    ),
    _signed(
        SUBACCOUNTS,
        Right.PAYMENTS,
        "get_subaccount_deposit_address",
        "GET /sub-acc/deposit-address/{id}/{currency}",
        records.SubAccountAddressReply,
        _path("id", Kind.INTEGER),
        _CURRENCY,
    ),
)

by_name: dict[str, Operation] = {operation.name: operation for operation in OPERATIONS}
