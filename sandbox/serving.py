"""The sandbox as a process, and, for tests, inside one (`InProcessSandbox`)."""

import asyncio
import signal
import socket
import sys
from pathlib import Path

from sandbox.engine.clock import wall_ms
from sandbox.engine.journal import CannotOpenJournal
from sandbox.in_process import InProcessSandbox
from sandbox.server.asgi import every_fault
from sandbox.server.uvicorn_server import CannotServe, Server, listen
from sandbox.world.figures import reading
from sandbox.world.world import World

__all__ = ["CannotServe", "InProcessSandbox", "serve"]


def serve(
    *,
    port: int,
    host: str = "127.0.0.1",
    data_dir: Path | None = None,
    seed: int = 1,
    symbols: int | None = None,
    dialect: str = "",
    fresh: bool = False,
    sealed: bool = False,
    still: bool = False,
    block_seconds: int | None = None,
    non_js_framework: bool = False,
    figures: Path | None = None,
) -> None:
    """Serves one world until SIGTERM or SIGINT, which end it within two seconds. Raises CannotServe.

    A new world begins from the file `figures` where one is given; a kept one goes on as it began.
    """
    listening = listen(host, port)
    try:
        world = World.open(
            data_dir,
            seed=seed,
            symbols=symbols,
            dialect=dialect,
            fresh=fresh,
            still=still,
            figures=None if figures is None else reading.read(figures),
            now_ms=wall_ms,
        )
    except (CannotOpenJournal, reading.CannotReadFigures) as problem:
        listening.close()
        raise CannotServe(f"sandbox: {problem}") from None
    try:
        if block_seconds is not None:
            world.control("config", {"block_seconds": block_seconds})
        if world.config.non_js_framework != non_js_framework:
            world.control("config", {"non_js_framework": non_js_framework})
        for warning in world.warnings:
            _say(f"sandbox: {warning}")
        asyncio.run(_serve_until_signalled(Server(world, every_fault(), sealed=sealed), listening))
    finally:
        world.close()


async def _serve_until_signalled(server: Server, listening: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, server.end)
    host, port = listening.getsockname()[:2]
    plane = "sealed" if server.sandbox.sealed else "control plane at /_sandbox/"
    line = f"sandbox: ready at http://{host}:{port}/ ({plane})"
    await server.run_until_ended(listening, ready=lambda: _say(line))


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
