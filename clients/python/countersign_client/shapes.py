"""The shapes of what is sent and answered. Written by `manage.py client_package`: don't edit it.

Amounts are texts with an exact decimal number, moments are texts in ISO 8601 with their offset.
"""

from typing import Literal, NotRequired, TypedDict

ActionEnum = Literal[
    "open",
    "set",
    "close_account",
    "close",
    "reduce",
]
AddressRequestOutStateEnum = Literal[
    "asked",
    "sending",
    "unknown",
    "made",
    "refused",
    "not_sent",
    "absent",
]
BlankEnum = Literal[""]
BracketOutStateEnum = Literal[
    "entering",
    "guarded",
    "unguarded",
    "taking",
    "ending",
    "closed",
]
ByEnum = Literal[
    "email",
    "username",
]
ChainMovementOutStateEnum = Literal[
    "seen",
    "reviewed",
]
DecisionEnum = Literal[
    "none",
    "commit",
    "rollback",
]
DirectionEnum = Literal[
    "in",
    "out",
    "moved",
    "other",
]
EndEnum = Literal[
    "rejected",
    "withdrawn",
    "called_off",
    "time_over",
    "frozen",
    "recalled",
    "policy_changed",
    "fee_drifted",
    "echo_differs",
    "ended_at_exchange",
    "checks_failed",
    "not_carried_out",
]
KeyOutStateEnum = Literal[
    "in_use",
    "being_probed",
    "not_probed",
    "turned_down",
    "waiting",
    "kept",
    "disabled",
]
MarginActionOutStateEnum = Literal[
    "requested",
    "sending",
    "checking",
    "unknown",
    "done",
    "partly",
    "refused",
    "not_sent",
    "not_done",
    "unclear",
    "settled",
]
NameEnum = Literal[
    "Place/cancel orders",
    "Orderbook, History, Trading balance",
    "Payment information",
    "Withdraw cryptocurrencies",
]
ObservedEnum = Literal[
    "granted",
    "missing",
    "unknown",
]
OrderOutStateEnum = Literal[
    "waiting",
    "declined",
    "withdrawn",
    "lapsed",
    "requested",
    "sending",
    "placed",
    "refused",
    "not_sent",
    "unknown",
    "found",
    "not_seen",
    "cancelling",
    "replacing",
]
OutcomeEnum = Literal[
    "not_entered",
    "stop",
    "take",
    "both",
    "let_go",
    "cancelled",
    "position_gone",
]
PeriodEnum = Literal[
    "M1",
    "M3",
    "M5",
    "M15",
    "M30",
    "H1",
    "H4",
    "D1",
    "D7",
    "1M",
]
PurposeEnum = Literal[
    "reserve",
    "operations",
    "counterparty",
    "other",
]
RequestedEnum = Literal[
    "active",
    "frozen",
]
RoleEnum = Literal[
    "entry",
    "stop",
    "take",
]
SideEnum = Literal[
    "sell",
    "buy",
]
StandingEnum = Literal[
    "active",
    "new",
    "frozen",
    "disabled",
    "closed",
    "unclear",
    "gone",
]
SubAccountActionOutKindEnum = Literal[
    "freeze",
    "activate",
    "settings",
]
SubAccountActionOutStateEnum = Literal[
    "requested",
    "sending",
    "accepted",
    "unknown",
    "done",
    "refused",
    "not_done",
    "cancelled",
]
TimeInForceEnum = Literal[
    "GTC",
    "IOC",
    "FOK",
    "Day",
    "GTD",
]
TransferKindEnum = Literal[
    "bank_to_trading",
    "trading_to_bank",
    "to_user",
    "convert",
    "to_subaccount",
    "from_subaccount",
]
TransferOutStateEnum = Literal[
    "draft",
    "review",
    "approved",
    "sending",
    "unknown",
    "done",
    "refused",
    "not_seen",
    "investigate",
    "closed",
    "cancelled",
    "rejected",
    "resolved_moved",
    "resolved_not_moved",
    "lapsed",
]
TurnEnum = Literal[
    "person",
    "worker",
    "exchange",
    "nobody",
]
TypeEnum = Literal[
    "limit",
    "market",
    "stopLimit",
    "stopMarket",
]
WalletEnum = Literal[
    "bank",
    "trading",
]
WatchedAddressOutStateEnum = Literal[
    "watched",
    "stopped",
]
WithdrawalOutStateEnum = Literal[
    "draft",
    "review",
    "queued",
    "holding",
    "hold_unknown",
    "held",
    "committing",
    "commit_unknown",
    "committed",
    "sent",
    "settled",
    "verified",
    "disputed",
    "rolling_back",
    "rolled_back",
    "refused",
    "lapsed",
    "expired",
    "cancelled",
    "failed",
    "investigate",
    "resolved_paid",
    "resolved_not_paid",
]


