"""One HTTP request read whole and one answer written, over ASGI, with the ways a fault may spoil the writing."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

from sandbox.server import answers, connections
from sandbox.server.answers import Answer
from sandbox.server.bodies import MOST_BYTES

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Mapping[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


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
    found: dict[str, str] = {}
    for name, value in scope["headers"]:
        found.setdefault(name.decode("latin-1").lower(), value.decode("latin-1"))
    return found


async def deliver(delivery: Delivery, scope: Scope, receive: Receive, send: Send, *, date_ms: int) -> None:
    """Writes the answer, or what a fault makes of it."""
    match delivery:
        case Ended(how):
            await _end(scope, receive, how)
        case Cut(answer, framing):
            lines = answers.header_lines(answer, date_ms=date_ms, length=framing == "length")
            await send({"type": "http.response.start", "status": answer.status, "headers": lines})
            half = answer.body[: len(answer.body) // 2]
            await send({"type": "http.response.body", "body": half, "more_body": True})
            await _end(scope, receive, "close")
        case Answer():
            lines = answers.header_lines(delivery, date_ms=date_ms)
            connection = connections.of(scope)
            if connection is not None and connection.announces_keep_alive and b"connection" not in dict(lines):
                lines.append((b"connection", b"keep-alive"))
            await send({"type": "http.response.start", "status": delivery.status, "headers": lines})
            await send({"type": "http.response.body", "body": delivery.body})


async def _end(scope: Scope, receive: Receive, how: str) -> None:
    """Ends the connection and waits until the server has noticed, so that it doesn't answer in our name."""
    connection = connections.of(scope)
    if connection is None:
        raise RuntimeError("This server gives no hold of its connections; serve the sandbox with sandbox.serving.")
    connection.end(how)
    async with asyncio.timeout(5):
        while (await receive())["type"] != "http.disconnect":
            continue
