"""How a page request reaches Django: read whole and bounded on the event loop, then answered in a fixed thread pool.

Django's own ASGI handler makes a thread, and on SQLite a connection, per request. A fixed pool of threads keeps both.
A request enters it when its whole body has arrived and leaves it when the whole answer is made (an export too is made
whole first), so neither a slow sender nor a slow reader holds a thread.
"""

import asyncio
import contextvars
import io
import re
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

from a2wsgi.wsgi import build_environ

_LARGER_AT_ONCE = 4

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
    `larger` are paths and the bytes that a body sent there may have; of those few are read at once.
    """

    def __init__(
        self,
        pages: Callable[..., Any],
        *,
        threads: int,
        body_limit: int,
        body_seconds: int,
        larger: Mapping[re.Pattern[str], int] | None = None,
    ) -> None:
        self._pages = pages
        self._threads = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="page")
        self._body_limit = body_limit
        self._body_seconds = body_seconds
        self._larger = larger or {}
        self._turns = asyncio.Semaphore(_LARGER_AT_ONCE)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        try:
            scope = _plain(scope)
            async with asyncio.timeout(self._body_seconds):
                body = await self._bounded_body(scope, receive)
        except CannotRead as refusal:
            await _refuse(send, refusal)
            return
        except TimeoutError:
            await _refuse(send, CannotRead(408, f"The request did not arrive within {self._body_seconds} seconds."))
            return
        if body is None:
            return
        work = asyncio.get_running_loop().run_in_executor(
            self._threads, contextvars.copy_context().run, self._answer, scope, body
        )
        for message in await work:
            await send(message)

    def _answer(self, scope: Message, body: bytes) -> tuple[Message, Message]:
        """In a thread: the whole answer of the page, as the two messages that send it."""
        head: list[Any] = []
        # The library's own body reads piece by piece from the loop; ours is all there.
        body_file: Any = io.BytesIO(body)
        environ = build_environ(cast("Any", scope), body_file)
        answer = self._pages(environ, lambda status, headers, failure=None: head.append((status, headers)))
        try:
            content = b"".join(answer)
        finally:
            getattr(answer, "close", lambda: None)()
        status, headers = head[-1]
        return (
            {
                "type": "http.response.start",
                "status": int(status.split(" ", 1)[0]),
                "headers": [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers],
            },
            {"type": "http.response.body", "body": content},
        )

    async def _bounded_body(self, scope: Message, receive: Receive) -> bytes | None:
        """The body within the limit of its path. What may be larger waits for one of few turns, so that such bodies
        together never fill the memory."""
        for path, limit in self._larger.items():
            if path.fullmatch(scope["path"]):
                async with self._turns:
                    return await _whole_body(scope, receive, limit)
        return await _whole_body(scope, receive, self._body_limit)


async def _whole_body(scope: Message, receive: Receive, limit: int) -> bytes | None:
    """The body, or None when the sender has gone: then nobody waits for an answer and nothing is run."""
    too_large = CannotRead(413, f"The request body is too large: the limit is {limit} bytes.")
    stated = dict(scope["headers"]).get(b"content-length", b"0")
    if not stated.isdigit() or int(stated) > limit:
        raise too_large
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        if len(body) > limit:
            raise too_large
        if not message.get("more_body", False):
            return bytes(body)


def _plain(scope: Message) -> Message:
    """The scope without header names that WSGI takes for others: `X_Forwarded_Proto` is only ever sent to deceive."""
    if not scope["query_string"].isascii():
        raise CannotRead(400, "The URL contains invalid characters.")
    return {**scope, "headers": [(name, value) for name, value in scope["headers"] if b"_" not in name]}


async def _refuse(send: Send, refusal: CannotRead) -> None:
    text = refusal.sentence.encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(text)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": text})