class AddressIn(TypedDict):
    """A new address to ask for. The older ones stay valid."""

    currency: str
    request_key: NotRequired[str]


class AddressRequestOut(TypedDict):
    """A wish for a new address; `sentence` says first whether there is one."""

    id: int
    currency: str
    state: AddressRequestOutStateEnum
    sentence: str
    initiator: str
    initiated_via: str
    request_key: str
    address: str | None
    last_problem: str
    created_at: str
    updated_at: str


class BalanceOut(TypedDict):
    """One wallet's balance in one currency, as last synced."""

    currency: str
    wallet: WalletEnum
    available: str
    reserved: str
    read_at: str


class BalanceList(TypedDict):
    """BalanceList."""

    items: list[BalanceOut]


class LevelOut(TypedDict):
    """The quantity that is offered at one price."""

    price: str
    size: str


class BookOut(TypedDict):
    """Up to 100 levels per side, best first; `timestamp` is the exchange's time."""

    symbol: str
    read_at: str | None
    timestamp: str | None
    ask: list[LevelOut]
    bid: list[LevelOut]


class BracketOrderOut(TypedDict):
    """One order in a bracket; a replaced order is represented by its replacement. `role`: entry, stop or take."""

    role: RoleEnum
    order_id: int
    is_open: bool
    quantity: str
    filled: str


class BracketResultOut(TypedDict):
    """The bracket's result so far, computed from the account's trades. `realised` is in the quote currency, null
    while nothing is closed; `is_after_fees` says whether `fees`, which are in `fee_currency`, are deducted from it.
    `is_complete` is false while some fills are not synced yet.
    """

    realised: str | None
    quote_currency: str
    fees: str
    fee_currency: str
    is_after_fees: bool
    is_complete: bool


class BracketOut(TypedDict):
    """A stop and a take profit for one order's fills. `outcome` says how the bracket ended."""

    id: int
    reference: str
    state: BracketOutStateEnum
    sentence: str
    outcome: OutcomeEnum | BlankEnum
    symbol: str
    side: str
    margin: bool
    stop_price: str
    take_price: str
    orders: list[BracketOrderOut]
    result: BracketResultOut
    initiator: str
    initiated_via: str
    last_problem: str
    created_at: str
    updated_at: str


class BracketPage(TypedDict):
    """BracketPage."""

    items: list[BracketOut]
    older: str | None


class CancelIn(TypedDict):
    """Why it is taken back."""

    reason: str


class CandleOut(TypedDict):
    """One candle; `timestamp` is its start. Periods without trades have no candle."""

    timestamp: str
    open: str
    close: str
    min: str
    max: str
    volume: str
    volume_quote: str


class CandleList(TypedDict):
    """Newest first."""

    symbol: str
    read_at: str | None
    period: PeriodEnum
    items: list[CandleOut]


class ChainBalanceBody(TypedDict):
    """An address's balance; `unconfirmed_sat` is the unconfirmed change, which may be negative."""

    balance_sat: int
    unconfirmed_sat: int
    received_sat: int
    sent_sat: int
    transactions: int


class ChainAddressOut(TypedDict):
    """An address in all formats; `legacy_address` is empty if there is none, `balance` null until it has loaded."""

    standing: str
    read_at: str | None
    is_final: bool
    problem: str
    cash_address: str
    legacy_address: str
    slp_address: str
    balance: ChainBalanceBody | None


class ChainBlockBody(TypedDict):
    """A block; `reward_sat` is the block reward, `txids` its transactions in block order."""

    hash: str
    height: int
    confirmations: int
    is_on_chain: bool
    time: str | None
    size: int
    bits: str
    chainwork: str
    merkle_root: str
    previous_hash: str | None
    next_hash: str | None
    reward_sat: int
    txids: list[str]


