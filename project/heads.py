"""The head of a request, bounded in size and time: the server's own protocol bounds neither.

Without this one peer could fill the memory with a header that never ends, or keep a connection by sending none.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_LIMIT_BYTES = 65_536
HEAD_SECONDS = 20


class BoundedHead(HttpToolsProtocol):
    """The server's protocol, which ends a connection whose head is larger or slower than any honest one."""

    _arrived = 0
    _is_in_head = False
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """A connection owes its first head from its first moment."""
        super().connection_made(transport)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is owed any more."""
        self._head_is_here()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Count what belongs to a head that is still not whole when all of `data` has been read."""
        super().data_received(data)
        if not self._is_in_head:
            return
        self._arrived += len(data)
        if self._arrived > HEAD_LIMIT_BYTES and not self.transport.is_closing():
            self.logger.warning("A request's head was larger than %d bytes.", HEAD_LIMIT_BYTES)
            self.send_400_response(f"The head of a request may have {HEAD_LIMIT_BYTES} bytes.")

    def on_message_begin(self) -> None:
        """The first byte of a head."""
        super().on_message_begin()
        self._is_in_head, self._arrived = True, 0
        self._await_head()

    def on_headers_complete(self) -> None:
        """The head is whole; what follows is bounded by whoever reads it."""
        self._head_is_here()
        super().on_headers_complete()

    def _await_head(self) -> None:
        if self._deadline is None:
            self._deadline = asyncio.get_running_loop().call_later(HEAD_SECONDS, self._end_late)

    def _head_is_here(self) -> None:
        self._is_in_head = False
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _end_late(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()
