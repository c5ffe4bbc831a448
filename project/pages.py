"""How a page request reaches Django: read whole and bounded on the event loop, then answered in a fixed thread pool.

Django's own ASGI handler makes a thread, and on SQLite a connection, per request. A fixed pool of threads keeps both,
and since a request enters it only when its whole body has arrived, a slow sender can't hold a thread.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from a2wsgi import WSGIMiddleware

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class CannotRead(Exception):
    """A request that is answered without the pages: its status and its one sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence


class PagesInThreads:
    """An ASGI application (http only) around a WSGI one.

    `threads` is the number of pages answered at once; a body may have `body_limit` bytes and take `body_seconds`.
    """

    def __init__(self, pages: Callable[..., Any], *, threads: int, body_limit: int, body_seconds: int) -> None:
        self._pages = WSGIMiddleware(pages, workers=threads)
        self._body_limit = body_limit
        self._body_seconds = body_seconds

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        try:
            scope = _plain(scope)
            async with asyncio.timeout(self._body_seconds):
                body = await self._whole_body(scope, receive)
        except CannotRead as refusal:
            await _refuse(send, refusal)
            return
        except TimeoutError:
            await _refuse(send, CannotRead(408, f"The request did not arrive within {self._body_seconds} seconds."))
            return
        if body is not None:
            await self._pages(scope, _replaying(body), send)

    async def _whole_body(self, scope: Message, receive: Receive) -> bytes | None:
        """The body, or None when the sender has gone: then nobody waits for an answer and nothing is run."""
        too_large = CannotRead(413, f"A request may carry {self._body_limit} bytes at most.")
        stated = dict(scope["headers"]).get(b"content-length", b"0")
        if not stated.isdigit() or int(stated) > self._body_limit:
            raise too_large
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            body += message.get("body", b"")
            if len(body) > self._body_limit:
                raise too_large
            if not message.get("more_body", False):
                return bytes(body)


def _plain(scope: Message) -> Message:
    """The scope without header names that WSGI takes for others: `X_Forwarded_Proto` is only ever sent to deceive."""
    if not scope["query_string"].isascii():
        raise CannotRead(400, "The address has characters that an address can't have.")
    return {**scope, "headers": [(name, value) for name, value in scope["headers"] if b"_" not in name]}


def _replaying(body: bytes) -> Receive:
    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    return receive


async def _refuse(send: Send, refusal: CannotRead) -> None:
    text = refusal.sentence.encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(text)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": text})
