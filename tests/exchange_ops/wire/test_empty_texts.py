"""Every record of the exchange with empty texts, unknown members and unknown words: taken in with what can be read."""

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from msgspec import inspect

from exchange_ops.wire import records
from wire.errors import BadReply
from wire.records import Record, decode

KINDS = [
    one for one in vars(records).values() if isinstance(one, type) and issubclass(one, Record) and one is not Record
]


def _sample(described: inspect.Type) -> Any:
    """JSON of a type as the exchange writes it: every member that has to be there."""
    while isinstance(described, inspect.Metadata):
        described = described.type
    match described:
        case inspect.StructType():
            return {each.encode_name: _sample(each.type) for each in described.fields if each.required}
        case inspect.UnionType(types=options):
            return _sample(options[0])
        case inspect.ListType(item_type=inner):
            return [_sample(inner)]
        case inspect.DecimalType() | inspect.IntType():
            return "1" if isinstance(described, inspect.DecimalType) else 1
        case inspect.BoolType():
            return True
        case inspect.DateTimeType() | inspect.CustomType():
            return "2026-11-20T14:00:00.000000Z"
    return "vaporised"  # of an open vocabulary: an unknown word is shown


def _fields(kind: type[Record]) -> tuple[inspect.Field, ...]:
    described = inspect.type_info(kind)
    assert isinstance(described, inspect.StructType)
    return described.fields


def _optional(kind: type[Record]) -> Iterator[tuple[str, str, bool]]:
    """The members that may be absent and are no text."""
    for each in _fields(kind):
        options = each.type.types if isinstance(each.type, inspect.UnionType) else ()
        plain = [one.type if isinstance(one, inspect.Metadata) else one for one in options]
        if any(isinstance(one, inspect.NoneType) for one in plain):
            yield each.name, each.encode_name, any(isinstance(one, inspect.StrType) for one in plain)


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_text_is_an_absent_figure_and_what_is_unknown_hides_nothing(kind: type[Record]) -> None:
    sample = _sample(inspect.type_info(kind)) | {"surprise": {"new": [1]}}
    members = list(_optional(kind))
    body = msgspec.json.encode(sample | {encoded: "" for _, encoded, _ in members})
    record = decode(body, kind)
    for name, _, is_text in members:
        assert getattr(record, name) == ("" if is_text else None), name
    for each in _fields(kind):
        if isinstance(each.type, inspect.DecimalType):
            with pytest.raises(BadReply):  # a figure that has to be there is never guessed
                decode(msgspec.json.encode(sample | {each.encode_name: ""}), kind)
