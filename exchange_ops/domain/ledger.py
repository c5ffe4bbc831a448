"""The exchange's ledger, copied completely: every transaction, every version of it, whoever told us.

The walk goes up by index from a watermark, and the same `apply` takes what the stream tells. A transaction that changes
moves to a higher index, so a newer version is one with a higher index; older ones are stored and change nothing.

The watermark lags: it stands before the first transaction that is younger than `SETTLING`, by the exchange's own times.
A listing that shows a transaction later than one with a higher index would otherwise lose it for good.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

import msgspec
from django.db import DataError, IntegrityError, transaction

from desk import live
from exchange_ops.client import HIGHEST_INDEX, Aside, ExchangeClient
from exchange_ops.domain import balances, links
from exchange_ops.models import Account, LedgerAside, LedgerEntry, LedgerVersion, Watermark
from exchange_ops.wire import records

WATERMARK = "ledger"
SETTLING = timedelta(minutes=10)
REST, STREAM = "rest", "stream"

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
_NOTHING: tuple[object, ...] = (None, "", [])
_CONTENT_LIMIT = 4000
_FIRST_TIME, _LAST_TIME = datetime(1970, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Applied:
    """What came of a batch: versions that were new, entries that changed, and records that were kept aside."""

    new_versions: int = 0
    changed: tuple[int, ...] = ()
    asides: int = 0


@dataclass(frozen=True, slots=True)
class _Taken:
    """What came of one record."""

    entry_id: int
    is_new: bool = False
    has_changed: bool = False
    asides: tuple[Aside, ...] = ()


@dataclass(frozen=True, slots=True)
class Synced:
    """What one walk did: versions that were new, and records that were kept aside."""

    new_versions: int
    asides: int


def sync(*, account: Account, client: ExchangeClient, now: datetime, since: int | None = None) -> Synced:
    """Walk the ledger from the watermark (or from index `since`) to its end.

    What was stored stays when the walk breaks off; the next one begins where this one was sure of everything.
    """
    settled = watermark(account=account) if since is None else since
    pending: deque[tuple[int, datetime]] = deque()
    versions, asides = 0, 0
    for page in client.transactions_after(index=settled):
        done = apply(account=account, found=page.records, asides=page.asides, source=REST, now=now)
        versions, asides = versions + done.new_versions, asides + done.asides
        settled = _settle(settled, pending, page.records)
        _advance(account, settled, now)
    links.review(account=account, now=now)
    return Synced(versions, asides)


def watermark(*, account: Account) -> int:
    """Everything up to this index is stored for certain."""
    index = Watermark.objects.filter(account=account, name=WATERMARK).values_list("index", flat=True).first()
    return index or 0


def highest_index(*, account: Account) -> int:
    """The highest index seen by anybody: what a payout made from now on must lie above."""
    index = LedgerVersion.objects.filter(account=account).order_by("-index").values_list("index", flat=True).first()
    return index or 0


def apply(
    *, account: Account, found: Sequence[records.Transaction], asides: Iterable[Aside] = (), source: str, now: datetime
) -> Applied:
    """Take in what a walk or the stream brought, in any order, any number of times. Nothing in it makes this fail."""
    kept_aside = [*asides]
    sound: list[records.Transaction] = []
    for record in found:
        if reason := unstorable(record):
            kept_aside.append(Aside(_text(record), reason, record.id, record.index))
        else:
            sound.append(record)
    known = {
        version.index: version
        for version in LedgerVersion.objects.select_related("entry__account").filter(
            account=account, index__in=[record.index for record in sound]
        )
    }
    new, changed = 0, []
    for record in sorted(sound, key=lambda one: one.index):
        taken = _compare(known[record.index], record, source) if record.index in known else None
        taken = taken or _take(account, record, source, now)
        new += taken.is_new
        changed += [taken.entry_id] if taken.has_changed else []
        kept_aside += taken.asides
    for aside in kept_aside:
        _keep_aside(account, aside, source, now)
    if changed:
        live.announce(f"ledger:{account.pk}", entries=len(changed))
    return Applied(new, tuple(changed), len(kept_aside))


def unstorable(record: records.Transaction) -> str:
    """Why the columns would not take this record, or an empty text; the database must not be the one to find out."""
    amounts = [record.amount] if record.fee is None else [record.amount, record.fee]
    times = (record.created_at, record.updated_at)
    reasons = (
        (0 < record.index <= HIGHEST_INDEX, "its index is out of bounds"),
        (all(balances.storable(amount) for amount in amounts), "its amount or fee has more digits than any currency"),
        (_too_long(record) == "", f"its member {_too_long(record)} is too long"),
        ("\\u0000" not in _text(record), "it has characters that no text has"),
        (all(_FIRST_TIME <= time < _LAST_TIME for time in times), "its times are out of bounds"),
        (abs(record.confirmations or 0) < 2**31, "its number of confirmations is out of bounds"),
    )
    return next((reason for holds, reason in reasons if not holds), "")


def open_asides(*, account: Account) -> int:
    """How many records wait for somebody to look at them."""
    return LedgerAside.objects.filter(account=account, cleared_at=None).count()


def _settle(settled: int, pending: deque[tuple[int, datetime]], page: Sequence[records.Transaction]) -> int:
    """How far the watermark may go: up to before the first transaction younger than `SETTLING`."""
    pending.extend((record.index, record.updated_at) for record in sorted(page, key=lambda one: one.index))
    newest = max((updated_at for _, updated_at in pending), default=None)
    while newest is not None and pending and newest - pending[0][1] >= SETTLING:
        settled = max(settled, pending.popleft()[0])
    return settled


def _advance(account: Account, index: int, now: datetime) -> None:
    """Move the watermark up, never down, and note that the listing was read even when it stays."""
    mark, _ = Watermark.objects.get_or_create(account=account, name=WATERMARK)
    Watermark.objects.filter(pk=mark.pk, index__lt=index).update(index=index)
    Watermark.objects.filter(pk=mark.pk).update(moved_at=now)


def _take(account: Account, record: records.Transaction, source: str, now: datetime) -> _Taken:
    """Store one version. Whoever else stores the same transaction at this moment, one of the two finds the other's."""
    for _ in range(2):
        try:
            with transaction.atomic():
                return _store(account, record, source, now)
        except IntegrityError:
            told = LedgerVersion.objects.filter(account=account, index=record.index).first()
            if told is not None:
                return _compare(told, record, source)
        except (DataError, OverflowError) as problem:
            reason = f"the database does not take it ({type(problem).__name__})"
            return _Taken(0, asides=(Aside(_text(record), reason, record.id, record.index),))
    return _Taken(0, asides=(Aside(_text(record), "it could not be stored", record.id, record.index),))


