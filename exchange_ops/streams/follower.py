"""What all followers share: a socket around a sans-I/O session, in a thread of its own, until it is stopped.

A follower connects and runs a session; when that ends, it waits for a growing, jittered pause and starts over. A
failure, also of the database, ends the session but not the follower: the next session closes the gap.
"""

import contextlib
import random
import secrets
import select
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, TypeVar

import structlog
import websocket
from django.conf import settings
from django.db import Error as DatabaseProblem
from django.db import close_old_connections, connection

from exchange_ops.client import sockets
from exchange_ops.client.sockets import CannotFollow, stream_url
from exchange_ops.keys import store
from exchange_ops.keys.models import ApiKey
from exchange_ops.shared import stream_states
from exchange_ops.shared.models import Account
from exchange_ops.streams import lags
from exchange_ops.wire.catalogue import Right
from exchange_ops.wire.conversation import BecameLive, Conversation, Ended, Pace, Phase, login_params
from wire.credentials import Credentials

__all__ = ["CannotFollow", "KeyedFollower", "Rhythm", "StreamFollower", "now_ms", "stream_url"]

KEY_LOOKED_AT_EVERY_MS = 1_000  # whether the key that this stream logged in with is still in use
NOTED_EVERY_MS = 1_000  # how often the row says that something was heard
TICK_EVERY_MS = 20  # however many messages come
MOST_TOGETHER = 200  # messages that are taken at once
TOGETHER_MS = 50  # and how long they may keep the rest waiting
MOST_DOUBLINGS = 20  # of a pause; every bound is reached long before
_CONTROL = frozenset({websocket.ABNF.OPCODE_PING, websocket.ABNF.OPCODE_PONG})
_log = structlog.get_logger(__name__)


Talk = TypeVar("Talk", bound=Conversation[Any])


@dataclass(frozen=True, slots=True)
class Rhythm:
    """Milliseconds: the session's own, between pings, the longest wait for a message, and the pauses between tries.

    `away_pause_ms` is the longest pause while nobody answers at the address: trying costs an absent exchange nothing,
    and once it is back it has to be followed within five seconds. `longest_pause_ms` is for an exchange that accepts
    connections and drops them, `turned_down_pause_ms` for one that refuses the key.
    """

    pace: Pace = field(default_factory=Pace)
    ping_ms: int = 10_000
    look_ms: int = 500
    first_pause_ms: int = 500
    away_pause_ms: int = 3_000
    longest_pause_ms: int = 30_000
    turned_down_pause_ms: int = 60_000

    def pause_ms(self, *, failures: int, away: bool = False, turned_down: bool = False, dice: float) -> int:
        """The pause after so many failures in a row: doubled each time up to its bound, half of it random.

        `dice` is from 0 up to 1, so that not all followers return at the same moment.
        """
        longest = min(self.away_pause_ms, self.longest_pause_ms) if away else self.longest_pause_ms
        pause = min(self.first_pause_ms << min(max(failures, 1) - 1, MOST_DOUBLINGS), longest)
        if turned_down:
            pause = self.turned_down_pause_ms
        return pause // 2 + int(pause // 2 * dice)


