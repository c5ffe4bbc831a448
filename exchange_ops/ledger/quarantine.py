"""Records of the exchange's ledger that could not be taken in: kept as they came, with the sentence why.

They wait until what is known of them was taken in: a record of their id or index, or every record of the part of the
ledger that they stood in, read again without a fault.
"""

from collections.abc import Iterable
from datetime import datetime
from hashlib import sha256

from django.db import transaction
from django.db.models import QuerySet

from desk.incidents import review as incidents
from exchange_ops.client import HIGHEST_INDEX, Aside
from exchange_ops.ledger.models import LedgerAside
from exchange_ops.shared import alarms
from exchange_ops.shared.models import Account
from exchange_ops.wire import records

LONGEST_CONTENT = 4000
MOST_LOOKED_THROUGH = 1000


def keep(*, account: Account, aside: Aside, source: str, after_index: int, now: datetime) -> None:
    """Keep the record; the same one seen again only gets a new time, and waits again if it was cleared.

    A reading of the ledger that begins at `after_index` meets it again.
    """
    fingerprint = sha256(f"{aside.reason}\n{aside.content}".encode()).hexdigest()
    seen = {"seen_at": now, "after_index": after_index}
    with transaction.atomic():
        LedgerAside.objects.update_or_create(
            account=account,
            fingerprint=fingerprint,
            defaults={**seen, "cleared_at": None},
            create_defaults={
                **seen,
                "exchange_id": _text(aside.exchange_id, 80),
                "index": aside.index if aside.index is not None and 0 < aside.index <= HIGHEST_INDEX else None,
                "reason": _text(f"A transaction was kept aside: {aside.reason}.", 300),
                "content": _text(aside.content, LONGEST_CONTENT),
                "source": source,
                "first_seen_at": now,
            },
        )
        incidents.review_now(alarms.RECORDS_ASIDE, now=now)


def clear_met(*, account: Account, found: Iterable[records.Transaction], now: datetime) -> None:
    """These records were read: what was kept aside under the same id, not older, or the same index waits no more."""
    waits = list(_waiting(account).order_by("pk")[:MOST_LOOKED_THROUGH])
    if not waits:
        return
    newest: dict[str, int] = {}
    indexes = set()
    for record in found:
        newest[record.id] = max(record.index, newest.get(record.id, 0))
        indexes.add(record.index)
    met = [row.pk for row in waits if _is_met(row, newest, indexes)]
    _waiting(account).filter(pk__in=met).update(cleared_at=now)


def clear_read(*, account: Account, after_index: int, began: datetime, now: datetime) -> None:
    """All of the ledger after an index was read without a fault: what had no id and was met there waits no more.

    One that has an id waits for that: the ledger may not list it yet.
    """
    rows = _waiting(account).filter(seen_at__lte=began, exchange_id="")
    if after_index > 0:
        rows = rows.filter(after_index__gte=after_index)
    rows.update(cleared_at=now)


def are_new(*, account: Account, since: datetime) -> bool:
    """Whether something waits that was met for the first time since then."""
    return _waiting(account).filter(first_seen_at__gt=since).exists()


def waiting(*, account: Account) -> int:
    """How many records wait for somebody to look at them."""
    return _waiting(account).count()


def _waiting(account: Account) -> QuerySet[LedgerAside]:
    return LedgerAside.objects.filter(account=account, cleared_at=None)


def _is_met(row: LedgerAside, newest: dict[str, int], indexes: set[int]) -> bool:
    if row.exchange_id:
        return newest.get(row.exchange_id, -1) >= (row.index or 0)
    return row.index in indexes


def _text(text: str, longest: int) -> str:
    return text[:longest].replace("\0", "")
