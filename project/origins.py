"""Whose pages may open a socket: those of exactly this address, its scheme and port included.

Channels' own check compares the host alone, so a page of another port of the same machine, or one that came without
TLS, would be let in. Here the origin has to be what Django asks of forms: scheme, host and port of the request, or an
origin that the deployment trusts (CSRF_TRUSTED_ORIGINS).
"""

from collections.abc import Awaitable, Callable
from typing import Any

from channels.security.websocket import WebsocketDenier
from django.conf import settings
from django.http.request import split_domain_port, validate_host

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
    """Whether the one origin of a request is the one that its pages have."""
    origins = [value.decode("latin-1") for name, value in headers if name == b"origin"]
    hosts = [value.decode("latin-1") for name, value in headers if name == b"host"]
    if len(origins) != 1 or len(hosts) != 1:
        return False
    origin, host = origins[0].lower(), hosts[0].lower()
    if not validate_host(split_domain_port(host)[0], settings.ALLOWED_HOSTS):
        return False
    scheme = "https" if settings.SECURE_COOKIES else "http"
    own = f"{scheme}://{host.removesuffix(f':{_PORTS[scheme]}')}"
    return origin == own or origin in {trusted.lower() for trusted in settings.CSRF_TRUSTED_ORIGINS}
