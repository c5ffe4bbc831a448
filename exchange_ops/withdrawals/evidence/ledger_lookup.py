"""Looking up one withdrawal in the exchange's ledger: its record, that there is none, or that it was not readable."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from exchange_ops.keys.clients import ClientFor, client
from exchange_ops.keys.store import NoUsableKey
from exchange_ops.ledger import sync
from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.wire import records
from exchange_ops.wire.catalogue import Right
from exchange_ops.wire.refusals import TRANSACTION_NOT_FOUND
from exchange_ops.withdrawals.models import Withdrawal
from wire.errors import CallFailed, Refused
from wire.operation import BadArgument

HELD, GOING, DONE, OVER = "created", "pending", "success", "failed"
EXECUTED = frozenset({GOING, DONE})


@dataclass(frozen=True, slots=True)
class PayoutVersion:
    """One version of a payout in the exchange's ledger. Amount and fee are in its currency; missing texts are empty."""

    exchange_id: str
    index: int
    type: str
    status: str
    currency: str
    amount: Decimal
    fee: Decimal | None
    address: str
    payment_id: str
    hash: str
    confirmations: int | None
    public_comment: str
    error_code: str
    created_at: datetime

    def facts(self) -> dict[str, Any]:
        """The version as evidence for the audit trail."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class LedgerAnswer:
    """The result of one lookup: `version` is what the exchange said, `newest` that or a newer version we know of.

    `record` is the answer as received, for our copy of the ledger (`store`).
    """

    record: records.Transaction | None = None
    version: PayoutVersion | None = None
    newest: PayoutVersion | None = None
    absent: bool = False
    problem: str = ""


def read(row: Withdrawal, *, client_for: ClientFor) -> LedgerAnswer:
    """Look up the record of the row's hold without writing anything. Never raises: a failure becomes a `problem`."""
    try:
        with client(client_for, account=row.account, right=Right.PAYMENTS) as asking:
            record = asking.get_transaction(exchange_id=row.exchange_id or "")
    except Refused as refused:
        if refused.code in TRANSACTION_NOT_FOUND:
            return LedgerAnswer(absent=True, problem=f"The exchange's ledger has no record of {row.exchange_id}.")
        return LedgerAnswer(problem=f"The exchange's ledger is not available: {refused}")
    except (CallFailed, NoUsableKey, BadArgument) as problem:
        return LedgerAnswer(problem=f"The exchange's ledger is not available: {problem}")
    if record.id != row.exchange_id:
        return LedgerAnswer(problem="The exchange's ledger returned a different record.")
    if reason := sync.unstorable(record):
        return LedgerAnswer(problem=f"The exchange's record can't be stored: {reason}.")
    version = _version_of_record(record)
    entry = LedgerEntry.objects.filter(account=row.account, exchange_id=record.id, index__gt=record.index).first()
    return LedgerAnswer(record=record, version=version, newest=version if entry is None else version_of_entry(entry))


def store(row: Withdrawal, answer: LedgerAnswer, *, now: datetime) -> None:
    """Write the record to our copy of the ledger, if one was read."""
    if answer.record is not None:
        sync.apply(account=row.account, transactions=[answer.record], source=sync.REST, now=now)


def version_of_entry(entry: LedgerEntry) -> PayoutVersion:
    """The newest version in our copy of the ledger."""
    return _version(entry, entry.exchange_id)


def _version_of_record(record: records.Transaction) -> PayoutVersion:
    return _version(record, record.id)


def _version(source: Any, exchange_id: str) -> PayoutVersion:
    return PayoutVersion(
        exchange_id=exchange_id,
        index=source.index,
        type=source.type,
        status=source.status,
        currency=source.currency,
        amount=source.amount,
        fee=source.fee,
        address=source.address or "",
        payment_id=source.payment_id or "",
        hash=source.hash or "",
        confirmations=source.confirmations,
        public_comment=source.public_comment or "",
        error_code=source.error_code or "",
        created_at=source.created_at,
    )
