"""Which process walks an account's ledger, one at a time, and whether the ledger is still being read.

A walk holds a lease, renews it at each page, and records how far it came (`sync.unfinished_at`): when its owner dies,
the next one takes over the lease when it expires and continues from there. While a walk is under way nobody begins
another, and whoever needs the complete ledger waits: an entry that is not here yet proves nothing.
"""

from datetime import datetime, timedelta

from desk import clock
from exchange_ops.ledger import sync
from exchange_ops.ledger.models import LedgerEntry, Watermark
from exchange_ops.shared import heartbeats, leases
from exchange_ops.shared.models import Account

# Longer than the one call that may hang between two renewals (CALL_DEADLINE_SECONDS), and the storing of its page.
LEASE_LASTS = timedelta(seconds=40)
LONG_AGO = timedelta(seconds=60)  # a ledger that was read to its end since then has little left to read
PROGRESS_WITHIN = timedelta(seconds=60)  # a walk without progress for so long has ended; longer than a lease


def hold(*, account: Account, holder: str, now: datetime) -> bool:
    """Begin the walk or continue it; False when another process is walking."""
    return leases.hold(name=_lease(account), holder=holder, now=now, lasts=LEASE_LASTS)


def release(*, account: Account, holder: str) -> None:
    """End the walk, or leave it to another process."""
    leases.release(name=_lease(account), holder=holder)


def is_under_way(*, account: Account, now: datetime) -> bool:
    """Whether a process walks the ledger at this moment, even over its last few transactions only."""
    return leases.is_held(name=_lease(account), now=now, lasts=LEASE_LASTS)


def is_being_read(*, account: Account, now: datetime) -> bool:
    """Whether a long walk has begun and not ended: an entry that is missing here may still be at the exchange.

    True from the first page of a long walk to its end, whether or not a process is walking at this moment.
    """
    return _is_being_read(account, read_at(account=account), now)


def is_incomplete(*, account: Account, now: datetime) -> bool:
    """Whether the copy was never complete, or is being read."""
    last = read_at(account=account)
    return last is None or _is_being_read(account, last, now)


def is_progressing(*, account: Account, now: datetime) -> bool:
    """Whether a long walk has stored a page within the last minute."""
    mark = Watermark.objects.filter(account=account, name=sync.UNFINISHED, index__gt=0).first()
    return mark is not None and clock.is_fresh(mark.moved_at, now, within=PROGRESS_WITHIN)


def sentence(*, account: Account) -> str:
    """How far the reading came, in words."""
    count = LedgerEntry.objects.filter(account=account).count()
    return f"History is still loading: {count} transactions loaded so far."


def _is_being_read(account: Account, last: datetime | None, now: datetime) -> bool:
    if sync.unfinished_at(account=account):
        return True
    return not clock.is_fresh(last, now, within=LONG_AGO) and is_under_way(account=account, now=now)


def newest_transaction(account_id: int) -> str:
    """The exchange's id of the newest entry that was read of the account; empty when there is none."""
    rows = LedgerEntry.objects.filter(account=account_id).order_by("-index")
    return rows.values_list("exchange_id", flat=True).first() or ""


def read_at(*, account: Account) -> datetime | None:
    """When a walk last came to the end."""
    row = heartbeats.state_of(heartbeats.ledger_of(account))
    return None if row is None else row.heard_at


def _lease(account: Account) -> str:
    return f"walk:{account.pk}"
