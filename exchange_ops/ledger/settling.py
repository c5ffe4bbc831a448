"""Two records of the exchange for one index: two people of treasury choose which one holds.

The newer reading settles what the specification lets tell apart: a higher index is newer (document 1, Transaction), and
within one index a later `updatedAt`. Where one index was reported for two transactions, or a difference has no order,
the second record waits aside and money is booked by the first. The same is done for a transaction that the stream
reported and the exchange's listing never has: there the second record is its absence. The choice of two people is for
good: no later reading of the same version undoes it. Both records stay readable, the first as a version, the second in
the quarantine, and an entry that does not hold has the status OVERRULED, which no sum counts.
"""

import hashlib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import msgspec
from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from desk.audit import trail
from desk.incidents import review
from desk.live import announcements
from desk.machines import votes
from desk.machines.decisions import Act, Acts
from desk.people import roles
from desk.people.signing import signed_fields
from exchange_ops.client import HIGHEST_INDEX, Aside
from exchange_ops.ledger import batches, matching, quarantine
from exchange_ops.ledger.models import LedgerAside, LedgerEntry, LedgerVersion, RecordChoice
from exchange_ops.shared import alarms, rules
from exchange_ops.shared.models import Account
from exchange_ops.wire import records
from wire.errors import BadReply
from wire.records import decode

if TYPE_CHECKING:
    from desk.models import Person

PURPOSE: Final = "settle-record"  # the database asks for it by this word
PEOPLE: Final = 2
OVERRULED: Final = "overruled"  # a status of ours, where the exchange's would count the entry
UNLISTED: Final = "only the stream reported {!r}; it is not in the exchange's listing"
_REVIEWED: Final = (alarms.RECORDS_DIFFER, alarms.RECORDS_ASIDE)


class CannotSettle(Exception):
    """Nothing was settled; the text is the sentence for the person."""


CHOICES: Final = Acts(PURPOSE, CannotSettle)


@dataclass(frozen=True, slots=True)
class Pair:
    """The record that was read first and the one that waits, as texts by member; `differing` are the members."""

    first: dict[str, Any]
    second: dict[str, Any]
    differing: tuple[str, ...]


def waiting(account: Account | None = None) -> QuerySet[LedgerAside]:
    """The records that wait although another one with their index was stored."""
    rows = LedgerAside.objects.filter(_has_rival(), cleared_at=None).select_related("account")
    rows = rows.exclude(exchange_id="").order_by("pk")
    return rows if account is None else rows.filter(account=account)


def unread(*, account: Account) -> int:
    """How many records wait that nobody can choose: they could not be read."""
    return LedgerAside.objects.filter(account=account, cleared_at=None).exclude(pk__in=waiting(account)).count()


def rival_of(row: LedgerAside) -> LedgerVersion | None:
    """The version that was stored for the same index."""
    if row.index is None:
        return None
    return LedgerVersion.objects.filter(account=row.account_id, index=row.index).select_related("entry").first()


def pair_of(row: LedgerAside) -> Pair | None:
    """Both records as they were read, or None where one of them can't be compared."""
    rival, second = rival_of(row), _record(row.content)
    if rival is None or (second is None and not is_unlisted(row)):
        return None
    content = _plain(msgspec.convert(rival.content, records.Transaction))
    other = _plain(second) if second is not None else {}
    names = tuple(sorted(name for name in content.keys() | other.keys() if content.get(name) != other.get(name)))
    return Pair(content, other, names)


def is_unlisted(row: LedgerAside) -> bool:
    """Whether the choice is between a record of the stream and its absence from the exchange's listing."""
    return row.content == "" and row.exchange_id != ""


def keep_unlisted(*, account: Account, listed: Collection[str], seen_before: datetime, now: datetime) -> None:
    """Put before people each transaction that only the stream reported and that is not among the `listed` ids.

    A listing may be late: only versions from before `seen_before` are put before them.
    """
    rows = LedgerEntry.objects.filter(account=account).exclude(status=OVERRULED).order_by("index")
    streamed = LedgerVersion.objects.filter(entry=OuterRef("pk"), source="stream")
    others = LedgerVersion.objects.filter(entry=OuterRef("pk")).filter(~Q(source="stream") | Q(seen_at__gt=seen_before))
    rows = rows.filter(Exists(streamed), ~Exists(others))
    keys = [key for key in rows.values_list("exchange_id", "index") if key[0] not in listed]
    asides = [Aside("", UNLISTED.format(exchange_id), exchange_id, index) for exchange_id, index in keys]
    for aside in without_settled(account, asides):
        quarantine.keep(account=account, aside=aside, source="rest", after_index=0, now=now)