class StreamFollower(threading.Thread, Generic[Talk]):
    """Follows one address. `stop()` ends it within a second, whatever it is doing.

    `title` is the name of its row among the followers, `account` the account whose stream it is.
    """

    def __init__(
        self,
        title: str,
        url: str,
        *,
        now: Callable[[], datetime],
        account: Account | None = None,
        rhythm: Rhythm | None = None,
        dice: Callable[[], float] = random.random,
    ) -> None:
        super().__init__(name=f"follow {title}", daemon=True)
        self._title = title
        self._url = url
        self._now = now
        self._of = account
        self._rhythm = rhythm or Rhythm()
        self._dice = dice
        self._stopping = threading.Event()
        self._socket: websocket.WebSocket | None = None
        self._failures = 0  # in a row
        self._is_away = False
        self._busy_ms = 0
        self._noted_ms = self._ticked_ms = 0
        self._lag = lags.Lag(account)

    # What each follower does in its own way --------------------------------------------------------------------------

    def _begin(self) -> Talk:
        """A new session. Raises `store.NoUsableKey`."""
        raise NotImplementedError

    def _store(self, event: Any, talk: Talk) -> None:
        """Store the content of an event."""
        raise NotImplementedError

    def _gathered(self, events: list[Any]) -> list[Any]:
        """The events of messages that arrived together, merged where they can be stored at once."""
        return events

    def _look_after(self, talk: Talk, now_ms: int) -> None:
        """Work beside listening; called after each message and at least once every `look_ms`."""
        raise NotImplementedError

    def _own_time(self, event: Any) -> datetime | None:
        """The time at the exchange of what an event reports; None if it carries none or was not sent as it happened."""
        return None

    def _was_turned_down(self, event: Ended) -> bool:
        """Whether the session ended because the key was refused, so that trying again soon is useless."""
        return event.turned_down

    # The thread ------------------------------------------------------------------------------------------------------

    def stop(self) -> None:
        """Stop at once; `join` afterwards."""
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
                self._stopping.wait(self._pause_ms(turned_down=turned_down) / 1000)
            with self._logged():
                stream_states.stopped(self._title, now=self._now(), account=self._of)
        finally:
            connection.close()

    def _pause_ms(self, *, turned_down: bool) -> int:
        self._failures += 1
        return self._rhythm.pause_ms(
            failures=self._failures, away=self._is_away, turned_down=turned_down, dice=self._dice()
        )

    def _one_session(self) -> bool:
        """Run one session; returns whether the key was turned down. Failures outside are not raised."""
        close_old_connections()
        turned_down = False
        with self._logged():
            try:
                turned_down = self._converse()
            except store.NoUsableKey as problem:
                turned_down = True
                stream_states.ended(self._title, sentence=str(problem), now=self._now(), account=self._of)
            finally:
                self._hang_up()
        return turned_down

    def _converse(self) -> bool:
        talk = self._begin()
        try:
            self._connect()
            talk.opened(self._clock())
        except (OSError, websocket.WebSocketException) as problem:
            talk.closed(_kind_of(problem))
        pinged_ms = now_ms()
        while True:
            for event in self._gathered(self._exchange_frames(talk)):
                with self._not_listening():
                    self._take(event, talk)
                if isinstance(event, Ended):
                    return self._was_turned_down(event)
            with self._not_listening():
                self._look_after(talk, self._clock())
            if now_ms() - pinged_ms >= self._rhythm.ping_ms:
                pinged_ms = now_ms()
                self._ping(talk)
            self._listen(talk)

    def _clock(self) -> int:
        """The session's time: it stops while events are stored, because a slow database is no silent exchange."""
        return now_ms() - self._busy_ms

    @contextlib.contextmanager
    def _not_listening(self) -> Iterator[None]:
        began_ms = now_ms()
        try:
            yield
        finally:
            self._busy_ms += now_ms() - began_ms

    def _take(self, event: Any, talk: Talk) -> None:
        if self._stopping.is_set() and isinstance(event, Ended):
            return
        own_time = self._own_time(event)
        if own_time is not None:
            self._lag.carried(own_time=own_time, now=self._now())
        self._store(event, talk)
        if isinstance(event, BecameLive):
            self._settled()

    def _settled(self) -> None:
        """It works: the next failure is the first again."""
        self._failures = 0

    # The socket ------------------------------------------------------------------------------------------------------

    def _connect(self) -> None:
        self._is_away, was_away = True, self._is_away
        # Stored before it connects, so that `stop` can end it during the handshake too.
        self._socket = fresh = websocket.WebSocket()
        sockets.open_at(fresh, self._url, private_hosts=settings.PRIVATE_HOSTS)
        self._is_away = False
        if was_away:  # it is back: what counts is how it is from now on
            self._failures = 0
        fresh.settimeout(self._rhythm.look_ms / 1000)

    def _exchange_frames(self, talk: Talk) -> list[Any]:
        """Send the session's frames and return its events so far."""
        for frame in talk.outgoing():
            try:
                if self._socket is not None:
                    self._socket.send(frame)
            except (OSError, websocket.WebSocketException) as problem:
                talk.closed(_kind_of(problem))
                break
        return talk.events()

    def _ping(self, talk: Talk) -> None:
        try:
            if self._socket is not None:
                self._socket.ping()
        except (OSError, websocket.WebSocketException) as problem:
            talk.closed(_kind_of(problem))

    def _listen(self, talk: Talk) -> None:
        """Wait briefly for a message, and read those that are there already."""
        if self._stopping.is_set() or self._socket is None:
            talk.closed("stopped")
            return
        heard = self._hear(self._socket, talk)
        until_ms = now_ms() + TOGETHER_MS
        for _ in range(MOST_TOGETHER - 1):
            if talk.phase is Phase.ENDED or now_ms() > until_ms or not _has_more(self._socket):
                break
            self._hear(self._socket, talk)
        if now_ms() - self._ticked_ms >= TICK_EVERY_MS:
            self._ticked_ms = now_ms()
            talk.tick(self._clock())
        self._note(heard)

    def _hear(self, current: websocket.WebSocket, talk: Talk) -> bool:
        """Pass one message or the end of the socket to the session; False when nothing came."""
        try:
            opcode, message = current.recv_data(control_frame=True)
        except websocket.WebSocketTimeoutException:
            return False
        except (OSError, ValueError, websocket.WebSocketException) as problem:
            talk.closed(_kind_of(problem))
            return True
        if opcode == websocket.ABNF.OPCODE_CLOSE:
            talk.closed(f"closed by the exchange ({int.from_bytes(message[:2], 'big') or 'no code'})")
        elif opcode in _CONTROL:
            talk.heard(self._clock())
        else:
            self._lag.message(now=self._now())
            talk.received(message, self._clock())
        return True

    def _note(self, heard: bool) -> None:
        """Record now and then that something was heard, and the delays of messages."""
        if now_ms() - self._noted_ms < NOTED_EVERY_MS:
            return
        columns = self._lag.columns()
        if heard:
            stream_states.heard(self._title, now=self._now(), account=self._of, **columns)
        elif columns:
            stream_states.update(self._title, account=self._of, **columns)
        self._noted_ms = now_ms() if heard or columns else self._noted_ms

    def _hang_up(self) -> None:
        current, self._socket = self._socket, None
        if current is not None:
            with contextlib.suppress(OSError, websocket.WebSocketException):
                current.shutdown()  # type: ignore[no-untyped-call]

    @contextlib.contextmanager
    def _logged(self) -> Iterator[None]:
        """Log a failing database: it ends the session, never the follower."""
        try:
            yield
        except DatabaseProblem as problem:
            _log.warning("followers.database_away", stream=self._title, reason=type(problem).__name__)


