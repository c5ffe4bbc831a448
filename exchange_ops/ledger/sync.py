"""A complete copy of the exchange's ledger: every transaction and every version of it, from REST and from the stream.

The walk goes up by index from a watermark, and `apply` stores its pages as well as the stream's messages. A transaction
that changes moves to a higher index, so a newer version has a higher index; older ones are stored and change nothing.

The watermark lags: it stays before the first transaction that is younger than `SETTLING`, by the exchange's own times.
Otherwise a transaction that is listed later than one with a higher index would be lost for good.

Where stream and listing differ in one version, the newer reading counts, and between equal times the listing: a
difference from the stream waits for the next walk. What has no order waits for two people (`settling`), whose choice
no reading with the same time undoes. Both stay as they were read (`LedgerVersion`, `LedgerAside`).
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache

import msgspec
from django.db import DataError, IntegrityError, transaction

from desk.live import announcements
from desk.machines.step_clock import Stopwatch
from exchange_ops.client import HIGHEST_INDEX, PAGE, Aside, ExchangeClient
from exchange_ops.ledger import batches, matching, quarantine, settling
from exchange_ops.ledger.batches import entry_of, values_of, version_of
from exchange_ops.ledger.models import LedgerEntry, LedgerVersion, Watermark
from exchange_ops.shared import amounts, clocks
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
    """The outcome of a batch: the number of new versions, the changed entries, the number of records kept aside."""

    new_versions: int = 0
    changed: tuple[int, ...] = ()
    asides: int = 0


@dataclass(frozen=True, slots=True)
class _Outcome:
    """The outcome of one record."""

    entry_id: int
    is_new: bool = False
    has_changed: bool = False
    asides: tuple[Aside, ...] = ()
    settled: tuple[Aside, ...] = ()
    count: int | None = None  # of confirmations, where it has grown


@dataclass(frozen=True, slots=True)
class Synced:
    """The outcome of one walk: the new versions, the records kept aside, and whether it came to the end."""

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
    keep_running: Callable[[datetime], bool] = lambda now: True,
) -> Synced:
    """Walk the ledger from the watermark to its end, or as far as `walk_for` and `keep_running`, asked by page, allow.

    Stored pages stay when the walk breaks off; the next one begins at the watermark. A walk that ran out of time, or
    whose owner died, is continued after its last full page, so that a history of any length is read in the end. A page
    with records that can't be read holds the watermark back for ten minutes, so that it is read again. So does what
    was younger than `SETTLING` when an unfinished walk read it: no walk that begins after it moves the watermark.
    """
    watch, settled = Stopwatch(now), watermark(account=account)
    pending: deque[tuple[int, datetime]] = deque()
    begin = furthest = _beginning(account, settled, page_size)
    versions, asides, certain = 0, 0, begin == settled
    for page in client.transactions_after(index=furthest, limit=page_size):
        batch = apply(
            account=account, transactions=page.records, asides=page.asides, source=REST, now=now, after_index=furthest
        )
        versions, asides = versions + batch.new_versions, asides + batch.asides
        certain = certain and not (batch.asides and quarantine.are_new(account=account, since=now - SETTLING))
        if certain:
            settled = _settle(settled, pending, page.records, clocks.at_least(account=account, now=now))
        furthest = max((record.index for record in page.records), default=furthest)
        _advance(account, settled, now)
        is_last = len(page.records) + len(page.asides) < page_size
        if not is_last:
            Watermark.put(account=account, name=UNFINISHED, index=furthest, now=watch.now())
        if not is_last and (watch.now() - now > walk_for or not keep_running(watch.now())):
            return Synced(versions, asides, complete=False)
    Watermark.put(account=account, name=UNFINISHED, index=0, now=watch.now())
    if not asides:
        quarantine.clear_read(account=account, after_index=begin, began=now, now=now)
    matching.review(account=account, now=now)
    return Synced(versions, asides)


def watermark(*, account: Account) -> int:
    """The index up to which everything is certainly stored."""
    return _index_of(account, WATERMARK)


def unfinished_at(*, account: Account) -> int:
    """The index that an unfinished walk has reached; 0 when there is none."""
    return _index_of(account, UNFINISHED)


def _beginning(account: Account, settled: int, page_size: int) -> int:
    """Where a walk begins: at the watermark, or after the last full page of an unfinished walk that came far beyond.

    Half a page that is read again leaves half a page of progress.
    """
    unfinished = unfinished_at(account=account)
    between = LedgerVersion.objects.filter(account=account, index__gt=settled, index__lte=unfinished)
    return unfinished if between[: page_size // 2 + 1].count() > page_size // 2 else settled


def settle(*, account: Account, loaded_from: int, transactions: Sequence[records.Transaction], now: datetime) -> None:
    """Move the watermark by a page that a stream loaded and `apply` has stored: all transactions from an index on.

    A page that leaves a gap after the watermark, or that is not in order, moves nothing.
    """
    settled, indexes = watermark(account=account), [record.index for record in transactions]
    if loaded_from > settled + 1 or indexes != sorted(indexes):
        return
    furthest = _settle(settled, deque(), transactions, clocks.at_least(account=account, now=now))
    if furthest > settled:
        _advance(account, furthest, now)


def highest_index(*, account: Account) -> int:
    """The highest index that was read: a payout made from now on must have a higher one."""
    index = LedgerVersion.objects.filter(account=account).order_by("-index").values_list("index", flat=True).first()
    return index or 0


def apply(
    *,
    account: Account,
    transactions: Sequence[records.Transaction],
    asides: Iterable[Aside] = (),
    source: str,
    now: datetime,
    after_index: int | None = None,
) -> Applied:
    """Store what a walk or the stream brought, in any order, any number of times. No record makes this fail.

    `after_index` is where the reading began; without it, all of it is above the watermark.
    """
    quarantined = [*asides]
    sound: list[records.Transaction] = []
    for record in transactions:
        if reason := unstorable(record):
            quarantined.append(Aside(_text(record), reason, record.id, record.index))
        else:
            sound.append(record)
    versions, entry_ids = _store_unseen(account, sound, source, now)
    new_versions, changed = len(entry_ids), list(entry_ids.values())
    counts: dict[int, int] = {}
    settled: list[Aside] = []
    for record in sorted(
        (record for record in sound if record.index not in entry_ids), key=lambda record: record.index
    ):
        outcome = _compare(versions[record.index], record, source) if record.index in versions else None
        outcome = outcome or _store_or_compare(account, record, source, now)
        new_versions += outcome.is_new
        changed += [outcome.entry_id] if outcome.has_changed or outcome.count is not None else []
        if outcome.count is not None:
            counts[record.index] = outcome.count
        quarantined += outcome.asides
        settled += outcome.settled
    _count(account, counts)
    quarantined = settling.without_settled(account, quarantined)
    quarantine.clear_matching(account=account, transactions=sound, is_listing=source == REST, now=now)
    quarantine.keep_settled(account=account, asides=settled, source=source, now=now)
    begins = watermark(account=account) if quarantined and after_index is None else after_index or 0
    for aside in quarantined:
        quarantine.keep(account=account, aside=aside, source=source, after_index=begins, now=now)
    if changed:
        announcements.announce(f"ledger:{account.pk}", entries=len(changed))
    return Applied(new_versions, tuple(changed), len(quarantined))


def put_aside(
    *, account: Account, transactions: Iterable[records.Transaction], reason: str, source: str, now: datetime
) -> None:
    """Keep records aside that may be of another ledger; a reading that brings one of them again clears it."""
    asides = [Aside(_text(record), reason, record.id, record.index) for record in transactions]
    apply(account=account, transactions=(), asides=asides, source=source, now=now)


def unstorable(record: records.Transaction) -> str:
    """Why the columns would not take this record, or an empty text; checked before the database refuses it."""
    figures = [record.amount] if record.fee is None else [record.amount, record.fee]
    times, too_long = (record.created_at, record.updated_at), _too_long(record)
    reasons = (
        (0 < record.index <= HIGHEST_INDEX, "its index is out of bounds"),
        (
            all(amounts.storable(figure) for figure in figures),
            "its amount or fee has too many digits",
        ),
        (too_long == "", f"its field {too_long} is too long"),
        ("\\u0000" not in _text(record), "it has invalid characters"),
        (all(_FIRST_TIME <= time < _LAST_TIME for time in times), "its times are out of bounds"),
        (abs(record.confirmations or 0) < 2**31, "its number of confirmations is out of bounds"),
    )
    return next((reason for holds, reason in reasons if not holds), "")


def _store_unseen(
    account: Account, sound: Sequence[records.Transaction], source: str, now: datetime
) -> tuple[dict[int, LedgerVersion], dict[int, int]]:
    """Store new transactions as a batch; returns the versions that were here before, and the new entries by index.

    When another process stores some of them at this moment, the page is compared once more: then most of it is here,
    or all of the rest is new.
    """
    previous: list[records.Transaction] | None = None
    while True:
        rows = LedgerVersion.objects.select_related("entry__account").filter(
            account=account, index__in=[record.index for record in sound]
        )
        versions = {version.index: version for version in rows}
        unseen = _never_seen(account, sound, versions)
        entry_ids = batches.store(account=account, transactions=unseen, source=source, now=now)
        if entry_ids or not unseen or (previous is not None and len(unseen) == len(previous)):
            return versions, entry_ids
        previous = unseen


def _never_seen(
    account: Account, sound: Sequence[records.Transaction], versions: Mapping[int, LedgerVersion]
) -> list[records.Transaction]:
    """The records without a version here that occur once: a long history consists of them, and they never conflict."""
    if len(sound) < batches.FEW:
        return []
    stored = LedgerEntry.objects.filter(account=account, exchange_id__in=[record.id for record in sound])
    counts = Counter(record.id for record in sound) + Counter(stored.values_list("exchange_id", flat=True))
    indexes = Counter(record.index for record in sound) + Counter(versions.keys())
    return [record for record in sound if counts[record.id] == indexes[record.index] == 1]


def _settle(
    settled: int, pending: deque[tuple[int, datetime]], page: Sequence[records.Transaction], clock: datetime | None
) -> int:
    """How far the watermark may move: to before the first transaction younger than `SETTLING`.

    The age is measured by the exchange's clock, or by its newest transaction when the clock is unknown.
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
    """Move the watermark up, never down, and record the reading even when it stays."""
    mark, _ = Watermark.objects.get_or_create(account=account, name=WATERMARK)
    Watermark.objects.filter(pk=mark.pk, index__lt=index).update(index=index)
    Watermark.objects.filter(pk=mark.pk).update(moved_at=now)


