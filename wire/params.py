"""One documented parameter: what it holds, where it travels, and its text on the wire.

`to_text` is the client's side and strict; `from_text` is the server's and as lenient as callers rely on
(exchange supplement 2.6). For every kind the one gives back what the other was given.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from enum import Enum, StrEnum
from typing import Any

from wire import values

MASK = "…"
_CONTROL = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")  # halves of characters too: they have no bytes


class Place(Enum):
    """Where a parameter travels. FORM is the body, form-urlencoded or JSON."""

    PATH = "path"
    QUERY = "query"
    FORM = "form"


class Kind(Enum):
    """What a parameter holds, and the type `read` gives it."""

    TEXT = "text"  # str
    CODE = "code"  # str: a currency or symbol code, read without regard to case
    CODES = "codes"  # list[str]: codes separated by commas
    INTEGER = "integer"  # int
    INTEGERS = "integers"  # list[int], separated by commas
    TEXTS = "texts"  # list[str], an array: in a JSON body only
    OBJECTS = "objects"  # list[dict[str, str]], an array: in a JSON body only
    DECIMAL = "decimal"  # Decimal
    BOOLEAN = "boolean"  # bool
    INSTANT = "instant"  # datetime in UTC, to the millisecond
    INSTANT_OR_INDEX = "instant or index"  # datetime in UTC, or int: an object id, an index, or milliseconds


class Problem(StrEnum):
    """What is wrong with an argument."""

    MISSING = "is required"
    UNKNOWN = "is not a parameter of this operation"
    MALFORMED = "can't be read"
    EMPTY = "is empty"
    TOO_LOW = "is too low"
    TOO_HIGH = "is too high"
    TOO_LONG = "is too long"
    NOT_A_CHOICE = "is not one of the choices"
    NOT_A_MULTIPLE = "is not a multiple"
    TOO_PRECISE = "has too many decimal places"
    NOT_TAKEN = "does not apply"
    CLOSED = "is closed"
    TOO_MANY = "has too many elements"


class BadArgument(ValueError):
    """An argument does not fit its parameter. The value of a sensitive parameter is not kept."""

    def __init__(self, param: str, problem: Problem, value: object = None, detail: str = "") -> None:
        super().__init__(f"{param} {problem}" + (f": {detail}" if detail else ""))
        self.param = param
        self.problem = problem
        self.value = value
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Param:
    """One documented parameter. `lowest` and `highest` are included; `max_length` counts characters.

    `most` bounds the elements of a list. `other_names` are spellings that a server takes too and no client sends.
    """

    name: str
    kind: Kind
    place: Place
    required: bool = False
    default: str | int | bool | None = None
    lowest: int | None = None
    highest: int | None = None
    choices: tuple[str, ...] = ()
    max_length: int | None = None
    sensitive: bool = False
    note: str = ""
    most: int | None = None
    other_names: tuple[str, ...] = ()


# The client's side ---------------------------------------------------------------------------------------------------


def to_text(param: Param, value: object) -> str:
    """The wire's text of a value after every check of its parameter. Raises `BadArgument`."""
    match param.kind:
        case Kind.CODES | Kind.INTEGERS:
            if isinstance(value, str) or not isinstance(value, Iterable):
                raise wrong(param, Problem.MALFORMED, value, "a list is required")
            each = Kind.CODE if param.kind is Kind.CODES else Kind.INTEGER
            items = [_item_text(param, each, item) for item in value]
            if not items:
                raise wrong(param, Problem.EMPTY, value)
            return ",".join(items)
        case kind:
            return _item_text(param, kind, value)


def to_member(param: Param, value: object) -> object:
    """The value as a member of a JSON body: lists as arrays, whole numbers as numbers, decimals as texts.

    An empty list is an array without elements. Raises `BadArgument` as `to_text` does.
    """
    if param.kind in LISTS:
        if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
            raise wrong(param, Problem.MALFORMED, value, "a list is required")
        return [_element(param, item) for item in _no_more_than_allowed(param, list(value))]
    text = _item_text(param, param.kind, value)
    return value if param.kind in (Kind.INTEGER, Kind.BOOLEAN) else text


def _element(param: Param, value: object) -> object:
    match LISTS[param.kind]:
        case Kind.OBJECTS:
            return _object(param, value)
        case Kind.INTEGER:
            return int(_item_text(param, Kind.INTEGER, value))
        case kind:
            return _item_text(param, kind, value)


def _item_text(param: Param, kind: Kind, value: object) -> str:
    if kind is Kind.INSTANT_OR_INDEX:
        kind = Kind.INSTANT if isinstance(value, datetime) else Kind.INTEGER
    expected = {Kind.TEXT: str, Kind.CODE: str, Kind.INTEGER: int, Kind.BOOLEAN: bool, Kind.INSTANT: datetime}
    if kind is Kind.DECIMAL:
        return values.decimal_text(_decimal(param, value, lenient=False))
    if not isinstance(value, expected[kind]) or (kind is Kind.INTEGER and isinstance(value, bool)):
        raise wrong(param, Problem.MALFORMED, value, f"a {kind.value} is required, not {type(value).__name__}")
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(_in_bounds(param, value))
        case datetime():
            return _instant_text(param, value)
        case _:
            return _checked_text(param, kind, str(value))


def _instant_text(param: Param, value: datetime) -> str:
    try:
        return values.instant_text(value)
    except values.CannotRead as problem:
        raise wrong(param, Problem.MALFORMED, value, str(problem)) from None


# The server's side ---------------------------------------------------------------------------------------------------