def digest_of(row: LedgerAside) -> str:
    """What a choice is between: the record that waits and the stored version. Signed with the choice and reason."""
    rival = rival_of(row)
    content = ["countersign-record-1", row.pk, row.account_id, row.index, row.fingerprint]
    content += [[rival.pk, rival.entry.exchange_id, rival.content] if rival is not None else []]
    return hashlib.sha256(trail.canonical(content).encode()).hexdigest()


def choose(
    *,
    aside_id: int,
    person: "Person",
    holds: str,
    reason: str,
    digest: str,
    answer: dict[str, Any],
    session_key: str,
    now: datetime,
) -> LedgerAside:
    """One person's choice ("first" or "second"); the same one of a second person settles it for good.

    Raises CannotSettle, or `stepup.CannotConfirm`.
    """
    if holds not in RecordChoice.Record.values:
        raise CannotSettle("Choice not recorded. Choose the valid record.")
    reason = CHOICES.reason(reason, asks="Choice not recorded. Enter what you checked and why this record is valid.")
    act = Act(person, now, session_key, reason, digest, answer)
    with transaction.atomic():
        trail.take_turn()
        row = _open(aside_id, act)
        confirmation = CHOICES.confirm(replace(act, digest=_signed_digest(digest, holds, reason)))
        word = {"holds": holds, "reason": reason, "digest": confirmation.digest, "at": confirmation.at}
        try:
            with transaction.atomic():
                RecordChoice.objects.create(aside=row, person=person, confirmation=confirmation, **word)
        except IntegrityError:
            raise CannotSettle("Your choice is already recorded; another treasurer must agree.") from None
        people = _people_for(row, holds)
        facts = {"holds": holds, "reason": reason, "people": people, **confirmation.evidence()}
        action = "record.settled" if people >= PEOPLE else "record.choice_made"
        _note(row, act, action, facts)
        if people >= PEOPLE:
            _settle(row, holds, now)
    return row


def may_choose(person: "Person", row: LedgerAside) -> bool:
    """Whether this person can choose on this record."""
    return row.cleared_at is None and rules.may_settle_records(person, row.account_id)


def without_settled(account: Account, asides: Iterable[Aside]) -> list[Aside]:
    """These records without the ones about which two people have chosen: reading them again changes nothing."""
    asides = list(asides)
    indexes = {aside.index for aside in asides if aside.index is not None and 0 < aside.index <= HIGHEST_INDEX}
    if not indexes:
        return asides
    rows = list(LedgerAside.objects.filter(account=account, index__in=indexes).exclude(settled_as=""))
    settled = {(row.exchange_id, row.index, _fixed(row.content)) for row in rows}
    # Where the second record holds, the first one is the one that is read again.
    for version in LedgerVersion.objects.filter(account=account, index__in=[row.index for row in rows]):
        first = msgspec.convert(version.content, records.Transaction)
        settled.add((first.id, version.index, _fixed(msgspec.json.encode(first).decode())))
    return [one for one in asides if (one.exchange_id, one.index, _fixed(one.content)) not in settled]


def is_settled(account: Account, index: int) -> bool:
    """Whether two people have chosen between two records of this index."""
    return LedgerAside.objects.filter(account=account, index=index).exclude(settled_as="").exists()


def overruled(account: Account) -> Iterator[tuple[str, int]]:
    """The ids and indexes of the records that do not hold, by the choice of two people."""
    for row in LedgerAside.objects.filter(account=account).exclude(settled_as=""):
        if row.index is None:
            continue
        if row.settled_as == RecordChoice.Record.FIRST:
            yield row.exchange_id, row.index
        elif (rival := rival_of(row)) is not None:
            yield rival.entry.exchange_id, row.index


def votes_on(keys: Collection[str]) -> Iterable[tuple[str, int, datetime]]:
    """Who has chosen on which of these records, by the cause of its incident."""
    numbers = [int(key.rpartition(":")[2]) for key in keys]
    rows = RecordChoice.objects.filter(aside__in=numbers).values_list("aside_id", "person_id", "at")
    return [(f"record:{number}", person, at) for number, person, at in rows]


