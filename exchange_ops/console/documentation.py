"""The documentation beside a console form: the members of an answer, from the record that parses it."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from msgspec import inspect

_MOST_DEEP: Final = 3
_WORDS: Final = {
    "StrType": "string",
    "IntType": "integer",
    "FloatType": "number",
    "DecimalType": "decimal",
    "BoolType": "boolean",
    "DateTimeType": "time",
    "AnyType": "any value",
    "RawType": "any value",
    "NoneType": "null",
    "BytesType": "string",
}


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an answer: its full name, its type in words, and whether it may be absent."""

    name: str
    kind: str
    optional: bool


@lru_cache(maxsize=256)
def members_of(result: Any) -> tuple[str, tuple[Member, ...]]:
    """The type of an answer in words, and the members of its records, at most three levels deep."""
    type_info = inspect.type_info(result)
    return _word(type_info), tuple(_members(type_info, "", 0))


def _members(kind: Any, within: str, depth: int) -> Iterator[Member]:
    record = _record(kind)
    if record is None or depth >= _MOST_DEEP:
        return
    for field in record.fields:
        name = f"{within}{field.encode_name}"
        yield Member(name, _word(field.type), not field.required)
        yield from _members(field.type, f"{name}.", depth + 1)


def _record(kind: Any) -> Any:
    """The record type inside lists, maps and unions."""
    match kind:
        case inspect.StructType():
            return kind
        case inspect.ListType() | inspect.VarTupleType() | inspect.SetType():
            return _record(kind.item_type)
        case inspect.DictType():
            return _record(kind.value_type)
        case inspect.UnionType():
            return next((record for inner in kind.types if (record := _record(inner)) is not None), None)
        case _:
            return None


def _word(kind: Any) -> str:
    match kind:
        case inspect.StructType():
            return "object"
        case inspect.ListType() | inspect.VarTupleType() | inspect.SetType():
            return f"list of {_word(kind.item_type)}"
        case inspect.DictType():
            return f"map of {_word(kind.value_type)}"
        case inspect.UnionType():
            words = [_word(inner) for inner in kind.types if not isinstance(inner, inspect.NoneType)]
            return " or ".join(dict.fromkeys(words)) or "null"
        case inspect.Metadata():
            return _word(kind.type)
        case _:
            return _WORDS.get(type(kind).__name__, "text")
