"""Sends requests and says what came of them.

`read` asks: one pool of keep-alive connections, repeated on passing failures within one total deadline.
`send` acts: once, on a connection of its own, never repeated, never redirected; whatever is not certain is
`OutcomeUnknown`. Nothing is taken from the environment: no proxy, no netrc, no key log.
"""

import ipaddress
import os
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from email.utils import parsedate_to_datetime
from http.client import HTTPException
from urllib.parse import urlsplit

import certifi
import msgspec
import urllib3
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import ConnectTimeoutError, HTTPError, NewConnectionError, ReadTimeoutError

from wire import records
from wire.credentials import Credentials, base64_text
from wire.deadline import Deadline, WatchedHTTP, WatchedHTTPS
from wire.errors import BadReply, CallFailed, OutcomeUnknown, Refused, Unreachable
from wire.operation import MASK, Request

__all__ = ["Answer", "Credentials", "Transport"]

MOST_BYTES = 32 * 2**20  # of one answer
_CHUNK = 2**16
_PAUSES_MS = (50, 250, 1000)  # before the second, third and fourth attempt of a read
_PASSING = frozenset({502, 503, 504})
_EXCERPT = 300  # characters of an odd answer that are kept as evidence
_HEADERS = {"Accept": "application/json", "User-Agent": "countersign"}


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back, whole: `body` decoded from its transfer encoding, `date` the other side's clock."""

    status: int
    body: bytes = field(repr=False)
    date: datetime | None
    elapsed_ms: int


@dataclass(frozen=True, slots=True)
class _Lost:
    """No answer came: why, whether nothing was sent for certain, and whether the next attempt may go better."""

    reason: str
    elapsed_ms: int
    unsent: bool = False
    passing: bool = True


class _ErrorBody(msgspec.Struct):
    code: int
    message: str | None = None
    description: str | None = None


class _Envelope(msgspec.Struct):
    error: _ErrorBody