class ChainBlockOut(TypedDict):
    """A block by hash or height; `block` is null until it has loaded."""

    standing: str
    read_at: str | None
    is_final: bool
    problem: str
    block: ChainBlockBody | None


class ChainInputOut(TypedDict):
    """An input; for a coinbase, all fields except `n` are null."""

    n: int
    txid: str | None
    vout: int | None
    address: str | None
    value_sat: int | None


class ChainMovementOut(TypedDict):
    """A transaction to or from a watched address. `reviewer` and `reviewed_at` are null until it is reviewed."""

    id: int
    reference: str
    txid: str
    change_sat: int
    spends: bool
    height: int | None
    is_missing: bool
    state: ChainMovementOutStateEnum
    reason: str
    reviewer: str | None
    reviewed_at: str | None
    created_at: str


class ChainMovementPage(TypedDict):
    """ChainMovementPage."""

    items: list[ChainMovementOut]
    older: str | None


class ChainOutputOut(TypedDict):
    """An output; `spent_by` is the transaction that spends it, null while unspent."""

    n: int
    value_sat: int
    addresses: list[str]
    script: str
    spent_by: str | None


class ChainTipOut(TypedDict):
    """The chain tip; height, hash and time are null until a block has been received."""

    height: int | None
    hash: str | None
    time: str | None
    heard_at: str | None
    is_current: bool
    problem: str


class ChainTransactionBody(TypedDict):
    """A transaction; `height` and `block_hash` are null while unconfirmed, `fee_sat` is null for a coinbase."""

    txid: str
    height: int | None
    block_hash: str | None
    confirmations: int
    time: str | None
    size: int
    fee_sat: int | None
    inputs: list[ChainInputOut]
    outputs: list[ChainOutputOut]


class ChainTransactionOut(TypedDict):
    """A transaction by ID; `transaction` is null until it has loaded."""

    standing: str
    read_at: str | None
    is_final: bool
    problem: str
    transaction: ChainTransactionBody | None


class CurrencyOut(TypedDict):
    """One currency as the exchange describes it; `payout_problem` says why it can't be paid out now."""

    code: str
    full_name: str
    crypto: bool
    payout_enabled: bool
    delisted: bool
    payout_is_payment_id: bool
    payout_fee: str | None
    payout_minimal_amount: str | None
    precision_payout: int | None
    payout_problem: str
    read_at: str


class CurrencyList(TypedDict):
    """CurrencyList."""

    items: list[CurrencyOut]


class DepositAddressOut(TypedDict):
    """An address to pay in to. A deposit needs its payment id and its public key as well, where it has them."""

    currency: str
    address: str
    payment_id: str
    public_key: str
    is_current: bool
    place: int | None
    first_seen_at: str
    seen_at: str


class DepositAddressList(TypedDict):
    """What is known of one currency's addresses; `read_at` is when the exchange last told it."""

    read_at: str | None
    left_today: int
    latest_request: AddressRequestOut | None
    items: list[DepositAddressOut]


class FundsOut(TypedDict):
    """One currency in the bank and trading accounts; `holds` is the part of `bank_reserved` held for our payouts."""

    currency: str
    bank: str
    bank_reserved: str
    trading: str
    trading_reserved: str
    holds: str
    total: str
    worth: str | None
    read_at: str | None


class FundsList(TypedDict):
    """Every currency listed on the exchange or held in the account, by code."""

    quote_currency: str
    total: str | None
    items: list[FundsOut]


class GroupNeedOut(TypedDict):
    """How many of the approvals have to come from one approval group."""

    group: str
    approvals: int


class KeyRight(TypedDict):
    """One permission of a key: as declared, and as found when checked at the exchange."""

    name: NameEnum
    declared: bool
    observed: ObservedEnum


class KeyOut(TypedDict):
    """One API key. The secret is encrypted and never leaves the desk; `fingerprint` tells two secrets apart."""

    id: int
    account: str
    exchange: str
    label: str
    login: str
    last_four: str
    fingerprint: str
    state: KeyOutStateEnum
    rights: list[KeyRight]
    same_account: bool | None
    replaces: int | None
    added_by: str
    created_at: str
    last_used_at: str | None
    probed_at: str | None
    probe_problem: str
    last_problem: str
    last_problem_at: str | None
    kept_at: str | None
    retired_at: str | None
    rotation_due: bool


