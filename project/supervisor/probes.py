"""Whether a child does its work already: each probe answers yes or no at once, and never raises."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

Probe = Callable[[], Awaitable[bool]]
_PATIENCE_S = 2.0


def answers_http(port: int, path: str, *, host: str = "localhost", whatever: bool = False) -> Probe:
    """The server on this machine's `port` answers a GET of `path` with 200, or with `whatever` status there is.

    `host` is the name that it is asked by: a desk answers to its ALLOWED_HOSTS alone.
    """

    async def probe() -> bool:
        request = f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n"
        reply = await _ask(asyncio.open_connection("127.0.0.1", port), request.encode())
        status = reply.split(b"\r\n", 1)[0].split(b" ")[1:2]
        return bool(status) if whatever else status == [b"200"]

    return probe


def answers_redis(socket: Path) -> Probe:
    """The server on this Unix socket answers PING."""

    async def probe() -> bool:
        return (await _ask(asyncio.open_unix_connection(str(socket)), b"PING\r\n")).startswith(b"+PONG")

    return probe


async def _ask(opening: Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]], question: bytes) -> bytes:
    try:
        async with asyncio.timeout(_PATIENCE_S):
            reader, writer = await opening
            try:
                writer.write(question)
                return await reader.read(1_024)
            finally:
                writer.close()
    except (OSError, TimeoutError):
        return b""
