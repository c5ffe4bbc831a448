"""The records of the exchange (REST and streams), by annotation.

Words of an open vocabulary (status, type, side, ...) stay texts: an unknown one is shown, never a crash. The known ones
are listed beside. Members that the specification marks optional, and those that public samples leave out (supplement
2.8 to 2.10), may be absent.
"""

from decimal import Decimal

from wire.records import Instant, Int64, NonEmpty, Record
from wire.values import Nanoseconds

ORDER_STATUSES = ("new", "suspended", "partiallyFilled", "filled", "canceled", "expired")
ORDER_TYPES = ("limit", "market", "stopLimit", "stopMarket")
TIMES_IN_FORCE = ("GTC", "IOC", "FOK", "Day", "GTD")
SIDES = ("sell", "buy")
TRANSACTION_TYPES = ("payout", "payin", "deposit", "withdraw", "bankToExchange", "exchangeToBank")

# Market data ---------------------------------------------------------------------------------------------------------


class Currency(Record, frozen=True):
    """A currency and its rules. Fees and minima are in the currency itself, processing times in seconds."""

    id: NonEmpty
    full_name: str
    crypto: bool
    payin_enabled: bool
    payin_payment_id: bool
    payin_confirmations: Int64
    payout_enabled: bool
    payout_is_payment_id: bool
    transfer_enabled: bool
    delisted: bool
    payout_fee: Decimal | None = None
    payout_minimal_amount: Decimal | None = None
    precision_payout: Int64 | None = None
    precision_transfer: Int64 | None = None
    low_processing_time: Decimal | None = None
    high_processing_time: Decimal | None = None
    avg_processing_time: Decimal | None = None


class Symbol(Record, frozen=True):
    """A traded pair. Quantities are multiples of `quantity_increment`, prices of `tick_size`; rates are fractions."""

    id: NonEmpty
    base_currency: NonEmpty
    quote_currency: NonEmpty
    quantity_increment: Decimal
    tick_size: Decimal
    take_liquidity_rate: Decimal
    provide_liquidity_rate: Decimal
    fee_currency: NonEmpty
    margin_trading: bool | None = None
    max_initial_leverage: Decimal | None = None


class Ticker(Record, frozen=True):
    """The last 24 hours of a symbol; prices are None when there is nothing to tell."""

    symbol: NonEmpty
    timestamp: Instant
    low: Decimal | None
    high: Decimal | None
    volume: Decimal
    volume_quote: Decimal
    ask: Decimal | None = None
    bid: Decimal | None = None
    last: Decimal | None = None
    open: Decimal | None = None


class PublicTrade(Record, frozen=True):
    """A trade that everybody sees. `side` is the taker's."""

    id: Int64
    price: Decimal
    quantity: Decimal
    side: str
    timestamp: Instant


class Level(Record, frozen=True):
    """The total `size` offered at one price; size zero in an update removes the level."""

    price: Decimal
    size: Decimal


class OrderBook(Record, frozen=True):
    """Both sides of a book. The average prices come with the `volume` parameter, `symbol` in the all-symbols form."""

    ask: list[Level]
    bid: list[Level]
    timestamp: Nanoseconds
    symbol: str | None = None
    batching_time: Instant | None = None
    ask_average_price: Decimal | None = None
    bid_average_price: Decimal | None = None


class Candle(Record, frozen=True):
    """One period of trading; `timestamp` is its start. Periods without trades have no candle."""

    timestamp: Instant
    open: Decimal
    close: Decimal
    min: Decimal
    max: Decimal
    volume: Decimal
    volume_quote: Decimal


# Orders and trades ---------------------------------------------------------------------------------------------------


class OrderTrade(Record, frozen=True):
    """A fill told in the answer to an order that met the book at once (supplement 2.8)."""

    id: Int64
    quantity: Decimal
    price: Decimal
    fee: Decimal
    timestamp: Instant


class Order(Record, frozen=True):
    """An order, spot or margin. `avg_price` comes in history records, which in turn lack `post_only`."""

    id: Int64
    client_order_id: str
    symbol: NonEmpty
    side: str
    status: str
    type: str
    time_in_force: str
    quantity: Decimal
    created_at: Instant
    updated_at: Instant
    cum_quantity: Decimal | None = None
    price: Decimal | None = None
    stop_price: Decimal | None = None
    expire_time: Instant | None = None
    avg_price: Decimal | None = None
    post_only: bool | None = None
    trades_report: list[OrderTrade] | None = None


class AccountTrade(Record, frozen=True):
    """A trade of the account. A negative fee is a rebate; its currency is the symbol's fee currency."""

    id: Int64
    order_id: Int64
    client_order_id: str
    symbol: NonEmpty
    side: str
    quantity: Decimal
    price: Decimal
    fee: Decimal
    timestamp: Instant
    liquidation: bool | None = None
    taker: bool | None = None


class TradingFee(Record, frozen=True):
    """The account's own rates of a symbol, as fractions (supplement 2.7). The list form names the symbol."""

    take_liquidity_rate: Decimal
    provide_liquidity_rate: Decimal
    symbol: str | None = None


# Account -------------------------------------------------------------------------------------------------------------


