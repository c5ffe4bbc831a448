"""One conversation with the account stream, without a socket and without a clock: frames and moments in, frames and
events out (exchange streams, Account management; supplement 1.2 and 1.6).

The order is fixed. Log in; load what the ledger got since the watermark; subscribe; load once more, so that nothing
that happened in between is missing; live. While live the ledger is loaded again every so often: a notification that
never came leaves no trace in the indexes, so only loading shows that nothing is missing. Silence ends the session.
"""

import hashlib
import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any

from exchange_ops.wire import records
from wire import jsonrpc
from wire import records as wire_records
from wire.credentials import Credentials
from wire.errors import BadReply

PAGE = 1000
MOST_ODD_FRAMES = 50  # in one session; a peer that says more of them is not the one we know


class Phase(StrEnum):
    """Where a session stands; ended sessions do nothing more."""

    CONNECTING = "connecting"
    LOGGING_IN = "logging in"
    CATCHING_UP = "catching up"
    SUBSCRIBING = "subscribing"
    LIVE = "live"
    ENDED = "ended"


class Origin(StrEnum):
    """How transactions came: told before we subscribed, told to close a gap after that, or as they happened."""

    BACKLOG = "backlog"
    GAP = "gap"
    NOTIFICATION = "notification"


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
class Transactions:
    """Transactions that the exchange told, in its order."""

    origin: Origin
    records: tuple[records.Transaction, ...]
    unread: tuple[Unread, ...] = ()


@dataclass(frozen=True, slots=True)
class Balances:
    """Balances of the bank wallet; currencies that are not among them are unchanged or zero."""

    records: tuple[records.Balance, ...]
    unread: tuple[Unread, ...] = ()


@dataclass(frozen=True, slots=True)
class BecameLive:
    """Everything up to here is known, and changes are told from now on."""


@dataclass(frozen=True, slots=True)
class Odd:
    """Something was said that we don't know; it was ignored."""

    sentence: str


@dataclass(frozen=True, slots=True)
class Ended:
    """The session is over; `turned_down` says that the key was refused, so trying again soon is of no use."""

    sentence: str
    turned_down: bool = False


Event = Transactions | Balances | BecameLive | Odd | Ended
_AUTHORIZATION = frozenset({403, 1001, 1002, 1003, 1004})


