"""Transactions that were never seen before, stored a page at a time: a long history is made of nothing else.

What one of them would have led to by itself follows here too: its entry, its version, and its link to the request it
was born from. Only those that may concern a request of ours, or that took money out, are looked at one by one. What
the database does not take as a whole is left to be taken one by one.
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

FEW = 20  # below this nothing is won
_log = structlog.get_logger(__name__)

# The columns that a version of a transaction fills, named like the members of its record.
_COLUMNS = (
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


def take(*, account: Account, found: Sequence[records.Transaction], source: str, now: datetime) -> dict[int, int]:
    """Store transactions of which nothing is here, all or none; the numbers of their entries by index."""
    if len(found) < FEW:
        return {}
    ordered = sorted(found, key=lambda record: record.index)
    try:
        with transaction.atomic():
            entries = LedgerEntry.objects.bulk_create([entry_of(account, record, now=now) for record in ordered])
            LedgerVersion.objects.bulk_create(
                [version_of(entry, one, source=source, now=now) for entry, one in zip(entries, ordered, strict=True)]
            )
            matching.link_all(account=account, entries=entries, now=now)
    except (IntegrityError, DataError, OverflowError) as problem:
        # Somebody else stored one of them at this moment, or one does not fit: each finds out for itself.
        _log.info("ledger_batches.one_by_one", account=account.pk, reason=type(problem).__name__)
        return {}
    return {entry.index: entry.pk for entry in entries}


def entry_of(account: Account, record: records.Transaction, *, now: datetime) -> LedgerEntry:
    """The entry of a transaction that is seen for the first time, not stored yet."""
    return LedgerEntry(
        account=account,
        exchange_id=record.id,
        index=record.index,
        first_seen_at=now,
        seen_at=now,
        **values_of(record),
    )


def version_of(entry: LedgerEntry, record: records.Transaction, *, source: str, now: datetime) -> LedgerVersion:
    """One version of the entry's transaction, exactly as it was read, not stored yet."""
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
    """The members that the record has; those it lacks keep what an earlier version told."""
    members = {column: getattr(record, column) for column in _COLUMNS}
    return {column: value for column, value in members.items() if value is not None}
