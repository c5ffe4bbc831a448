"""How many connections one address may hold, and how many there may be: so that nobody keeps the others out by idling.

A connection without a request is worth nothing: when an address, or the whole server, has too many, the one that has
waited longest makes room, so the newcomer is answered. Only an address whose connections are all at work is refused.
Proxies that are trusted speak for everybody: they are not counted, and bound their own clients. A socket counts until
its handshake is done; afterwards its session and its person bound it (`desk.live.consumers`).
"""

import ipaddress
from collections import OrderedDict
from collections.abc import Iterable
from typing import Protocol
from weakref import WeakKeyDictionary

from uvicorn.server import ServerState

MOST_CONNECTIONS = 900
_HOME_BITS = 64  # of an IPv6 address: what one subscriber has


class Connection(Protocol):
    """A connection as the server holds it."""

    def is_idle(self) -> bool:
        """Whether nothing was asked that is not answered."""

    def cut(self) -> None:
        """End it at once."""


class Doors:
    """The connections of one server, by address, the one that has waited longest first."""

    def __init__(self, *, per_address: int, trusted: Iterable[str], most: int = MOST_CONNECTIONS) -> None:
        self._per_address = per_address
        self._most = most
        self._trusts_all = "*" in trusted
        self._trusted = [ipaddress.ip_network(one, strict=False) for one in trusted if one != "*"]
        self._inside: dict[str, OrderedDict[Connection, None]] = {}
        self._homes: dict[Connection, str] = {}

    def enter(self, connection: Connection, address: str) -> bool:
        """Count a connection; False when it may not stay. One that waited may be ended for it."""
        home = self._home(address)
        if not home:
            return True
        theirs = self._inside.setdefault(home, OrderedDict())
        if len(theirs) >= self._per_address and not self._make_room(theirs):
            return False
        if len(self._homes) >= self._most:
            self._make_room(max(self._inside.values(), key=len))
        self._inside.setdefault(home, OrderedDict())[connection] = None
        self._homes[connection] = home
        return True

    def leave(self, connection: Connection) -> None:
        """Count it no more; one that is not counted is left alone."""
        home = self._homes.pop(connection, "")
        if home:
            del self._inside[home][connection]
            if not self._inside[home]:
                del self._inside[home]

    def answered(self, connection: Connection) -> None:
        """It waits from now on: others have waited longer."""
        home = self._homes.get(connection, "")
        if home:
            self._inside[home].move_to_end(connection)

    def _make_room(self, theirs: "OrderedDict[Connection, None]") -> bool:
        oldest = next((one for one in theirs if one.is_idle()), None)
        if oldest is None:
            return False
        self.leave(oldest)
        oldest.cut()
        return True

    def _home(self, address: str) -> str:
        """Whose connection it is; empty for those that are not counted."""
        try:
            client = ipaddress.ip_address(address)
        except ValueError:  # a peer without an address, on a socket of this machine
            return ""
        client = getattr(client, "ipv4_mapped", None) or client
        if self._trusts_all or any(client in net for net in self._trusted if net.version == client.version):
            return ""
        if client.version == 4:
            return str(client)
        return str(ipaddress.ip_network((int(client), _HOME_BITS), strict=False))


_doors_by_server: "WeakKeyDictionary[ServerState, Doors]" = WeakKeyDictionary()


def server_doors(state: ServerState) -> Doors:
    """The doors of this server."""
    from django.conf import settings

    doors = _doors_by_server.get(state)
    if doors is None:
        doors = _doors_by_server[state] = Doors(
            per_address=settings.CONNECTIONS_PER_ADDRESS, trusted=settings.TRUSTED_PROXIES
        )
    return doors
