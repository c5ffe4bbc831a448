"""A sandbox inside a test: the same server in a thread of the process."""

import asyncio
import http.client
import json
import socket
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from sandbox.engine.clock import wall_ms
from sandbox.server.asgi import every_fault
from sandbox.server.connections import REQUEST_MS
from sandbox.server.uvicorn_server import PING_MS, Server, listen
from sandbox.world.world import World

START_SECONDS = 10
Result = TypeVar("Result")


class InProcessSandbox:
    """A sandbox on a free port, or on `port`, for tests: `with InProcessSandbox(seed=1, hold_end="stay") as sandbox:`.

    `config` are names of the world's configuration; a world begins from `figures` where there are any. `now_ms` is the
    clock below the sandbox's own; `most_waiting` is how many messages may wait for the reader of a socket, every
    `ping_ms` he is asked whether he is still there, and a request has to be whole within `request_ms`.
    The world lives on the server's thread: read it between calls as you like, but change it through `control` or
    `inside`.
    """

    def __init__(
        self,
        *,
        seed: int = 1,
        symbols: int | None = None,
        dialect: str = "",
        data_dir: Path | None = None,
        port: int = 0,
        sealed: bool = False,
        still: bool = False,
        figures: dict[str, object] | None = None,
        now_ms: Callable[[], int] = wall_ms,
        most_waiting: int | None = None,
        ping_ms: int = PING_MS,
        request_ms: int = REQUEST_MS,
        **config: object,
    ) -> None:
        self.world = World.open(
            data_dir, seed=seed, symbols=symbols, dialect=dialect, still=still, figures=figures, now_ms=now_ms
        )
        if config:
            self.world.control("config", config)
        self.faults = every_fault()
        self._server = Server(
            self.world, self.faults, sealed=sealed, most_waiting=most_waiting, ping_ms=ping_ms, request_ms=request_ms
        )
        self.calls = self._server.sandbox.calls
        listening = listen("127.0.0.1", port)
        self.port: int = listening.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.ws_url = f"ws://127.0.0.1:{self.port}"
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(listening,), name="sandbox", daemon=True)
        self._thread.start()
        if not self._ready.wait(START_SECONDS) or not self._thread.is_alive():
            raise RuntimeError("The sandbox did not start.")

    def control(self, path: str, json_body: object = None, *, method: str = "") -> Any:
        """The JSON answer of a control call: GET without a body, else POST. Raises ValueError unless it is a 200."""
        body = None if json_body is None else json.dumps(json_body)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request(method or ("GET" if body is None else "POST"), f"/_sandbox/{path}", body)
            answer = connection.getresponse()
            text = answer.read().decode()
        finally:
            connection.close()
        if answer.status != http.HTTPStatus.OK:
            raise ValueError(f"{path}: {answer.status} {text}")
        return json.loads(text)

    def inside(self, function: Callable[[], Result]) -> Result:
        """What the function returns or raises, run on the server's thread between two calls."""
        outcome: Future[Result] = Future()

        def run() -> None:
            try:
                outcome.set_result(function())
            except BaseException as problem:
                outcome.set_exception(problem)

        if self._loop is None:
            raise RuntimeError("The sandbox is not running.")
        self._loop.call_soon_threadsafe(run)
        return outcome.result(10)

    def open_sockets(self) -> int:
        """How many sockets are open."""
        return self._server.sandbox.sockets.listening

    def followed_topics(self) -> int:
        """How many topics of market data are followed on sockets."""
        return self._server.sandbox.sockets.topics

    def stop(self) -> None:
        """Ends the server and closes its world; a second call does nothing."""
        self._server.end()
        self._thread.join(10)
        self.world.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _run(self, listening: socket.socket) -> None:
        async def main() -> None:
            self._loop = asyncio.get_running_loop()
            await self._server.run_until_ended(listening, ready=self._ready.set)

        try:
            asyncio.run(main())
        finally:
            self._loop = None
            self._ready.set()