def _store_or_compare(account: Account, record: records.Transaction, source: str, now: datetime) -> _Outcome:
    """Store one version. When two processes store the same transaction, the second one compares it instead."""
    for _ in range(2):
        try:
            with transaction.atomic():
                return _store(account, record, source, now)
        except IntegrityError:
            version = LedgerVersion.objects.filter(account=account, index=record.index).first()
            if version is not None:
                return _compare(version, record, source)
        except (DataError, OverflowError) as problem:
            reason = f"the database rejected it ({type(problem).__name__})"
            return _Outcome(0, asides=(Aside(_text(record), reason, record.id, record.index),))
    return _Outcome(0, asides=(Aside(_text(record), "it could not be stored", record.id, record.index),))


def _store(account: Account, record: records.Transaction, source: str, now: datetime) -> _Outcome:
    entry, changed = _entry_of(account, record, now)
    version_of(entry, record, source=source, now=now).save(force_insert=True)
    if changed:
        matching.link(entry=entry, now=now)
    return _Outcome(entry.pk, is_new=True, has_changed=changed)


def _entry_of(account: Account, record: records.Transaction, now: datetime) -> tuple[LedgerEntry, bool]:
    """The entry of the transaction, updated to this version if that is newer."""
    entry = LedgerEntry.objects.filter(account=account, exchange_id=record.id).first()
    if entry is None:
        entry = entry_of(account, record, now=now)
        entry.save(force_insert=True)
        return entry, True
    newer = LedgerEntry.objects.filter(pk=entry.pk, index__lt=record.index)
    changed = newer.update(index=record.index, seen_at=now, **values_of(record))
    entry.refresh_from_db()
    return entry, bool(changed)