def login_params(credentials: Credentials, *, nonce: str) -> dict[str, object]:
    """The params of `login`: HS256 unless the key is for Basic. The nonce is any random text of 15 to 31 characters."""
    secret = credentials.secret.reveal()
    if credentials.scheme == "basic":
        return {"algo": "BASIC", "pKey": credentials.login, "sKey": secret}
    signature = hmac.new(secret.encode(), nonce.encode(), hashlib.sha256).hexdigest()
    return {"algo": "HS256", "pKey": credentials.login, "nonce": nonce, "signature": signature}


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request whose answer is awaited: what to do with it, and since when."""

    method: str
    take: Callable[[bytes, int], None]
    at_ms: int


class AccountSession:
    """The client's side of one socket of the account stream.

    Every method takes the moment on a clock that never goes back, in milliseconds. After each of them `outgoing()`
    gives the frames to send and `events()` what happened, both in order and once. `watermark` is the index up to which
    everything is stored for certain; set it as it moves.
    """

    def __init__(self, *, login: Mapping[str, object], watermark: int, pace: Pace | None = None) -> None:
        self.phase = Phase.CONNECTING
        self.watermark = watermark
        self._login = login
        self._pace = pace or Pace()
        self._outgoing: list[str] = []
        self._events: list[Event] = []
        self._asked: dict[int, _Asked] = {}
        self._last_id = 0
        self._heard_ms = self._loaded_ms = 0
        self._odd_frames = 0

    def outgoing(self) -> list[str]:
        """The frames to send now."""
        frames, self._outgoing = self._outgoing, []
        return frames

    def events(self) -> list[Event]:
        """What happened since the last time."""
        happened, self._events = self._events, []
        return happened

    # What happens to it ----------------------------------------------------------------------------------------------

    def opened(self, now_ms: int) -> None:
        """The socket is connected."""
        self._heard_ms = now_ms
        self.phase = Phase.LOGGING_IN
        self._ask("login", self._login, now_ms, self._logged_in)

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
            self._odd(f"A message could not be read: {problem}.")
            return
        match frame:
            case jsonrpc.Notification():
                self._notified(frame)
            case jsonrpc.Call():
                self._odd(f"The exchange asked for {frame.method[:60]!r}, which only we do.")
            case _:
                self._answered(frame, now_ms)

    def tick(self, now_ms: int) -> None:
        """Time passed: an answer may be overdue, the socket silent, or the next loading due."""
        if self.phase is Phase.ENDED:
            return
        overdue = [asked for asked in self._asked.values() if now_ms - asked.at_ms > self._pace.answer_ms]
        if overdue:
            self._end(f"The exchange left {overdue[0].method} unanswered for {self._pace.answer_ms // 1000} s.")
        elif now_ms - self._heard_ms > self._pace.silence_ms:
            self._end(f"The exchange was silent for {self._pace.silence_ms // 1000} s.")
        elif self.phase is Phase.LIVE and now_ms - self._loaded_ms >= self._pace.recheck_ms and not self._asked:
            self._loaded_ms = now_ms
            self._load(self.watermark, now_ms, Origin.GAP)

    def closed(self, reason: str) -> None:
        """The socket is gone."""
        if self.phase is not Phase.ENDED:
            self._end(f"The connection was lost: {reason}.")

    # Step by step ----------------------------------------------------------------------------------------------------

    def _logged_in(self, result: bytes, now_ms: int) -> None:
        if result != b"true":
            self._end("The exchange did not confirm the login.", turned_down=True)
            return
        self.phase = Phase.CATCHING_UP
        self._load(self.watermark, now_ms, Origin.BACKLOG)

    def _load(self, index: int, now_ms: int, origin: Origin) -> None:
        """Ask for the transactions from this index (included) on, ascending: never by offset on a moving set."""
        params = {"from": index, "limit": PAGE, "order": "ASC"}
        self._ask("loadTransactions", params, now_ms, partial(self._loaded, index, origin))

    def _loaded(self, index: int, origin: Origin, result: bytes, now_ms: int) -> None:
        found, unread = self._each(result, records.Transaction, "loadTransactions")
        if self.phase is Phase.ENDED:
            return
        if found or unread:
            self._events.append(Transactions(origin, found, unread))
        furthest = max((record.index for record in found), default=index - 1)
        # The page is asked for until one brings nothing further: how many fit on a page is not documented for certain.
        if furthest > index:
            self._load(furthest + 1, now_ms, origin)
        elif self.phase is Phase.CATCHING_UP and origin is Origin.BACKLOG:
            self._subscribe(now_ms)
        elif self.phase is Phase.CATCHING_UP:
            self._loaded_ms = now_ms
            self.phase = Phase.LIVE
            self._events.append(BecameLive())

    def _subscribe(self, now_ms: int) -> None:
        self.phase = Phase.SUBSCRIBING
        for method in ("subscribeTransactions", "subscribeBalance"):
            self._ask(method, {}, now_ms, self._subscribed)

    def _subscribed(self, result: bytes, now_ms: int) -> None:
        if result != b"true":
            self._end("The exchange did not confirm a subscription.")
        elif not self._asked:
            self.phase = Phase.CATCHING_UP
            self._load(self.watermark, now_ms, Origin.GAP)

    def _notified(self, frame: jsonrpc.Notification) -> None:
        match frame.method:
            case "updateTransaction":
                found, unread = self._each(b"[" + frame.params + b"]", records.Transaction, frame.method)
                self._events.append(Transactions(Origin.NOTIFICATION, found, unread))
            case "balance":
                entries, unread = self._each(frame.params, records.Balance, frame.method)
                if self.phase is not Phase.ENDED:
                    self._events.append(Balances(entries, unread))
            case _:
                self._odd(f"The exchange tells of {frame.method[:60]!r}, which we don't know.")

    def _answered(self, frame: jsonrpc.Result | jsonrpc.Failure, now_ms: int) -> None:
        asked = self._asked.pop(frame.id, None) if isinstance(frame.id, int) else None
        if asked is None:
            self._odd("The exchange answered a question that was not asked.")
        elif isinstance(frame, jsonrpc.Failure):
            told = f"{frame.code} {frame.message}" + (f": {frame.description}" if frame.description else "")
            self._end(f"The exchange refused {asked.method}: {told}"[:300], turned_down=frame.code in _AUTHORIZATION)
        else:
            asked.take(frame.result, now_ms)

    # Small things ----------------------------------------------------------------------------------------------------

    def _ask(self, method: str, params: Mapping[str, object], now_ms: int, take: Callable[[bytes, int], None]) -> None:
        self._last_id += 1
        self._asked[self._last_id] = _Asked(method, take, now_ms)
        self._outgoing.append(jsonrpc.encode(jsonrpc.Call(method, params, self._last_id)))

    def _each(self, body: bytes, kind: Any, method: str) -> tuple[tuple[Any, ...], tuple[Unread, ...]]:
        """The elements of a list; one that can't be read hides no other."""
        try:
            found, aside = wire_records.decode_each(body, kind)
        except BadReply:
            self._end(f"What came with {method} is not a list.")
            return (), ()
        unread = (Unread(each.content.decode("utf-8", "replace"), each.reason) for each in aside)
        return tuple(found), tuple(unread)

    def _odd(self, sentence: str) -> None:
        self._events.append(Odd(sentence))
        self._odd_frames += 1
        if self._odd_frames > MOST_ODD_FRAMES:
            self._end("The exchange says too much that we don't know.")

    def _end(self, sentence: str, *, turned_down: bool = False) -> None:
        self.phase = Phase.ENDED
        self._asked.clear()
        self._outgoing.clear()
        self._events.append(Ended(sentence, turned_down))
