"""The exchange's ledger, copied completely: every transaction, every version of it, whoever told us.

The walk goes up by index from a watermark, and the same `apply` takes what the stream tells. A transaction that changes
moves to a higher index, so a newer version is one with a higher index; older ones are stored and change nothing.

The watermark lags: it stands before the first transaction that is younger than `SETTLING`, by the exchange's own times.
A listing that shows a transaction later than one with a higher index would otherwise lose it for good.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache

import msgspec
from django.db import DataError, IntegrityError, transaction

from desk.live import announcements
from desk.machines.step_clock import Stopwatch
from exchange_ops.client import HIGHEST_INDEX, PAGE, Aside, ExchangeClient
from exchange_ops.ledger import batches, matching, quarantine
from exchange_ops.ledger.batches import entry_of, values_of, version_of
from exchange_ops.ledger.models import LedgerEntry, LedgerVersion, Watermark
from exchange_ops.shared import amounts as shared_amounts
from exchange_ops.shared import clocks
from exchange_ops.shared.models import Account
from exchange_ops.wire import records

WATERMARK, UNFINISHED = "ledger", "unfinished walk of the ledger"
WALK_FOR = timedelta(seconds=15)  # a worker is ended after forty
SETTLING = timedelta(minutes=10)
REST, STREAM = "rest", "stream"

_NOTHING: tuple[object, ...] = (None, "", [])
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
    count: int | None = None  # of confirmations, where nothing else is another one


@dataclass(frozen=True, slots=True)
class Synced:
    """What one walk did: versions that were new, records that were kept aside, and whether it came to the end."""

    new_versions: int
    asides: int
    complete: bool = True


def sync(
    *,
    account: Account,
    client: ExchangeClient,
    now: datetime,
    walk_for: timedelta = WALK_FOR,
    page_size: int = PAGE,
    goes_on: Callable[[datetime], bool] = lambda now: True,
) -> Synced:
    """Walk the ledger from the watermark to its end, or as far as `walk_for` and `goes_on`, asked by page, let it.

    What was stored stays when the walk breaks off; the next one begins where this one was sure of everything. A walk
    that ran out of time, or whose owner died, is gone on with after its last full page, so that a history of any length
    is read in the end. A page with records that can't be read holds the watermark back for ten minutes, so that it is
    read again.
    """
    watch, settled = Stopwatch(now), watermark(account=account)
    pending: deque[tuple[int, datetime]] = deque()
    begin = furthest = max(settled, unfinished_at(account=account))
    versions, asides, certain = 0, 0, True
    for page in client.transactions_after(index=furthest, limit=page_size):
        done = apply(
            account=account, found=page.records, asides=page.asides, source=REST, now=now, after_index=furthest
        )
        versions, asides = versions + done.new_versions, asides + done.asides
        certain = certain and not (done.asides and quarantine.are_new(account=account, since=now - SETTLING))
        if certain:
            settled = _settle(settled, pending, page.records, clocks.at_least(account=account, now=now))
        furthest = max((record.index for record in page.records), default=furthest)
        _advance(account, settled, now)
        is_last = len(page.records) + len(page.asides) < page_size
        if not is_last:
            Watermark.put(account=account, name=UNFINISHED, index=furthest, now=watch.now())
        if not is_last and (watch.now() - now > walk_for or not goes_on(watch.now())):
            return Synced(versions, asides, complete=False)
    Watermark.put(account=account, name=UNFINISHED, index=0, now=watch.now())
    if not asides:
        quarantine.clear_read(account=account, after_index=begin, began=now, now=now)
    matching.review(account=account, now=now)
    return Synced(versions, asides)


def watermark(*, account: Account) -> int:
    """Everything up to this index is stored for certain."""
    return _index_of(account, WATERMARK)


def unfinished_at(*, account: Account) -> int:
    """How far a walk came that has not been to the end; 0 when there is none."""
    return _index_of(account, UNFINISHED)


def settle(*, account: Account, loaded_from: int, found: Sequence[records.Transaction], now: datetime) -> None:
    """Move the watermark by a page that a stream loaded and `apply` has stored: all there is from an index on.

    A page that begins behind what is stored for certain, or that is not in its order, moves nothing.
    """
    settled, indexes = watermark(account=account), [record.index for record in found]
    if loaded_from > settled + 1 or indexes != sorted(indexes):
        return
    furthest = _settle(settled, deque(), found, clocks.at_least(account=account, now=now))
    if furthest > settled:
        _advance(account, furthest, now)


def highest_index(*, account: Account) -> int:
    """The highest index seen by anybody: what a payout made from now on must lie above."""
    index = LedgerVersion.objects.filter(account=account).order_by("-index").values_list("index", flat=True).first()
    return index or 0


def apply(
    *,
    account: Account,
    found: Sequence[records.Transaction],
    asides: Iterable[Aside] = (),
    source: str,
    now: datetime,
    after_index: int | None = None,
) -> Applied:
    """Take in what a walk or the stream brought, in any order, any number of times. Nothing in it makes this fail.

    `after_index` is where the reading began; without it, everything told lies above the watermark.
    """
    kept_aside = [*asides]
    sound: list[records.Transaction] = []
    for record in found:
        if reason := unstorable(record):
            kept_aside.append(Aside(_text(record), reason, record.id, record.index))
        else:
            sound.append(record)
    known, many = _take_unseen(account, sound, source, now)
    new, changed = len(many), list(many.values())
    counts: dict[int, int] = {}
    for record in sorted((one for one in sound if one.index not in many), key=lambda one: one.index):
        taken = _compare(known[record.index], record, source) if record.index in known else None
        taken = taken or _take(account, record, source, now)
        new += taken.is_new
        changed += [taken.entry_id] if taken.has_changed or taken.count is not None else []
        if taken.count is not None:
            counts[record.index] = taken.count
        kept_aside += taken.asides
    _count(account, counts)
    quarantine.clear_met(account=account, found=sound, now=now)
    begins = watermark(account=account) if kept_aside and after_index is None else after_index or 0
    for aside in kept_aside:
        quarantine.keep(account=account, aside=aside, source=source, after_index=begins, now=now)
    if changed:
        announcements.announce(f"ledger:{account.pk}", entries=len(changed))
    return Applied(new, tuple(changed), len(kept_aside))


def unstorable(record: records.Transaction) -> str:
    """Why the columns would not take this record, or an empty text; the database must not be the one to find out."""
    amounts = [record.amount] if record.fee is None else [record.amount, record.fee]
    times, too_long = (record.created_at, record.updated_at), _too_long(record)
    reasons = (
        (0 < record.index <= HIGHEST_INDEX, "its index is out of bounds"),
        (
            all(shared_amounts.storable(amount) for amount in amounts),
            "its amount or fee has more digits than any currency",
        ),
        (too_long == "", f"its member {too_long} is too long"),
        ("\\u0000" not in _text(record), "it has characters that no text has"),
        (all(_FIRST_TIME <= time < _LAST_TIME for time in times), "its times are out of bounds"),
        (abs(record.confirmations or 0) < 2**31, "its number of confirmations is out of bounds"),
    )
    return next((reason for holds, reason in reasons if not holds), "")


def _take_unseen(
    account: Account, sound: Sequence[records.Transaction], source: str, now: datetime
) -> tuple[dict[int, LedgerVersion], dict[int, int]]:
    """Store those that are here in no version; the versions that were here before, and the new entries by index.

    Where somebody else stores some of them at this moment, the page is looked through once more: most of it is known
    then, or is new as a whole.
    """
    waiting: list[records.Transaction] | None = None
    while True:
        found = LedgerVersion.objects.select_related("entry__account").filter(
            account=account, index__in=[record.index for record in sound]
        )
        known = {version.index: version for version in found}
        unseen = _never_seen(account, sound, known)
        many = batches.take(account=account, found=unseen, source=source, now=now)
        if many or not unseen or (waiting is not None and len(unseen) == len(waiting)):
            return known, many
        waiting = unseen


def _never_seen(
    account: Account, sound: Sequence[records.Transaction], known: Mapping[int, LedgerVersion]
) -> list[records.Transaction]:
    """Those that are here in no version, each told once: a long history is made of them, and they can't disagree."""
    if len(sound) < batches.FEW:
        return []
    here = LedgerEntry.objects.filter(account=account, exchange_id__in=[record.id for record in sound])
    counts = Counter(record.id for record in sound) + Counter(here.values_list("exchange_id", flat=True))
    indexes = Counter(record.index for record in sound) + Counter(known.keys())
    return [record for record in sound if counts[record.id] == indexes[record.index] == 1]