class KeyList(TypedDict):
    """KeyList."""

    items: list[KeyOut]


class LedgerEntryOut(TypedDict):
    """One entry of the exchange's ledger, in its latest version. `amount` is unsigned; `direction` shows which way it
    went. `change` is the signed effect on the account's holdings, including the fee; zero until the entry is
    successful.
    """

    exchange_id: str
    index: str
    type: str
    sub_type: str
    status: str
    direction: DirectionEnum
    currency: str
    amount: str
    change: str
    fee: str | None
    address: str
    payment_id: str
    hash: str
    confirmations: int | None
    error_code: str
    created_at: str
    updated_at: str
    seen_at: str
    foreign: bool
    withdrawal: int | None
    transfer: int | None


class LedgerEntryPage(TypedDict):
    """LedgerEntryPage."""

    items: list[LedgerEntryOut]
    older: str | None


class MarginActionIn(TypedDict):
    """A margin action. Figures are strings; requests that are invalid or exceed available funds are rejected."""

    action: ActionEnum
    symbol: str
    amount: NotRequired[str | None]
    quantity: NotRequired[str | None]
    price: NotRequired[str | None]
    position_id: NotRequired[str | None]
    confirmed: NotRequired[list[str]]
    request_key: NotRequired[str]


class OverstepOut(TypedDict):
    """A bound of the rules that the order went beyond: its size, and what was confirmed or is to be approved."""

    name: str
    size: str
    beyond: str
    sentence: str
    up_to: str


class MarginActionOut(TypedDict):
    """A margin action. `sentence` describes its status, starting with what happened to the money."""

    id: int
    reference: str
    action: ActionEnum
    state: MarginActionOutStateEnum
    sentence: str
    symbol: str
    amount: str | None
    side: str
    quantity: str | None
    order_type: str
    price: str | None
    position_id: str | None
    oversteps: list[OverstepOut]
    client_order_id: str
    exchange_order_id: str | None
    initiator: str
    initiated_via: str
    request_key: str
    last_problem: str
    sent_at: str | None
    created_at: str
    updated_at: str


class MarginActionPage(TypedDict):
    """MarginActionPage."""

    items: list[MarginActionOut]
    older: str | None


class PositionOut(TypedDict):
    """A position; a negative quantity is a short. `exchange_id` is its ID on the exchange."""

    exchange_id: str
    quantity: str
    price_entry: str
    pnl: str | None
    price_margin_call: str | None
    price_liquidation: str | None
    updated_at: str
    read_at: str


class MarginOut(TypedDict):
    """An isolated margin account as last synced; balances are in the symbol's quote currency."""

    symbol: str
    leverage: str
    margin_balance: str
    margin_balance_orders: str
    margin_balance_required: str
    position: PositionOut | None
    updated_at: str
    read_at: str


class MarginList(TypedDict):
    """MarginList."""

    items: list[MarginOut]


class TickerOut(TypedDict):
    """A symbol's last 24 hours; `timestamp` is the exchange's time, `read_at` when the data was received."""

    symbol: str
    ask: str | None
    bid: str | None
    last: str | None
    open: str | None
    low: str | None
    high: str | None
    volume: str | None
    volume_quote: str | None
    timestamp: str
    read_at: str


class MarketOut(TypedDict):
    """A symbol with its trading rules. Rates are fractions; a negative rate is a rebate."""

    symbol: str
    base_currency: str
    quote_currency: str
    quantity_increment: str
    tick_size: str
    take_liquidity_rate: str
    provide_liquidity_rate: str
    fee_currency: str
    margin_trading: bool
    max_initial_leverage: str | None
    read_at: str
    ticker: TickerOut | None


class MovementReviewIn(TypedDict):
    """Why a movement is in order, or what was done about it; recorded in the audit trail."""

    movement: NotRequired[int | None]
    reason: str


class MovementsReviewedOut(TypedDict):
    """How many movements this reviewed, and how many on the address still need review."""

    reviewed: int
    waiting: int


class SubAccountBalanceOut(TypedDict):
    """What one wallet of a sub-account held when it was last read."""

    currency: str
    wallet: str
    available: str
    reserved: str


