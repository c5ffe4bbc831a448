"""Entries of our ledger that say something else than the exchange's listing of the same version.

A reading takes over what the listing says, so a copy that was changed looks right afterwards: it is compared before.
Nothing is reported where the listing is newer, or only the stream differs (`ledger.sync`), unless a walk has read past
it before: then the listing had settled it already.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from django.db.models import F
from msgspec import convert

from exchange_ops.ledger import sync
from exchange_ops.ledger.models import LedgerAside, LedgerEntry, LedgerVersion
from exchange_ops.shared.models import Account
from exchange_ops.wire.records import Transaction

MOST_NAMED: Final = 3
_COLUMNS: Final = ("currency", "type", "status", "amount", "updated_at", "fee")


@dataclass(frozen=True, slots=True)
class Finding:
    """One answer of a reconciliation: what was compared, whether it agrees, and a sentence."""

    about: str
    agrees: bool
    sentence: str


def named(ids: Collection[str]) -> str:
    """How many transactions these are, and the ids of the first ones."""
    first = sorted(ids)[:MOST_NAMED]
    if not first:
        return "0"
    return f"{len(ids)} ({', '.join(first)}{', …' if len(ids) > len(first) else ''})"


def ids(account: Account, listed: Mapping[str, Transaction]) -> Iterator[str]:
    """The ids of the entries of a listed version whose money, time or status is not that of the listing."""
    settled = LedgerAside.objects.filter(account=account, index__isnull=False).exclude(settled_as="")
    rows = LedgerEntry.objects.filter(account=account).exclude(index__in=settled.values("index"))
    for exchange_id, index, *values in rows.values_list("exchange_id", "index", *_COLUMNS).iterator():
        record = listed.get(exchange_id)
        if record is None or record.index != index:
            continue
        theirs = [getattr(record, column) for column in _COLUMNS]
        if record.fee is None or values[-1] is None:  # an earlier version said it, or the reading fills it in
            theirs[-1] = values[-1]
        if theirs != values:
            yield exchange_id


def _is_reported(version: LedgerVersion, record: Transaction, settled: int) -> bool:
    """Whether the entry was changed here since its version was read, or the listing without a newer time."""
    content = convert(version.content, Transaction, strict=False)
    if all(getattr(content, column) == getattr(record, column) for column in _COLUMNS):
        return True
    is_newer = record.updated_at > content.updated_at
    return not is_newer and (version.source == sync.REST or version.index <= settled)


def finding(account: Account, listed: Mapping[str, Transaction], *, before: set[str]) -> Finding:
    """What differed before the listing was read in, and what does still."""
    about, settled = "content of transactions", sync.watermark(account=account)
    versions = LedgerVersion.objects.filter(account=account, index=F("entry__index"), entry__exchange_id__in=before)
    changed = {
        version.entry.exchange_id
        for version in versions.select_related("entry")
        if _is_reported(version, listed[version.entry.exchange_id], settled)
    }
    if not changed:
        return Finding(about, True, "Our entries say what the exchange's say.")
    still = set(ids(account, listed)) & changed
    sentence = f"Entries that differed from the exchange's, now corrected: {named(changed - still)}"
    return Finding(about, False, f"{sentence}; still different: {named(still)}." if still else f"{sentence}.")
