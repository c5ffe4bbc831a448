"""The exchange's transactions as the desk had read them at a moment, from the versions that it stored.

A version is stored once, as it was first read. What a later reading of the same version filled in, and how its
confirmations grew, has no time of its own, so it is not part of the past.
"""

import copy
from collections.abc import Iterable

import msgspec

from desk.as_known.moments import Moment, ThenAndLater
from exchange_ops.ledger.batches import COLUMNS, values_of
from exchange_ops.ledger.models import LedgerEntry, LedgerVersion
from exchange_ops.wire import records


def split(versions: Iterable[LedgerVersion], moment: Moment) -> ThenAndLater[LedgerVersion]:
    """Versions by when they were read; each has its `entry`."""
    in_order = sorted(versions, key=lambda version: (version.seen_at, version.index, version.pk))
    return moment.split(in_order, stored_at=lambda version: version.seen_at)


def entries(versions: Iterable[LedgerVersion]) -> list[LedgerEntry]:
    """Unsaved entries as these versions left them, read in this order, the highest index first.

    A version that was read after a newer one changes nothing.
    """
    built: dict[int, LedgerEntry] = {}
    for version in versions:
        entry = built.get(version.entry_id)
        if entry is None:
            entry = built[version.entry_id] = _blank(version.entry)
            entry.first_seen_at = version.seen_at
        elif version.index < entry.index:
            continue
        for name, value in values_of(record_of(version)).items():
            setattr(entry, name, value)
        entry.index, entry.seen_at = version.index, version.seen_at
    return sorted(built.values(), key=lambda entry: -entry.index)


def record_of(version: LedgerVersion) -> records.Transaction:
    """The exchange's record as it was first read."""
    return msgspec.convert(version.content, records.Transaction, strict=False)


def _blank(row: LedgerEntry) -> LedgerEntry:
    entry = copy.copy(row)
    for name in COLUMNS:
        setattr(entry, name, LedgerEntry._meta.get_field(name).get_default())  # type: ignore[union-attr]
    return entry