class OneSubAccountOut(TypedDict):
    """One sub-account with its balances; a wallet and currency that is left out held nothing."""

    id: str
    email: str
    status: str
    standing: StandingEnum
    sentence: str
    requested: RequestedEnum | BlankEnum
    difference: str
    differs: bool
    settings_shown: bool | None
    payout_enabled: bool | None
    description: str
    requested_payout: bool | None
    requested_description: str | None
    observed_at: str
    settings_at: str | None
    balances_at: str | None
    missing_since: str | None
    balances: list[SubAccountBalanceOut]


class OrderIn(TypedDict):
    """An order request. Figures are strings; requests that are invalid or exceed available funds are rejected. Send
    either `quantity` or `amount`, not both.
    """

    symbol: str
    side: SideEnum
    type: NotRequired[TypeEnum]
    time_in_force: NotRequired[TimeInForceEnum]
    quantity: NotRequired[str | None]
    amount: NotRequired[str | None]
    price: NotRequired[str | None]
    stop_price: NotRequired[str | None]
    expire_time: NotRequired[str | None]
    post_only: NotRequired[bool]
    strict_validate: NotRequired[bool]
    margin: NotRequired[bool]
    take_liquidity_markup: NotRequired[str | None]
    provide_liquidity_markup: NotRequired[str | None]
    stop_loss: NotRequired[str | None]
    take_profit: NotRequired[str | None]
    confirmed: NotRequired[list[str]]
    request_key: NotRequired[str]


class OrderResultOut(TypedDict):
    """Realised P&L on what an order sold, after fees, first in, first out. `realised` is in `currency`, the account's
    quote currency; null if it can't be determined, and `reason` says why.
    """

    realised: str | None
    currency: str
    reason: str


class OrderOut(TypedDict):
    """An order. `state` is its state in Countersign, `status` the exchange's status once it has one. `value` is in
    the quote currency, before fees; negative `fees` are a rebate. Null: not all fills are synced yet.
    """

    id: int
    reference: str
    state: OrderOutStateEnum
    sentence: str
    status: str
    is_open: bool
    symbol: str
    side: str
    type: str
    time_in_force: str
    quantity: str
    amount: str | None
    price: str | None
    stop_price: str | None
    expire_time: str | None
    post_only: bool
    margin: bool
    oversteps: list[OverstepOut]
    filled: str
    average_price: str | None
    value: str | None
    fees: str | None
    fee_currency: str
    result: OrderResultOut
    client_order_id: str
    exchange_id: str | None
    initiator: str | None
    initiated_via: str
    request_key: str
    last_problem: str
    exchange_created_at: str | None
    exchange_updated_at: str | None
    read_at: str | None
    created_at: str
    updated_at: str


class OrderPage(TypedDict):
    """OrderPage."""

    items: list[OrderOut]
    older: str | None


class OrderWithdrawIn(TypedDict):
    """The reason for withdrawing an order awaiting approval."""

    reason: str


class Problem(TypedDict):
    """The body of every answer that is not a success (RFC 9457), sent as application/problem+json."""

    type: str
    title: str
    status: int
    detail: str
    errors: dict[str, str]


class PublicTradeOut(TypedDict):
    """A public trade; `side` is the taker's."""

    id: str
    price: str
    quantity: str
    side: str
    timestamp: str


class PublicTradeList(TypedDict):
    """Newest first."""

    symbol: str
    read_at: str | None
    items: list[PublicTradeOut]


class SubAccountActionOut(TypedDict):
    """One thing that was asked for a sub-account, and what became of it."""

    id: int
    kind: SubAccountActionOutKindEnum
    state: SubAccountActionOutStateEnum
    sentence: str
    reason: str
    requested_by: str
    requested_payout: bool | None
    requested_description: str | None
    attempts: int
    last_problem: str
    created_at: str
    updated_at: str


class SubAccountActionPage(TypedDict):
    """SubAccountActionPage."""

    items: list[SubAccountActionOut]
    older: str | None


class SubAccountOut(TypedDict):
    """One sub-account: what was asked for beside what the exchange showed when it was last read."""

    id: str
    email: str
    status: str
    standing: StandingEnum
    sentence: str
    requested: RequestedEnum | BlankEnum
    difference: str
    differs: bool
    settings_shown: bool | None
    payout_enabled: bool | None
    description: str
    requested_payout: bool | None
    requested_description: str | None
    observed_at: str
    settings_at: str | None
    balances_at: str | None
    missing_since: str | None


