"""One family of collectibles: the family, each collectible with its owner, and those that were destroyed."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from chaindata.cache import answers
from chaindata.cache.answers import Reading
from chaindata.shared.pages import TIP_TOPIC, PartFreshness, freshness_of
from chaindata.tokens import tokens
from chaindata.tokens.tokens import Slice
from chaindata.wire.records import tokens as property_records

PER_PAGE = 20
MOST_COUNTED = 10**9  # the highest number that is counted to
MOST_OWNERS = 20  # whose collectibles are searched for numbers that an issuer chose


@dataclass(frozen=True, slots=True)
class Family:
    """A family of collectibles."""

    property_id: str
    record: property_records.CollectibleProperty | None
    owner: str
    is_unknown: bool
    freshness: PartFreshness


@dataclass(frozen=True, slots=True)
class CollectibleLine:
    """One collectible; `owner` is "" if it was destroyed. Without a record it was not read yet, or does not exist."""

    token_id: str
    record: property_records.Collectible | None
    owner: str
    is_destroyed: bool
    is_missing: bool


@dataclass(frozen=True, slots=True)
class CollectiblesPart:
    """The collectibles of a family by number, twenty a page, and which of them were destroyed.

    `others` have numbers that their issuer chose; they are found by their owners, as far as those are known.
    """

    lines: Slice
    others: Sequence[CollectibleLine]
    destroyed: Sequence[property_records.ListedCollectible]
    is_known: bool
    freshness: PartFreshness


def number_of(token_id: str) -> str:
    """The number in the URL of a family."""
    return token_id.removeprefix("collectible-")


def family(*, property_id: str, now: datetime) -> Family:
    """One family of collectibles."""
    reading = answers.read("get_collectible_property", now=now, propertyId=property_id)
    record: property_records.CollectibleProperty | None = reading.record
    unknown = reading.freshness in ("missing", "refused") and record is None
    owner = tokens.printed(record.owner) if record else ""
    return Family(property_id, record, owner, unknown, freshness_of(reading, topics=[TIP_TOPIC]))


def collectibles(*, property_id: str, page: int, now: datetime) -> CollectiblesPart:
    """The collectibles of the family and their owners; their numbers count from 1 unless an issuer chose others."""
    reading = answers.read("get_collectible_property", now=now, propertyId=property_id)
    destroyed_reading = answers.read("get_destroyed_collectibles", now=now, propertyId=property_id)
    issued_count = min(max(reading.record.have_issued_number, 0), MOST_COUNTED) if reading.record is not None else 0
    numbers = tokens.cut(range(1, issued_count + 1), page, PER_PAGE)
    calls = [("get_collectible", {"propertyId": property_id, "tokenId": str(number)}) for number in numbers.rows]
    details = answers.read_many(calls, now=now)
    destroyed = {each.tokenid for each in destroyed_reading.record or []}
    lines = [_line(str(number), each, destroyed) for number, each in zip(numbers.rows, details, strict=True)]
    others: list[CollectibleLine] = []
    owner_readings: list[Reading] = []
    if any(line.is_missing for line in lines):
        owners = {reading.record.owner, *(line.record.owner for line in lines if line.record and line.owner)}
        others, owner_readings = _uncounted(property_id, sorted(owners)[:MOST_OWNERS], issued_count, destroyed, now)
        others += [
            _destroyed_line(each)
            for each in destroyed_reading.record or []
            if not _is_counted(each.tokenid, issued_count)
        ]
    rows = Slice(lines, numbers.page, numbers.pages, numbers.total)
    freshness = freshness_of(reading, destroyed_reading, *details, *owner_readings, topics=[TIP_TOPIC])
    return CollectiblesPart(rows, others, destroyed_reading.record or [], reading.record is not None, freshness)


def _line(number: str, reading: Reading, destroyed: set[str]) -> CollectibleLine:
    is_gone = number in destroyed
    owner = tokens.printed(reading.record.owner) if reading.record is not None and not is_gone else ""
    return CollectibleLine(number, reading.record, owner, is_gone, reading.freshness == "missing")


def _uncounted(
    property_id: str, owners: Sequence[str], issued_count: int, destroyed: set[str], now: datetime
) -> tuple[list[CollectibleLine], list[Reading]]:
    """The owners' collectibles whose numbers are not among those counted."""
    calls = [("get_collectibles_of_address", {"address": owner, "propertyId": property_id}) for owner in owners]
    readings = answers.read_many(calls, now=now)
    ids = [
        each.tokenid
        for reading in readings
        for each in reading.record or []
        if not _is_counted(each.tokenid, issued_count)
    ]
    more = answers.read_many(
        [("get_collectible", {"propertyId": property_id, "tokenId": each}) for each in ids[:PER_PAGE]], now=now
    )
    lines = [_line(number, reading, destroyed) for number, reading in zip(ids, more, strict=False)]
    return lines, [*readings, *more]


def _destroyed_line(each: property_records.ListedCollectible) -> CollectibleLine:
    return CollectibleLine(each.tokenid, None, "", True, False)


def _is_counted(token_id: str, issued_count: int) -> bool:
    return token_id.isascii() and token_id.isdigit() and len(token_id) < 20 and 1 <= int(token_id) <= issued_count
