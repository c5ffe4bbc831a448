"""The stream loops: sockets around the sans-I/O sessions, one thread for each account, until told to stop.

A follower connects, runs a session, and when it ends waits with a growing, jittered pause and starts over. Whatever
fails, the database included, ends the session and not the follower: the next one closes the gap.
"""

import contextlib
import random
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from http import HTTPStatus
from urllib.parse import urlsplit

import certifi
import structlog
import websocket
from django.db import Error as DatabaseProblem
from django.db import close_old_connections, connection

from exchange_ops.domain import keys, ledger, streams
from exchange_ops.models import Account, ApiKey
from exchange_ops.wire.session import AccountSession, BecameLive, Ended, Event, Pace, login_params
from exchange_ops.wire.streams import Address
from wire.credentials import Credentials

CONNECT_SECONDS = 10
KEY_LOOKED_AT_EVERY_MS = 1_000  # whether the key that this stream logged in with is still in use
NOTED_EVERY_MS = 1_000  # how often the row says that something was heard
_CONTROL = frozenset({websocket.ABNF.OPCODE_PING, websocket.ABNF.OPCODE_PONG})
_log = structlog.get_logger(__name__)


class CannotFollow(ValueError):
    """The address of the streams can't be used."""


@dataclass(frozen=True, slots=True)
class Rhythm:
    """Milliseconds: the session's own, between pings, the longest wait for a message, and the pauses between tries."""

    pace: Pace = field(default_factory=Pace)
    ping_ms: int = 10_000
    look_ms: int = 500
    first_pause_ms: int = 500
    longest_pause_ms: int = 30_000
    turned_down_pause_ms: int = 60_000


