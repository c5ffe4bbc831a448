"""Rows about the exchange account; one module a subject."""

from exchange_ops.models.accounts import Account, ApiKey
from exchange_ops.models.check_runs import CheckRun
from exchange_ops.models.deposits import AddressBook, AddressRequest, DepositAddress
from exchange_ops.models.facts import Fact
from exchange_ops.models.holds import HoldReleaseVote
from exchange_ops.models.ledger import Balance, LedgerAside, LedgerEntry, LedgerVersion, Watermark
from exchange_ops.models.margin import MarginAccount, MarginPosition
from exchange_ops.models.market import BookSnapshot, Candle, Currency, MarketLook, PublicTrade, Symbol, Ticker
from exchange_ops.models.orders import AccountTrade, Order, OrderCall, OrderEvent, OrderReading
from exchange_ops.models.policy import Freeze, PolicyVersion, QuorumTier, ThawVote
from exchange_ops.models.proofs import PayoutProof
from exchange_ops.models.subaccounts import (
    SubAccount,
    SubAccountAction,
    SubAccountAddress,
    SubAccountBalance,
    SubAccountCall,
    SubAccountEvent,
    SubAccountReading,
)
from exchange_ops.models.transfers import Transfer, TransferApproval, TransferCall, TransferEvent
from exchange_ops.models.watch import AddressCheck, ClockReading, FeeEstimate, FollowerState, Lease
from exchange_ops.models.withdrawals import Approval, ExternalCall, Withdrawal, WithdrawalEvent

__all__ = [
    "Account",
    "AccountTrade",
    "AddressBook",
    "AddressCheck",
    "AddressRequest",
    "ApiKey",
    "Approval",
    "Balance",
    "BookSnapshot",
    "Candle",
    "CheckRun",
    "ClockReading",
    "Currency",
    "DepositAddress",
    "ExternalCall",
    "Fact",
    "FeeEstimate",
    "FollowerState",
    "Freeze",
    "HoldReleaseVote",
    "Lease",
    "LedgerAside",
    "LedgerEntry",
    "LedgerVersion",
    "MarginAccount",
    "MarginPosition",
    "MarketLook",
    "Order",
    "OrderCall",
    "OrderEvent",
    "OrderReading",
    "PayoutProof",
    "PolicyVersion",
    "PublicTrade",
    "QuorumTier",
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
    "Watermark",
    "Withdrawal",
    "WithdrawalEvent",
]
