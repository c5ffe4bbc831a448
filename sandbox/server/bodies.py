"""Query strings and bodies as pairs of name and value, exactly as they were written (exchange supplement 2.6).

Bodies are form-urlencoded or JSON. Numbers in JSON become text and keep every digit; booleans and lists stay. What the
parameters mean is for `wire.operation.read`; here only what cannot be read at all is refused.
"""

import json
from decimal import Decimal, InvalidOperation
from urllib.parse import parse_qsl

Pairs = list[tuple[str, str]]
Values = list[tuple[str, object]]
MOST_BYTES = 64 * 1024
MOST_FIELDS = 200
# A number in exponent form is written out when it stays this short; longer ones go on as they are and are refused.
MOST_PLACES = 40


class Unreadable(ValueError):
    """The query or body is not what its content type says; the text becomes the description of the error."""


def query_pairs(query: bytes) -> Pairs:
    """The parameters of a query string, in order; a parameter without a value has an empty one."""
    return _form(query, "Query")


def body_pairs(content_type: str, body: bytes) -> Values:
    """The parameters of a body, in order. Without a content type a form is assumed, as curl and old clients send."""
    kind = content_type.partition(";")[0].strip().lower()
    if not body.strip():
        return []
    if kind == "application/json" or kind.endswith("+json"):
        return _json(body)
    if kind in ("", "application/x-www-form-urlencoded"):
        return list(_form(body, "Body"))
    raise Unreadable("Body must be application/x-www-form-urlencoded or application/json")


def _form(raw: bytes, what: str) -> Pairs:
    try:
        return parse_qsl(
            raw.decode("utf-8"), keep_blank_values=True, encoding="utf-8", errors="strict", max_num_fields=MOST_FIELDS
        )
    except UnicodeDecodeError:
        raise Unreadable(f"{what} is not UTF-8") from None
    except ValueError:
        raise Unreadable(f"{what} has more than {MOST_FIELDS} parameters") from None


def texts(values: Values) -> Pairs:
    """The values as text, for a log."""
    return [(name, ",".join(value) if isinstance(value, list) else str(value)) for name, value in values]


def _json(raw: bytes) -> Values:
    try:
        members = json.loads(
            raw.decode("utf-8"), parse_float=_number, parse_int=str, parse_constant=str, object_pairs_hook=_Members
        )
    except (ValueError, RecursionError):
        raise Unreadable("Body is not valid JSON") from None
    if not isinstance(members, _Members):
        raise Unreadable("Body is not a JSON object")
    if len(members) > MOST_FIELDS:
        raise Unreadable(f"Body has more than {MOST_FIELDS} parameters")
    return [(_whole_text(name), _value(name, value)) for name, value in members if value is not None]


class _Members(list[tuple[str, object]]):
    """The members of a JSON object, those with equal names included."""


def _value(name: str, value: object) -> str | bool | list[str]:
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _whole_text(value)
    if isinstance(value, list) and not isinstance(value, _Members) and all(isinstance(item, str) for item in value):
        return [_whole_text(item) for item in value]
    raise Unreadable(f"Param '{_whole_text(name)[:64]}' is neither a value nor a list of values")


def _whole_text(text: str) -> str:
    """The text, refused when it holds half of a surrogate pair: such text has no bytes."""
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise Unreadable("Body holds half a character")
    return text


def _number(written: str) -> str:
    """A JSON number with a point or an exponent, as plain digits: `1e-7` is `0.0000001`."""
    try:
        number = Decimal(written)
    except InvalidOperation:
        return written
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int) or abs(exponent) > MOST_PLACES or len(written) > 2 * MOST_PLACES:
        return written
    return format(number, "f")
