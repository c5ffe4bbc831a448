"""A server on a raw socket that does exactly what a script says: the ways a connection can end are the subject."""

import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable
from typing import Self

from tests.bounds import stretched

Script = Callable[["Connection"], None]


class Connection:
    """One accepted connection, from the server's side."""

    def __init__(self, sock: socket.socket, seen: list[bytes], stopping: threading.Event) -> None:
        self.sock = sock
        self._seen = seen
        self._stopping = stopping
        self._rest = b""

    def read_request(self) -> bytes:
        """One whole request; it counts as seen."""
        head, body = self._until(b"\r\n\r\n"), b""
        for line in head.lower().split(b"\r\n"):
            if line.startswith(b"content-length:"):
                body = self._exactly(int(line.split(b":")[1]))
        self._seen.append(head + body)
        return head + body

    def answer(self, body: bytes, status: str = "200 OK", *headers: str, kind: str = "application/json") -> None:
        """A whole answer with its length."""
        lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(body)}", *headers, "", ""]
        self.sock.sendall("\r\n".join(lines).encode() + body)

    def raw(self, data: bytes) -> None:
        self.sock.sendall(data)

    def dribble(self, data: bytes, pause_s: float) -> None:
        """A byte at a time, until the other side has had enough."""
        for byte in data:
            if self._stopping.wait(pause_s):
                return
            self.sock.sendall(bytes([byte]))

    def hold(self) -> None:
        """Says nothing until the test is over."""
        self._stopping.wait(30)

    def reset(self) -> None:
        """Ends the connection with a reset instead of an orderly end."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()

    def _until(self, mark: bytes) -> bytes:
        while mark not in self._rest:
            self._more()
        head, _, self._rest = self._rest.partition(mark)
        return head + mark

    def _exactly(self, length: int) -> bytes:
        while len(self._rest) < length:
            self._more()
        body, self._rest = self._rest[:length], self._rest[length:]
        return body

    def _more(self) -> None:
        piece = self.sock.recv(65536)
        if not piece:
            raise ConnectionError("the client ended the connection")
        self._rest += piece


class ScriptedServer:
    """Runs one script for each connection, in order; the last one serves all that follow."""

    def __init__(self, *scripts: Script, tls: ssl.SSLContext | None = None) -> None:
        self.seen: list[bytes] = []
        self.connections = 0
        self._scripts = scripts
        self._tls = tls
        self._stopping = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(0.05)
        self._threads: list[threading.Thread] = []
        self._accepting = threading.Thread(target=self._accept, daemon=True)

    @property
    def port(self) -> int:
        return self._listener.getsockname()[1]

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._accepting.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._accepting.join(5)
        self._listener.close()
        for thread in self._threads:
            thread.join(5)

    def wait_for_requests(self, count: int) -> None:
        """Waits until the server has seen so many; whatever comes later would have come too."""
        until = time.monotonic() + stretched(5)
        while len(self.seen) < count and time.monotonic() < until:
            time.sleep(0.005)

    def _accept(self) -> None:
        while not self._stopping.is_set():
            try:
                sock, _ = self._listener.accept()
            except TimeoutError:
                continue
            script = self._scripts[min(self.connections, len(self._scripts) - 1)]
            self.connections += 1
            thread = threading.Thread(target=self._serve, args=(sock, script), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, sock: socket.socket, script: Script) -> None:
        sock.settimeout(10)
        try:
            if self._tls is not None:
                sock = self._tls.wrap_socket(sock, server_side=True)
            script(Connection(sock, self.seen, self._stopping))
        except (OSError, ConnectionError):
            pass  # the client left: that is what some of the tests are about
        finally:
            sock.close()


def server_context(certificate: str) -> ssl.SSLContext:
    """The server's side of TLS with a certificate and its key in one file."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context
