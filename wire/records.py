"""Replies become records: JSON to typed, frozen structs with exact decimals.

A record names its members by annotation. Decimals come exactly from JSON texts and numbers; what is not finite, or too
large or too small to be written out, is refused. A missing required member or a wrong type is a `BadReply`. Members
that the record does not name are kept aside in `unknown`, counted for each record, and harm nothing.
"""

import threading
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from operator import attrgetter
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import inspect

from wire.errors import BadReply
from wire.values import MOST_DIGITS, CannotRead, Nanoseconds

_EXAMPLE_CHARACTERS = 200
_MOST_NAMES = 100
_AND_OTHERS = "…"

Instant = Annotated[datetime, msgspec.Meta(tz=True)]
NonEmpty = Annotated[str, msgspec.Meta(min_length=1)]
Whole = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]  # what a database column holds
T = TypeVar("T")


class Record(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """The base of all records: `snake_case` here, `camelCase` on the wire."""

    def __post_init__(self) -> None:
        try:
            numbers = _decimals[self.__class__](self)
        except KeyError:
            numbers = _learn(self.__class__)(self)
        for number in numbers:
            # `adjusted` counts places without writing the number out: 1E+999999 would be a megabyte of zeros.
            if number is not None and not (number.is_finite() and -60 <= number.adjusted() <= 60):
                raise ValueError("Expected a finite decimal of a sensible size")


# For each kind of record a function that picks its decimal members. It runs for every record decoded: a plain dict.
_decimals: dict[type[Record], Callable[[Any], tuple[Decimal | None, ...]]] = {}


def _learn(kind: type[Record]) -> Callable[[Any], tuple[Decimal | None, ...]]:
    attributes = [field.name for field in msgspec.structs.fields(kind) if _is_decimal(field.type)]
    # With one name attrgetter gives the bare member, with none it can't be made: doubled, and spared.
    _decimals[kind] = attrgetter(*attributes, attributes[0]) if attributes else _none_of
    return _decimals[kind]


def _none_of(record: object) -> tuple[()]:
    return ()


def _is_decimal(annotation: object) -> bool:
    described = inspect.type_info(annotation)
    options = described.types if isinstance(described, inspect.UnionType) else (described,)
    return any(isinstance(option, inspect.DecimalType) for option in options)


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
_decoders: dict[Any, msgspec.json.Decoder[Any]] = {}


def decode(body: bytes, kind: Any) -> Any:
    """The records of a JSON body: `kind` is a record, or list, dict or union of records. Raises `BadReply`."""
    _refuse_what_nobody_can_keep(body)
    decoder = _decoders.get(kind)
    if decoder is None:
        decoder = _decoders[kind] = msgspec.json.Decoder(kind, dec_hook=_special)
    try:
        return decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        return _decode_with_unknown(body, kind, problem)


_DIGITS = bytes(48 if byte in b"0123456789." else 32 for byte in range(256))
_TOO_LONG = b"0" * (MOST_DIGITS + 2)  # with its point


def _refuse_what_nobody_can_keep(body: bytes) -> None:
    """Endless numbers and the character NUL are valid JSON, and would fail only later, in a column of a database.

    Looked for in the bytes: to count the digits of each decimal would take longer than to decode it.
    """
    if _TOO_LONG in body.translate(_DIGITS):
        raise BadReply(f"the reply has a number of more than {MOST_DIGITS} digits")
    if b"\\" in body and b"\\u0000" in body:
        raise BadReply("the reply has a text with the character NUL")


_plain = msgspec.json.Decoder(float_hook=Decimal)


def _decode_with_unknown(body: bytes, kind: Any, problem: Exception) -> Any:
    """Decodes once more without the members that nobody named; every other problem is a bad reply."""
    if "unknown field" not in str(problem):
        raise BadReply(_sentence(problem)) from None
    aside: list[tuple[str, str, object]] = []
    try:
        known = _known(_plain.decode(body), inspect.type_info(kind), aside)
        records = msgspec.convert(known, kind, dec_hook=_special)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, CannotRead) as other:
        raise BadReply(_sentence(other)) from None
    for record, member, value in aside:
        unknown.add(record, member, value)
    return records


def _known(value: Any, described: inspect.Type, aside: list[tuple[str, str, object]]) -> Any:
    """The value without unknown members, which are put aside; what has an unexpected shape is left for the decoder."""
    match described, value:
        case inspect.Metadata(type=inner), _:
            return _known(value, inner, aside)
        case inspect.UnionType(types=options), _:
            return _known(value, next((option for option in options if _fits(option, value)), inspect.AnyType()), aside)
        case inspect.ListType(item_type=inner), list():
            return [_known(item, inner, aside) for item in value]
        case inspect.DictType(value_type=inner), dict():
            return {key: _known(item, inner, aside) for key, item in value.items()}
        case inspect.StructType(cls=cls, fields=fields), dict():
            members = {field.encode_name: field.type for field in fields}
            aside += [(cls.__name__, name, item) for name, item in value.items() if name not in members]
            return {name: _known(item, members[name], aside) for name, item in value.items() if name in members}
        case _:
            return value


def _fits(option: inspect.Type, value: object) -> bool:
    if isinstance(option, inspect.Metadata):
        return _fits(option.type, value)
    wanted = dict if isinstance(option, inspect.StructType | inspect.DictType) else list
    return isinstance(option, inspect.StructType | inspect.DictType | inspect.ListType) and isinstance(value, wanted)


def _special(kind: type, value: Any) -> Any:
    """The types that the decoder does not know by itself."""
    if kind is Nanoseconds:
        return Nanoseconds.from_text(value)
    raise NotImplementedError(kind)


def _sentence(problem: Exception) -> str:
    """What was wrong and where, without the body: it may hold what nobody should read in a log."""
    if isinstance(problem, RecursionError):
        return "the reply is nested too deeply"
    return f"the reply does not read as documented: {str(problem)[:200]}"
