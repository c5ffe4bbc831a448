"""The two uvicorn protocols with a handle on their connection, so that a fault can end it without an answer.

ASGI has no word for "hang up now": an application that returns early gets a 500 sent in its name. The handle travels
in the scope's extensions and works on the transport below.

Of HTTP itself this adds what uvicorn leaves to others (exchange supplement 6): HTTP/1.0 that keeps its connection, an
end for requests that never finish, a bound for headers, and an answer that can be read although the request was not.
"""

import asyncio
from http import HTTPStatus
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from sandbox.server.answers import EXTENSION, Connection, connection_of

REQUEST_MS: Final = 60_000  # from the first byte of a request to its last one
MOST_HEADER_BYTES: Final = 32 * 1024
LINGER_SECONDS: Final = 5  # for which a client may go on to send what nobody reads, so that it can read the answer


class _Bad(Exception):
    """The head of a request can't be taken; the protocol has noted which answer says so."""


class HttpProtocol(HttpToolsProtocol):
    """HTTP with the handle in the scope of every request, and no log of the addresses that were called.

    A request has `request_ms` from its first byte to its last one. An answer that comes before the end of its request
    is readable: what the client still sends is taken and thrown away for a moment, where a plain end would be a reset.
    """

    def __init__(self, *settings: Any, request_ms: int = REQUEST_MS, **more: Any) -> None:
        super().__init__(*settings, **more)
        # uvicorn logs as soon as the process has any log handler; addresses may carry what does not belong in a log.
        self.access_log = False
        self._request_ms = request_ms
        self._deadline: asyncio.TimerHandle | None = None
        self._is_lingering = False
        self._refusal = HTTPStatus.BAD_REQUEST
        self._head_bytes: int | None = None  # of the request whose head is being read, its address not counted

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope["extensions"] = {EXTENSION: Connection(self.transport)}  # type: ignore[dict-item]
        self._deadline = self.loop.call_later(self._request_ms / 1000, self.transport.abort)
        self._head_bytes = 0

    def on_headers_complete(self) -> None:
        self._head_bytes = None
        names = {name for name, _ in self.headers}
        if sum(len(name) + len(value) + len(": \r\n") for name, value in self.headers) > MOST_HEADER_BYTES:
            self._refusal = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
            raise _Bad
        if b"host" not in names and self.parser.get_http_version() != "1.0":
            raise _Bad
        super().on_headers_complete()
        if self.cycle is None or self.cycle.scope is not self.scope:  # a socket
            return
        if self.scope["http_version"] == "1.0" and self.parser.should_keep_alive():
            self.cycle.keep_alive = self.scope["extensions"][EXTENSION].announces_keep_alive = True  # type: ignore[attr-defined]
        self.cycle.transport = _Lingering(self)  # type: ignore[assignment]

    def on_message_complete(self) -> None:
        self._forget_deadline()
        super().on_message_complete()

    def handle_websocket_upgrade(self) -> None:
        self._forget_deadline()
        super().handle_websocket_upgrade()

    def data_received(self, data: bytes) -> None:
        if self._is_lingering:
            return
        is_between = self._deadline is None  # what comes begins with the head of a request
        before = self._head_bytes
        super().data_received(data)
        if self._head_bytes is not None and (is_between or before is not None):
            self._head_bytes += len(data)
        if self._head_bytes is not None and self._head_bytes - len(self.url) > MOST_HEADER_BYTES:
            self._refusal = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
            self.send_400_response("")

    def send_400_response(self, msg: str) -> None:
        """Says that the head of a request can't be taken, and ends the connection."""
        if self._is_lingering:
            return
        status, text = self._refusal, self._refusal.phrase.encode()
        head = f"HTTP/1.1 {status.value} {status.phrase}\r\ncontent-type: text/plain; charset=utf-8\r\n"
        head += f"content-length: {len(text)}\r\nconnection: close\r\n\r\n"
        self.transport.write(head.encode() + text)
        self.linger()

    def linger(self) -> None:
        """Ends the connection so that the client can read what was written: the rest of what it sends goes nowhere."""
        if self._is_lingering or self.transport.is_closing():
            return
        self._is_lingering = True
        self._forget_deadline()
        self.flow.resume_reading()
        self.transport.write_eof()
        self.loop.call_later(LINGER_SECONDS, self.transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget_deadline()
        super().connection_lost(exc)

    def _forget_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


class _Lingering:
    """The transport as an answer has it: its end is the orderly one while the request has not come to its own."""

    def __init__(self, protocol: HttpProtocol) -> None:
        self._protocol = protocol
        self.write = protocol.transport.write
        self.is_closing = protocol.transport.is_closing

    def close(self) -> None:
        """Ends the connection behind what was written."""
        cycle = self._protocol.cycle
        if cycle is not None and cycle.more_body:
            self._protocol.linger()
        else:
            self._protocol.transport.close()


class SocketProtocol(WebSocketsSansIOProtocol):
    """WebSocket with the handle in the scope, pings that can go unanswered, and an end for who is gone unnoticed."""

    _owed_pong = b""

    def handle_connect(self, event: Any) -> None:
        super().handle_connect(event)
        scope: dict[str, Any] | None = getattr(self, "scope", None)
        if scope is not None:
            scope["extensions"][EXTENSION] = Connection(self.transport)

    def handle_ping(self) -> None:
        if self._is_silent():
            self.conn.data_to_send()
        elif self.writable.is_set():
            super().handle_ping()
        else:  # who pings and never reads would let the pongs pile up: only the latest pings are owed an answer
            self._owed_pong = b"".join(self.conn.data_to_send()) or self._owed_pong

    def resume_writing(self) -> None:
        super().resume_writing()
        owed, self._owed_pong = self._owed_pong, b""
        if owed:
            self.transport.write(owed)

    def send_keepalive_ping(self) -> None:
        if self._is_silent():
            self.schedule_ping()
            return
        super().send_keepalive_ping()

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        self.transport.abort()  # or it would wait for a peer that is gone to take what was written

    def _is_silent(self) -> bool:
        connection = connection_of(getattr(self, "scope", {}))
        return connection is not None and not connection.pings_answered
