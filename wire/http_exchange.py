"""One request and its whole answer over a connection, or why there is none.

Nothing is judged here and nothing repeated, redirected or taken from the environment: no proxy, no netrc, no key log.
"""

import re
import ssl
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.client import HTTPException
from urllib.parse import urlsplit

import certifi
import urllib3
from requests import RequestException
from urllib3.exceptions import ConnectTimeoutError, HTTPError, MaxRetryError, NewConnectionError, ReadTimeoutError

from wire.deadline import Deadline, WatchedTLS
from wire.reach import Host, is_loopback
from wire.sessions import Sending, Session, WatchedAdapter

MOST_BYTES = 32 * 2**20  # of one answer
_CHUNK = 2**16
_PREFIX = re.compile(r"(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*/?")  # what no library along the way would write differently
_NO_TIME = "no complete response within the deadline"


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back, whole: `body` decoded from its transfer encoding, `date` the other side's clock."""

    status: int
    body: bytes = field(repr=False)
    date: datetime | None
    elapsed_ms: int
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Lost:
    """No answer came: why, whether nothing was sent for certain, and whether the next attempt may go better.

    `reason` names kinds of failure, never addresses: a path or query may hold what nobody should read.
    """

    reason: str
    elapsed_ms: int
    unsent: bool = False
    passing: bool = True


class Line:
    """The way to one service: its address, checked, and new sessions with it.

    `prefix` is the path of the address, which goes before every target. `private_hosts` may lie in private networks
    (`wire.reach`).
    """

    def __init__(self, base_url: str, ca_file: str | None = None, private_hosts: Collection[str] = ()) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in ("https", "http") or not parts.hostname:
            raise ValueError("a service address must start with https://")
        if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
            raise ValueError("a service address can't contain credentials, a query or a fragment")
        if parts.scheme == "http" and not is_loopback(parts.hostname):
            raise ValueError("plain HTTP is only allowed to this machine; use https://")
        if not _PREFIX.fullmatch(parts.path):
            raise ValueError("the path of a service address can only contain plain letters and digits")
        self._host, self._port = Host(parts.hostname, frozenset(private_hosts)), parts.port
        self._origin = f"{parts.scheme}://{parts.netloc.lower()}"
        self._trust = _trust_in(ca_file or certifi.where()) if parts.scheme == "https" else None
        self.prefix = parts.path.rstrip("/")

    def new_session(self) -> Session:
        """Connections that are made when needed and kept alive until the session is closed."""
        return Session(self._origin, WatchedAdapter(self._host, self._port, self._trust))


def _trust_in(ca_file: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(ca_file)
    context.sslsocket_class = WatchedTLS
    return context


Way = Callable[[Sending, Deadline], urllib3.BaseHTTPResponse]  # a session's `ask` or `act`


def roundtrip(way: Way, sending: Sending, deadline: Deadline, *, most_bytes: int = MOST_BYTES) -> Answer | Lost:
    """Sends once and reads the whole answer, of `most_bytes` at most, before the deadline."""
    began_ns = time.monotonic_ns()
    deadline.is_sending = False
    try:
        response = way(sending, deadline)
        try:
            body = _whole_body(response, most_bytes)
        finally:
            response.close()  # a connection whose answer was read to its end is back in the pool already
    except (RequestException, HTTPError, HTTPException, OSError, ValueError) as problem:
        return _lost(problem, deadline, _ms_since(began_ns))
    if body is None:
        return Lost(f"the response is larger than {most_bytes} bytes", _ms_since(began_ns), passing=False)
    if not deadline.left_ns:
        return Lost(_NO_TIME, _ms_since(began_ns))
    return Answer(response.status, body, _date_of(response.headers), _ms_since(began_ns), response.headers)


def _lost(problem: Exception, deadline: Deadline, elapsed_ms: int) -> Lost:
    problem = _unwrapped(problem)
    if isinstance(problem, NewConnectionError | ConnectTimeoutError):
        return Lost(f"no connection: {type(problem).__name__}", elapsed_ms, unsent=not deadline.is_sending)
    if isinstance(problem, ReadTimeoutError) or not deadline.left_ns:
        return Lost(_NO_TIME, elapsed_ms)
    inner = _inside(problem)
    names = type(problem).__name__ + (f", {type(inner).__name__}" if inner is not None else "")
    return Lost(f"the connection failed: {names}", elapsed_ms)


def _unwrapped(problem: Exception) -> Exception:
    """The failure itself: requests puts it into its own, and often into one that counts repetitions between them."""
    while isinstance(problem, RequestException | MaxRetryError) and (inner := _inside(problem)) is not None:
        problem = inner
    return problem


def _inside(problem: Exception) -> Exception | None:
    if isinstance(problem, MaxRetryError):
        return problem.reason
    return next((argument for argument in problem.args if isinstance(argument, Exception)), None)


def _whole_body(response: urllib3.BaseHTTPResponse, most_bytes: int) -> bytes | None:
    """The decoded body, or None when it is larger than allowed."""
    if "Content-Encoding" not in response.headers and (response.length_remaining or most_bytes) < most_bytes:
        return response.read()  # as long as it says, in one piece: half the time of a short answer
    pieces, size = [], 0
    for piece in response.stream(_CHUNK, decode_content=True):
        pieces.append(piece)
        size += len(piece)
        if size > most_bytes:
            response.close()
            return None
    return b"".join(pieces)


def _date_of(headers: Mapping[str, str]) -> datetime | None:
    try:
        return parsedate_to_datetime(headers.get("Date", "")).astimezone(UTC)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _ms_since(began_ns: int) -> int:
    return (time.monotonic_ns() - began_ns) // 1_000_000