class Balance(Record, frozen=True):
    """What is free and what incomplete transactions, or active orders, hold."""

    currency: NonEmpty
    available: Decimal
    reserved: Decimal


class DepositAddress(Record, frozen=True):
    """Where to pay in. When `payment_id` or `public_key` is present, a deposit needs it."""

    address: NonEmpty
    payment_id: str | None = None
    public_key: str | None = None


class UsedAddress(Record, frozen=True):
    """An address that was withdrawn to."""

    address: NonEmpty
    payment_id: str | None = None


class Transaction(Record, frozen=True):
    """One entry of the account's ledger; `index` grows with every update. Transfers have no address, hash or fee."""

    id: NonEmpty
    index: Int64
    currency: NonEmpty
    amount: Decimal
    status: str
    type: str
    created_at: Instant
    updated_at: Instant
    fee: Decimal | None = None
    address: str | None = None
    payment_id: str | None = None
    hash: str | None = None
    sub_type: str | None = None
    senders: list[str] | None = None
    offchain_id: list[str] | None = None
    confirmations: Int64 | None = None
    public_comment: str | None = None
    error_code: str | None = None


class Identifier(Record, frozen=True):
    """The id of the transaction that a call made."""

    id: NonEmpty


class Outcome(Record, frozen=True):
    """Whether a call did what it was asked."""

    result: bool


class TransactionId(Record, frozen=True):
    """The id of the transaction that a transfer made."""

    result: NonEmpty


class TransactionIds(Record, frozen=True):
    """The ids of the transactions that a conversion made."""

    result: list[NonEmpty]


class Fee(Record, frozen=True):
    """What a withdrawal would cost, in its own currency."""

    fee: Decimal


# Sub-accounts --------------------------------------------------------------------------------------------------------


class SubAccount(Record, frozen=True):
    """A sub-account of the master account."""

    id: Int64
    email: str
    status: str


class SubAccounts(Record, frozen=True):
    """All sub-accounts; empty when there are none."""

    result: list[SubAccount]


class WithdrawalSetting(Record, frozen=True):
    """Whether a sub-account may withdraw. A changed setting may be told with `id` instead (supplement 2.7)."""

    is_payout_enabled: bool
    sub_account_id: Int64 | None = None
    id: Int64 | None = None
    description: str | None = None


class WithdrawalSettings(Record, frozen=True):
    """Settings of the asked sub-accounts; none for a frozen or disabled one."""

    result: list[WithdrawalSetting]


class SubAccountBalances(Record, frozen=True):
    """The two wallets of a sub-account."""

    main: list[Balance]
    trading: list[Balance]


class SubAccountBalancesReply(Record, frozen=True):
    """The envelope of `SubAccountBalances`."""

    result: SubAccountBalances


class SubAccountAddressReply(Record, frozen=True):
    """The envelope of a sub-account's deposit address."""

    result: DepositAddress


# Margin --------------------------------------------------------------------------------------------------------------


class Position(Record, frozen=True):
    """An open position; a negative quantity is a short one. Prices in the quote currency."""

    id: Int64
    symbol: NonEmpty
    quantity: Decimal
    price_entry: Decimal
    created_at: Instant
    updated_at: Instant
    pnl: Decimal | None = None
    price_margin_call: Decimal | None = None
    price_liquidation: Decimal | None = None


class MarginAccount(Record, frozen=True):
    """An isolated margin account of a symbol; balances in its quote currency."""

    symbol: NonEmpty
    leverage: Decimal
    margin_balance: Decimal
    margin_balance_orders: Decimal
    margin_balance_required: Decimal
    created_at: Instant
    updated_at: Instant
    report_type: str | None = None
    report_reason: str | None = None
    position: Position | None = None


# Streams -------------------------------------------------------------------------------------------------------------


class OrderReport(Record, frozen=True):
    """An order and what happened to it. `id` is a text on the spot stream and a number on the margin stream."""

    id: Int64 | str
    client_order_id: str
    symbol: NonEmpty
    side: str
    status: str
    type: str
    time_in_force: str
    quantity: Decimal
    created_at: Instant
    updated_at: Instant
    report_type: str | None = None
    cum_quantity: Decimal | None = None
    price: Decimal | None = None
    stop_price: Decimal | None = None
    expire_time: Instant | None = None
    post_only: bool | None = None
    trade_id: Int64 | None = None
    trade_quantity: Decimal | None = None
    trade_price: Decimal | None = None
    trade_fee: Decimal | None = None
    trade_position_id: Int64 | None = None
    original_request_client_order_id: str | None = None


class BookReport(Record, frozen=True):
    """A whole book (`snapshotOrderbook`) or its changed levels (`updateOrderbook`); the sequence grows by one."""

    symbol: NonEmpty
    sequence: Int64
    ask: list[Level]
    bid: list[Level]
    timestamp: Instant | None = None


class TradesReport(Record, frozen=True):
    """Public trades of a symbol, ascending by id in a snapshot (`snapshotTrades`, `updateTrades`, `getTrades`)."""

    symbol: NonEmpty
    data: list[PublicTrade]


class CandlesReport(Record, frozen=True):
    """Candles of a symbol, ascending in time (`snapshotCandles`, `updateCandles`)."""

    symbol: NonEmpty
    period: NonEmpty
    data: list[Candle]
