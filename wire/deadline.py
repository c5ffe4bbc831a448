"""One total time for a call: names, connection, headers and body together.

Timeouts of sockets count each read anew, so a server that sends a byte a second holds a call for as long as it likes.
Here the socket itself is shut down when the time is over, which ends every read and write on it.
"""

import logging
import queue
import socket
import sys
import threading
import time
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import ConnectTimeoutError, NameResolutionError, NewConnectionError

_NS = 1_000_000_000
_running = threading.local()


class Deadline:
    """A total time that watches the socket of the call in this thread: `with Deadline(25 * 10**9) as deadline`."""

    def __init__(self, length_ns: int) -> None:
        self._ends_ns = time.monotonic_ns() + length_ns
        self._lock = threading.Lock()
        self._watched: socket.socket | None = None
        self._timer = threading.Timer(length_ns / _NS, self._end)
        self._timer.daemon = True
        self.is_sending = False  # the connection exists: the other side may have read something

    def __enter__(self) -> Self:
        _running.deadline = self
        self._timer.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._timer.cancel()
        _running.deadline = None
        self._replace(None)

    @property
    def left_ns(self) -> int:
        """Nanoseconds left; never below zero."""
        return max(self._ends_ns - time.monotonic_ns(), 0)

    def watch(self, sock: socket.socket) -> None:
        """Shuts this socket down when the time is over, at once if it is over already.

        A duplicate of its descriptor is kept: TLS takes the descriptor away from the first socket object.
        """
        self._replace(socket.fromfd(sock.fileno(), sock.family, sock.type))

    def _replace(self, sock: socket.socket | None) -> None:
        with self._lock:
            before, self._watched = self._watched, sock
            if before is not None:
                before.close()
        if sock is not None and not self.left_ns:
            self._end()

    def _end(self) -> None:
        with self._lock, suppress(OSError):  # it may be closed by the other side already
            if self._watched is not None:
                self._watched.shutdown(socket.SHUT_RDWR)


def current() -> Deadline:
    """The deadline of the call that this thread makes."""
    deadline: Deadline | None = getattr(_running, "deadline", None)
    if deadline is None:
        raise RuntimeError("connections are used inside a deadline only")
    return deadline


class _Watched(HTTPConnection):
    """A connection that is made, and used, within the deadline of the call."""

    debuglevel = 0  # http.client prints headers, credentials among them, when somebody raises its global level

    def _new_conn(self) -> socket.socket:
        try:
            return self._connected()
        except socket.gaierror as error:
            raise NameResolutionError(self.host, self, error) from None
        except TimeoutError:
            raise ConnectTimeoutError(self, "the connection was not made in time") from None
        except OSError as error:
            raise NewConnectionError(self, f"no connection: {type(error).__name__}") from None

    def _connected(self) -> socket.socket:
        deadline = current()
        failure: OSError = TimeoutError()
        for family, kind, protocol, _, address in _addresses(self._dns_host, self.port or self.default_port):
            sock = socket.socket(family, kind, protocol)
            try:
                sock.settimeout(_seconds_left(deadline))
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                sock.connect(address)
                deadline.watch(sock)
            except OSError as error:
                sock.close()
                failure = error
            else:
                sys.audit("http.client.connect", self, self.host, self.port)
                return sock
        raise failure

    def request(self, *arguments: Any, **options: Any) -> None:
        deadline = current()
        if self.sock is not None:
            deadline.watch(self.sock)
        super().request(*arguments, **options)

    def send(self, *arguments: Any, **options: Any) -> None:
        if self.sock is None:
            self.connect()
        current().is_sending = True
        super().send(*arguments, **options)


class WatchedHTTP(_Watched, HTTPConnection):
    """Plain HTTP, watched."""


class WatchedHTTPS(_Watched, HTTPSConnection):
    """HTTP over TLS, watched from the handshake on."""


def _seconds_left(deadline: Deadline) -> Any:
    left_ns = deadline.left_ns
    if not left_ns:
        raise TimeoutError
    return left_ns / _NS


def _addresses(host: str, port: int) -> list[tuple[Any, Any, int, str, Any]]:
    """The addresses of a name. The system's resolver has no deadline: it works in a thread that may stay behind."""
    deadline = current()
    answer: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def resolve() -> None:
        try:
            answer.put(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except OSError as error:
            answer.put(error)
        except UnicodeError:
            answer.put(socket.gaierror(socket.EAI_NONAME, "not a name"))

    threading.Thread(target=resolve, name="resolve", daemon=True).start()
    try:
        found = answer.get(timeout=_seconds_left(deadline))
    except queue.Empty:
        raise TimeoutError from None
    if isinstance(found, OSError):
        raise found
    return list(found)


class _Silence(logging.Filter):
    """Keeps the library from logging our addresses: their paths and queries may hold what nobody should read."""

    def filter(self, record: logging.LogRecord) -> bool:
        return getattr(_running, "deadline", None) is None


for _name in ("urllib3.connectionpool", "urllib3.connection", "urllib3.response"):
    logging.getLogger(_name).addFilter(_Silence())
