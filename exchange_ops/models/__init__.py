"""Rows about the exchange account; one module a subject."""

from exchange_ops.models.accounts import Account, ApiKey
from exchange_ops.models.facts import Fact
from exchange_ops.models.ledger import Balance, LedgerAside, LedgerEntry, LedgerVersion, Watermark
from exchange_ops.models.margin import MarginAccount, MarginPosition
from exchange_ops.models.market import Currency, Symbol, Ticker
from exchange_ops.models.orders import AccountTrade, Order, OrderCall, OrderEvent, OrderReading
from exchange_ops.models.policy import Freeze, PolicyVersion, QuorumTier, ThawVote
from exchange_ops.models.subaccounts import (
    SubAccount,
    SubAccountAction,
    SubAccountAddress,
    SubAccountBalance,
    SubAccountCall,
    SubAccountEvent,
    SubAccountReading,
)
from exchange_ops.models.watch import AddressCheck, ClockReading, FeeEstimate, FollowerState, Lease
from exchange_ops.models.withdrawals import Approval, ExternalCall, Withdrawal, WithdrawalEvent

__all__ = [
    "Account",
    "AccountTrade",
    "AddressCheck",
    "ApiKey",
    "Approval",
    "Balance",
    "ClockReading",
    "Currency",
    "ExternalCall",
    "Fact",
    "FeeEstimate",
    "FollowerState",
    "Freeze",
    "Lease",
    "LedgerAside",
    "LedgerEntry",
    "LedgerVersion",
    "MarginAccount",
    "MarginPosition",
    "Order",
    "OrderCall",
    "OrderEvent",
    "OrderReading",
    "PolicyVersion",
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
    "Watermark",
    "Withdrawal",
    "WithdrawalEvent",
]