class KeyedFollower(StreamFollower[Talk]):
    """A follower that logs in with the least-privileged key of an account that has `right`."""

    def __init__(self, title: str, url: str, *, account: Account, right: Right, **options: Any) -> None:
        super().__init__(title, url, account=account, **options)
        self._account = account
        self._right = right
        self._key: ApiKey | None = None
        self._looked_ms = 0

    def _login(self) -> dict[str, object]:
        """Choose the key and build the login with it. Raises `store.NoUsableKey`."""
        self._key = store.stream_key(self._account, self._right)
        credentials = store.credentials_of(self._key)
        # Secrets are sent over TLS or to this machine only; even so the signature is preferred, which can't be reused.
        signed = Credentials(credentials.login, credentials.secret, "hs256")
        return login_params(signed, nonce=secrets.token_hex(12))

    def _look_after(self, talk: Talk, now_ms: int) -> None:
        if now_ms - self._looked_ms >= KEY_LOOKED_AT_EVERY_MS and self._key is not None:
            self._looked_ms = now_ms
            if store.has_to_change(self._key, self._right):
                talk.closed("the key was changed")

    def _was_turned_down(self, event: Ended) -> bool:
        """Note that the key was turned down; True if it would be chosen again, so that trying soon is useless."""
        if not event.turned_down or self._key is None:
            return False
        store.note_problem(key_id=self._key.pk, problem=event.sentence)
        return store.stream_key(self._account, self._right).pk == self._key.pk


def _has_more(current: websocket.WebSocket) -> bool:
    """Whether more can be read without waiting."""
    plain = current.sock
    if plain is None:
        return False
    if isinstance(plain, ssl.SSLSocket) and plain.pending():
        return True
    watch = select.poll()
    try:
        watch.register(plain, select.POLLIN)
        return bool(watch.poll(0))
    except (OSError, ValueError):  # another thread closed it, which reading will show
        return True


def now_ms() -> int:
    """A clock that never goes back, in milliseconds."""
    return time.monotonic_ns() // 1_000_000


def _kind_of(problem: BaseException) -> str:
    """The kind of failure; its text may hold addresses."""
    return type(problem).__name__
