"""Which addresses of the network a service may lie at, and connections to exactly the address that was looked at.

A name is looked up once for each connection and the connection goes to what was found: a name that answers otherwise
the next time leads nowhere else, and TLS still asks for the certificate of the name. Refused, unless the deployment
names the host, is everything that is not public: private networks, this machine, link-local addresses and the
addresses at which clouds hand out credentials, in IPv4, in IPv6, and in IPv6 that carries IPv4 (OWASP ASVS 1.3.6).
"""

import ipaddress
import socket
import ssl
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

__all__ = ["AddressRefused", "Host", "connect", "is_loopback", "is_public", "numbered"]

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Addresses = list[tuple[Any, Any, int, str, Any]]  # as the resolver of the system returns them

# Where clouds answer their virtual machines, outside the link-local range: the first is public by the registries.
_CLOUDS = tuple(ipaddress.ip_address(each) for each in ("168.63.129.16", "100.100.100.200", "fd00:ec2::254"))
_OWN_NETWORKS = tuple(
    ipaddress.ip_network(network)
    for network in (
        "127.0.0.0/8",
        "10.0.0.0/8",
        "172.16.0.0/12",
        "192.168.0.0/16",
        "100.64.0.0/10",
        "::1/128",
        "fc00::/7",
    )
)
# IPv6 that leads to an IPv4 address written inside: prefix, and how far to the right the 32 bits stand.
_CARRIERS = (
    (ipaddress.ip_network("::ffff:0:0/96"), 0),  # mapped (RFC 4291)
    (ipaddress.ip_network("::ffff:0:0:0/96"), 0),  # translated (RFC 2765)
    (ipaddress.ip_network("::/96"), 0),  # compatible (RFC 4291)
    (ipaddress.ip_network("64:ff9b::/96"), 0),  # NAT64 (RFC 6052)
    (ipaddress.ip_network("2002::/16"), 80),  # 6to4 (RFC 3056)
)
_SHUT_NETWORKS = tuple(
    ipaddress.ip_network(network)
    for network in (
        "64:ff9b:1::/48",  # translated locally (RFC 8215)
        "2001::/23",  # Teredo and other assignments to protocols (RFC 2928)
        "fec0::/10",  # site-local (RFC 3879)
        "5f00::/16",  # segment routing (RFC 9602)
        "3fff::/20",  # documentation (RFC 9637)
        "192.0.0.0/24",  # assignments to protocols, a cloud's credentials among them (RFC 6890)
        "192.88.99.0/24",  # relays of 6to4 (RFC 7526)
    )
)


class AddressRefused(OSError):
    """No connection was made: the name leads to an address that is not public and that nobody named."""


def is_loopback(host: str) -> bool:
    """Whether a host is written as this machine, in the one way each that a person would write it."""
    return host in {"127.0.0.1", "::1", "localhost"}


def numbered(host: str) -> str:
    """The address that a host is written as, in any of the forms that the system takes for one; empty for a name."""
    try:
        return str(socket.getaddrinfo(host, None, flags=socket.AI_NUMERICHOST)[0][4][0])
    except (OSError, UnicodeError):
        return ""


def is_public(address: str) -> bool:
    """Whether an address belongs to the public network, whatever it is wrapped in."""
    ip = _unwrapped(ipaddress.ip_address(address.partition("%")[0]))
    if ip.is_multicast or ip.is_reserved or ip in _CLOUDS:
        return False
    shut = any(ip in network for network in _SHUT_NETWORKS if network.version == ip.version)
    return ip.is_global and not shut


def _is_own_network(address: str) -> bool:
    """Whether an address is this machine or of a private network, and none that a cloud keeps for itself."""
    ip = _unwrapped(ipaddress.ip_address(address.partition("%")[0]))
    own = any(ip in network for network in _OWN_NETWORKS if network.version == ip.version)
    return own and ip not in _CLOUDS


def _unwrapped(ip: _Address) -> _Address:
    if isinstance(ip, ipaddress.IPv4Address) or ip in (ipaddress.ip_address("::1"), ipaddress.ip_address("::")):
        return ip
    for network, right in _CARRIERS:
        if ip in network:
            return ipaddress.IPv4Address((int(ip) >> right) & 0xFFFF_FFFF)
    return ip


@dataclass(frozen=True, slots=True)
class Host:
    """One host and what it may lie at. `named` are the hosts, in small letters, that may be private.

    A host that is written as this machine reaches this machine alone. A name that is named reaches this machine and
    private networks too; link-local and cloud addresses only a number reaches that is itself named.
    """

    name: str
    named: Collection[str] = ()

    def may_lie_at(self, address: str) -> bool:
        """Whether a connection to this host may go to this numeric address."""
        if is_loopback(self.name):
            return ipaddress.ip_address(address.partition("%")[0]).is_loopback
        if self.name.lower() not in self.named:
            return is_public(address)
        return bool(numbered(self.name)) or is_public(address) or _is_own_network(address)

    def allowed(self, addresses: Addresses) -> Addresses:
        """What was found, all of it. Raises `AddressRefused` when any of it is not allowed: nothing is tried then."""
        if not addresses or not all(self.may_lie_at(str(address[0])) for *_, address in addresses):
            raise AddressRefused("the host resolves to an address that is not allowed")
        return addresses


def connect(host: Host, port: int, *, seconds: float, tls: ssl.SSLContext | None = None) -> socket.socket:
    """A connection to a host, with TLS for its name when there is a context; each wait takes `seconds` at most.

    Raises `AddressRefused` before anything is connected, and `OSError` when nothing answers.
    """
    failure: OSError = ConnectionRefusedError()
    try:
        addresses = socket.getaddrinfo(host.name, port, type=socket.SOCK_STREAM)
    except UnicodeError:
        raise socket.gaierror(socket.EAI_NONAME, "not a name") from None
    for family, kind, protocol, _, address in host.allowed(list(addresses)):
        plain = socket.socket(family, kind, protocol)
        try:
            plain.settimeout(seconds)
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            plain.connect(address)
            return plain if tls is None else tls.wrap_socket(plain, server_hostname=host.name)
        except OSError as error:
            plain.close()
            failure = error
    raise failure