def _settle(
    settled: int, pending: deque[tuple[int, datetime]], page: Sequence[records.Transaction], clock: datetime | None
) -> int:
    """How far the watermark may go: up to before the first transaction younger than `SETTLING`.

    Young is meant by the exchange's clock, or by its newest transaction when the clock is not known.
    """
    pending.extend((record.index, record.updated_at) for record in sorted(page, key=lambda one: one.index))
    times = [updated_at for _, updated_at in pending]
    newest = max([*times, clock] if clock is not None else times, default=None)
    while newest is not None and pending and newest - pending[0][1] >= SETTLING:
        settled = max(settled, pending.popleft()[0])
    return settled


def _index_of(account: Account, name: str) -> int:
    index = Watermark.objects.filter(account=account, name=name).values_list("index", flat=True).first()
    return index or 0


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
            version = LedgerVersion.objects.filter(account=account, index=record.index).first()
            if version is not None:
                return _compare(version, record, source)
        except (DataError, OverflowError) as problem:
            reason = f"the database does not take it ({type(problem).__name__})"
            return _Taken(0, asides=(Aside(_text(record), reason, record.id, record.index),))
    return _Taken(0, asides=(Aside(_text(record), "it could not be stored", record.id, record.index),))


def _store(account: Account, record: records.Transaction, source: str, now: datetime) -> _Taken:
    entry, changed = _entry_of(account, record, now)
    version_of(entry, record, source=source, now=now).save(force_insert=True)
    if changed:
        matching.link(entry=entry, now=now)
    return _Taken(entry.pk, is_new=True, has_changed=changed)


