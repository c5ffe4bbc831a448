"""One conversation that asks for any documented method of its socket, each checked against the table before it leaves.

It asks nothing of its own accord: whoever holds it logs in by `login` and subscribes. What is not answered when the
conversation ends has an unknown outcome. Source: exchange streams, Endpoints and Events; supplement 1.1.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from exchange_ops.wire import streams
from exchange_ops.wire.conversation import BecameLive, Conversation, Ended, Odd, Pace, Phase
from exchange_ops.wire.streams import Address
from wire import jsonrpc, records
from wire.errors import BadReply


class UnknownMethod(ValueError):
    """This socket has no method of that name."""


@dataclass(frozen=True, slots=True)
class Answered:
    """The result of the request with this number, as the record of its method."""

    number: int
    record: Any


@dataclass(frozen=True, slots=True)
class AnswerUnreadable:
    """The request with this number was answered, and not as documented: whether it was done is not known."""

    number: int
    reason: str


@dataclass(frozen=True, slots=True)
class Declined:
    """The exchange said no to the request with this number, and nothing was done."""

    number: int
    failure: jsonrpc.Failure


@dataclass(frozen=True, slots=True)
class Notified:
    """A notification of a subscription, with the record of its params."""

    name: str
    record: Any


OwnEvent = Answered | AnswerUnreadable | Declined | Notified
Event = OwnEvent | BecameLive | Odd | Ended


class CallSession(Conversation[OwnEvent]):
    """The client's side of a socket that serves the methods of these addresses; the single old one serves two."""

    def __init__(self, addresses: Collection[Address], *, pace: Pace | None = None) -> None:
        super().__init__(pace)
        self._addresses = frozenset(addresses)

    def call(self, name: str, params: Mapping[str, object], now_ms: int) -> int:
        """Ask; the number by which its answer is known. None stands for an absent parameter.

        Raises `UnknownMethod` and `BadArgument` before anything is sent.
        """
        method = streams.by_name.get(name)
        if method is None or not self._addresses.intersection(method.addresses):
            raise UnknownMethod(f"This exchange socket has no method {name!r}.")
        number = self._last_id + 1
        take, refused = partial(self._result, number, method), partial(self._failure, number)
        self._ask(name, streams.bind(method, params), now_ms, take, refused)
        return number

    def _begin(self, now_ms: int) -> None:
        self.phase = Phase.LIVE
        self._events.append(BecameLive())

    def _idle(self, now_ms: int) -> None:
        """Nothing is due by itself."""

    def _result(self, number: int, method: streams.Method, result: bytes, now_ms: int) -> None:
        try:
            self._events.append(Answered(number, records.decode(result, method.result)))
        except BadReply as problem:
            self._events.append(AnswerUnreadable(number, problem.reason))

    def _failure(self, number: int, failure: jsonrpc.Failure, now_ms: int) -> None:
        self._events.append(Declined(number, failure))

    def _notified(self, frame: jsonrpc.Notification, now_ms: int) -> None:
        event = streams.event_by_name.get(frame.method)
        if event is None:
            self._unknown(frame.method)
            return
        try:
            self._events.append(Notified(event.name, records.decode(frame.params, event.params)))
        except BadReply as problem:
            self._odd(f"Unreadable {frame.method} message: {problem.reason}"[:300])
