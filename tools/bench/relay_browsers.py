"""Many browsers in one thread, as cheap as they can be: they count, and remember when what was read.

Every text has the character `_` exactly once, so counting needs no parsing. The head of a frame must not have it: texts
of 383 characters make frames of 383 or 384 * k + 1, whose two bytes of length are never 95.
"""

import base64
import contextlib
import os
import re
import select
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import redis

MARK = b"_"
CHARACTERS = 383
_AT = re.compile(rb'"at":"(\d{16})"')
_NOWHERE = bytearray(1 << 20)
_GROUP = "asgi__group__relay"


def text(number: int, *, topic: str = "t") -> str:
    """A notification like a ticker, with the moment that it is made at in microseconds."""
    at = int(time.monotonic() * 1_000_000)
    figures = '"ask":"0.050043","bid":"0.050042","last":"0.050042","open":"0.047800","low":"0.047052","high":"0.051679"'
    rest = '"volume":"36456.720","volumeQuote":"1782.625000","timestamp":"2026-11-21T05:44:38.000Z","symbol":"ETHBTC"'
    text = f'{{"topic":"{topic}","hint":{{"n":{number},"at":"{at:016d}","mark":"_",{figures},{rest},"fill":"'
    return text.ljust(CHARACTERS - 3, "x") + '"}}'


class Server:
    """One kind of server with its browsers."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.kind = kind
        command = [sys.executable, "-m", "tools.bench.relay_servers", kind, str(folder)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        port = self.process.stdout.readline().strip()
        if not port:
            raise SystemExit(f"The server {kind} did not start; nothing was measured.")
        self.port = int(port)
        self.upstream = _ToRedis(folder) if kind == "hub-redis" else _ToSocket(folder / f"{kind}.sock")
        self.poll = select.epoll()
        self.browsers: dict[int, socket.socket] = {}
        self.counts: dict[int, int] = {}
        self.heard = 0
        self.sent = 0
        self.drained = 0

    def connect(self, browsers: int) -> None:
        """Open sockets until so many are there, or close the last of them."""
        while len(self.browsers) < browsers:
            one = _shaken(self.port)
            self.browsers[one.fileno()] = one
            self.poll.register(one.fileno(), select.EPOLLIN)
        for number in list(self.browsers)[browsers:]:
            self.poll.unregister(number)
            self.browsers.pop(number).close()
        self.counts = dict.fromkeys(self.browsers, 0)
        self.heard = self.sent = 0

    def give(self, notifications: int) -> None:
        """Send so many notifications, together."""
        self.upstream.send([("t", text(self.sent + number)) for number in range(notifications)])
        self.sent += notifications

    def pump(self, seconds: float) -> Iterator[tuple[int, bytes]]:
        """Read what is there, or comes within so many seconds: which browser, and what it read."""
        for number, _ in self.poll.poll(seconds):
            read = self.browsers[number].recv(1 << 18)
            if not read:
                raise SystemExit(f"The server {self.kind} closed a socket; nothing was measured.")
            marks = read.count(MARK)
            self.counts[number] += marks
            self.heard += marks
            yield number, read

    def drain(self, seconds: float, watched: set[int]) -> Iterator[bytes]:
        """Read like `pump`, but look only at what the watched browsers read: the rest is thrown away uncopied."""
        for number, _ in self.poll.poll(seconds):
            if number in watched:
                read = self.browsers[number].recv(1 << 20)
                self.drained += len(read)
                yield read
            else:
                self.drained += self.browsers[number].recv_into(_NOWHERE, 0, socket.MSG_TRUNC)

    def wait(self, seconds: float = 120) -> None:
        """Until every browser has read everything that was sent."""
        deadline = time.monotonic() + seconds
        while self.heard < self.sent * len(self.browsers):
            for _ in self.pump(0.5):
                pass
            if time.monotonic() > deadline:
                raise SystemExit(f"{self.kind} lost {self.sent * len(self.browsers) - self.heard} messages.")

    def spent_us(self) -> float:
        """Microseconds of processor time that the server has used since it began."""
        threads = Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        return sum(int(thread.read_text().split()[0]) for thread in threads) / 1_000

    def memory_bytes(self) -> int:
        """Memory that the server holds."""
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")

    def stop(self) -> None:
        """End the server and its browsers."""
        self.process.kill()
        self.process.wait()
        for one in self.browsers.values():
            one.close()
        self.poll.close()


def moments(read: bytes) -> list[int]:
    """When the texts in it were made, in microseconds; those cut in two are left out."""
    return [int(at) for at in _AT.findall(read)]


class _ToSocket:
    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(path))

    def send(self, lines: list[tuple[str, str]]) -> None:
        self._socket.sendall("".join(f"{topic} {one}\n" for topic, one in lines).encode())


class _ToRedis:
    """What `desk.live.announcements` sends, in as many batches as there are calls."""

    def __init__(self, folder: Path) -> None:
        self._redis = redis.Redis(unix_socket_path=str(folder / "redis.sock"))
        self._numbers = {"hint": 0, "tick": 0}

    def send(self, lines: list[tuple[str, str]]) -> None:
        kind = "hint" if lines[0][0] == "t" else "tick"
        self._numbers[kind] += 1
        batch = {"type": "relay.batch", "kind": kind, "sender": kind, "number": self._numbers[kind], "texts": lines}
        self._redis.publish(_GROUP, msgspec.msgpack.encode(batch))


def _shaken(port: int) -> socket.socket:
    one = socket.create_connection(("127.0.0.1", port), timeout=60)
    key = base64.b64encode(os.urandom(16)).decode()
    head = "Host: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13"
    one.sendall(f"GET / HTTP/1.1\r\n{head}\r\nSec-WebSocket-Key: {key}\r\n\r\n".encode())
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += one.recv(1)
    if not answer.startswith(b"HTTP/1.1 101 "):
        raise SystemExit(f"{answer[:200]!r}; nothing was measured.")
    one.setblocking(False)
    return one


@contextlib.contextmanager
def redis_in(folder: Path) -> Iterator[None]:
    """A private Redis, as the embedded start has it."""
    from project.supervisor import redis_choice

    path = folder / "redis.sock"
    command = redis_choice.choose(socket_path=path, folder=folder).command
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 20
        while not path.exists():
            if time.monotonic() > deadline:
                raise SystemExit("Redis did not start; nothing was measured.")
            time.sleep(0.02)
        yield
    finally:
        process.kill()
        process.wait()
