"""Lists read element by element, so that one bad record doesn't hide the others."""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import msgspec

from wire import records as wire_records

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Aside:
    """One element of a list that could not be read: its text, why, and what could still be told of it.

    `index` is a ledger entry's, `number` the id of a record whose ids are whole numbers (a trade, an order).
    """

    content: str
    reason: str
    exchange_id: str = ""
    index: int | None = None
    number: int | None = None


@dataclass(frozen=True, slots=True)
class Listing(Generic[T]):
    """The elements of a list that could be read, in its order, and those that could not."""

    records: tuple[T, ...]
    asides: tuple[Aside, ...] = ()

    def __len__(self) -> int:
        """How many elements the exchange sent, readable or not."""
        return len(self.records) + len(self.asides)


def read_each(body: bytes, kind: Any) -> Listing[Any]:
    """The elements of a JSON list, each read by itself: the ones that can't be read come as asides.

    Raises `BadReply` when the body is no list at all.
    """
    records, unread = wire_records.decode_each(body, kind)
    return Listing(tuple(records), tuple(aside_of(element.content, element.reason) for element in unread))


def aside_of(element: bytes, reason: str) -> Aside:
    """An element that could not be read, with the ids that are still readable."""
    content = element.decode("utf-8", "replace")
    try:
        members = msgspec.json.decode(element)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        members = None
    if not isinstance(members, dict):
        return Aside(content, reason)
    name, index = members.get("id"), members.get("index")
    return Aside(content, reason, name if isinstance(name, str) else "", _integer(index), _integer(name))


def _integer(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
