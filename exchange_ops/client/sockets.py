"""A socket to the streams: to an address that was checked, with TLS unless on this machine, never redirected."""

import ssl
from collections.abc import Collection
from http import HTTPStatus
from urllib.parse import urlsplit

import certifi
import websocket

from exchange_ops.wire.streams import Address
from wire.reach import Host, connect, is_loopback

CONNECT_SECONDS = 10


class CannotFollow(ValueError):
    """The address of the streams can't be used."""


def stream_url(base_url: str, address: Address = Address.ACCOUNT) -> str:
    """The address of a stream. Beyond this machine only wss is used."""
    parts = urlsplit(base_url)
    if parts.scheme not in {"ws", "wss"} or not parts.hostname:
        raise CannotFollow("The stream URL must start with wss://.")
    if parts.scheme == "ws" and not is_loopback(parts.hostname):
        raise CannotFollow("ws:// is allowed only on this machine; use wss://.")
    return base_url.rstrip("/") + address.value


def open_at(fresh: websocket.WebSocket, url: str, *, private_hosts: Collection[str]) -> None:
    """Connect and shake hands. `fresh` has its connection before the handshake, so that it can be ended in the middle.

    Raises `OSError` or `WebSocketException`.
    """
    parts = urlsplit(url)
    host, secure = Host(parts.hostname or "", frozenset(private_hosts)), parts.scheme == "wss"
    context = None
    if secure:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(certifi.where())
    fresh.settimeout(CONNECT_SECONDS)
    plain = connect(host, parts.port or (443 if secure else 80), seconds=CONNECT_SECONDS, tls=context)
    fresh.sock = plain
    # Nothing of the environment is read, no proxy for instance.
    fresh.connect(  # type: ignore[no-untyped-call]
        url, socket=plain, http_no_proxy=["*"], suppress_origin=True, redirect_limit=0
    )
    if fresh.getstatus() != HTTPStatus.SWITCHING_PROTOCOLS:  # a redirect, which is never followed
        raise ConnectionRefusedError