def _entry_of(account: Account, record: records.Transaction, now: datetime) -> tuple[LedgerEntry, bool]:
    """The entry of the transaction, brought up to this version when it is newer."""
    known = LedgerEntry.objects.filter(account=account, exchange_id=record.id).first()
    if known is None:
        entry = entry_of(account, record, now=now)
        entry.save(force_insert=True)
        return entry, True
    newer = LedgerEntry.objects.filter(pk=known.pk, index__lt=record.index)
    changed = newer.update(index=record.index, seen_at=now, **values_of(record))
    known.refresh_from_db()
    return known, bool(changed)


def _compare(version: LedgerVersion, record: records.Transaction, source: str) -> _Taken:
    """One index told twice: fill in what the first telling lacked, and notice when they disagree.

    Confirmations go on counting within a version; what has ended is counted no further than anybody waits for.
    """
    entry = version.entry
    if entry.exchange_id != record.id:
        reason = f"index {record.index} was told for {entry.exchange_id!r} before"
        return _Taken(entry.pk, asides=(Aside(_text(record), reason, record.id, record.index),))
    if entry.index != record.index:
        return _Taken(entry.pk)
    pairs = {column: (getattr(entry, column), value) for column, value in values_of(record).items()}
    missing = {column: new for column, (old, new) in pairs.items() if old in _NOTHING and new not in _NOTHING}
    before, count = entry.confirmations, record.confirmations
    if before is None or count is None or count <= before or entry.is_counted:
        count = None
    odd = sorted(
        column
        for column, (old, new) in pairs.items()
        if column not in missing and old != new and column != "confirmations"
    )
    if missing:
        with transaction.atomic():
            LedgerEntry.objects.filter(pk=entry.pk, index=record.index).update(**missing)
            entry.refresh_from_db()
            matching.link(entry=entry, now=version.seen_at)
    if odd:
        reason = f"version {record.index} is told differently by {version.source} and {source}: {', '.join(odd)}"
        return _Taken(entry.pk, asides=(Aside(_text(record), reason, record.id, record.index),), count=count)
    return _Taken(entry.pk, has_changed=bool(missing), count=count)


def _count(account: Account, counts: Mapping[int, int]) -> None:
    """Write the higher counts of confirmations by index, all of one count in one statement, and wake nobody for them.

    Every reading brings one for each payment of the last minutes. What is a newer version by now has its own count.
    """
    if not counts:
        return
    with transaction.atomic():
        for count in sorted({*counts.values()}):
            indexes = [index for index, each in counts.items() if each == count]
            rows = LedgerEntry.objects.filter(account=account, index__in=indexes, confirmations__lt=count)
            rows.update(confirmations=count)


def _too_long(record: records.Transaction) -> str:
    """The name of a member that its column has no room for, or an empty text."""
    for column, member, longest in _bounded():
        value = getattr(record, member, None)
        if isinstance(value, str) and len(value) > longest:
            return column
    return ""


@cache
def _bounded() -> tuple[tuple[str, str, int], ...]:
    """Each column of text that has a bound, the record's member for it, and how many characters it takes."""
    columns = [column for column in LedgerEntry._meta.concrete_fields if column.max_length]
    return tuple(
        (column.name, "id" if column.name == "exchange_id" else column.name, column.max_length or 0)
        for column in columns
    )


def _text(record: records.Transaction) -> str:
    return msgspec.json.encode(record).decode("utf-8", "replace")
