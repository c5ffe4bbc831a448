"""Any method of the exchange's sockets by its name, over a socket of its own (exchange streams; supplement 1).

What comes of a call is named as over REST: `Refused` (nothing was done), `Unreachable` and `BadReply` for what only
asks, `OutcomeUnknown` for what acts and has no readable answer: never send it again, find out by reading.
"""

import contextlib
import secrets
import select
import time
from collections.abc import Collection, Iterator
from typing import Any

import websocket

from exchange_ops.client import sockets
from exchange_ops.wire import streams
from exchange_ops.wire.call_session import Answered, AnswerUnreadable, CallSession, Declined, Notified
from exchange_ops.wire.conversation import Ended, Pace, Phase, login_params
from exchange_ops.wire.streams import Address
from wire.credentials import Credentials
from wire.errors import BadReply, CallFailed, OutcomeUnknown, Refused, Unreachable

DEADLINE_S = 10
_LOOK_SECONDS = 0.1  # how often it is seen whether an answer is overdue
_A_DAY_MS = 86_400_000  # between two calls nobody listens, so silence says nothing
_SOCKET_PROBLEMS = (OSError, ValueError, websocket.WebSocketException)


class StreamClient:
    """One socket whose methods are called by their names (`exchange_ops.wire.streams`). Not for two threads at once.

    `base_url` has no path; the address decides which methods there are. A call returns the record of its result;
    notifications that arrive meanwhile wait for `notified`. Raises `CannotFollow` for an address that can't be used.
    """

    def __init__(
        self,
        base_url: str,
        address: Address,
        *,
        credentials: Credentials | None = None,
        deadline_s: int = DEADLINE_S,
        private_hosts: Collection[str] = (),
    ) -> None:
        url = sockets.stream_url(base_url, address)
        self._session = CallSession((address,), pace=Pace(answer_ms=deadline_s * 1000, silence_ms=_A_DAY_MS))
        self._notified: list[Notified] = []
        self._socket = websocket.WebSocket()
        try:
            sockets.open_at(self._socket, url, private_hosts=private_hosts)
        except _SOCKET_PROBLEMS as problem:
            self.close()
            raise Unreachable(f"The stream could not be opened: {type(problem).__name__}") from None
        self._socket.settimeout(_LOOK_SECONDS)
        self._session.opened(_now_ms())
        if credentials is not None:
            self._log_in(credentials)

    def close(self) -> None:
        """Close the socket."""
        with contextlib.suppress(*_SOCKET_PROBLEMS):
            self._socket.shutdown()  # type: ignore[no-untyped-call]

    def is_open(self) -> bool:
        """Whether the socket is open, judged without sending anything: messages that wait are read."""
        plain = self._socket.sock
        if plain is None:
            self._session.closed("disconnected")
            return False
        try:
            while self._session.phase is not Phase.ENDED and select.select([plain], [], [], 0)[0]:
                self._listen()
                self._keep(self._session.events())
        except _SOCKET_PROBLEMS as problem:
            self._session.closed(type(problem).__name__)
        return self._session.phase is not Phase.ENDED

    def call(self, name: str, **params: object) -> Any:
        """Any method of this socket, with its parameters under their own names; gives its record.

        None stands for an absent parameter. Raises `UnknownMethod` and `BadArgument` before anything is sent.
        """
        if self._session.phase is Phase.ENDED:
            raise Unreachable("The stream is closed; open a new one.")
        number = self._session.call(name, params, _now_ms())
        for event in self._happening():
            match event:
                case Answered(number=answered) if answered == number:
                    return event.record
                case AnswerUnreadable(number=answered) if answered == number:
                    reason = f"The response is unreadable: {event.reason}"
                    raise OutcomeUnknown(reason) if name in streams.ACTING else BadReply(event.reason)
                case Declined(number=answered) if answered == number:
                    raise Refused(event.failure.code, event.failure.message, event.failure.description)
                case Ended():
                    raise _without_answer(name, event.sentence)
        raise AssertionError("The event stream stopped without an end event.")

    def notified(self, *, seconds: float = 0) -> list[Notified]:
        """The notifications since the last call; without any, wait so many seconds for the first."""
        until_ms = _now_ms() + int(seconds * 1000)
        while not self._notified and _now_ms() < until_ms:
            self._listen()
            self._keep(self._session.events())
        notified, self._notified = self._notified, []
        return notified

    # Sending ---------------------------------------------------------------------------------------------------------

    def _log_in(self, credentials: Credentials) -> None:
        try:
            accepted = self.call("login", **login_params(credentials, nonce=secrets.token_hex(12)))
            if accepted is not True:
                raise BadReply("the exchange did not confirm the login")
        except CallFailed:
            self.close()
            raise

    def _happening(self) -> Iterator[Any]:
        """Send the frames that wait, then yield the events one by one until the conversation ends."""
        try:
            for frame in self._session.outgoing():
                self._socket.send(frame)
        except _SOCKET_PROBLEMS as problem:
            self._session.closed(type(problem).__name__)
        while True:
            events = self._session.events()
            self._keep(events)
            yield from events
            if any(isinstance(event, Ended) for event in events):
                return
            self._listen()

    def _keep(self, events: list[Any]) -> None:
        self._notified += [event for event in events if isinstance(event, Notified)]

    def _listen(self) -> None:
        """One message, or a moment without one."""
        try:
            self._session.received(self._socket.recv(), _now_ms())
        except websocket.WebSocketTimeoutException:
            pass
        except _SOCKET_PROBLEMS as problem:
            self._session.closed(type(problem).__name__)
        self._session.tick(_now_ms())


def _without_answer(name: str, sentence: str) -> CallFailed:
    return OutcomeUnknown(sentence) if name in streams.ACTING else Unreachable(sentence)


def _now_ms() -> int:
    return time.monotonic_ns() // 1_000_000
