"""uvicorn as the sandbox needs it: the timers of a world beside it, an orderly end, a hold of each connection."""

import asyncio
import contextlib
import logging
import socket
from collections.abc import Callable, Iterator
from functools import partial

import uvicorn

from sandbox.server.asgi import Sandbox
from sandbox.server.connections import REQUEST_MS, HttpProtocol, SocketProtocol
from sandbox.server.faults.faults import Faults
from sandbox.world.world import World

log = logging.getLogger("sandbox")
LONGEST_WAIT_MS = 1_000
GRACE_SECONDS = 1
LARGEST_MESSAGE = 64 * 1024
PING_MS = 20_000  # a socket whose client does not answer within as long again is gone


class CannotServe(SystemExit):
    """The sandbox can't start; the text says why in one sentence, and becomes the message of the process's end."""


class Server(uvicorn.Server):
    """uvicorn without its own signal handling, and with the timers of a world beside it.

    uvicorn raises a signal again once it has ended; whoever starts the sandbox wants an orderly end, status 0.
    """

    def __init__(
        self,
        world: World,
        faults: Faults,
        *,
        sealed: bool = False,
        most_waiting: int | None = None,
        ping_ms: int = PING_MS,
        request_ms: int = REQUEST_MS,
    ) -> None:
        self.world = world
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stirred = asyncio.Event()  # wakes the timers: what is due next may have changed
        self._ended = asyncio.Event()
        self.sandbox = Sandbox(world, faults, sealed=sealed, stirred=self._stirred.set, most_waiting=most_waiting)
        super().__init__(
            uvicorn.Config(
                self.sandbox,
                http=partial(HttpProtocol, request_ms=request_ms),  # type: ignore[arg-type]
                ws=SocketProtocol,
                ws_max_size=LARGEST_MESSAGE,
                ws_ping_interval=ping_ms / 1000,
                ws_ping_timeout=ping_ms / 1000,
                ws_per_message_deflate=False,
                lifespan="off",
                log_config=None,
                log_level="warning",
                access_log=False,
                server_header=False,
                date_header=False,
                proxy_headers=False,
                timeout_keep_alive=75,
                timeout_graceful_shutdown=GRACE_SECONDS,
            )
        )

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    def end(self) -> None:
        """Ends the server soon; from any thread, any number of times, before it runs as well."""
        self.should_exit = True
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._ended.set)

    async def run_until_ended(self, listening: socket.socket, ready: Callable[[], None]) -> None:
        """Serves until `end` is called; `ready` is called once connections are taken."""
        self._loop = asyncio.get_running_loop()
        self._ready = ready
        timers = asyncio.create_task(self._timers())
        try:
            await self.serve(sockets=[listening])
        finally:
            timers.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await timers

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Ends idle connections at once and the others after a moment, whatever they wait for."""
        hanging_up = asyncio.create_task(self._hang_up())
        try:
            await super().shutdown(sockets=sockets)
        finally:
            hanging_up.cancel()

    async def _hang_up(self) -> None:
        await asyncio.sleep(GRACE_SECONDS / 2)
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        await asyncio.sleep(0)  # lets each of them notice first, or uvicorn would answer in our name
        for task in list(self.server_state.tasks):
            task.cancel()

    async def main_loop(self) -> None:
        if not self.should_exit:
            await self._ended.wait()

    async def _timers(self) -> None:
        while True:
            self._run_due()
            due_ms = self.world.due()
            wait_ms = LONGEST_WAIT_MS if due_ms is None else due_ms - self.world.clock.now_ms()
            self._stirred.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stirred.wait(), min(max(wait_ms, 1), LONGEST_WAIT_MS) / 1000)

    def _run_due(self) -> None:
        try:
            self.world.run_due()
        except Exception:
            log.exception("a timer of the world failed")


def listen(host: str, port: int) -> socket.socket:
    """A socket bound to the address; port 0 picks a free one. Raises CannotServe."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
    except OSError as problem:
        raise CannotServe(f"sandbox: can't listen on {host}:{port}: {problem.strerror}.") from None
    return listening
