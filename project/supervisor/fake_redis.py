"""The last resort: a pure-Python Redis on a private Unix socket, `python -m project.supervisor.fake_redis SOCKET`."""

import os
import socket
import sys
from pathlib import Path
from typing import Any

from fakeredis import TcpFakeServer


class PrivateFakeServer(TcpFakeServer):
    """The stand-in server on a Unix socket of mode 0700 instead of a port."""

    address_family = socket.AF_UNIX

    def get_request(self) -> tuple[socket.socket, tuple[str, int]]:
        """A new connection with a name of its own: the peers of a Unix socket have none, and would be taken for one."""
        connection, _ = self.socket.accept()
        return connection, ("local", next(self.client_ids))

    def server_bind(self) -> None:
        """Bind the socket so that nobody else can open it, not even between its making and a later change of mode."""
        before = os.umask(0o077)
        try:
            self.socket.bind(self.server_address)
        finally:
            os.umask(before)


def main(path: str) -> None:
    """Serve until ended."""
    Path(path).unlink(missing_ok=True)
    address: Any = path
    server = PrivateFakeServer(address)
    server.daemon_threads = True
    server.serve_forever()


if __name__ == "__main__":
    main(sys.argv[1])
