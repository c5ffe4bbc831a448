"""The lists of tokens, which are of three kinds, and what the pages of all kinds share.

A token's id is in its URL: 64 hexadecimal digits of the simple ledger, a number of the property layer, and
`collectible-` with a number for a family of collectibles.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from chaindata.cache import answers
from chaindata.shared import addresses
from chaindata.shared.pages import TIP_TOPIC, PartFreshness, freshness_of, page_of
from chaindata.wire.records import tokens as property_records

SIMPLE, PROPERTY, COLLECTIBLE = "simple-ledger", "property", "collectible"
KINDS = {SIMPLE: "SLP tokens", PROPERTY: "Properties", COLLECTIBLE: "Collectibles"}
PER_PAGE = 50
MOST_FAMILIES = 20  # of collectibles that are read: the layer has no list of them
WHC = 1
MOST_PLACES = 8  # that a property can be divided into
_SIMPLE_ID = re.compile(r"[0-9a-f]{64}", re.ASCII)
_PROPERTY_ID = re.compile(r"[1-9][0-9]{0,9}", re.ASCII)
_COLLECTIBLE_ID = re.compile(r"collectible-([1-9][0-9]{0,77})", re.ASCII)
HIGHEST_PROPERTY = 2**32 - 1


def kind_of(token_id: str) -> str:
    """Which of the three kinds an id in a URL is of; "" if it is none."""
    if _SIMPLE_ID.fullmatch(token_id):
        return SIMPLE
    if _PROPERTY_ID.fullmatch(token_id) and int(token_id) <= HIGHEST_PROPERTY:
        return PROPERTY
    return COLLECTIBLE if _COLLECTIBLE_ID.fullmatch(token_id) else ""


@dataclass(frozen=True, slots=True)
class Slice:
    """Some rows of a longer list: pages count from 1."""

    rows: Sequence[object]
    page: int
    pages: int
    total: int


def cut(rows: Sequence[object], page: int, size: int = PER_PAGE) -> Slice:
    """One page of the rows; for a page that does not exist the nearest one."""
    page, pages, first = page_of(len(rows), page=page, size=size)
    return Slice(rows[first : first + size], page, pages, len(rows))


# Lists ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PropertyLine:
    """A property in the list, with its total when that is known."""

    listed: property_records.ListedProperty
    record: property_records.Property | None


@dataclass(frozen=True, slots=True)
class FamilyLine:
    """A family of collectibles in the list, by its number."""

    number: str
    record: property_records.CollectibleProperty


@dataclass(frozen=True, slots=True)
class ListPart:
    """One of the three lists. `is_known` tells an empty list from one that was not read yet."""

    rows: Slice
    is_known: bool
    freshness: PartFreshness


def simple_list(*, page: int, now: datetime) -> ListPart:
    """The tokens of the simple ledger, newest first, as the service lists them."""
    reading = answers.read("get_slp_tokens", now=now)
    rows = [token for token in reading.record or [] if token.is_known and kind_of(token.id) == SIMPLE]
    return ListPart(cut(rows, page), reading.record is not None, freshness_of(reading, topics=[TIP_TOPIC]))


def property_list(*, page: int, now: datetime) -> ListPart:
    """The properties by id, each with its total and who issued it."""
    reading = answers.read("get_properties", now=now)
    rows = cut(reading.record or [], page)
    listed = [row for row in rows.rows if isinstance(row, property_records.ListedProperty)]
    more = answers.read_many([("get_property", {"propertyId": row.propertyid}) for row in listed], now=now)
    lines = [PropertyLine(row, one.record) for row, one in zip(listed, more, strict=True)]
    is_known = reading.record is not None
    return ListPart(
        Slice(lines, rows.page, rows.pages, rows.total), is_known, freshness_of(reading, *more, topics=[TIP_TOPIC])
    )


def collectible_list(*, now: datetime) -> ListPart:
    """The families of collectibles, by their numbers from 1 on until one does not exist."""
    numbers = [str(number) for number in range(1, MOST_FAMILIES + 1)]
    readings = answers.read_many([("get_collectible_property", {"propertyId": number}) for number in numbers], now=now)
    ends = next((n for n, reading in enumerate(readings) if reading.freshness == "missing"), len(readings))
    counted = readings[: ends + 1]
    lines = [
        FamilyLine(number, reading.record) for number, reading in zip(numbers, counted, strict=False) if reading.record
    ]
    is_known = bool(lines) or all(reading.freshness == "missing" for reading in counted)
    freshness = freshness_of(*counted[: max(ends, 1)], topics=[TIP_TOPIC])
    return ListPart(cut(lines, 1, MOST_FAMILIES), is_known, freshness)


# Who holds it ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Holder:
    """What one address holds, and its share of the circulating supply, 0 to 1."""

    address: str
    balance: Decimal
    share: Decimal
    is_frozen: bool = False


@dataclass(frozen=True, slots=True)
class HoldersPart:
    """The holders, the largest first. `total` is the sum of all; `adds_up` compares it with the stated supply.

    `adds_up` is None if there is nothing to compare it with yet.
    """

    holders: Slice
    total: Decimal
    adds_up: bool | None
    is_known: bool
    freshness: PartFreshness


def holders(
    balances: Sequence[tuple[str, Decimal]],
    *,
    supply: Decimal | None,
    page: int,
    is_known: bool,
    freshness: PartFreshness,
    frozen: frozenset[str] = frozenset(),
) -> HoldersPart:
    """The holders in order, their sum compared with the supply if that is known."""
    total = sum((balance for _, balance in balances), Decimal(0))
    ordered = sorted(balances, key=lambda row: (-row[1], row[0]))
    rows = [Holder(who, balance, _share(balance, total), who in frozen) for who, balance in ordered]
    adds_up = total == supply if supply is not None and is_known else None
    return HoldersPart(cut(rows, page), total, adds_up, is_known, freshness)


def _share(balance: Decimal, total: Decimal) -> Decimal:
    return min(max(balance / total, Decimal(0)), Decimal(1)) if total > 0 else Decimal(0)


def printed(text: str) -> str:
    """The printed form of an address; a text that can't be read stays, such as a burn address of another network."""
    try:
        return addresses.printed(text)
    except addresses.NotAnAddress:
        return text


def precision_of(answer: int | str) -> int:
    """How many decimals a property has, which comes as a number or as its digits; 0 for anything else."""
    text = str(answer)
    places = int(text) if text.isascii() and text.isdigit() and len(text) <= 2 else 0
    return min(places, MOST_PLACES)
