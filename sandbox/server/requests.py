"""What a request says: read whole over ASGI, the operation that its path names, its query and its body.

Both services read their queries alike (exchange supplement 2.6), each its own bodies (chain supplement 1.7, 1.10 and
7). What the parameters mean is for `wire.operation.read` and for the chain's own rules; here only what cannot be read
at all is refused.
"""

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any
from urllib.parse import parse_qsl, unquote

from wire.operation import Operation

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Mapping[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
Pairs = list[tuple[str, str]]
Values = list[tuple[str, object]]
MOST_BYTES = 64 * 1024
MOST_FIELDS = 200
# A number in exponent form is written out when it stays this short; longer ones go on as they are and are refused.
MOST_PLACES = 40
MOST_CHAIN_BYTES = 100 * 1024
MOST_CHAIN_FIELDS = 1_000
_FORM = "application/x-www-form-urlencoded"
LONGEST_PATH = 4_096
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")


class TooLarge(Exception):
    """The body is longer than the sandbox reads."""


class ClientGone(Exception):
    """The client hung up before its request was whole; nothing is to be done."""


@dataclass(frozen=True, slots=True)
class Received:
    """A request as it came: the path still percent-encoded, the body as bytes."""

    method: str
    raw_path: bytes
    query: bytes
    body: bytes
    headers: Mapping[str, str]
    address: str

    @property
    def path(self) -> str:
        """The path as written, for logs and messages."""
        return self.raw_path.decode("ascii", errors="replace")

    @property
    def target(self) -> str:
        """Path and query as written."""
        query = self.query.decode("ascii", errors="replace")
        return f"{self.path}?{query}" if query else self.path


async def read(scope: Scope, receive: Receive, *, most_bytes: int = MOST_BYTES) -> Received:
    """The whole request; raises TooLarge or ClientGone."""
    headers = _headers(scope)
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        body += message.get("body", b"")
        if len(body) > most_bytes:
            raise TooLarge
        if not message.get("more_body", False):
            break
    return Received(
        method=scope["method"],
        raw_path=scope["raw_path"],
        query=scope["query_string"],
        body=bytes(body),
        headers=headers,
        address=str((scope.get("client") or ("",))[0]),
    )


def _headers(scope: Scope) -> dict[str, str]:
    """The headers by lower-case name; of a repeated one the first, so that a second credential can't replace it."""
    headers: dict[str, str] = {}
    for name, value in scope["headers"]:
        headers.setdefault(name.decode("latin-1").lower(), value.decode("latin-1"))
    return headers


# Routes -------------------------------------------------------------------------------------------------------------


class Undecodable(ValueError):
    """A part of the path is not UTF-8; the text is the part as it was written."""


@dataclass(frozen=True, slots=True)
class Route:
    """One row and the segments of its path; a segment in braces is a parameter.

    With `any_case` the literal segments, which are in small letters then, fit in whatever case they are written.
    """

    operation: Operation
    segments: tuple[str, ...]
    any_case: bool = False

    def values(self, segments: tuple[str, ...]) -> dict[str, str] | None:
        """The path's parameters when the segments fit; None when they don't."""
        values: dict[str, str] = {}
        for expected, segment in zip(self.segments, segments, strict=True):
            if expected.startswith("{"):
                values[expected[1:-1]] = segment
            elif expected != (segment.lower() if self.any_case else segment):
                return None
        return values


class Routes:
    """The routes of a catalogue. A literal path wins over one with parameters (`/trading/fee/all`).

    With `any_case` the letter case of literal segments doesn't count.
    """

    def __init__(
        self, operations: Iterable[Operation], *, any_case: bool = False, longest_path: int = LONGEST_PATH
    ) -> None:
        self._longest_path = longest_path
        self._routes: dict[tuple[str, int], list[Route]] = {}
        for operation in operations:
            for path in operation.every_path:
                segments = tuple(_literal(part, any_case) for part in path.strip("/").split("/"))
                route = Route(operation, segments, any_case)
                for method in (operation.method, *operation.other_methods):
                    self._routes.setdefault((method, len(segments)), []).append(route)
        for routes in self._routes.values():
            routes.sort(key=lambda route: sum(segment.startswith("{") for segment in route.segments))

    def find(self, method: str, raw_path: bytes) -> tuple[Operation, dict[str, str]] | None:
        """The operation and its path values, percent-decoded segment by segment; None for an unknown path or verb.

        HEAD names what GET does. One slash at the end is ignored; an empty segment, or one that is not UTF-8, names
        nothing.
        """
        try:
            segments = _segments(raw_path) if len(raw_path) <= self._longest_path else ("",)
        except Undecodable:
            return None
        method = "GET" if method == "HEAD" else method
        for route in self._routes.get((method, len(segments)), ()) if all(segments) else ():
            values = route.values(segments)
            if values is not None:
                return route.operation, values
        return None

    def methods(self, raw_path: bytes) -> list[str]:
        """The verbs that a path takes, HEAD and OPTIONS included; none for an unknown path."""
        named = [method for method in METHODS if self.find(method, raw_path) is not None]
        return [*named, "OPTIONS"] if named else []


def _literal(part: str, any_case: bool) -> str:
    return part.lower() if any_case and not part.startswith("{") else part


def must_decode(raw_path: bytes) -> None:
    """Raises `Undecodable` for the first segment that is not UTF-8."""
    _segments(raw_path)


def _segments(raw_path: bytes) -> tuple[str, ...]:
    written = raw_path.decode("ascii", errors="replace").removeprefix("/").removesuffix("/")
    return tuple(map(_segment, written.split("/")))


def _segment(part: str) -> str:
    try:
        return unquote(part, errors="strict")
    except UnicodeDecodeError:
        raise Undecodable(part[:100]) from None


# The exchange's queries and bodies ---------------------------------------------------------------------------------


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
    return [(_encodable_text(name), _value(name, value)) for name, value in members if value is not None]


class _Members(list[tuple[str, object]]):
    """The members of a JSON object, those with equal names included."""


def _value(name: str, value: object) -> str | bool | list[str]:
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _encodable_text(value)
    if isinstance(value, list) and not isinstance(value, _Members) and all(isinstance(item, str) for item in value):
        return [_encodable_text(item) for item in value]
    raise Unreadable(f"Param '{_encodable_text(name)[:64]}' is neither a value nor a list of values")


def _encodable_text(text: str) -> str:
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


# The chain-data service's bodies ------------------------------------------------------------------------------------


class FormText(str):
    """One value of a form. Clients send an array of one like that: where an array is asked for, it is one."""

    __slots__ = ()


class Malformed(ValueError):
    """The body can't be read; the text is the parser's, and what the answer says."""


def chain_body(content_type: str, body: bytes) -> object:
    """What the body holds: a mapping of members, or the list that is the whole of it; nothing is an empty mapping.

    Numbers are exact. A type that is neither JSON nor a form is not looked at. Raises `Malformed`.
    """
    kind = content_type.partition(";")[0].strip().lower()
    if not body.strip():
        return {}
    if kind == "application/json" or kind.endswith("+json"):
        return _chain_json(body)
    return _chain_form(body) if kind == _FORM else {}


def _chain_json(body: bytes) -> object:
    if len(body) > MOST_CHAIN_BYTES:
        raise Malformed("request entity too large")
    try:
        document = json.loads(body.decode("utf-8"), parse_float=_exact, parse_constant=_no_number)
        json.dumps(document, default=str, ensure_ascii=False).encode("utf-8")  # half a character has no bytes
    except RecursionError:
        raise Malformed("the JSON is nested too deeply") from None
    except json.JSONDecodeError as problem:
        raise Malformed(f"{problem.msg} in JSON at position {problem.pos}") from None
    except ValueError:  # bytes or halves of characters that are no UTF-8; numbers of thousands of digits
        raise Malformed("Unexpected token in JSON") from None
    if not isinstance(document, dict | list):
        raise Malformed("Unexpected token in JSON at position 0")
    return document


def _exact(written: str) -> Decimal:
    try:
        return Decimal(written)
    except InvalidOperation:
        raise ValueError(written) from None


def _no_number(written: str) -> object:
    raise ValueError(written)


def _chain_form(body: bytes) -> Mapping[str, object]:
    """A name that comes once has a `FormText`, one that comes again, or ends with brackets, the list of its texts."""
    try:
        pairs = parse_qsl(
            body.decode("utf-8"),
            keep_blank_values=True,
            encoding="utf-8",
            errors="strict",
            max_num_fields=MOST_CHAIN_FIELDS,
        )
    except ValueError:
        raise Malformed("the form can't be read") from None
    members: dict[str, object] = {}
    for written, text in pairs:
        name = written.removesuffix("[]")
        earlier = members.get(name)
        if isinstance(earlier, list):
            earlier.append(text)
        elif earlier is not None:
            members[name] = [earlier, text]
        else:
            members[name] = [text] if written.endswith("[]") else FormText(text)
    return members
