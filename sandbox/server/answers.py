"""Answers as they leave: status, body, headers, with the date of the sandbox's clock; and how they are written over
ASGI, with the ways a fault may spoil the writing."""

import asyncio
import socket
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import formatdate
from html import escape
from http import HTTPStatus

import msgspec

from sandbox.server.requests import Receive, Scope, Send

JSON = "application/json; charset=utf-8"
EXTENSION = "sandbox.connection"  # of the scope: the connection that a request came on
HTML = "text/html; charset=utf-8"
MOST_SHOWN = 4_096  # bytes of a JSON body that the log of calls keeps

# Amounts are text already; a Decimal comes from a tester's JSON number, and leaves as the number it was.
_encoder = msgspec.json.Encoder(decimal_format="number")


@dataclass(frozen=True, slots=True)
class Answer:
    """One HTTP answer. `logged` is what the log of calls keeps of the body."""

    status: int
    body: bytes
    content_type: str = JSON
    headers: tuple[tuple[str, str], ...] = ()
    logged: object = field(default=None, compare=False)


def of_json(value: object, status: int = HTTPStatus.OK) -> Answer:
    """The value as JSON, members in their own order, text as UTF-8."""
    return of_text(text_of(value), status)


def of_text(body: bytes, status: int = HTTPStatus.OK) -> Answer:
    """JSON that is written already."""
    return Answer(int(status), body, JSON, logged=logged_body(body))


def logged_body(body: bytes) -> object:
    """JSON as the log of calls keeps it: its bytes, which take far less room than its objects, or only how many."""
    return msgspec.Raw(body) if len(body) <= MOST_SHOWN else f"({len(body)} bytes)"


def text_of(value: object) -> bytes:
    """The value as the bytes of JSON."""
    return _encoder.encode(value)


def envelope(code: int, message: str, description: str) -> dict[str, object]:
    """The error object of the exchange; the description is there even when it is empty, clients rely on it."""
    return {"error": {"code": code, "message": message, "description": description}}


def of_error(status: int, code: int, message: str, description: str = "") -> Answer:
    """An error as the exchange answers it (exchange REST, Errors)."""
    return of_json(envelope(code, message, description), status)


def of_html(page: str, status: int = HTTPStatus.OK) -> Answer:
    """A page of HTML."""
    return Answer(int(status), page.encode(), HTML, logged=page)


def not_routed(method: str, path: str) -> Answer:
    """What the exchange answers to an unknown path or a verb the path does not take (exchange supplement 2.1)."""
    return of_html(
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>Error</title>\n</head>\n'
        f"<body>\n<pre>Cannot {escape(method)} {escape(path)}</pre>\n</body>\n</html>\n",
        HTTPStatus.NOT_FOUND,
    )


def header_lines(answer: Answer, *, date_ms: int, length: bool = True) -> list[tuple[bytes, bytes]]:
    """The headers of the answer: type, date by the sandbox's clock, and the length unless it is to be chunked."""
    lines = [("content-type", answer.content_type), ("date", date_text(date_ms)), *answer.headers]
    if length:
        lines.append(("content-length", str(len(answer.body))))
    return [(name.encode("latin-1"), value.encode("latin-1", errors="replace")) for name, value in lines]


def date_text(at_ms: int) -> str:
    """Milliseconds since 1970 as an HTTP date (whole seconds, cut)."""
    return formatdate(at_ms // 1000, usegmt=True)


def with_field(value: object, changes: Mapping[str, object], absent: frozenset[str], record_id: str) -> object:
    """The answer with fields of its records changed or left out; the original stays as it is."""
    if isinstance(value, list):
        return [with_field(record, changes, absent, record_id) for record in value]
    if not isinstance(value, dict) or (record_id and str(value.get("id")) != record_id):
        return value
    members = {name: member for name, member in value.items() if name not in absent}
    return members | dict(changes)


# Delivery -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ended:
    """No answer: the connection ends, `how` being close or reset."""

    how: str


@dataclass(frozen=True, slots=True)
class Cut:
    """Half an answer, announced whole by its `framing` (length or chunked), then the end of the connection."""

    answer: Answer
    framing: str


Delivery = Answer | Ended | Cut


class Connection:
    """One client's connection: hang up, break, or stop answering its pings.

    `announces_keep_alive` is for a client of HTTP/1.0 that asked for it: it is told that the connection stays.
    """

    __slots__ = ("_transport", "announces_keep_alive", "pings_answered")

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self.announces_keep_alive = False
        self.pings_answered = True

    def close(self) -> None:
        """Ends the connection after what was written so far has left: the client reads an end, and no answer."""
        self._transport.close()

    def reset(self) -> None:
        """Breaks the connection: unsent bytes are lost and the client gets a reset."""
        sock = self._transport.get_extra_info("socket")
        if sock is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._transport.abort()

    def leave(self) -> None:
        """Ends the connection at once: orderly when all that was written has left, else by breaking it, since nobody
        may ever read the rest."""
        if self._transport.get_write_buffer_size():
            self.reset()
        else:
            self.close()

    def disconnect(self, how: str) -> None:
        """Ends the connection as a fault names it: `reset`, or `close` for anything else."""
        if how == "reset":
            self.reset()
        else:
            self.close()


async def deliver(delivery: Delivery, scope: Scope, receive: Receive, send: Send, *, date_ms: int) -> None:
    """Writes the answer, or what a fault makes of it."""
    match delivery:
        case Ended(how):
            await _disconnect(scope, receive, how)
        case Cut(answer, framing):
            lines = header_lines(answer, date_ms=date_ms, length=framing == "length")
            await send({"type": "http.response.start", "status": answer.status, "headers": lines})
            half = answer.body[: len(answer.body) // 2]
            await send({"type": "http.response.body", "body": half, "more_body": True})
            await _disconnect(scope, receive, "close")
        case Answer():
            lines = header_lines(delivery, date_ms=date_ms)
            connection = connection_of(scope)
            if connection is not None and connection.announces_keep_alive and b"connection" not in dict(lines):
                lines.append((b"connection", b"keep-alive"))
            await send({"type": "http.response.start", "status": delivery.status, "headers": lines})
            await send({"type": "http.response.body", "body": delivery.body})


async def _disconnect(scope: Scope, receive: Receive, how: str) -> None:
    """Ends the connection and waits until the server has noticed, so that it doesn't answer in our name."""
    connection = connection_of(scope)
    if connection is None:
        raise RuntimeError("This server gives no hold of its connections; serve the sandbox with sandbox.serving.")
    connection.disconnect(how)
    async with asyncio.timeout(5):
        while (await receive())["type"] != "http.disconnect":
            continue


def connection_of(scope: Scope) -> Connection | None:
    """The connection of an ASGI scope; None under a server that does not hand it out."""
    connection = (scope.get("extensions") or {}).get(EXTENSION)
    return connection if isinstance(connection, Connection) else None
