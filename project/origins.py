"""Whose pages may open a socket: those of exactly this address, its scheme and port included.

Channels' own check compares the host alone, so a page of another port of the same machine, or one that came without
TLS, would be let in. Here the origin has to be what Django asks of forms: scheme, host and port of the request, or an
origin that the deployment trusts (CSRF_TRUSTED_ORIGINS).

A program has no origin: without one it comes in where it brings a token in a header, which no page of a browser can
set. With an origin it has to be ours all the same. Where the desk has TLS, a token that came without opens nothing.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from channels.security.websocket import WebsocketDenier
from django.conf import settings
from django.http.request import split_domain_port, validate_host

from desk.people import bearer

Application = Callable[[Any, Any, Any], Awaitable[Any]]
_PORTS = {"http": "80", "https": "443"}


class OwnOrigin:
    """An application for sockets that denies everybody who comes from elsewhere."""

    def __init__(self, inner: Application) -> None:
        self._inner = inner

    async def __call__(self, scope: Any, receive: Any, send: Any) -> Any:
        if is_own(scope["headers"]):
            return await self._inner(scope, receive, send)
        return await WebsocketDenier()(scope, receive, send)


def is_own(headers: list[tuple[bytes, bytes]]) -> bool:
    """Whether a request comes from a page of ours, by its one origin, or from a program with a token and none."""
    origins, hosts, schemes = (_values(headers, name) for name in (b"origin", b"host", b"x-forwarded-proto"))
    if len(hosts) != 1 or not validate_host(split_domain_port(hosts[0])[0], settings.ALLOWED_HOSTS):
        return False
    with_token = bearer.of_handshake(headers) is not None
    if with_token and settings.SECURE_COOKIES and not _came_by_tls(schemes):
        return False
    if not origins:
        return with_token
    scheme = "https" if settings.SECURE_COOKIES else "http"
    own = {f"{scheme}://{hosts[0].removesuffix(f':{_PORTS[scheme]}')}"}
    return len(origins) == 1 and origins[0] in own | {trusted.lower() for trusted in settings.CSRF_TRUSTED_ORIGINS}


def _came_by_tls(schemes: list[str]) -> bool:
    """What the proxy says of the request, read as Django reads it."""
    return len(schemes) == 1 and schemes[0].partition(",")[0].strip() == "https"


def _values(headers: list[tuple[bytes, bytes]], header_name: bytes) -> list[str]:
    return [value.decode("latin-1").lower() for name, value in headers if name == header_name]
