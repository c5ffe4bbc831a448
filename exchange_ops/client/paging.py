"""Reading a list that grows meanwhile: by the key of its records, never by an offset.

An offset counts from an end that moves: new records shift the rest, and some are read twice or never. Paging by key
asks for the records beyond the last one read. A server that ignores our filter or sorts the other way would make us
skip records silently; a full page that does so is a `BadReply`.
"""

from collections.abc import Callable, Hashable, Iterator
from datetime import datetime, timedelta
from typing import TypeVar

from exchange_ops.client.listings import Aside, Listing
from wire.errors import BadReply

T = TypeVar("T")
HIGHEST_INDEX = 2**63 - 2  # an index is a 64-bit integer (supplement 2.10), and we ask for the one after it
_TICK = timedelta(milliseconds=1)  # the finest difference that the interface can tell (exchange REST, Conventions 1)


def upwards(
    read: Callable[[int], Listing[T]],
    *,
    after: int,
    limit: int,
    key_of: Callable[[T], int],
    aside_key: Callable[[Aside], int | None],
) -> Iterator[Listing[T]]:
    """Pages with keys above `after`, ascending, until a page is not full. `read` gives the page from a key on."""
    while True:
        page = read(after + 1)
        yield page
        if len(page) < limit:
            return
        keys = [key for record in page.records if (key := key_of(record)) <= HIGHEST_INDEX]
        if keys != sorted(keys):
            raise BadReply("Paging stopped: the exchange did not sort the list as requested.")
        keys += [key for aside in page.asides if (key := aside_key(aside) or 0) <= HIGHEST_INDEX]
        if max(keys, default=after) <= after:
            raise BadReply("Paging stopped: the exchange returned a full page without newer records.")
        after = max(keys)


def backwards(
    read: Callable[[datetime | None], Listing[T]],
    *,
    till: datetime | None,
    limit: int,
    instant_of: Callable[[T], datetime],
    key_of: Callable[[T], Hashable],
) -> Iterator[Listing[T]]:
    """Pages of a list that is sorted by time, newest first, until a page is not full; no record twice.

    `read` gives the page up to an instant. Records of the same instant may lie on both sides of a page's end, and
    whether the end is included is not documented: each page overlaps the one before by a millisecond.
    """
    instants_by_key: dict[Hashable, datetime] = {}
    while True:
        page = read(till)
        new_records = tuple(record for record in page.records if key_of(record) not in instants_by_key)
        yield Listing(new_records, page.asides)
        if len(page) < limit:
            return
        instants = [instant_of(record) for record in page.records]
        if instants != sorted(instants, reverse=True):
            raise BadReply("Paging stopped: the exchange did not sort the list as requested.")
        if not new_records:
            raise BadReply("Paging stopped: the exchange returned a full page without older records.")
        till = instants[-1] + _TICK
        instants_by_key.update(zip(map(key_of, page.records), instants, strict=True))
        instants_by_key = {key: instant for key, instant in instants_by_key.items() if instant <= till}
