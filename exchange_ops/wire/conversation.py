"""What every conversation with a stream has, without a socket and without a clock (supplement 1.1).

Frames and moments go in, frames and events come out. Requests get ids that are never used twice, answers are matched to
them, an answer that is overdue or a socket that is silent ends the conversation, and what nobody knows is told as odd.
"""

import hashlib
import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, TypeVar

from wire import jsonrpc, records
from wire.credentials import Credentials
from wire.errors import BadReply

MOST_ODD_FRAMES = 50  # in one conversation; a peer that says more of them is not the one we know
AUTHORIZATION = frozenset({403, 1001, 1002, 1003, 1004})
Taker = Callable[[bytes, int], None]
Refuser = Callable[[jsonrpc.Failure, int], None]


class Phase(StrEnum):
    """Where a conversation stands; one that ended does nothing more."""

    CONNECTING = "connecting"
    LOGGING_IN = "logging in"
    CATCHING_UP = "catching up"
    SUBSCRIBING = "subscribing"
    LIVE = "live"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class Pace:
    """Milliseconds: how long an answer may take, how long a socket may be silent, how often a live session loads."""

    answer_ms: int = 10_000
    silence_ms: int = 25_000
    recheck_ms: int = 30_000


@dataclass(frozen=True, slots=True)
class Unread:
    """An element that could not be read: its text and why."""

    content: str
    reason: str


@dataclass(frozen=True, slots=True)
class BecameLive:
    """Changes are told from now on. Everything up to here is known, or is being read because it is much."""


@dataclass(frozen=True, slots=True)
class Odd:
    """Something was said that we don't know; it was ignored."""

    sentence: str


@dataclass(frozen=True, slots=True)
class Ended:
    """The session is over; `turned_down` says that the key was refused, so trying again soon is of no use."""

    sentence: str
    turned_down: bool = False


def login_params(credentials: Credentials, *, nonce: str) -> dict[str, object]:
    """The params of `login`: HS256 unless the key is for Basic. The nonce is any random text of 15 to 31 characters."""
    secret = credentials.secret.reveal()
    if credentials.scheme == "basic":
        return {"algo": "BASIC", "pKey": credentials.login, "sKey": secret}
    signature = hmac.new(secret.encode(), nonce.encode(), hashlib.sha256).hexdigest()
    return {"algo": "HS256", "pKey": credentials.login, "nonce": nonce, "signature": signature}


@dataclass(frozen=True, slots=True)
class _Pending:
    """A request whose answer is awaited: what to do with it, and since when."""

    method: str
    take: Taker
    refused: Refuser | None
    at_ms: int


Own = TypeVar("Own")


