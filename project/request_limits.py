"""The head of a request, bounded in size and time, and how long a connection may wait: the server bounds neither.

Without this one peer could fill the memory with a header that never ends, keep a connection by sending none or by
taking no answer, and with a thousand of them keep everybody else out (`project.doors`).
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from project import doors

HEAD_LIMIT_BYTES = 65_536
HEAD_SECONDS = 10
# What was answered and is not taken by then is cut off.
LAST_BYTES_SECONDS = 10


class BoundedHead(HttpToolsProtocol):
    """The server's protocol, which ends a connection whose head is larger or slower than any honest one."""

    _arrived = 0
    _is_in_head = False
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """A connection owes its first head from its first moment."""
        super().connection_made(transport)
        self._await_head()
        if not doors.server_doors(self.server_state).enter(self, self.client[0] if self.client else ""):
            self.cut()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is owed any more."""
        self._head_is_here()
        doors.server_doors(self.server_state).leave(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Count what belongs to a head that is still not whole when all of `data` has been read."""
        super().data_received(data)
        if not self._is_in_head:
            return
        self._arrived += len(data)
        if self._arrived > HEAD_LIMIT_BYTES and not self.transport.is_closing():
            self.logger.warning("A request's headers were larger than %d bytes.", HEAD_LIMIT_BYTES)
            self.send_400_response(f"The request headers are too large: the limit is {HEAD_LIMIT_BYTES} bytes.")

    def on_message_begin(self) -> None:
        """The first byte of a head."""
        super().on_message_begin()
        self._is_in_head, self._arrived = True, 0
        self._await_head()

    def on_headers_complete(self) -> None:
        """The head is whole; what follows is bounded by whoever reads it."""
        self._head_is_here()
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """It waits for another request now, as others have done for longer."""
        doors.server_doors(self.server_state).answered(self)
        super().on_response_complete()

    def _become_socket(self) -> None:
        """From here on it is a socket's, which enters by itself."""
        doors.server_doors(self.server_state).leave(self)
        super().handle_websocket_upgrade()

    # The server calls it by this name.
    handle_websocket_upgrade = _become_socket

    def timeout_keep_alive_handler(self) -> None:
        """Close what waited too long, and cut it off when the peer does not take the last answer."""
        super().timeout_keep_alive_handler()
        asyncio.get_running_loop().call_later(LAST_BYTES_SECONDS, self.transport.abort)

    # For the doors ---------------------------------------------------------------------------------------------------

    def is_idle(self) -> bool:
        """Whether nothing was asked that is not answered."""
        return self.cycle is None or self.cycle.response_complete

    def cut(self) -> None:
        """End the connection at once."""
        self.transport.abort()

    # The head --------------------------------------------------------------------------------------------------------

    def _await_head(self) -> None:
        if self._deadline is None:
            self._deadline = asyncio.get_running_loop().call_later(HEAD_SECONDS, self._end_late)

    def _head_is_here(self) -> None:
        self._is_in_head = False
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _end_late(self) -> None:
        self.transport.abort()
