"""The body of a request to the chain-data service: a JSON object or array, or a form (chain supplement 1.7, 1.10 and
7)."""

import json
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from urllib.parse import parse_qsl

MOST_BYTES = 100 * 1024
MOST_FIELDS = 1_000
_FORM = "application/x-www-form-urlencoded"


class FormText(str):
    """One value of a form. Clients send an array of one like that: where an array is asked for, it is one."""

    __slots__ = ()


class Malformed(ValueError):
    """The body can't be read; the text is the parser's, and what the answer says."""


def read(content_type: str, body: bytes) -> object:
    """What the body holds: a mapping of members, or the list that is the whole of it; nothing is an empty mapping.

    Numbers are exact. A type that is neither JSON nor a form is not looked at. Raises `Malformed`.
    """
    kind = content_type.partition(";")[0].strip().lower()
    if not body.strip():
        return {}
    if kind == "application/json" or kind.endswith("+json"):
        return _json(body)
    return _form(body) if kind == _FORM else {}


def _json(body: bytes) -> object:
    if len(body) > MOST_BYTES:
        raise Malformed("request entity too large")
    try:
        found = json.loads(body.decode("utf-8"), parse_float=_number, parse_constant=_no_number)
        json.dumps(found, default=str, ensure_ascii=False).encode("utf-8")  # half a character has no bytes
    except RecursionError:
        raise Malformed("the JSON is nested too deeply") from None
    except json.JSONDecodeError as problem:
        raise Malformed(f"{problem.msg} in JSON at position {problem.pos}") from None
    except ValueError:  # bytes or halves of characters that are no UTF-8; numbers of thousands of digits
        raise Malformed("Unexpected token in JSON") from None
    if not isinstance(found, dict | list):
        raise Malformed("Unexpected token in JSON at position 0")
    return found


def _number(written: str) -> Decimal:
    try:
        return Decimal(written)
    except InvalidOperation:
        raise ValueError(written) from None


def _no_number(written: str) -> object:
    raise ValueError(written)


def _form(body: bytes) -> Mapping[str, object]:
    """A name that comes once has a `FormText`, one that comes again, or ends with brackets, the list of its texts."""
    try:
        pairs = parse_qsl(
            body.decode("utf-8"), keep_blank_values=True, encoding="utf-8", errors="strict", max_num_fields=MOST_FIELDS
        )
    except ValueError:
        raise Malformed("the form can't be read") from None
    found: dict[str, object] = {}
    for written, text in pairs:
        name = written.removesuffix("[]")
        earlier = found.get(name)
        if isinstance(earlier, list):
            earlier.append(text)
        elif earlier is not None:
            found[name] = [earlier, text]
        else:
            found[name] = [text] if written.endswith("[]") else FormText(text)
    return found
