"""Who calls, and how often he may.

HTTP Basic and HS256 prove, on requests and on sockets, that the caller holds the secret of a key; what the key may do
is in its rights (exchange REST, Authentication; exchange supplement 1.2, 2.3). A failed proof is answered alike
whatever was wrong with it, and comparing takes the same time whatever differs.

The exchange counts market data by address and everything else by account, in a sliding second (exchange supplement
2.5). The chain-data service counts by address and route: a window begins with the first call of its route and ends as a
whole a minute later (chain supplement 1.10). All is counted by the machine's clock, not the sandbox's: a frozen sandbox
clock would otherwise never let anybody in again.
"""

import base64
import binascii
import hashlib
import hmac
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

from chaindata.wire import catalogue
from sandbox.exchange.terms import Caller, Refusal
from sandbox.settings.keys import Key
from wire.operation import Operation

AUTHORIZATION_REQUIRED = 1001
AUTHORIZATION_FAILED = 1002
ACTION_FORBIDDEN = 1003
UNSUPPORTED_METHOD = 1004
# The interface documents no tolerance. The sandbox allows a minute either way, by its own clock or by the machine's:
# a clock that a tester advanced must not lock out a client that signs with the time of day.
TOLERANCE_MS = 60_000
LONGEST_CREDENTIALS = 4_096
SECOND_NS = 1_000_000_000
MOST_CALLERS = 10_000
WINDOW_S = catalogue.RATE_WINDOW_S
MOST_WINDOWS = 10_000
# An unknown login is compared with this one, so that it takes as long as a known one; it can't be proven.
_NOBODY = Key("", "no key has this secret", "", frozenset())


@dataclass(frozen=True, slots=True)
class Signed:
    """What an HS256 signature covers: the path still percent-encoded, the query and the body exactly as sent."""

    method: str
    raw_path: bytes
    query: bytes = b""
    body: bytes = b""

    def message(self, timestamp: str) -> bytes:
        """Method, timestamp, path, `?query` when there is one, and body, joined without separators."""
        query = b"?" + self.query if self.query else b""
        return self.method.encode() + timestamp.encode() + self.raw_path + query + self.body


def of_request(keys: Mapping[str, Key], header: str | None, signed: Signed, *, clocks_ms: tuple[int, ...]) -> Caller:
    """The caller of a request by its Authorization header; raises Refusal 1001, 1002 or 1004.

    `clocks_ms` are the clocks, each in milliseconds since 1970, by any of which a timestamp may be fresh.
    """
    if header is None or not header.strip():
        raise Refusal(AUTHORIZATION_REQUIRED)
    scheme, _, credentials = header.strip().partition(" ")
    match scheme.lower():
        case "basic":
            return _basic(keys, _decoded(credentials))
        case "hs256":
            return _signed(keys, _decoded(credentials), signed, clocks_ms)
    raise Refusal(UNSUPPORTED_METHOD, "Use Basic or HS256")


def of_login(keys: Mapping[str, Key], params: Mapping[str, object]) -> Caller:
    """The caller of a socket by the parameters of `login`; raises Refusal 1002 with what is wrong."""
    member_names = {"BASIC": ("pKey", "sKey"), "HS256": ("pKey", "nonce", "signature")}
    algorithm = params.get("algo")
    if not isinstance(algorithm, str) or algorithm.upper() not in member_names:
        raise Refusal(AUTHORIZATION_FAILED, "algo must be BASIC or HS256")
    proof = {}
    for name in member_names[algorithm.upper()]:
        value = params.get(name)
        if not isinstance(value, str) or not value or len(value) > LONGEST_CREDENTIALS:
            raise Refusal(AUTHORIZATION_FAILED, f"{name} is missing or no text")
        proof[name] = value
    key = keys.get(proof["pKey"])
    if algorithm.upper() == "BASIC":
        return _proven(key, _same(proof["sKey"], (key or _NOBODY).secret))
    if not _is_hex_digest(proof["signature"]):
        raise Refusal(AUTHORIZATION_FAILED, "invalid signature format")
    return _proven(key, _same(proof["signature"], _signature(key, _bytes(proof["nonce"]))))


def require(caller: Caller, right: Enum | None) -> None:
    """Raises Refusal 1003 when the caller's key lacks the right; None is met by every key."""
    if right is not None and right.value not in caller.rights:
        raise Refusal(ACTION_FORBIDDEN, f"This key lacks the right {right.value}")


def claimed_login(header: str | None) -> str:
    """The login a header names, proven or not; "" when it names none. For matching faults, never for access."""
    _, _, credentials = (header or "").strip().partition(" ")
    try:
        return _decoded(credentials).partition(":")[0]
    except Refusal:
        return ""


def is_basic(header: str | None, user: str, password: bytes) -> bool:
    """Whether the header is HTTP Basic with this user and password."""
    scheme, _, credentials = (header or "").partition(" ")
    if scheme.lower() != "basic":
        return False
    try:
        named_user, _, named_password = _decoded(credentials).partition(":")
    except Refusal:
        return False
    return named_user == user and hmac.compare_digest(named_password.encode(), password)