class AccountFollower(threading.Thread):
    """Follows the account stream of one account. `stop()` ends it within a second, in the middle of anything."""

    def __init__(
        self,
        account: Account,
        *,
        base_url: str,
        now: Callable[[], datetime],
        rhythm: Rhythm | None = None,
        dice: Callable[[], float] = random.random,
    ) -> None:
        super().__init__(name=f"follow {account.name}", daemon=True)
        self._account = account
        self._url = stream_url(base_url)
        self._now = now
        self._rhythm = rhythm or Rhythm()
        self._dice = dice
        self._stopping = threading.Event()
        self._socket: websocket.WebSocket | None = None
        self._failures = 0
        self._noted_ms = 0

    def stop(self) -> None:
        """Let go at once; `join` afterwards."""
        self._stopping.set()
        current = self._socket
        if current is not None and current.sock is not None:
            with contextlib.suppress(OSError):
                current.sock.shutdown(2)

    def run(self) -> None:
        """Session after session until stopped."""
        try:
            while not self._stopping.is_set():
                turned_down = self._one_session()
                self._stopping.wait(self._pause_ms(turned_down) / 1000)
            with _logged(self._account):
                streams.stopped(account=self._account, now=self._now())
        finally:
            connection.close()

    def _one_session(self) -> bool:
        """From connecting to the end; whether the key was turned down. Never raises for what can fail outside."""
        close_old_connections()
        turned_down = False
        with _logged(self._account):
            try:
                turned_down = self._converse()
            except keys.NoUsableKey as problem:
                turned_down = True
                streams.ended(account=self._account, sentence=str(problem), now=self._now())
            finally:
                self._hang_up()
        return turned_down

    def _converse(self) -> bool:
        key = keys.stream_key(self._account)
        talk = AccountSession(
            login=_login(keys.credentials_of(key)),
            watermark=ledger.watermark(account=self._account),
            pace=self._rhythm.pace,
        )
        try:
            self._connect()
            talk.opened(_now_ms())
        except (OSError, websocket.WebSocketException) as problem:
            talk.closed(_kind_of(problem))
        pinged_ms = looked_ms = _now_ms()
        while True:
            for event in self._exchange_frames(talk):
                self._take(event, talk)
                if isinstance(event, Ended):
                    return event.turned_down and self._has_no_other(key, event)
            if _now_ms() - looked_ms >= KEY_LOOKED_AT_EVERY_MS:
                looked_ms = _now_ms()
                if keys.has_to_change(key):
                    talk.closed("the key was changed")
            if _now_ms() - pinged_ms >= self._rhythm.ping_ms:
                pinged_ms = _now_ms()
                self._ping(talk)
            self._listen(talk)

    def _take(self, event: Event, talk: AccountSession) -> None:
        if self._stopping.is_set() and isinstance(event, Ended):
            return
        streams.take(account=self._account, event=event, now=self._now())
        talk.watermark = ledger.watermark(account=self._account)
        if isinstance(event, BecameLive):
            self._failures = 0

    def _has_no_other(self, key: ApiKey, event: Ended) -> bool:
        """Note that the key was turned down; whether it would be taken again, so that trying soon is of no use."""
        keys.note_problem(key_id=key.pk, problem=event.sentence)
        return keys.stream_key(self._account).pk == key.pk

    # The socket ------------------------------------------------------------------------------------------------------

    def _connect(self) -> None:
        # Kept before it connects, so that `stop` finds it in the middle of a handshake too.
        self._socket = fresh = websocket.WebSocket(sslopt={"ca_certs": certifi.where()})
        fresh.settimeout(CONNECT_SECONDS)
        fresh.connect(  # type: ignore[no-untyped-call]
            self._url, http_no_proxy=["*"], suppress_origin=True, redirect_limit=0
        )
        if fresh.getstatus() != HTTPStatus.SWITCHING_PROTOCOLS:  # a redirect, which is never followed
            raise ConnectionRefusedError
        fresh.settimeout(self._rhythm.look_ms / 1000)

    def _exchange_frames(self, talk: AccountSession) -> list[Event]:
        """Send what the session wants sent; gives what happened so far."""
        for frame in talk.outgoing():
            try:
                if self._socket is not None:
                    self._socket.send(frame)
            except (OSError, websocket.WebSocketException) as problem:
                talk.closed(_kind_of(problem))
                break
        return talk.events()

    def _ping(self, talk: AccountSession) -> None:
        try:
            if self._socket is not None:
                self._socket.ping()
        except (OSError, websocket.WebSocketException) as problem:
            talk.closed(_kind_of(problem))

    def _listen(self, talk: AccountSession) -> None:
        """Wait for one message, a moment at most."""
        if self._stopping.is_set() or self._socket is None:
            talk.closed("stopped")
            return
        try:
            opcode, message = self._socket.recv_data(control_frame=True)
        except websocket.WebSocketTimeoutException:
            talk.tick(_now_ms())
            return
        except (OSError, ValueError, websocket.WebSocketException) as problem:
            talk.closed(_kind_of(problem))
            return
        if opcode == websocket.ABNF.OPCODE_CLOSE:
            talk.closed(f"closed by the exchange ({int.from_bytes(message[:2], 'big') or 'no code'})")
        elif opcode in _CONTROL:
            talk.heard(_now_ms())
        else:
            talk.received(message, _now_ms())
            talk.tick(_now_ms())
        self._note_heard()

    def _note_heard(self) -> None:
        if _now_ms() - self._noted_ms >= NOTED_EVERY_MS:
            self._noted_ms = _now_ms()
            streams.heard(account=self._account, now=self._now())

    def _hang_up(self) -> None:
        current, self._socket = self._socket, None
        if current is not None:
            with contextlib.suppress(OSError, websocket.WebSocketException):
                current.shutdown()  # type: ignore[no-untyped-call]

    # Pauses ----------------------------------------------------------------------------------------------------------

    def _pause_ms(self, turned_down: bool) -> int:
        """Twice as long after each failure, up to a bound, and never quite the same for two followers."""
        self._failures += 1
        longest = self._rhythm.longest_pause_ms
        steps = min(self._failures - 1, 20)
        pause = self._rhythm.turned_down_pause_ms if turned_down else self._rhythm.first_pause_ms << steps
        bounded = min(pause, max(longest, self._rhythm.turned_down_pause_ms) if turned_down else longest)
        return bounded // 2 + int(bounded // 2 * self._dice())


@contextlib.contextmanager
def _logged(account: Account) -> Iterator[None]:
    """A database that is away costs a session and a line, never the follower."""
    try:
        yield
    except DatabaseProblem as problem:
        _log.warning("followers.database_away", account=account.pk, reason=type(problem).__name__)


def stream_url(base_url: str) -> str:
    """The address of the account stream. Beyond this machine only wss is used."""
    parts = urlsplit(base_url)
    if parts.scheme not in {"ws", "wss"} or not parts.hostname:
        raise CannotFollow("The address of the streams starts with wss://.")
    if parts.scheme == "ws" and parts.hostname not in {"127.0.0.1", "localhost", "::1"}:
        raise CannotFollow("Plain ws is used on this machine only; use wss://.")
    return base_url.rstrip("/") + Address.ACCOUNT.value


def _login(credentials: Credentials) -> dict[str, object]:
    # Secrets are sent over TLS or to this machine only; even so the signature is preferred, which can't be reused.
    signed = Credentials(credentials.login, credentials.secret, "hs256")
    return login_params(signed, nonce=secrets.token_hex(12))


def _kind_of(problem: BaseException) -> str:
    """The kind of failure; its text may hold addresses."""
    return type(problem).__name__


def _now_ms() -> int:
    return time.monotonic_ns() // 1_000_000
