"""Sessions of requests that lead to one service and nowhere else.

Left alone, requests follows redirects, keeps cookies, repeats, and believes proxies, netrc and certificate files of the
environment. Here none of that can happen, whatever a call asks for.
"""

import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from http.cookiejar import DefaultCookiePolicy
from typing import Any

import requests
import urllib3
from requests.adapters import HTTPAdapter
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from wire.deadline import Deadline, WatchedHTTP, WatchedHTTPS
from wire.reach import Host

_KEPT_CONNECTIONS = 4


@dataclass(frozen=True, slots=True, repr=False)
class Sending:
    """The bytes of one request. Its headers carry credentials, so it has no repr."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes


class WouldSendOtherBytes(RuntimeError):
    """The request that was prepared is not, byte for byte, the one that was bound and signed."""


class _PlainPool(HTTPConnectionPool):
    ConnectionCls = WatchedHTTP


class _SecurePool(HTTPSConnectionPool):
    ConnectionCls = WatchedHTTPS


class WatchedAdapter(HTTPAdapter):
    """One pool of watched connections to one service. Repeats nothing; its TLS context alone says who is trusted."""

    def __init__(self, host: Host, port: int | None, context: ssl.SSLContext | None) -> None:
        super().__init__(pool_connections=1, pool_maxsize=_KEPT_CONNECTIONS, max_retries=0)
        self.pool: HTTPConnectionPool = (
            _PlainPool(host.name, port, maxsize=_KEPT_CONNECTIONS, reach=host)
            if context is None
            else _SecurePool(host.name, port, maxsize=_KEPT_CONNECTIONS, ssl_context=context, reach=host)
        )

    def get_connection_with_tls_context(self, *arguments: Any, **options: Any) -> HTTPConnectionPool:
        """The pool, whatever the request says."""
        return self.pool

    def cert_verify(self, *arguments: Any, **options: Any) -> None:
        """Nothing to add: requests would load further authorities into the context."""

    def close(self) -> None:
        """Closes the kept connections."""
        self.pool.close()
        super().close()


class Session(requests.Session):
    """A session of requests with one service, `origin`: any other address is refused before anything is sent."""

    def __init__(self, origin: str, adapter: WatchedAdapter) -> None:
        super().__init__()
        self.trust_env = False
        self.max_redirects = 0
        self.headers.clear()  # a request has its own, and none that requests would add
        self.cookies.set_policy(DefaultCookiePolicy(allowed_domains=()))
        self.adapters.clear()
        self.mount(f"{origin}/", adapter)
        self._origin = origin
        self._pool = adapter.pool

    def get_redirect_target(self, resp: requests.Response) -> None:
        """None leads anywhere. Requests reads the whole body of a redirect, however long, before it asks whether."""

    def act(self, sending: Sending, deadline: Deadline) -> urllib3.BaseHTTPResponse:
        """Sends through requests, once and without going elsewhere; the body of the answer is unread."""
        prepared = self.prepared(sending)
        return self.send(prepared, stream=True, allow_redirects=False, timeout=_time_of(deadline)).raw

    def prepared(self, sending: Sending) -> requests.PreparedRequest:
        """The request as requests will send it. Raises `WouldSendOtherBytes` when that is not what was signed."""
        url = self._origin + sending.target
        request = requests.Request(sending.method, url, headers=dict(sending.headers), data=sending.body)
        prepared = self.prepare_request(request)
        if (prepared.path_url, prepared.body or b"") != (sending.target, sending.body):
            raise WouldSendOtherBytes(f"This {sending.method} was not sent: requests would change what was signed.")
        return prepared

    def ask(self, sending: Sending, deadline: Deadline) -> urllib3.BaseHTTPResponse:
        """Sends straight through the pool of the session: the way through requests takes twice the time."""
        return self._pool.urlopen(
            sending.method,
            sending.target,
            body=sending.body or None,
            headers=sending.headers,
            retries=False,
            redirect=False,
            assert_same_host=False,
            preload_content=False,
            timeout=_time_of(deadline),
        )


def _time_of(deadline: Deadline) -> Any:
    return urllib3.Timeout(total=max(deadline.left_ns, 1) / 1_000_000_000)
