"""Storing transactions that are new to us, a page at a time: a long history consists of nothing else.

Each gets what it would get on its own: an entry, a version, and the link to the request that caused it. Only those that
may concern a request of ours, or that took money out, are matched one by one. A page that the database refuses as a
whole is stored one by one.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec
import structlog
from django.db import DataError, IntegrityError, transaction

from exchange_ops.ledger import matching
from exchange_ops.ledger.models import LedgerEntry, LedgerVersion
from exchange_ops.shared.models import Account
from exchange_ops.wire import records

FEW = 20  # below this a batch saves nothing
_log = structlog.get_logger(__name__)

# The columns that a version of a transaction fills, named like the members of its record.
COLUMNS = (
    "type",
    "sub_type",
    "status",
    "currency",
    "amount",
    "fee",
    "address",
    "payment_id",
    "hash",
    "confirmations",
    "public_comment",
    "error_code",
    "senders",
    "offchain_id",
    "created_at",
    "updated_at",
)


def store(
    *, account: Account, transactions: Sequence[records.Transaction], source: str, now: datetime
) -> dict[int, int]:
    """Store transactions that are new to us, all or none; returns the keys of their entries by index."""
    if len(transactions) < FEW:
        return {}
    ordered = sorted(transactions, key=lambda record: record.index)
    try:
        with transaction.atomic():
            entries = LedgerEntry.objects.bulk_create([entry_of(account, record, now=now) for record in ordered])
            LedgerVersion.objects.bulk_create(
                [
                    version_of(entry, record, source=source, now=now)
                    for entry, record in zip(entries, ordered, strict=True)
                ]
            )
            matching.link_all(account=account, entries=entries, now=now)
    except (IntegrityError, DataError, OverflowError) as problem:
        # Another process stored one of them at this moment, or one does not fit: each is then stored on its own.
        _log.info("ledger_batches.one_by_one", account=account.pk, reason=type(problem).__name__)
        return {}
    return {entry.index: entry.pk for entry in entries}


def entry_of(account: Account, record: records.Transaction, *, now: datetime) -> LedgerEntry:
    """The unsaved entry of a new transaction."""
    return LedgerEntry(
        account=account,
        exchange_id=record.id,
        index=record.index,
        first_seen_at=now,
        seen_at=now,
        **values_of(record),
    )


def version_of(entry: LedgerEntry, record: records.Transaction, *, source: str, now: datetime) -> LedgerVersion:
    """The unsaved version of the entry's transaction, exactly as it was read."""
    return LedgerVersion(
        account_id=entry.account_id,
        entry=entry,
        index=record.index,
        status=record.status,
        content=msgspec.to_builtins(record),
        source=source,
        seen_at=now,
    )


def values_of(record: records.Transaction) -> dict[str, Any]:
    """The members that the record has; those it lacks keep the values of an earlier version."""
    members = {column: getattr(record, column) for column in COLUMNS}
    return {column: value for column, value in members.items() if value is not None}