class Transport:
    """Calls to one outside service.

    `refusals` are the codes after which it is certain that nothing was done; without them no `send` is ever called
    refused. `deadline_s` is the total time of one call, repetitions included. Safe for threads; `close` it.
    """

    def __init__(
        self,
        *,
        base_url: str,
        credentials: Credentials | None = None,
        deadline_s: int | Decimal = 25,
        refusals: frozenset[int] = frozenset(),
        ca_file: str | None = None,
        unix_s: Callable[[], int] = lambda: int(time.time()),
    ) -> None:
        self._scheme, self._host, self._port, self._prefix = _parts(base_url)
        self._credentials = credentials
        self._deadline_ns = int(deadline_s * 1_000_000_000)
        self._refusals = refusals
        self._ca_file = ca_file or certifi.where()
        self._unix_s = unix_s
        self._pool = self._new_pool()
        self._process = os.getpid()

    def close(self) -> None:
        """Closes the kept connections."""
        self._pool.close()

    # Asking ----------------------------------------------------------------------------------------------------------

    def read(self, request: Request) -> Answer:
        """Asks, and asks again after failed connections and 502, 503, 504, while the deadline allows.

        The answer has status 200; its records are for the caller to decode. Raises `Refused`, `BadReply` for an answer
        that is not documented, `Unreachable` when there is none: try later.
        """
        if request.method != "GET":
            raise ValueError(f"{request.operation.name} is not a read")
        if self._process != os.getpid():  # connections are not shared with the process that this one was forked from
            self._pool, self._process = self._new_pool(), os.getpid()
        with Deadline(self._deadline_ns) as deadline:
            came = self._roundtrip(self._pool, request, deadline)
            for pause_ms in _PAUSES_MS:
                passing = came.passing if isinstance(came, _Lost) else came.status in _PASSING
                if not (passing and request.operation.repeatable and deadline.left_ns > pause_ms * 1_000_000):
                    break
                time.sleep(pause_ms / 1000)
                came = self._roundtrip(self._pool, request, deadline)
        if isinstance(came, _Lost):
            raise Unreachable(came.reason) if came.passing else BadReply(came.reason)
        return self._read_answer(request, came)

    def _read_answer(self, request: Request, came: Answer) -> Answer:
        if came.status == 200:
            return came
        error = _error_of(came)
        if error is not None and 400 <= came.status < 500:
            raise self._refused(request, error, came)
        sentence = f"status {came.status}" + (f", {self._refused(request, error, came)}" if error else "")
        if came.status >= 500 or came.status in (408, 429):
            raise _dated(Unreachable(sentence), came)
        raise _dated(BadReply(f"{sentence}: {self._excerpt(request, came)}"), came)

    # Acting ----------------------------------------------------------------------------------------------------------

    def send(self, request: Request) -> Answer:
        """Acts once: a connection of its own, no repetition, no redirect. The answer decodes as the operation's result.

        Raises `Refused` for the error body with a code of `refusals`; `Unreachable` only when no connection was made;
        `OutcomeUnknown` for everything else that is not the documented reply.
        """
        if request.method == "GET":
            raise ValueError(f"{request.operation.name} is a read")
        pool = self._new_pool()
        try:
            with Deadline(self._deadline_ns) as deadline:
                came = self._roundtrip(pool, request, deadline)
        finally:
            pool.close()
        if isinstance(came, _Lost):
            if came.unsent:
                raise Unreachable(came.reason)
            raise OutcomeUnknown(came.reason, {"elapsed_ms": came.elapsed_ms})
        return self._send_answer(request, came)

    def _send_answer(self, request: Request, came: Answer) -> Answer:
        reason = f"status {came.status}"
        if came.status == 200:
            try:
                records.decode(came.body, request.operation.result)
            except BadReply as problem:
                reason = problem.reason
            else:
                return came
        error = _error_of(came)
        if error is not None and 400 <= came.status < 500 and error.code in self._refusals:
            raise self._refused(request, error, came)
        evidence: dict[str, object] = {
            "status": came.status,
            "elapsed_ms": came.elapsed_ms,
            "body": self._excerpt(request, came),
        }
        if error is not None:
            evidence["code"] = error.code
        raise _dated(OutcomeUnknown(self._clean(request, reason), evidence), came)

    # Both ------------------------------------------------------------------------------------------------------------

    def _roundtrip(self, pool: HTTPConnectionPool, request: Request, deadline: Deadline) -> Answer | _Lost:
        """One request and its whole answer, or why there is none: reasons name kinds of failure, never addresses."""
        began_ns = time.monotonic_ns()
        deadline.is_sending = False
        headers, target = self._headers(request), self._prefix + request.target

        def lost(reason: str, **more: bool) -> _Lost:
            return _Lost(reason, _ms_since(began_ns), **more)

        try:
            response = pool.urlopen(
                request.method,
                target,
                body=request.body or None,
                headers=headers,
                retries=False,
                redirect=False,
                assert_same_host=False,
                preload_content=False,
                timeout=urllib3.Timeout(total=max(deadline.left_ns, 1) / 1_000_000_000),
            )
            try:
                body = _whole_body(response)
            finally:
                response.close()  # a connection whose answer was read to its end is back in the pool already
        except (NewConnectionError, ConnectTimeoutError) as problem:
            return lost(f"no connection: {type(problem).__name__}", unsent=not deadline.is_sending)
        except ReadTimeoutError:
            return lost("no whole answer within the deadline")
        except (HTTPError, HTTPException, OSError, ValueError) as problem:
            over = "no whole answer within the deadline" if not deadline.left_ns else None
            return lost(over or f"the connection failed: {_names(problem)}")
        if body is None:
            return lost(f"the answer is larger than {MOST_BYTES} bytes", passing=False)
        if not deadline.left_ns:
            return lost("no whole answer within the deadline")
        return Answer(response.status, body, _date_of(response.headers), _ms_since(began_ns))

    def _headers(self, request: Request) -> dict[str, str]:
        headers = dict(_HEADERS)
        if request.method == "GET":
            headers["Accept-Encoding"] = "gzip"
        if request.body:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        if self._credentials is not None and not request.operation.public:
            headers["Authorization"] = self._credentials.authorization(
                method=request.method,
                target=self._prefix + request.target,
                body=request.body,
                unix_s=self._unix_s(),
            )
        return headers

    def _new_pool(self) -> HTTPConnectionPool:
        if self._scheme == "http":
            pool = HTTPConnectionPool(self._host, self._port, maxsize=4)
            pool.ConnectionCls = WatchedHTTP
            return pool
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(self._ca_file)
        secure = HTTPSConnectionPool(self._host, self._port, maxsize=4, ssl_context=context)
        secure.ConnectionCls = WatchedHTTPS
        return secure

    def _refused(self, request: Request, error: _ErrorBody, came: Answer) -> CallFailed:
        texts = self._clean(request, error.message), self._clean(request, error.description)
        return _dated(Refused(error.code, *texts, http_status=came.status), came)

    def _excerpt(self, request: Request, came: Answer) -> str:
        return self._clean(request, came.body[: _EXCERPT * 4].decode("utf-8", "replace"))

    def _clean(self, request: Request, text: str | None) -> str:
        """A text of the other side, fit for logs and pages: short, printable, without what we hide."""
        text, hidden = text or "", request.hidden
        if self._credentials is not None:
            secret = self._credentials.secret.reveal()
            hidden += (secret, base64_text(f"{self._credentials.login}:{secret}"))
        for each in hidden:
            text = text.replace(each, MASK)
        return "".join(character if character.isprintable() else " " for character in text)[:_EXCERPT]


def _parts(base_url: str) -> tuple[str, str, int | None, str]:
    """Scheme, host, port and path before every target. Plain HTTP is for this machine only."""
    parts = urlsplit(base_url)
    if parts.scheme not in ("https", "http") or not parts.hostname:
        raise ValueError("the address of a service starts with https://")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise ValueError("the address of a service has no credentials, query or fragment")
    if parts.scheme == "http" and not _is_loopback(parts.hostname):
        raise ValueError("plain HTTP is allowed to this machine only; use https://")
    return parts.scheme, parts.hostname, parts.port, parts.path.rstrip("/")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _whole_body(response: urllib3.BaseHTTPResponse) -> bytes | None:
    """The decoded body, or None when it is larger than allowed."""
    pieces, size = [], 0
    for piece in response.stream(_CHUNK, decode_content=True):
        pieces.append(piece)
        size += len(piece)
        if size > MOST_BYTES:
            response.close()
            return None
    return b"".join(pieces)


def _error_of(came: Answer) -> _ErrorBody | None:
    try:
        return msgspec.json.decode(came.body, type=_Envelope).error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _date_of(headers: Mapping[str, str]) -> datetime | None:
    try:
        return parsedate_to_datetime(headers.get("Date", "")).astimezone(UTC)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _dated(problem: CallFailed, came: Answer) -> CallFailed:
    problem.date = came.date
    return problem


def _names(problem: BaseException) -> str:
    """The kinds of the failure and its causes: their texts hold addresses."""
    inner = next((argument for argument in problem.args if isinstance(argument, Exception)), None)
    return type(problem).__name__ + (f", {type(inner).__name__}" if inner is not None else "")


def _ms_since(began_ns: int) -> int:
    return (time.monotonic_ns() - began_ns) // 1_000_000