class SubAccountList(TypedDict):
    """SubAccountList."""

    items: list[SubAccountOut]


class TickerList(TypedDict):
    """Every symbol with a price, sorted by code."""

    items: list[TickerOut]


class TradeOut(TypedDict):
    """One trade on the account; a negative fee is a rebate."""

    exchange_id: str
    exchange_order_id: str
    client_order_id: str
    symbol: str
    side: str
    quantity: str
    price: str
    fee: str
    fee_currency: str
    taker: bool | None
    liquidation: bool | None
    timestamp: str
    read_at: str


class TradePage(TypedDict):
    """TradePage."""

    items: list[TradeOut]
    older: str | None


class TransferIn(TypedDict):
    """A transfer to ask for. What leaves for another user waits for people; the rest is sent by a worker, once."""

    kind: TransferKindEnum
    currency: str
    amount: str
    to_currency: NotRequired[str]
    by: NotRequired[ByEnum | BlankEnum]
    identifier: NotRequired[str]
    subaccount_id: NotRequired[str | None]
    reason: str
    request_key: NotRequired[str]


class TransferOut(TypedDict):
    """A transfer as the desk knows it now. `sentence` says what happened to the money first."""

    id: int
    reference: str
    kind: TransferKindEnum
    state: TransferOutStateEnum
    turn: TurnEnum
    sentence: str
    currency: str
    amount: str
    to_currency: str
    by: ByEnum | BlankEnum
    identifier: str
    subaccount_id: str | None
    reason: str
    initiator: str
    initiated_via: str
    request_key: str
    quorum_required: int
    group_needs: list[GroupNeedOut]
    missing_approvals: str
    reissues: int | None
    exchange_id: str | None
    second_id: str | None
    ledger_seen_at: str | None
    last_problem: str
    created_at: str
    updated_at: str


class TransferPage(TypedDict):
    """TransferPage."""

    items: list[TransferOut]
    older: str | None


class WatchIn(TypedDict):
    """An address to watch from now on."""

    address: str
    title: str
    purpose: PurposeEnum
    note: NotRequired[str]


class WatchStopIn(TypedDict):
    """Why watching stops; recorded in the audit trail."""

    reason: str


class WatchedAddressOut(TypedDict):
    """A watched or formerly watched address; `waiting` is the number of movements to review. Amounts are null until
    the first sync; `unconfirmed_sat` may be negative.
    """

    id: int
    reference: str
    address: str
    title: str
    purpose: PurposeEnum
    note: str
    state: WatchedAddressOutStateEnum
    added_by: str
    from_height: int
    read_at: str | None
    balance_sat: int | None
    unconfirmed_sat: int | None
    waiting: int
    reason: str
    last_problem: str
    created_at: str
    updated_at: str


class WatchedAddressPage(TypedDict):
    """WatchedAddressPage."""

    items: list[WatchedAddressOut]
    older: str | None


class WithdrawalIn(TypedDict):
    """A request for a payout. It is only recorded: people decide."""

    currency: str
    amount: str
    address: str
    payment_id: NotRequired[str]
    include_fee: NotRequired[bool]
    reason: str
    request_key: NotRequired[str]


class WithdrawalOut(TypedDict):
    """A request as the desk knows it now. `sentence` says what happened to the money first."""

    id: int
    reference: str
    state: WithdrawalOutStateEnum
    label: str
    end: EndEnum | BlankEnum
    turn: str
    sentence: str
    currency: str
    amount: str
    include_fee: bool
    fee: str | None
    fee_limit: str | None
    arrives: str | None
    leaves: str | None
    address: str
    payment_id: str
    reason: str
    initiator: str
    initiated_via: str
    request_key: str
    quorum_required: int
    group_needs: list[GroupNeedOut]
    missing_approvals: str
    decision: DecisionEnum
    exchange_id: str | None
    hash: str
    confirmations: int | None
    approve_until: str | None
    rollback_at: str | None
    last_problem: str
    created_at: str
    updated_at: str


class WithdrawalPage(TypedDict):
    """WithdrawalPage."""

    items: list[WithdrawalOut]
    older: str | None
