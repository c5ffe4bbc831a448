"""JSON-RPC frames as the exchange's sockets write and read them (exchange supplement 1.1).

Differences from the letter of JSON-RPC 2.0 that callers rely on: the `jsonrpc` member may be missing, `params` may be
missing or null, equal ids are legal, an id is a text or a number and comes back with its type, and a request without
an id is answered with `id: null`. Numbers are exact in both directions.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any

import msgspec

from wire.values import decimal_text, instant_text

MOST_CHARACTERS = 32 * 2**20  # of one frame
Id = str | int | None


class NotAFrame(ValueError):
    """A message is not one of the four frames. The sentence does not repeat the message."""

    def __init__(self, problem: str, id: Id = None) -> None:
        super().__init__(problem)
        self.id = id


@dataclass(frozen=True, slots=True)
class Call:
    """A request with an id. `params` is an object, empty when there were none."""

    method: str
    params: Mapping[str, object] = field(default_factory=dict)
    id: Id = None


@dataclass(frozen=True, slots=True)
class Notification:
    """A message without an id: an event, or a request whose answer carries `id: null`. `params` is its JSON."""

    method: str
    params: bytes = b"{}"

    @property
    def call(self) -> Call:
        """The same message understood as a request. Raises `NotAFrame` when `params` is not an object."""
        return Call(self.method, _object(self.params, None))


@dataclass(frozen=True, slots=True)
class Result:
    """A good answer; `result` is its JSON, for `wire.records.decode`."""

    id: Id
    result: bytes


@dataclass(frozen=True, slots=True)
class Failure:
    """An answer that says no, with the members of the error catalogue."""

    id: Id
    code: int
    message: str
    description: str = ""


Frame = Call | Notification | Result | Failure

_EMPTY = msgspec.Raw(b"")


class _Error(msgspec.Struct):
    code: int
    message: str | None = None
    description: str | None = None


class _Members(msgspec.Struct):
    method: str | None = None
    params: msgspec.Raw = _EMPTY
    id: str | int | msgspec.UnsetType | None = msgspec.UNSET
    result: msgspec.Raw = _EMPTY
    error: _Error | None = None


_members = msgspec.json.Decoder(_Members)
_plain = msgspec.json.Decoder(float_hook=Decimal)


def decode(text: str | bytes) -> Frame:
    """The frame of one message; members that no frame has are ignored. Raises `NotAFrame`."""
    if len(text) > MOST_CHARACTERS:
        raise NotAFrame("the message is too long")
    try:
        members = _members.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise NotAFrame("the message is not a JSON-RPC object") from None
    id = None if isinstance(members.id, msgspec.UnsetType) else members.id
    result, params = bytes(members.result), bytes(members.params)
    present = (members.method is not None, members.error is not None, bool(result))
    if sum(present) != 1:
        raise NotAFrame("the message must have exactly one of method, result and error", id)
    if members.error is not None:
        return Failure(id, members.error.code, members.error.message or "", members.error.description or "")
    if members.method is None:
        return Result(id, result)
    if isinstance(members.id, msgspec.UnsetType):
        return Notification(members.method, b"{}" if params in (b"", b"null") else params)
    return Call(members.method, _object(params, id), id)


def _object(params: bytes, id: Id) -> dict[str, object]:
    """The members of `params`, numbers as int or Decimal."""
    try:
        plain = _plain.decode(params) if params else None
    except (msgspec.DecodeError, UnicodeError, RecursionError, InvalidOperation):  # the last: no such exponent
        raise NotAFrame("params can't be read", id) from None
    if plain is None:
        return {}
    if not isinstance(plain, dict):
        raise NotAFrame("params is not an object", id)
    return plain


def encode(frame: Frame) -> str:
    """The message of a frame, members in the order that the exchange uses."""
    match frame:
        case Call():
            members = {"method": frame.method, "params": plain(dict(frame.params)), "id": frame.id}
            return _text({"jsonrpc": "2.0", **members})
        case Notification():
            return _around({"jsonrpc": "2.0", "method": frame.method}, "params", frame.params, {})
        case Result():
            return _around({"jsonrpc": "2.0"}, "result", frame.result, {"id": frame.id})
        case Failure():
            error = {"code": frame.code, "message": frame.message, "description": frame.description}
            return _text({"jsonrpc": "2.0", "error": error, "id": frame.id})


def notification(method: str, params: object) -> Notification:
    """A notification with plain values: see `plain`."""
    return Notification(method, _text(plain(params)).encode())


def result(id: Id, value: object) -> Result:
    """A good answer with plain values: see `plain`."""
    return Result(id, _text(plain(value)).encode())


def plain(value: object) -> Any:
    """The value as JSON has it: decimals as texts without exponent, instants as ISO texts. Refuses binary floats."""
    match value:
        case None | bool() | str() | int():
            return value
        case Decimal():
            return decimal_text(value)
        case datetime():
            return instant_text(value)
        case Mapping():
            return {str(name): plain(item) for name, item in value.items()}
        case list() | tuple():
            return [plain(item) for item in value]
        case _:
            raise TypeError(f"{type(value).__name__} can't be sent in a frame")


def _text(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _around(before: Mapping[str, object], name: str, raw: bytes, after: Mapping[str, object]) -> str:
    """An object with one member whose JSON is ready."""
    head = _text(before)[1:-1]
    tail = _text(after)[1:-1]
    return "{" + ",".join(part for part in (head, f'"{name}":{raw.decode()}', tail) if part) + "}"
