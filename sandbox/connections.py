"""The two uvicorn protocols with a handle on their connection, so that a fault can end it without an answer.

ASGI has no word for "hang up now": an application that returns early gets a 500 sent in its name. The handle travels
in the scope's extensions and works on the transport below.
"""

import asyncio
import socket
import struct
from collections.abc import Mapping
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

EXTENSION = "sandbox.connection"


class Connection:
    """One client's connection: hang up, break, or stop answering its pings."""

    __slots__ = ("_transport", "pings_answered")

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
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

    def end(self, how: str) -> None:
        """Ends the connection as a fault names it: `reset`, or `close` for anything else."""
        if how == "reset":
            self.reset()
        else:
            self.close()


def of(scope: Mapping[str, Any]) -> Connection | None:
    """The connection of an ASGI scope; None under a server that does not hand it out."""
    found = (scope.get("extensions") or {}).get(EXTENSION)
    return found if isinstance(found, Connection) else None


class HttpProtocol(HttpToolsProtocol):
    """HTTP with the handle in the scope of every request, and no log of the addresses that were called."""

    def __init__(self, *settings: Any, **more: Any) -> None:
        super().__init__(*settings, **more)
        # uvicorn logs as soon as the process has any log handler; addresses may carry what does not belong in a log.
        self.access_log = False

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope["extensions"] = {EXTENSION: Connection(self.transport)}  # type: ignore[dict-item]


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
        connection = of(getattr(self, "scope", {}))
        return connection is not None and not connection.pings_answered