class Conversation(Generic[Own]):
    """The client's side of one socket; `Own` are the events of the stream beside those that all of them have.

    Every method takes the moment on a clock that never goes back, in milliseconds. After each of them `outgoing()`
    gives the frames to send and `events()` what happened, both in order and once.
    """

    def __init__(self, pace: Pace | None = None) -> None:
        self.phase = Phase.CONNECTING
        self._pace = pace or Pace()
        self._outgoing: list[str] = []
        self._events: list[Own | BecameLive | Odd | Ended] = []
        self._pending: dict[int, _Pending] = {}
        self._last_id = 0
        self._heard_ms = 0
        self._odd_frames = 0
        self._unknown_names: set[str] = set()

    def outgoing(self) -> list[str]:
        """The frames to send now."""
        frames, self._outgoing = self._outgoing, []
        return frames

    def events(self) -> "list[Own | BecameLive | Odd | Ended]":
        """What happened since the last time."""
        happened, self._events = self._events, []
        return happened

    # What happens to it ----------------------------------------------------------------------------------------------

    def opened(self, now_ms: int) -> None:
        """The socket is connected."""
        self._heard_ms = now_ms
        self._begin(now_ms)

    def heard(self, now_ms: int) -> None:
        """Anything arrived, a pong for instance."""
        self._heard_ms = max(self._heard_ms, now_ms)

    def received(self, text: str | bytes, now_ms: int) -> None:
        """A message arrived."""
        if self.phase is Phase.ENDED:
            return
        self.heard(now_ms)
        try:
            frame = jsonrpc.decode(text)
        except jsonrpc.NotAFrame as problem:
            self._odd(f"Unreadable message: {problem}.")
            return
        match frame:
            case jsonrpc.Notification():
                self._notified(frame, now_ms)
            case jsonrpc.Call():
                self._odd(f"Unexpected request from the exchange: {frame.method[:60]!r}")
            case _:
                self._answered(frame, now_ms)

    def tick(self, now_ms: int) -> None:
        """Time passed: an answer may be overdue, the socket silent, or the next step due."""
        if self.phase is Phase.ENDED:
            return
        overdue = next((call for call in self._pending.values() if now_ms - call.at_ms > self._pace.answer_ms), None)
        if overdue is not None:
            self._end(f"No response to {overdue.method} within {self._pace.answer_ms // 1000} s.")
        elif now_ms - self._heard_ms > self._pace.silence_ms:
            self._end(f"No data from the exchange for {self._pace.silence_ms // 1000} s.")
        else:
            self._idle(now_ms)

    def closed(self, reason: str) -> None:
        """The socket is gone."""
        if self.phase is not Phase.ENDED:
            self._end(f"The connection was lost: {reason}.")

    # What each stream does in its own way ----------------------------------------------------------------------------

    def _begin(self, now_ms: int) -> None:
        """The first step on a fresh socket."""
        raise NotImplementedError

    def _notified(self, frame: jsonrpc.Notification, now_ms: int) -> None:
        """A notification came."""
        raise NotImplementedError

    def _idle(self, now_ms: int) -> None:
        """Nothing is wrong; what is due may be asked for."""
        raise NotImplementedError

    # Small things ----------------------------------------------------------------------------------------------------

    def _answered(self, frame: jsonrpc.Result | jsonrpc.Failure, now_ms: int) -> None:
        call = self._pending.pop(frame.id, None) if isinstance(frame.id, int) else None
        if call is None:
            self._odd("Response to an unknown request.")
        elif isinstance(frame, jsonrpc.Result):
            call.take(frame.result, now_ms)
        elif call.refused is not None:
            call.refused(frame, now_ms)
        else:
            sentence = f"The exchange rejected {call.method}: {refusal_text(frame)}"[:300]
            self._end(sentence, turned_down=frame.code in AUTHORIZATION)

    def _ask(
        self,
        method: str,
        params: Mapping[str, object],
        now_ms: int,
        take: Taker,
        refused: Refuser | None = None,
    ) -> None:
        """Send a request. A refusal goes to `refused`, and without one it ends the conversation."""
        self._last_id += 1
        self._pending[self._last_id] = _Pending(method, take, refused, now_ms)
        self._outgoing.append(jsonrpc.encode(jsonrpc.Call(method, params, self._last_id)))

    def _each(self, body: bytes, kind: Any, method: str) -> tuple[tuple[Any, ...], tuple[Unread, ...]]:
        """The elements of a list; one that can't be read hides no other. What is no list ends the conversation."""
        try:
            elements, aside = records.decode_each(body, kind)
        except BadReply:
            self._end(f"The {method} message is not a list.")
            return (), ()
        unread = (Unread(each.content.decode("utf-8", "replace"), each.reason) for each in aside)
        return tuple(elements), tuple(unread)

    def _unknown(self, name: str) -> None:
        """The exchange tells of something new: that is said once, however often it comes."""
        if name not in self._unknown_names:
            self._unknown_names.add(name)
            self._odd(f"Unknown message type from the exchange: {name[:60]!r}")

    def _odd(self, sentence: str) -> None:
        self._events.append(Odd(sentence))
        self._odd_frames += 1
        if self._odd_frames > MOST_ODD_FRAMES:
            self._end("Too many unknown messages from the exchange.")

    def _end(self, sentence: str, *, turned_down: bool = False) -> None:
        if self.phase is Phase.ENDED:
            return
        self.phase = Phase.ENDED
        self._pending.clear()
        self._outgoing.clear()
        self._events.append(Ended(sentence, turned_down))


def refusal_text(frame: jsonrpc.Failure) -> str:
    """A refusal in words: code, message and description."""
    return f"{frame.code} {frame.message}" + (f": {frame.description}" if frame.description else "")
