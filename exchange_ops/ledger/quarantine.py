"""Records of the exchange's ledger that could not be read: stored as they came, with the reason.

They wait until their content has been read after all: a record with their id or index, or the whole part of the ledger
in which they were, without an error.
"""

from collections.abc import Iterable
from datetime import datetime
from hashlib import sha256
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from desk.incidents import review
from exchange_ops.client import HIGHEST_INDEX, Aside
from exchange_ops.ledger.models import LedgerAside
from exchange_ops.shared import alarms
from exchange_ops.shared.models import Account
from exchange_ops.wire import records

LONGEST_CONTENT = 4000
MOST_LOOKED_THROUGH = 1000


def keep_settled(*, account: Account, asides: Iterable[Aside], source: str, now: datetime) -> None:
    """Store records that differed from an earlier reading and have replaced it; they wait for nobody."""
    for aside in asides:
        columns = {**_columns(aside, source, now), "seen_at": now, "cleared_at": now}
        LedgerAside.objects.get_or_create(account=account, fingerprint=_fingerprint(aside), defaults=columns)


def keep(*, account: Account, aside: Aside, source: str, after_index: int, now: datetime) -> None:
    """Store the record; the same one seen again only gets a new time. If it was cleared, it waits again, as a new one.

    A reading of the ledger that begins at `after_index` comes across it again.
    """
    times = {"seen_at": now, "after_index": after_index}
    with transaction.atomic():
        row, is_new = LedgerAside.objects.get_or_create(
            account=account, fingerprint=_fingerprint(aside), defaults={**times, **_columns(aside, source, now)}
        )
        if not is_new:
            # What has no readable member looks the same each time, and each time another record may be missing.
            begins = {"first_seen_at": now} if row.cleared_at is not None else {}
            LedgerAside.objects.filter(pk=row.pk).update(**times, **begins, cleared_at=None)
        review.review_now(alarms.RECORDS_ASIDE, now=now)


def clear_matching(
    *, account: Account, transactions: Iterable[records.Transaction], is_listing: bool, now: datetime
) -> None:
    """Clear what waits under the ids or indexes of these records, unless it is newer than they are.

    What waits because the exchange's listing lacks it has no content, and only the listing clears it.
    """
    waiting_rows = list(_waiting(account).order_by("pk")[:MOST_LOOKED_THROUGH])
    if not waiting_rows:
        return
    newest: dict[str, int] = {}
    indexes = set()
    for record in transactions:
        newest[record.id] = max(record.index, newest.get(record.id, 0))
        indexes.add(record.index)
    matching = [row.pk for row in waiting_rows if (is_listing or row.content) and _matches(row, newest, indexes)]
    _waiting(account).filter(pk__in=matching).update(cleared_at=now)


def clear_read(*, account: Account, after_index: int, began: datetime, now: datetime) -> None:
    """Clear records without an id from the part of the ledger after an index, which was read without an error.

    A record with an id waits for that id: the ledger may not list it yet.
    """
    rows = _waiting(account).filter(seen_at__lte=began, exchange_id="")
    if after_index > 0:
        rows = rows.filter(after_index__gte=after_index)
    rows.update(cleared_at=now)


def are_new(*, account: Account, since: datetime) -> bool:
    """Whether something waits that was first seen since then."""
    return _waiting(account).filter(first_seen_at__gt=since).exists()


def waiting(*, account: Account) -> int:
    """How many records wait."""
    return _waiting(account).count()


def _waiting(account: Account) -> QuerySet[LedgerAside]:
    return LedgerAside.objects.filter(account=account, cleared_at=None)


def _matches(row: LedgerAside, newest: dict[str, int], indexes: set[int]) -> bool:
    if row.exchange_id:
        return newest.get(row.exchange_id, -1) >= (row.index or 0)
    return row.index in indexes


def _fingerprint(aside: Aside) -> str:
    return sha256(f"{aside.reason}\n{aside.content}".encode()).hexdigest()


def _columns(aside: Aside, source: str, now: datetime) -> dict[str, Any]:
    return {
        "exchange_id": _text(aside.exchange_id, 80),
        "index": aside.index if aside.index is not None and 0 < aside.index <= HIGHEST_INDEX else None,
        "reason": _text(f"A transaction was quarantined: {aside.reason}.", 300),
        "content": _text(aside.content, LONGEST_CONTENT),
        "source": source,
        "first_seen_at": now,
    }


def _text(text: str, longest: int) -> str:
    return text[:longest].replace("\0", "")
