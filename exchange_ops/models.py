"""Rows about the exchange account; one module a subject."""

from exchange_ops.addresses.models import (
    AddressBook,
    AddressCheck,
    AddressRequest,
    AddressRequestEvent,
    DepositAddress,
    FeeEstimate,
)
from exchange_ops.console.models import ConsoleCall
from exchange_ops.keys.models import ApiKey
from exchange_ops.ledger.models import Balance, LedgerAside, LedgerEntry, LedgerVersion, RecordChoice, Watermark
from exchange_ops.margin.models import MarginAccount, MarginPosition, MarginReport
from exchange_ops.market.models import (
    BookSnapshot,
    Candle,
    CandleHistory,
    Currency,
    Favourite,
    MarketLook,
    PublicTrade,
    Symbol,
    Ticker,
)
from exchange_ops.orders.brackets.models import Bracket, BracketEvent, BracketLeg
from exchange_ops.orders.models import AccountTrade, FeeRates, Order, OrderApproval, OrderCall, OrderEvent, OrderReading
from exchange_ops.payees.models import Payee, PayeeApproval, PayeeEvent
from exchange_ops.policy.models import Freeze, PolicyPayoutRule, PolicyVersion, QuorumTier, ThawVote, ValueLimit
from exchange_ops.policy_changes.models import PolicyChange, PolicyChangeEvent
from exchange_ops.portfolio.models import DailyFlow, Profit, ProfitDay, Progress, Snapshot, SnapshotLine
from exchange_ops.positions.models import MarginAction, MarginActionCall, MarginActionEvent
from exchange_ops.shared.models import Account, CheckRun, ClockReading, Fact, FollowerState, Lease
from exchange_ops.statements.models import AccountMapping, SignedStatement, StatementSignature
from exchange_ops.subaccounts.models import (
    SubAccount,
    SubAccountAction,
    SubAccountAddress,
    SubAccountBalance,
    SubAccountCall,
    SubAccountEvent,
    SubAccountReading,
)
from exchange_ops.transfers.models import Transfer, TransferApproval, TransferCall, TransferEvent
from exchange_ops.withdrawals.batches.models import PayoutBatch, PayoutBatchLine
from exchange_ops.withdrawals.models import (
    Approval,
    ExternalCall,
    HoldReleaseVote,
    PayoutProof,
    Withdrawal,
    WithdrawalEvent,
)
from exchange_ops.withdrawals.schedules.models import PayoutOccurrence, PayoutSchedule, PayoutScheduleEnd
from exchange_ops.withdrawals.templates.models import PayoutTemplate, PayoutTemplateEnd

__all__ = [
    "Account",
    "AccountMapping",
    "AccountTrade",
    "AddressBook",
    "AddressCheck",
    "AddressRequest",
    "AddressRequestEvent",
    "ApiKey",
    "Approval",
    "Balance",
    "BookSnapshot",
    "Bracket",
    "BracketEvent",
    "BracketLeg",
    "Candle",
    "CandleHistory",
    "CheckRun",
    "ClockReading",
    "ConsoleCall",
    "Currency",
    "DailyFlow",
    "DepositAddress",
    "ExternalCall",
    "Fact",
    "Favourite",
    "FeeEstimate",
    "FeeRates",
    "FollowerState",
    "Freeze",
    "HoldReleaseVote",
    "Lease",
    "LedgerAside",
    "LedgerEntry",
    "LedgerVersion",
    "MarginAccount",
    "MarginAction",
    "MarginActionCall",
    "MarginActionEvent",
    "MarginPosition",
    "MarginReport",
    "MarketLook",
    "Order",
    "OrderApproval",
    "OrderCall",
    "OrderEvent",
    "OrderReading",
    "Payee",
    "PayeeApproval",
    "PayeeEvent",
    "PayoutBatch",
    "PayoutBatchLine",
    "PayoutOccurrence",
    "PayoutProof",
    "PayoutSchedule",
    "PayoutScheduleEnd",
    "PayoutTemplate",
    "PayoutTemplateEnd",
    "PolicyChange",
    "PolicyChangeEvent",
    "PolicyPayoutRule",
    "PolicyVersion",
    "Profit",
    "ProfitDay",
    "Progress",
    "PublicTrade",
    "QuorumTier",
    "RecordChoice",
    "SignedStatement",
    "Snapshot",
    "SnapshotLine",
    "StatementSignature",
    "SubAccount",
    "SubAccountAction",
    "SubAccountAddress",
    "SubAccountBalance",
    "SubAccountCall",
    "SubAccountEvent",
    "SubAccountReading",
    "Symbol",
    "ThawVote",
    "Ticker",
    "Transfer",
    "TransferApproval",
    "TransferCall",
    "TransferEvent",
    "ValueLimit",
    "Watermark",
    "Withdrawal",
    "WithdrawalEvent",
]
