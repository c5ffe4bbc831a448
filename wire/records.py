"""Replies become records: JSON to typed, frozen structs with exact decimals.

A record names its members by annotation. Decimals come exactly from JSON texts and numbers; what is not finite, or too
large or too small to be written out, is refused. A missing required member or a wrong type is a `BadReply`. Members
that the record does not name are kept aside in `unknown`, counted for each record, and harm nothing. An empty text in
place of a number, a moment or a list that may be absent is read as its absence, and counted as well.
"""

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any

import msgspec
from msgspec import inspect

from wire import decimal_text
from wire.errors import BadReply
from wire.values import CannotRead, Nanoseconds

_EXAMPLE_CHARACTERS = 200
_MOST_NAMES = 100
_AND_OTHERS = "…"
NUL = re.compile(rb"(?<!\\)((?:\\\\)*)\\u0000")  # in JSON; a backslash that is itself escaped begins nothing

Instant = Annotated[datetime, msgspec.Meta(tz=True)]
NonEmpty = Annotated[str, msgspec.Meta(min_length=1)]
Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]  # what a database column holds


class Record(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """The base of all records: `snake_case` here, `camelCase` on the wire."""


class UnknownMembers:
    """Members of replies that no record names: how often each came, and one example."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: dict[str, dict[str, int]] = {}
        self._examples: dict[tuple[str, str], str] = {}

    def counts(self) -> dict[str, dict[str, int]]:
        """Occurrences by record and member name; past a hundred names of one record the rest is counted as `…`."""
        with self._lock:
            return {record: dict(members) for record, members in self._counts.items()}

    def example(self, record: str, member: str) -> str | None:
        """The first value seen, as JSON text of at most 200 characters."""
        with self._lock:
            return self._examples.get((record, member))

    def add(self, record: str, member: str, value: object) -> None:
        """Counts one occurrence."""
        with self._lock:
            members = self._counts.setdefault(record, {})
            if member not in members and len(members) >= _MOST_NAMES:
                member = _AND_OTHERS
            members[member] = members.get(member, 0) + 1
            if members[member] == 1 and member != _AND_OTHERS:
                self._examples[record, member] = msgspec.json.encode(value).decode()[:_EXAMPLE_CHARACTERS]

    def clear(self) -> None:
        """Forgets all counts."""
        with self._lock:
            self._counts.clear()
            self._examples.clear()


unknown = UnknownMembers()


@dataclass(frozen=True, slots=True)
class _Reader:
    """How a kind of reply is read: its decoder, and what then vouches for its decimals."""

    decoder: msgspec.json.Decoder[Any]
    are_plain: Callable[[bytes], bool] | None


_readers: dict[Any, _Reader] = {}


def decode(body: bytes, kind: Any) -> Any:
    """The records of a JSON body: `kind` is a record, or list, dict or union of records. Raises `BadReply`.

    The text of a decimal is ASCII digits with an optional minus sign and point; a JSON number may have an exponent.
    """
    if b"\\u0000" in body and NUL.search(body):  # valid JSON that no text column of a database takes
        raise BadReply("the response contains a NUL character")
    reader = _readers.get(kind)
    if reader is None:
        reader = _readers[kind] = _Reader(msgspec.json.Decoder(kind, dec_hook=_special), decimal_text.checker(kind))
    try:
        records = reader.decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        if not _may_be_read(body, str(problem)):
            raise BadReply(_sentence(problem)) from None
    else:
        if reader.are_plain is None or reader.are_plain(body):
            return records
    return _decode_each_number(body, kind)


@dataclass(frozen=True, slots=True)
class Unread:
    """One element of a list that could not be read: its JSON, and why."""

    content: bytes
    reason: str


def decode_each(body: bytes, kind: Any) -> tuple[list[Any], list[Unread]]:
    """The elements of a JSON list, in its order, and those that can't be read: one bad record hides no other.

    Raises `BadReply` when the body is no list at all. A list without bad records takes no longer than `decode`.
    """
    with suppress(BadReply):
        return decode(body, list[kind]), []
    records: list[Any] = []
    unread: list[Unread] = []
    for element in _elements_of(body):
        try:
            records.append(decode(element, kind))
        except BadReply as problem:
            unread.append(Unread(element, problem.reason))
    return records, unread


_elements = msgspec.json.Decoder(list[msgspec.Raw])


def _elements_of(body: bytes) -> Iterator[bytes]:
    try:
        return map(bytes, _elements.decode(body))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise BadReply(_sentence(problem)) from None


_untyped = msgspec.json.Decoder(float_hook=Decimal)


def _decode_each_number(body: bytes, kind: Any) -> Any:
    """Decodes once more, slowly: looks at each number, and puts the members aside that nobody named."""
    aside: list[tuple[str, str, object]] = []
    try:
        documented = _without_unknown(_untyped.decode(body), inspect.type_info(kind), aside)
        records = msgspec.convert(documented, kind, dec_hook=_special)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, CannotRead) as problem:
        raise BadReply(_sentence(problem)) from None
    except InvalidOperation:  # an exponent beyond any number
        raise BadReply("the response contains a number that is out of range") from None
    for record, member, value in aside:
        unknown.add(record, member, value)
    return records


def _may_be_read(body: bytes, problem: str) -> bool:
    """Whether a second, slower look may read what the decoder refused."""
    return "unknown field" in problem or b'""' in body


def _without_unknown(value: Any, described: inspect.Type, aside: list[tuple[str, str, object]]) -> Any:
    """The value without unknown members, which are put aside; what has an unexpected shape is left for the decoder."""
    while isinstance(described, inspect.Metadata):
        described = described.type
    match described, value:
        case inspect.DecimalType(), _:
            return decimal_text.decimal_of(value)
        case inspect.UnionType(types=options), _:
            return _without_unknown(
                value, next((option for option in options if _fits(option, value)), inspect.AnyType()), aside
            )
        case inspect.ListType(item_type=inner), list():
            return [_without_unknown(item, inner, aside) for item in value]
        case inspect.DictType(value_type=inner), dict():
            return {key: _without_unknown(item, inner, aside) for key, item in value.items()}
        case inspect.StructType(), dict():
            return _members_without_unknown(value, described, aside)
        case _:
            return value


def _members_without_unknown(
    value: dict[str, Any], described: inspect.StructType, aside: list[tuple[str, str, object]]
) -> dict[str, Any]:
    members = {field.encode_name: field.type for field in described.fields}
    documented: dict[str, Any] = {}
    for name, item in value.items():
        if name not in members:
            aside.append((described.cls.__name__, name, item))
            continue
        if item == "" and _is_absent_when_empty(members[name]):
            aside.append((described.cls.__name__, name, item))
            documented[name] = None
            continue
        try:
            documented[name] = _without_unknown(item, members[name], aside)
        except CannotRead as problem:
            raise CannotRead(f"{name}: {problem}") from None
    return documented


def _is_absent_when_empty(described: inspect.Type) -> bool:
    """Whether the member may be nothing and is no text, so that an empty text can only mean nothing."""
    if not isinstance(described, inspect.UnionType):
        return False
    plain = [_plain_type(option) for option in described.types]
    return any(isinstance(one, inspect.NoneType) for one in plain) and not any(
        isinstance(one, inspect.StrType | inspect.AnyType) for one in plain
    )


def _plain_type(described: inspect.Type) -> inspect.Type:
    while isinstance(described, inspect.Metadata):
        described = described.type
    return described


def _fits(option: inspect.Type, value: object) -> bool:
    match option:
        case inspect.Metadata(type=inner):
            return _fits(inner, value)
        case inspect.StructType() | inspect.DictType():
            return isinstance(value, dict)
        case inspect.ListType():
            return isinstance(value, list)
        case inspect.DecimalType():
            return isinstance(value, str | int | Decimal)
        case _:
            return False


def _special(kind: type, value: Any) -> Any:
    """The types that the decoder does not know by itself."""
    if kind is Nanoseconds:
        return Nanoseconds.from_text(value)
    raise NotImplementedError(kind)


def _sentence(problem: Exception) -> str:
    """What was wrong and where, without the body: it may hold what nobody should read in a log."""
    if isinstance(problem, RecursionError):
        return "the response is nested too deeply"
    return f"the response does not match the documentation: {str(problem)[:200]}"
