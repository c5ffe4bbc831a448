"""Whether the decimals of a reply are written plainly: ASCII digits, a minus sign in front, one point.

The decoder takes whatever Python's Decimal takes: "1_000", " 1 ", "+1", other scripts' digits, "1e5", "NaN". Here its
work is checked without looking at each number: a second, much cheaper decoding takes only the decimals' texts, and all
of them together must consist of plain characters. What is in doubt is left to `decimal_of`, one by one.
"""

import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from itertools import chain
from operator import attrgetter
from typing import Annotated, Any

import msgspec
from msgspec import inspect

from wire.values import MOST_DIGITS, CannotRead

HIGHEST_PLACE = 60  # before the point and after it: no amount needs more, and no column has them

_PLAIN = re.compile(r"-?([0-9]+\.?[0-9]*|\.[0-9]+)")
_PLAIN_CHARACTERS = b"0123456789.-,"
_Text = Annotated[str, msgspec.Meta(max_length=HIGHEST_PLACE)]  # a longer one may break a bound

Texts = Iterable[str | None]
Collector = Callable[[Iterable[Any]], Texts]


def checker(kind: Any) -> Callable[[bytes], bool] | None:
    """A function that says of a body, decoded as `kind` already, whether all its decimals are plain; None without any.

    False means doubt: a number without quotes or of very many digits, or characters that are not plain.
    """
    try:
        pair = _twin_of(inspect.type_info(kind))
    except _Alternatives:
        return lambda body: False
    if pair is None:
        return None
    texts, collect = msgspec.json.Decoder(pair[0]), pair[1]

    def are_plain(body: bytes) -> bool:
        try:
            joined = ",".join(filter(None, collect((texts.decode(body),))))
        except msgspec.ValidationError:
            return False
        return not joined.encode().translate(None, _PLAIN_CHARACTERS)

    return are_plain


def decimal_of(value: object) -> object:
    """A decimal's text or JSON number after all checks, unchanged. What is neither is left for the decoder to refuse.

    Raises `CannotRead` for a text that is not plain, and for what has more than 80 digits or 60 places.
    """
    if isinstance(value, str):
        if len(value) <= HIGHEST_PLACE and _PLAIN.fullmatch(value):
            return value
        if len(value) > MOST_DIGITS + 2 or not _PLAIN.fullmatch(value):
            raise CannotRead("a decimal in plain digits is required")
        _bounded(Decimal(value))
    elif isinstance(value, int | Decimal) and not isinstance(value, bool):
        _bounded(Decimal(value))
    return value


def _bounded(number: Decimal) -> None:
    # `adjusted` counts places without writing the number out: 1E+999999 would be a megabyte of zeros.
    if not (number.is_finite() and -HIGHEST_PLACE <= number.adjusted() <= HIGHEST_PLACE):
        raise CannotRead("a finite decimal within range is required")
    _, digits, exponent = number.as_tuple()
    if max(len(digits), -int(exponent)) > MOST_DIGITS:
        raise CannotRead(f"the number has more than {MOST_DIGITS} digits")


# A kind's twin: the same shape with nothing in it but the texts of its decimals ---------------------------------------


class _Alternatives(Exception):
    """A decimal inside one of several alternatives: no twin can be made, and each number is looked at."""


def _twin_of(described: inspect.Type) -> tuple[Any, Collector] | None:
    """The twin of a type and what collects the texts from many values of it; None when there is no decimal inside."""
    while isinstance(described, inspect.Metadata):
        described = described.type
    match described:
        case inspect.DecimalType():
            return _Text, lambda texts: texts
        case inspect.UnionType(types=options):
            return _twin_of_union([option for option in options if not isinstance(option, inspect.NoneType)])
        case inspect.ListType(item_type=inner) if (pair := _twin_of(inner)) is not None:
            twin, collect = pair
            return list[twin], lambda lists: collect(chain.from_iterable(lists))  # type: ignore[valid-type]
        case inspect.DictType(value_type=inner) if (pair := _twin_of(inner)) is not None:
            twin, collect = pair
            return dict[str, twin], lambda dicts: collect(chain.from_iterable(map(dict.values, dicts)))  # type: ignore[valid-type]
        case inspect.StructType():
            return _twin_of_struct(described)
    return None


def _twin_of_union(options: list[inspect.Type]) -> tuple[Any, Collector] | None:
    pairs = [_twin_of(option) for option in options]
    if not any(pairs):
        return None
    if len(pairs) > 1 or pairs[0] is None:
        raise _Alternatives
    twin, collect = pairs[0]
    return twin | None, lambda values: collect(value for value in values if value is not None)


def _twin_of_struct(described: inspect.StructType) -> tuple[Any, Collector] | None:
    members = [(field, *pair) for field in described.fields if (pair := _twin_of(field.type)) is not None]
    if not members:
        return None
    twin = msgspec.defstruct(
        described.cls.__name__,
        [(field.name, twin | None, None) for field, twin, _ in members],
        rename={field.name: field.encode_name for field, _, _ in members},
        gc=False,
    )
    direct = [attrgetter(field.name) for field, twin, _ in members if twin in (_Text, _Text | None)]
    nested = [(attrgetter(field.name), inner) for field, twin, inner in members if twin not in (_Text, _Text | None)]
    if not nested and len(members) > 1:  # the usual record, in one go
        every = attrgetter(*(field.name for field, _, _ in members))
        return twin, lambda values: chain.from_iterable(map(every, values))

    def collect(values: Iterable[Any]) -> Texts:
        structs = list(values)
        here = (map(member, structs) for member in direct)
        below = (inner(filter(None, map(member, structs))) for member, inner in nested)
        return chain(*here, *below)

    return twin, collect