def _compare(version: LedgerVersion, record: records.Transaction, source: str) -> _Outcome:
    """One index received twice: fill in what the first record lacked, and settle what they say differently.

    What is older than the entry changes nothing. A newer time counts, and at equal times the exchange's listing.
    Confirmations keep growing within a version; an ended transaction is not counted further than anybody waits for.
    """
    entry = version.entry
    if entry.exchange_id != record.id:
        reason = f"index {record.index} already belongs to {entry.exchange_id!r}"
        return _Outcome(entry.pk, asides=(Aside(_text(record), reason, record.id, record.index),))
    if entry.index != record.index:
        return _Outcome(entry.pk)
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
    if odd and record.updated_at < entry.updated_at:
        return _Outcome(entry.pk, count=count)
    is_newer = record.updated_at > entry.updated_at
    is_chosen = bool(odd) and not is_newer and settling.is_settled(entry.account, record.index)
    is_settled = bool(odd) and not is_chosen and (is_newer or source == REST)
    changes = missing | ({column: pairs[column][1] for column in odd} if is_settled else {})
    if changes:
        with transaction.atomic():
            LedgerEntry.objects.filter(pk=entry.pk, index=record.index).update(**changes)
            entry.refresh_from_db()
            matching.link(entry=entry, now=version.seen_at)
    outcome = _Outcome(entry.pk, has_changed=bool(changes), count=count)
    if not odd:
        return outcome
    reason = f"version {record.index} differs between {version.source} and {source}: {', '.join(odd)}"
    asides = (Aside(_text(record), reason, record.id, record.index),)
    return replace(outcome, settled=asides) if is_settled else replace(outcome, asides=asides)


def _count(account: Account, counts: Mapping[int, int]) -> None:
    """Write the higher counts of confirmations by index, one statement for each count, and wake nobody for them.

    Every reading brings one for each payment of the last minutes. A newer version has its own count.
    """
    if not counts:
        return
    with transaction.atomic():
        for count in sorted({*counts.values()}):
            indexes = [index for index, each in counts.items() if each == count]
            rows = LedgerEntry.objects.filter(account=account, index__in=indexes, confirmations__lt=count)
            rows.update(confirmations=count)


def _too_long(record: records.Transaction) -> str:
    """The name of a member that is too long for its column, or an empty text."""
    for column, member, longest in _bounded():
        value = getattr(record, member, None)
        if isinstance(value, str) and len(value) > longest:
            return column
    return ""


@cache
def _bounded() -> tuple[tuple[str, str, int], ...]:
    """Each bounded text column, the record's member for it, and its length."""
    columns = [column for column in LedgerEntry._meta.concrete_fields if column.max_length]
    return tuple(
        (column.name, "id" if column.name == "exchange_id" else column.name, column.max_length or 0)
        for column in columns
    )


def _text(record: records.Transaction) -> str:
    return msgspec.json.encode(record).decode("utf-8", "replace")
