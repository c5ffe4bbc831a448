"""One total time for a call: names, connection, headers and body together.

Timeouts of sockets count each read anew, so a server that sends a byte a second holds a call for as long as it likes.
The sockets here take what is left of the call's time before each of their waits, and none is longer than that.
"""

import logging
import queue
import socket
import ssl
import sys
import threading
import time
from types import TracebackType
from typing import Any, Self

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import ConnectTimeoutError, NameResolutionError, NewConnectionError

from wire.reach import AddressRefused, Host

_NS = 1_000_000_000
_running = threading.local()


class Deadline:
    """The total time of the call that this thread makes: `with Deadline(25 * 10**9) as deadline`."""

    def __init__(self, length_ns: int) -> None:
        self._ends_ns = time.monotonic_ns() + length_ns
        self.is_sending = False  # the connection exists: the other side may have read something

    def __enter__(self) -> Self:
        _running.deadline = self
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        _running.deadline = None

    @property
    def left_ns(self) -> int:
        """Nanoseconds left; never below zero."""
        return max(self._ends_ns - time.monotonic_ns(), 0)


def current() -> Deadline:
    """The deadline of the call that this thread makes."""
    deadline: Deadline | None = getattr(_running, "deadline", None)
    if deadline is None:
        raise RuntimeError("connections can only be used within a deadline")
    return deadline


def _seconds_left() -> Any:
    left_ns = current().left_ns
    if not left_ns:
        raise TimeoutError
    return left_ns / _NS


# Sockets -------------------------------------------------------------------------------------------------------------


class _WatchedSocket(socket.socket):
    """A socket that waits no longer than the call it serves: what sends and receives sets the time first."""

    def recv_into(self, *arguments: Any, **options: Any) -> int:
        self.settimeout(_seconds_left())
        return super().recv_into(*arguments, **options)

    def send(self, *arguments: Any, **options: Any) -> int:
        self.settimeout(_seconds_left())
        return super().send(*arguments, **options)

    def sendall(self, *arguments: Any, **options: Any) -> None:
        self.settimeout(_seconds_left())
        super().sendall(*arguments, **options)


class WatchedTLS(ssl.SSLSocket):
    """The same for TLS, its handshake included. To be set as the `sslsocket_class` of the context."""

    def do_handshake(self, block: bool = False) -> None:
        self.settimeout(_seconds_left())
        super().do_handshake(block)

    def read(self, *arguments: Any, **options: Any) -> Any:
        self.settimeout(_seconds_left())
        return super().read(*arguments, **options)

    def send(self, *arguments: Any, **options: Any) -> int:  # `sendall` is a loop around it
        self.settimeout(_seconds_left())
        return super().send(*arguments, **options)


# Connections ---------------------------------------------------------------------------------------------------------


class PrivateAddress(NewConnectionError):
    """No connection was made, and nothing was sent: the host lies where this deployment may not reach."""


class _Watched(HTTPConnection):
    """A connection that is made, and used, within the deadline of the call."""

    debuglevel = 0  # http.client prints headers, credentials among them, when somebody raises its global level

    def __init__(self, *arguments: Any, reach: Host, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._reach = reach

    def _new_conn(self) -> socket.socket:
        try:
            return self._connected()
        except socket.gaierror as error:
            raise NameResolutionError(self.host, self, error) from None
        except AddressRefused as error:
            raise PrivateAddress(self, str(error)) from None
        except TimeoutError:
            raise ConnectTimeoutError(self, "the connection was not made in time") from None
        except OSError as error:
            raise NewConnectionError(self, f"no connection: {type(error).__name__}") from None

    def _connected(self) -> socket.socket:
        failure: OSError = TimeoutError()
        addresses = self._reach.allowed(_addresses(self._dns_host, self.port or self.default_port))
        for family, kind, protocol, _, address in addresses:
            sock = _WatchedSocket(family, kind, protocol)
            try:
                sock.settimeout(_seconds_left())
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                sock.connect(address)
            except OSError as error:
                sock.close()
                failure = error
            else:
                sys.audit("http.client.connect", self, self.host, self.port)
                return sock
        raise failure

    def send(self, *arguments: Any, **options: Any) -> None:
        if self.sock is None:
            self.connect()
        current().is_sending = True
        super().send(*arguments, **options)


class WatchedHTTP(_Watched, HTTPConnection):
    """Plain HTTP, watched."""


class WatchedHTTPS(_Watched, HTTPSConnection):
    """HTTP over TLS, watched from the handshake on when its context makes `WatchedTLS` sockets."""


def _addresses(host: str, port: int) -> list[tuple[Any, Any, int, str, Any]]:
    """The addresses of a name. The system's resolver has no deadline: it works in a thread that may stay behind."""
    answers: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def resolve() -> None:
        try:
            answers.put(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except OSError as error:
            answers.put(error)
        except UnicodeError:
            answers.put(socket.gaierror(socket.EAI_NONAME, "not a name"))

    threading.Thread(target=resolve, name="resolve", daemon=True).start()
    try:
        answer = answers.get(timeout=_seconds_left())
    except queue.Empty:
        raise TimeoutError from None
    if isinstance(answer, OSError):
        raise answer
    return list(answer)


class _Silence(logging.Filter):
    """Keeps the library from logging our addresses: their paths and queries may hold what nobody should read."""

    def filter(self, record: logging.LogRecord) -> bool:
        return getattr(_running, "deadline", None) is None


for _name in ("urllib3.connectionpool", "urllib3.connection", "urllib3.response"):
    logging.getLogger(_name).addFilter(_Silence())