def _open(aside_id: int, act: Act) -> LedgerAside:
    """The record, where this person can choose on what they saw of it."""
    row = LedgerAside.objects.select_related("account").filter(pk=aside_id).first()
    if row is None or rival_of(row) is None or pair_of(row) is None:
        raise CannotSettle("Record not found.")
    if not rules.may_settle_records(act.person, row.account_id):
        raise CannotSettle("Choice not recorded: only treasury can choose, and two treasurers must agree.")
    if row.cleared_at is not None:
        raise CannotSettle("Choice not recorded: this record has already been settled.")
    CHOICES.refuse_while_cooling_off(act)
    if act.digest != digest_of(row):
        raise CannotSettle("Choice not recorded: the records changed after you opened the page. Refresh.")
    return row


def _people_for(row: LedgerAside, holds: str) -> int:
    """How many people provably chose this record last."""
    digest = digest_of(row)
    proven = votes.among(
        RecordChoice.objects.filter(aside=row),
        purpose=PURPOSE,
        digests=lambda word: {_signed_digest(digest, word.holds, word.reason)},
    )
    counting = votes.of_those_who_may(proven, role=roles.TREASURY, scope=str(row.account_id)).order_by("pk")
    last = dict(counting.values_list("person_id", "holds"))
    return sum(choice == holds for choice in last.values())


def _settle(row: LedgerAside, holds: str, now: datetime) -> None:
    """Write the choice; where the second record holds, book it and take the first one out of every sum."""
    LedgerAside.objects.filter(pk=row.pk).update(settled_as=holds, cleared_at=now)
    row.refresh_from_db()
    if holds == RecordChoice.Record.SECOND:
        record, rival = _record(row.content), rival_of(row)
        if rival is not None and (record is None or rival.entry.exchange_id != record.id):
            _overrule(rival, now)
        if record is not None:
            _book(row.account, record, now)
    for kind in _REVIEWED:
        review.review_now(kind, now=now)
    announcements.announce(f"ledger:{row.account_id}", entries=1)


def _overrule(rival: LedgerVersion, now: datetime) -> None:
    """Leave the entry of a record that does not hold readable and uncounted; one with a newer version stays."""
    entry = rival.entry
    if LedgerEntry.objects.filter(pk=entry.pk, index=rival.index).update(status=OVERRULED, seen_at=now):
        entry.refresh_from_db()
        matching.link(entry=entry, now=now)


def _book(account: Account, record: records.Transaction, now: datetime) -> None:
    """The entry of the record as it says; an entry with a newer version stays."""
    entry = LedgerEntry.objects.filter(account=account, exchange_id=record.id).first()
    if entry is None:
        entry = batches.entry_of(account, record, now=now)
        entry.save(force_insert=True)
    elif entry.index <= record.index:
        values = {"index": record.index, "seen_at": now, **batches.values_of(record)}
        LedgerEntry.objects.filter(pk=entry.pk).update(**values)
        entry.refresh_from_db()
    matching.link(entry=entry, now=now)


def _note(row: LedgerAside, act: Act, action: str, facts: dict[str, Any]) -> None:
    before = {"exchange_id": row.exchange_id, "index": row.index}
    trail.record(action=action, subject=f"record:{row.pk}", before=before, after=facts, **act.moved)


def _signed_digest(digest: str, holds: str, reason: str) -> str:
    return signed_fields.bind(digest, {"holds": holds, signed_fields.COMMENT: reason})


def _has_rival() -> Q:
    return Q(Exists(LedgerVersion.objects.filter(account=OuterRef("account"), index=OuterRef("index"))))


def _record(content: str) -> records.Transaction | None:
    try:
        record: records.Transaction = decode(content.encode(), records.Transaction)
    except BadReply:
        return None
    return record


def _plain(record: records.Transaction) -> dict[str, Any]:
    return {name: str(value) for name, value in msgspec.to_builtins(record).items()}


def _fixed(content: str) -> str:
    """The content without the confirmations, which grow within a version."""
    record = _record(content)
    if record is None:
        return content
    return msgspec.json.encode(msgspec.structs.replace(record, confirmations=None)).decode()