def from_text(param: Param, value: object) -> object:
    """The typed value of a received text, or of a member of a JSON body. Raises `BadArgument`."""
    if param.kind not in LISTS:
        return _item(param, param.kind, value)
    if param.kind in (Kind.TEXTS, Kind.OBJECTS):
        if not isinstance(value, list):
            raise wrong(param, Problem.MALFORMED, value, "an array is required")
        return [_item(param, LISTS[param.kind], item) for item in _no_more_than_allowed(param, value)]
    items = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else [value]
    each = Kind.CODE if param.kind is Kind.CODES else Kind.INTEGER
    items = _no_more_than_allowed(param, items)
    return [_item(param, each, item.strip() if isinstance(item, str) else item) for item in items]


def _item(param: Param, kind: Kind, value: object) -> object:
    match kind:
        case Kind.BOOLEAN:
            return _boolean(param, value)
        case Kind.DECIMAL:
            return _decimal(param, value, lenient=True)
        case Kind.INTEGER:
            return _in_bounds(param, _integer(param, value))
        case Kind.INSTANT | Kind.INSTANT_OR_INDEX:
            return _instant_or_index(param, kind, value)
        case Kind.OBJECTS:
            return _object(param, value)
        case _:
            return _plain_text(param, kind, value)


def _plain_text(param: Param, kind: Kind, value: object) -> str:
    text = str(value) if isinstance(value, int | Decimal) and not isinstance(value, bool) else value
    if not isinstance(text, str):
        raise wrong(param, Problem.MALFORMED, value, "a string is required")
    return _checked_text(param, kind, text.upper() if kind is Kind.CODE else text)


def _instant_or_index(param: Param, kind: Kind, value: object) -> datetime | int:
    digits = isinstance(value, int) or (isinstance(value, str) and value.isdecimal())
    if kind is Kind.INSTANT_OR_INDEX and digits:
        return _in_bounds(param, _integer(param, value))
    return _instant(param, value)


def _boolean(param: Param, value: object) -> bool:
    if isinstance(value, bool):
        return value
    booleans = {"true": True, "false": False}
    if not isinstance(value, str) or value.lower() not in booleans:
        raise wrong(param, Problem.MALFORMED, value, "true or false is required")
    return booleans[value.lower()]


def _integer(param: Param, value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    digits = value.removeprefix("-") if isinstance(value, str) else ""
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= 19):
        raise wrong(param, Problem.MALFORMED, value, "a whole number is required")
    return int(str(value))


def _instant(param: Param, value: object) -> datetime:
    try:
        return values.instant_from(value)  # type: ignore[arg-type]  # it refuses every other type itself
    except values.CannotRead as problem:
        raise wrong(param, Problem.MALFORMED, value, str(problem)) from None


# Both sides ----------------------------------------------------------------------------------------------------------

LISTS = {
    Kind.CODES: Kind.CODE,
    Kind.INTEGERS: Kind.INTEGER,
    Kind.TEXTS: Kind.TEXT,
    Kind.OBJECTS: Kind.OBJECTS,
}
"""The kinds that hold several values, and the kind of each of them."""


def _no_more_than_allowed(param: Param, items: list[Any]) -> list[Any]:
    if param.most is not None and len(items) > param.most:
        raise BadArgument(param.name, Problem.TOO_MANY, len(items), f"at most {param.most}")
    return items


def _object(param: Param, value: object) -> dict[str, str]:
    """One object of texts, its members named as documented: `choices` are their names."""
    if not isinstance(value, dict) or set(value) != set(param.choices):
        raise wrong(param, Problem.MALFORMED, value, f"objects of {' and '.join(param.choices)} are required")
    bare = replace(param, choices=())
    return {name: _plain_text(bare, Kind.TEXT, value[name]) for name in param.choices}


def _decimal(param: Param, value: object, *, lenient: bool) -> Decimal:
    try:
        number = values.decimal_from(value, lenient=lenient)  # type: ignore[arg-type]  # it refuses every other type itself
    except values.CannotRead as problem:
        raise wrong(param, Problem.MALFORMED, value, str(problem)) from None
    if param.lowest is not None and number < param.lowest:
        raise wrong(param, Problem.TOO_LOW, value, f"at least {param.lowest}")
    if param.highest is not None and number > param.highest:
        raise wrong(param, Problem.TOO_HIGH, value, f"at most {param.highest}")
    return number


def _in_bounds(param: Param, number: int) -> int:
    lowest = -(2**63) if param.lowest is None else param.lowest
    highest = 2**63 - 1 if param.highest is None else param.highest
    if number < lowest:
        raise wrong(param, Problem.TOO_LOW, number, f"at least {lowest}")
    if number > highest:
        raise wrong(param, Problem.TOO_HIGH, number, f"at most {highest}")
    return number


def _checked_text(param: Param, kind: Kind, text: str) -> str:
    if not text:
        raise wrong(param, Problem.EMPTY, text)
    if len(text) > (param.max_length or 1000):
        raise wrong(param, Problem.TOO_LONG, text, f"at most {param.max_length or 1000} characters")
    if _CONTROL.search(text):
        raise wrong(param, Problem.MALFORMED, text, "it contains control characters")
    if kind is Kind.CODE and ("," in text or " " in text):
        raise wrong(param, Problem.MALFORMED, text, "codes can't contain commas or spaces")
    if param.choices and text not in param.choices:
        raise wrong(param, Problem.NOT_A_CHOICE, text, ", ".join(param.choices))
    return text


def wrong(param: Param, problem: Problem, value: object, detail: str = "") -> BadArgument:
    """The refusal of a value, which it keeps unless the parameter is sensitive."""
    return BadArgument(param.name, problem, MASK if param.sensitive else value, detail)