def _basic(keys: Mapping[str, Key], credentials: str) -> Caller:
    login, colon, secret = credentials.partition(":")
    if not colon:
        raise Refusal(AUTHORIZATION_FAILED)
    key = keys.get(login)
    return _proven(key, _same(secret, (key or _NOBODY).secret))


def _signed(keys: Mapping[str, Key], credentials: str, signed: Signed, clocks_ms: tuple[int, ...]) -> Caller:
    login, timestamp, signature = (["", "", "", *credentials.rsplit(":", 2)])[-3:]
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12):
        raise Refusal(AUTHORIZATION_FAILED)
    key = keys.get(login)
    matches = _same(signature, _signature(key, signed.message(timestamp)))
    fresh = any(abs(clock_ms - int(timestamp) * 1000) <= TOLERANCE_MS for clock_ms in clocks_ms)
    return _proven(key, matches and fresh)


def _proven(key: Key | None, matches: bool) -> Caller:
    if key is None or not matches:
        raise Refusal(AUTHORIZATION_FAILED)
    return Caller(login=key.login, account=key.account, rights=key.rights)


def _decoded(credentials: str) -> str:
    """The text of canonical base64: a padding bit that carries nothing may not differ either."""
    written = credentials.strip()
    if len(written) > LONGEST_CREDENTIALS:
        raise Refusal(AUTHORIZATION_FAILED)
    try:
        raw = base64.b64decode(written, validate=True)
        text = raw.decode("utf-8")
    except (binascii.Error, ValueError):
        raise Refusal(AUTHORIZATION_FAILED) from None
    if not _same(base64.b64encode(raw).decode("ascii"), written):
        raise Refusal(AUTHORIZATION_FAILED)
    return text


def _signature(key: Key | None, message: bytes) -> str:
    return hmac.new(_bytes((key or _NOBODY).secret), message, hashlib.sha256).hexdigest()


def _same(received: str, expected: str) -> bool:
    return hmac.compare_digest(_bytes(received), _bytes(expected))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", errors="surrogatepass")


def _is_hex_digest(text: str) -> bool:
    return len(text) == 64 and all(character in "0123456789abcdef" for character in text)


# How often ------------------------------------------------------------------------------------------------------------


def group_of(operation: Operation) -> str:
    """`market`, `trading` or `other`. History counts as other."""
    path = operation.path.removeprefix("/api/2")
    if operation.public:
        return "market"
    return "trading" if path.startswith(("/order", "/trading", "/margin")) else "other"


class Limits:
    """A sliding second for each caller of each group."""

    def __init__(self, clock_ns: Callable[[], int] = time.monotonic_ns) -> None:
        self._clock_ns = clock_ns
        self._call_times: dict[tuple[str, str], deque[int]] = {}

    def allows(self, group: str, caller: str, rates: Mapping[str, int] | None) -> bool:
        """Counts one request and tells whether it is within the rate of its group; a refused one doesn't count."""
        rate = (rates or {}).get(group)
        if rate is None:
            return True
        now_ns = self._clock_ns()
        if len(self._call_times) > MOST_CALLERS:
            self._call_times.clear()
        call_times = self._call_times.setdefault((group, caller), deque())
        while call_times and call_times[0] <= now_ns - SECOND_NS:
            call_times.popleft()
        if len(call_times) >= rate:
            return False
        call_times.append(now_ns)
        return True


@dataclass(slots=True)
class Window:
    """The calls of one address on one route: how many came since `began_s`."""

    began_s: int
    calls: int = 0


@dataclass(frozen=True, slots=True)
class Allowance:
    """What an answer's headers tell: the limit, what is left of it, and when the window ends (seconds since 1970)."""

    is_allowed: bool
    limit: int
    remaining: int
    resets_s: int

    def headers(self) -> tuple[tuple[str, str], ...]:
        """The three headers, in their order."""
        return tuple(zip(catalogue.RATE_HEADERS, map(str, (self.limit, self.remaining, self.resets_s)), strict=True))


class Windows:
    """The open windows of every address."""

    def __init__(self, clock_s: Callable[[], int] = lambda: time.time_ns() // 1_000_000_000) -> None:
        self._clock_s = clock_s
        self._windows: dict[tuple[str, str], Window] = {}

    def count(self, address: str, route: str, limit: int) -> Allowance:
        """Counts one call; it is refused once the limit of its window is used up."""
        now_s = self._clock_s()
        if len(self._windows) > MOST_WINDOWS:
            self._windows = {key: each for key, each in self._windows.items() if now_s < each.began_s + WINDOW_S}
        window = self._windows.get((address, route))
        if window is None or now_s >= window.began_s + WINDOW_S:
            window = self._windows[address, route] = Window(now_s)
        window.calls += 1
        return Allowance(window.calls <= limit, limit, max(limit - window.calls, 0), window.began_s + WINDOW_S)


def route_of(method: str, path: str) -> str:
    """What shares one window: the method and the first three parts of the path, whatever their case."""
    return method + "/" + "/".join(path.strip("/").split("/")[:3]).lower()
