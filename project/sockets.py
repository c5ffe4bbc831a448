"""A server's socket that takes frames ready to send, and says when its peer does not take them.

An ASGI server frames each message for each socket again, and tells nobody how much waits. The relay tells a thousand
browsers the same, so it asks for both, through an extension of the scope: see `desk.live.frames.Socket`.
"""

from collections.abc import Callable
from typing import Any

from uvicorn import Config
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState
from websockets.frames import Frame, Opcode
from websockets.http11 import Response

from desk.live.frames import FRAMES
from project import doors

# From the end of the head to the answer: the desk asks its rows, and the peer has nothing to do.
HANDSHAKE_SECONDS = 10


class FrameSocket(WebSocketsSansIOProtocol):
    """The server's protocol, with whole frames written straight to the transport. Deflate has to be off."""

    when_taken: Callable[[], None] | None = None
    _is_full = False

    def __init__(self, config: Config, server_state: ServerState, *rest: Any, **options: Any) -> None:
        super().__init__(config, server_state, *rest, **options)
        self._state = server_state
        self._respond, self.conn.send_response = self.conn.send_response, self._answer  # type: ignore[method-assign]

    def connection_made(self, transport: Any) -> None:
        """Whatever the system does not take at once counts as waiting."""
        super().connection_made(transport)
        self.transport.set_write_buffer_limits(high=0)
        self.loop.call_later(HANDSHAKE_SECONDS, self._end_late)
        if not doors.server_doors(self._state).enter(self, self.client[0] if self.client else ""):
            self.cut()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nobody is told any more."""
        self.when_taken = None
        doors.server_doors(self._state).leave(self)
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Something waits."""
        super().pause_writing()
        self._is_full = True

    def resume_writing(self) -> None:
        """Everything that waited is with the system."""
        super().resume_writing()
        self._is_full = False
        if self.when_taken is not None:
            self.when_taken()

    def _answer(self, response: Response) -> None:
        """Every answer to a handshake has the headers of every answer, a refusal by the server or by us too."""
        for name, value in self.default_headers:
            response.headers.setdefault(name.decode("latin-1"), value.decode("latin-1"))
        self._respond(response)

    def _answer_ping(self) -> None:
        """Unless the peer does not take what it was sent before: answers must not pile up either."""
        if self.untaken():
            self.conn.data_to_send()
        else:
            super().handle_ping()

    # The server calls it by this name.
    handle_ping = _answer_ping

    async def send(self, message: Any) -> None:
        """Once its handshake is done, whoever let it in bounds it."""
        await super().send(message)
        if self.handshake_complete:
            doors.server_doors(self._state).leave(self)

    def _end_late(self) -> None:
        if not self.handshake_complete:
            self.cut()

    def is_idle(self) -> bool:
        """Whether it may be ended to make room: never; its handshake has its own time."""
        return False

    async def run_asgi(self) -> None:
        """Offer this socket to the application."""
        self.scope["extensions"][FRAMES] = self  # type: ignore[assignment]
        await super().run_asgi()

    # For the application ----------------------------------------------------------------------------------------------

    @staticmethod
    def frame(text: str) -> bytes:
        """The bytes that carry this text to any peer."""
        return Frame(Opcode.TEXT, text.encode()).serialize(mask=False)

    def write(self, frame: bytes) -> bool:
        """Send, without waiting; False when the peer has not taken everything. A socket that closes takes and drops."""
        transport = self.transport
        if self.close_sent or transport.is_closing():
            return True
        transport.write(frame)
        return not self._is_full

    def untaken(self) -> int:
        """Bytes that the system has not taken yet."""
        return self.transport.get_write_buffer_size()

    def end(self, code: int) -> None:
        """Close after what was written; the peer has the server's usual time to answer, and is cut off then."""
        if self.close_sent or self.transport.is_closing():
            return
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": ""})
        self.conn.send_close(code)
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = True
        if self.read_paused:
            self.read_paused = False
            self.transport.resume_reading()
        self.close_timer = self.loop.call_later(self.close_timeout, self.cut)

    def cut(self) -> None:
        """End the connection at once."""
        self.transport.abort()