def _store(account: Account, record: records.Transaction, source: str, now: datetime) -> _Taken:
    entry, changed = _entry_of(account, record, now)
    LedgerVersion.objects.create(
        account=account,
        entry=entry,
        index=record.index,
        status=record.status,
        content=msgspec.to_builtins(record),
        source=source,
        seen_at=now,
    )
    LedgerAside.objects.filter(account=account, exchange_id=record.id, cleared_at=None).update(cleared_at=now)
    if changed:
        links.link(entry=entry, now=now)
    return _Taken(entry.pk, is_new=True, has_changed=changed)


def _entry_of(account: Account, record: records.Transaction, now: datetime) -> tuple[LedgerEntry, bool]:
    """The entry of the transaction, brought up to this version when it is newer."""
    known = LedgerEntry.objects.filter(account=account, exchange_id=record.id).first()
    if known is None:
        entry = LedgerEntry(
            account=account,
            exchange_id=record.id,
            index=record.index,
            first_seen_at=now,
            seen_at=now,
            **_values(record),
        )
        entry.save(force_insert=True)
        return entry, True
    newer = LedgerEntry.objects.filter(pk=known.pk, index__lt=record.index)
    changed = newer.update(index=record.index, seen_at=now, **_values(record))
    known.refresh_from_db()
    return known, bool(changed)


def _values(record: records.Transaction) -> dict[str, Any]:
    """The members that the record has; those it lacks keep what an earlier version told."""
    members = {column: getattr(record, column) for column in _COLUMNS}
    return {column: value for column, value in members.items() if value is not None}


def _compare(version: LedgerVersion, record: records.Transaction, source: str) -> _Taken:
    """One index told twice: fill in what the first telling lacked, and notice when they disagree."""
    entry = version.entry
    if entry.exchange_id != record.id:
        reason = f"index {record.index} was told for {entry.exchange_id!r} before"
        return _Taken(entry.pk, asides=(Aside(_text(record), reason, record.id, record.index),))
    if entry.index != record.index:
        return _Taken(entry.pk)
    told = {column: (getattr(entry, column), value) for column, value in _values(record).items()}
    missing = {column: new for column, (old, new) in told.items() if old in _NOTHING and new not in _NOTHING}
    odd = sorted(column for column, (old, new) in told.items() if column not in missing and old != new)
    if missing:
        with transaction.atomic():
            LedgerEntry.objects.filter(pk=entry.pk, index=record.index).update(**missing)
            entry.refresh_from_db()
            links.link(entry=entry, now=version.seen_at)
    if odd:
        reason = f"version {record.index} is told differently by {version.source} and {source}: {', '.join(odd)}"
        return _Taken(entry.pk, asides=(Aside(_text(record), reason, record.id, record.index),))
    return _Taken(entry.pk, has_changed=bool(missing))


def _keep_aside(account: Account, aside: Aside, source: str, now: datetime) -> None:
    """Keep the record as it came; the same one again only gets a new time."""
    content = aside.content[:_CONTENT_LIMIT].replace("\0", "")
    fingerprint = sha256(f"{aside.reason}\n{aside.content}".encode()).hexdigest()
    LedgerAside.objects.update_or_create(
        account=account,
        fingerprint=fingerprint,
        defaults={"seen_at": now},
        create_defaults={
            "exchange_id": aside.exchange_id[:80].replace("\0", ""),
            "reason": f"A transaction was kept aside: {aside.reason}."[:300].replace("\0", ""),
            "content": content,
            "source": source,
            "first_seen_at": now,
            "seen_at": now,
        },
    )


def _too_long(record: records.Transaction) -> str:
    """The name of a member that its column has no room for, or an empty text."""
    for column in LedgerEntry._meta.concrete_fields:
        value = getattr(record, "id" if column.name == "exchange_id" else column.name, None)
        if isinstance(value, str) and len(value) > (column.max_length or len(value)):
            return str(column.name)
    return ""


def _text(record: records.Transaction) -> str:
    return msgspec.json.encode(record).decode("utf-8", "replace")
