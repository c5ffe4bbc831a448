"""One family of collectibles: the family, each collectible with its owner, and those that were destroyed."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from chaindata.domain import answers, tokens
from chaindata.domain.pages import TIP_TOPIC, Standing, standing
from chaindata.domain.tokens import Slice
from chaindata.wire.records import tokens as property_records

PER_PAGE = 20


@dataclass(frozen=True, slots=True)
class Family:
    """A family of collectibles."""

    property_id: str
    whole: property_records.CollectibleProperty | None
    owner: str
    is_unknown: bool
    standing: Standing


@dataclass(frozen=True, slots=True)
class CollectibleLine:
    """One collectible: its owner, "" when it was destroyed; without a record it is not read yet, or does not exist."""

    token_id: str
    record: property_records.Collectible | None
    owner: str
    is_destroyed: bool
    is_missing: bool


@dataclass(frozen=True, slots=True)
class CollectiblesPart:
    """The collectibles of a family by number, twenty a page, and which of them were destroyed."""

    lines: Slice
    destroyed: Sequence[property_records.ListedCollectible]
    is_known: bool
    standing: Standing


def number_of(token_id: str) -> str:
    """The number in the address of a family."""
    return token_id.removeprefix("collectible-")


def family(*, property_id: str, now: datetime) -> Family:
    """One family of collectibles."""
    reading = answers.look("get_collectible_property", now=now, propertyId=property_id)
    whole: property_records.CollectibleProperty | None = reading.record
    unknown = reading.standing in ("missing", "refused") and whole is None
    owner = tokens.printed(whole.owner) if whole else ""
    return Family(property_id, whole, owner, unknown, standing(reading, topics=[TIP_TOPIC]))


def collectibles(*, property_id: str, page: int, now: datetime) -> CollectiblesPart:
    """The collectibles of the family and their owners; their numbers count from 1 unless an issuer chose others."""
    reading = answers.look("get_collectible_property", now=now, propertyId=property_id)
    gone = answers.look("get_destroyed_collectibles", now=now, propertyId=property_id)
    issued = reading.record.have_issued_number if reading.record is not None else 0
    numbers = tokens.cut(range(1, issued + 1), page, PER_PAGE)
    asked = [("get_collectible", {"propertyId": property_id, "tokenId": str(number)}) for number in numbers.rows]
    told = answers.look_many(asked, now=now)
    destroyed = {each.tokenid for each in gone.record or []}
    lines = [
        CollectibleLine(
            str(number),
            each.record,
            tokens.printed(each.record.owner) if each.record is not None and str(number) not in destroyed else "",
            str(number) in destroyed,
            each.standing == "missing",
        )
        for number, each in zip(numbers.rows, told, strict=True)
    ]
    rows = Slice(lines, numbers.page, numbers.pages, numbers.total)
    known = reading.record is not None
    return CollectiblesPart(rows, gone.record or [], known, standing(reading, gone, *told, topics=[TIP_TOPIC]))
