"""Who calls: HTTP Basic and HS256, on requests and on sockets (exchange REST, Authentication; exchange supplement 1.2,
2.3).

Both schemes prove that the caller holds the secret of a key; what the key may do is in its rights. A failed proof is
answered alike whatever was wrong with it, and comparing takes the same time whatever differs.
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from sandbox.exchange.terms import Caller, Refusal
from sandbox.settings.keys import Key, Keys

AUTHORIZATION_REQUIRED = 1001
AUTHORIZATION_FAILED = 1002
ACTION_FORBIDDEN = 1003
UNSUPPORTED_METHOD = 1004
# The interface documents no tolerance. The sandbox allows a minute either way, by its own clock or by the machine's:
# a clock that a tester advanced must not lock out a client that signs with the time of day.
TOLERANCE_MS = 60_000
LONGEST_CREDENTIALS = 4_096
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


def of_request(keys: Keys, header: str | None, signed: Signed, *, clocks_ms: tuple[int, ...]) -> Caller:
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


def of_login(keys: Keys, params: Mapping[str, object]) -> Caller:
    """The caller of a socket by the parameters of `login`; raises Refusal 1002 with what is wrong."""
    wanted = {"BASIC": ("pKey", "sKey"), "HS256": ("pKey", "nonce", "signature")}
    algorithm = params.get("algo")
    if not isinstance(algorithm, str) or algorithm.upper() not in wanted:
        raise Refusal(AUTHORIZATION_FAILED, "algo must be BASIC or HS256")
    proof = {}
    for name in wanted[algorithm.upper()]:
        value = params.get(name)
        if not isinstance(value, str) or not value or len(value) > LONGEST_CREDENTIALS:
            raise Refusal(AUTHORIZATION_FAILED, f"{name} is missing or no text")
        proof[name] = value
    key = keys.find(proof["pKey"])
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


def _basic(keys: Keys, credentials: str) -> Caller:
    login, colon, secret = credentials.partition(":")
    if not colon:
        raise Refusal(AUTHORIZATION_FAILED)
    key = keys.find(login)
    return _proven(key, _same(secret, (key or _NOBODY).secret))


def _signed(keys: Keys, credentials: str, signed: Signed, clocks_ms: tuple[int, ...]) -> Caller:
    login, timestamp, signature = (["", "", "", *credentials.rsplit(":", 2)])[-3:]
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12):
        raise Refusal(AUTHORIZATION_FAILED)
    key = keys.find(login)
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
