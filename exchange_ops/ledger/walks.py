"""Who walks an account's ledger, one at a time, and whether it is still being read.

A walk holds a lease, renews it at each page, and leaves behind how far it came (`ledger.unfinished_at`): when its owner
dies, the next one takes the lease over as soon as it ended and goes on from there. Who finds a walk under way begins
none, and whoever needs the whole ledger waits while it is being read: what is not here yet proves nothing.
"""

from datetime import datetime, timedelta

from exchange_ops.ledger import sync
from exchange_ops.ledger.models import LedgerEntry, Watermark
from exchange_ops.shared import heartbeats, leases
from exchange_ops.shared.models import Account

# Longer than the one call that may hang between two renewals (CALL_DEADLINE_SECONDS), and the storing of its page.
LEASE_LASTS = timedelta(seconds=40)
LONG_AGO = timedelta(seconds=60)  # a ledger that was read to its end since then is not being read for long
GOES_ON_WITHIN = timedelta(seconds=60)  # a walk that came no further since then is none; longer than a lease


def hold(*, account: Account, holder: str, now: datetime) -> bool:
    """Begin the walk, or go on with it; False when somebody else is on it."""
    return leases.hold(name=_lease(account), holder=holder, now=now, lasts=LEASE_LASTS)


def release(*, account: Account, holder: str) -> None:
    """The walk is over, or is left to others."""
    leases.release(name=_lease(account), holder=holder)


def is_under_way(*, account: Account, now: datetime) -> bool:
    """Whether somebody walks the ledger at this moment, be it over its last few transactions."""
    return leases.is_held(name=_lease(account), now=now)


def is_being_read(*, account: Account, now: datetime) -> bool:
    """Whether the copy lacks much that a walk has begun to read: what is not in it may be at the exchange all the same.

    True from the first page of a long walk to its end, whether or not somebody is on it at this moment.
    """
    return _is_being_read(account, read_at(account=account), now)


def is_incomplete(*, account: Account, now: datetime) -> bool:
    """Whether the copy was never complete, or is being read."""
    last = read_at(account=account)
    return last is None or _is_being_read(account, last, now)


def comes_further(*, account: Account, now: datetime) -> bool:
    """Whether a long walk took in a page within the last minute."""
    mark = Watermark.objects.filter(account=account, name=sync.UNFINISHED, index__gt=0).first()
    return mark is not None and mark.moved_at is not None and now - mark.moved_at <= GOES_ON_WITHIN


def sentence(*, account: Account) -> str:
    """How far the reading came, in words."""
    known = LedgerEntry.objects.filter(account=account).count()
    return f"Its history is still being read: {known} transactions are here so far."


def _is_being_read(account: Account, last: datetime | None, now: datetime) -> bool:
    if sync.unfinished_at(account=account):
        return True
    return (last is None or now - last > LONG_AGO) and is_under_way(account=account, now=now)


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
