"""The exchange's sockets: every address with the methods behind it.

Requests of one socket are executed and answered strictly in their order; an answer leaves before the notifications
that follow from it (exchange supplement 1.1 to 1.7).
"""

import asyncio
import contextlib
import logging

from exchange_ops.wire import streams
from sandbox.exchange.terms import Event
from sandbox.server import answers
from sandbox.server.auth import Limits
from sandbox.server.calls import Calls
from sandbox.server.faults.faults import Faults
from sandbox.server.requests import Receive, Scope, Send
from sandbox.server.sockets import account_session, margin_session, public_session, trading_session
from sandbox.server.sockets.market_feed import Feed
from sandbox.server.sockets.outgoing import Outgoing
from sandbox.server.sockets.stream_session import Part, StreamSession
from sandbox.world.world import World

log = logging.getLogger("sandbox")
_MARKET: tuple[Part, ...] = (public_session.PART,)
_TRADING: tuple[Part, ...] = (trading_session.PART, margin_session.PART)
# Each address with what it serves; the single old one serves market data and trading (exchange supplement 1.1).
PARTS: dict[str, tuple[Part, ...]] = {
    streams.Address.PUBLIC.value: _MARKET,
    streams.Address.TRADING.value: _TRADING,
    streams.Address.ACCOUNT.value: (account_session.PART,),
    streams.SINGLE_PATH: (*_MARKET, *_TRADING),
}
_EVERY = tuple(part for parts in PARTS.values() for part in parts)
METHOD_NAMES = tuple(dict.fromkeys(name for part in _EVERY for name in part.methods))
NOTIFICATION_NAMES = tuple(dict.fromkeys(name for part in _EVERY for name in part.notifications))


class Sockets:
    """Every open socket of one sandbox."""

    def __init__(
        self, world: World, faults: Faults, calls: Calls, limits: Limits, *, most_waiting: int | None = None
    ) -> None:
        self._world = world
        self._faults = faults
        self._calls = calls
        self._limits = limits
        self._most_waiting = most_waiting
        self._feed = Feed(world)
        self._listening: set[StreamSession] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        world.listen(self._hear)

    @property
    def listening(self) -> int:
        """How many sockets are open."""
        return len(self._listening)

    @property
    def topics(self) -> int:
        """How many topics of market data are followed on them."""
        return self._feed.topics

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one socket until either side ends it."""
        path = scope["raw_path"].decode("ascii", errors="replace").removesuffix("/")
        path = path.lower() if self._world.config.is_observed else path
        await receive()  # the handshake
        self._loop = asyncio.get_running_loop()
        date = ("date", answers.date_text(self._world.clock.now_ms()))
        connection = answers.connection_of(scope)
        if path not in PARTS or connection is None:
            await _refuse(path, date, send)
            return
        await send({"type": "websocket.accept", "headers": [tuple(text.encode() for text in date)]})
        outgoing = Outgoing(self._faults, connection, self._most_waiting)
        session = self._session(path, outgoing)
        writer = asyncio.create_task(outgoing.write(lambda text: send({"type": "websocket.send", "text": text})))
        writer.add_done_callback(lambda task: outgoing.end())
        try:
            await _read(session, receive)
        finally:
            self._listening.discard(session)
            session.closed()
            writer.cancel()
            # The peer may have gone while something was being sent to it.
            with contextlib.suppress(asyncio.CancelledError, OSError):
                await writer

    def _session(self, path: str, outgoing: Outgoing) -> StreamSession:
        common = (path, outgoing, self._calls, self._faults)
        session = StreamSession(*common, world=self._world, limits=self._limits, parts=PARTS[path])
        session.part_state[public_session.FEED] = self._feed
        self._listening.add(session)
        return session

    def _hear(self, event: Event) -> None:
        """Passes an event of the world on; one from another thread than the loop's goes through the loop."""
        if self._loop is None or self._loop.is_closed():
            return
        if _is_running(self._loop):
            self._pass_on(event)
        else:
            self._loop.call_soon_threadsafe(self._pass_on, event)

    def _pass_on(self, event: Event) -> None:
        if event.kind == "begun":
            self._begin_again()
        for session in tuple(self._listening):
            session.hear(event)

    def _begin_again(self) -> None:
        """Ends every socket: what was told on it, and who logged in, belongs to a world that is no more."""
        self._feed.end()
        self._feed = Feed(self._world)
        for session in self._listening:
            session.outgoing.hang_up()
        self._listening.clear()


async def _read(session: StreamSession, receive: Receive) -> None:
    """Hands every message to the session, until the socket ends."""
    while True:
        message = await receive()
        if message["type"] != "websocket.receive" or session.outgoing.is_over:
            return
        session.receive(message.get("text"))
        await session.outgoing.has_room()


async def _refuse(path: str, date: tuple[str, str], send: Send) -> None:
    """Answers the handshake as HTTP: there is no such address."""
    page = answers.not_routed("GET", path)
    lines = [("content-type", page.content_type), date, ("content-length", str(len(page.body)))]
    headers = [(name.encode(), value.encode()) for name, value in lines]
    await send({"type": "websocket.http.response.start", "status": page.status, "headers": headers})
    await send({"type": "websocket.http.response.body", "body": page.body})


def _is_running(loop: asyncio.AbstractEventLoop) -> bool:
    """Whether this is the loop's own thread."""
    try:
        return asyncio.get_running_loop() is loop
    except RuntimeError:
        return False
