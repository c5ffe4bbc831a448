"""A call as both REST services serve it: written down, met by the faults, executed, answered; and the log of all calls.

A service says in its own way what a request holds, what comes of it, and what an error looks like. Everything is
decided on the event loop without waiting in between, but for what a call or a fault wants to wait for.

The log is kept in memory: it is what a test asserts about a client that may have got no answer. A call is listed from
the moment it was read, so that one whose execution is delayed shows at once; `executed` and `answer` are filled in
later. Secrets are never kept: neither headers nor the values of sensitive parameters.
"""

import logging
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from typing import Generic, TypeVar

from sandbox.engine.clock import instant_text
from sandbox.server import answers
from sandbox.server.answers import Answer, Delivery
from sandbox.server.faults.fault_kinds import REST_KINDS, Scope
from sandbox.server.faults.faults import Faults, Later, Speech, echo, inject
from sandbox.server.requests import Pairs, Received
from sandbox.world.world import World
from wire.operation import Operation

MASK = "…"
MOST_KEPT = 5_000
MOST_CHARACTERS = 16 * 2**20  # of parameters, of all calls together
LONGEST_TEXT = 4_000
# Masked under whatever operation they come: a secret may have been sent to the wrong address.
ALWAYS_SENSITIVE = frozenset({"skey", "signature", "secret", "password"})


@dataclass(slots=True)
class Call:
    """One call: when it was read (milliseconds of the sandbox's clock), by whom, what it asked and what it got."""

    number: int
    when_ms: int
    operation: str
    method: str
    path: str
    key: str | None = None
    query: tuple[tuple[str, str], ...] = ()
    form: tuple[tuple[str, str], ...] = ()
    fault: str | None = None
    executed: bool = False
    status: int | None = None
    body: object = None

    def as_json(self) -> dict[str, object]:
        """The call as the control plane lists it; `answer` is null when none was sent."""
        answer = None if self.status is None else {"status": self.status, "body": self.body}
        return {
            "number": self.number,
            "when": instant_text(self.when_ms),
            "operation": self.operation,
            "key": self.key,
            "method": self.method,
            "path": self.path,
            "query": _grouped(self.query),
            "form": _grouped(self.form),
            "fault": self.fault,
            "executed": self.executed,
            "answer": answer,
        }


class Calls:
    """The latest calls, at most `MOST_KEPT` of them or `MOST_CHARACTERS`; older ones are dropped and counted."""

    def __init__(self, now_ms: Callable[[], int], most_kept: int = MOST_KEPT) -> None:
        self._now_ms = now_ms
        self._numbers = count(1)
        self._most_kept = most_kept
        self._calls: deque[Call] = deque()
        self._characters = 0
        self._received = 0

    def received(
        self,
        *,
        operation: str,
        method: str,
        path: str,
        query: Iterable[tuple[str, str]] = (),
        form: Iterable[tuple[str, str]] = (),
        sensitive: frozenset[str] = frozenset(),
    ) -> Call:
        """Writes down a call that was just read; the values of `sensitive` parameters are masked."""
        call = Call(
            number=next(self._numbers),
            when_ms=self._now_ms(),
            operation=operation,
            method=method,
            path=_short(path),
            query=_masked(query, sensitive),
            form=_masked(form, sensitive),
        )
        self._received += 1
        self._calls.append(call)
        self._characters += _length(call)
        while len(self._calls) > self._most_kept or (self._characters > MOST_CHARACTERS and len(self._calls) > 1):
            self._characters -= _length(self._calls.popleft())
        return call

    def listed(self, *, operation: str = "", since: str = "") -> dict[str, object]:
        """The calls of an operation (every one when empty) after a number, or from an ISO datetime on.

        Raises ValueError with a sentence when `since` is neither.
        """
        after, from_ms = _since(since)
        records = [
            call.as_json()
            for call in self._calls
            if call.number > after and call.when_ms >= from_ms and operation in ("", call.operation)
        ]
        return {"calls": records, "received": self._received, "dropped": self._received - len(self._calls)}

    def clear(self) -> None:
        """Forgets every call; numbers go on."""
        self._calls.clear()
        self._characters = self._received = 0


def _since(text: str) -> tuple[int, int]:
    if not text:
        return 0, 0
    if text.isascii() and text.isdigit() and len(text) <= 18:
        return int(text), 0
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"'since' is {_short(text)!r}; it takes the number of a call or an ISO datetime.") from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    elapsed = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return 0, elapsed.days * 86_400_000 + elapsed.seconds * 1000 + elapsed.microseconds // 1000


def _masked(pairs: Iterable[tuple[str, str]], sensitive: frozenset[str]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (_short(name), MASK if name in sensitive or name.lower() in ALWAYS_SENSITIVE else _short(value))
        for name, value in pairs
    )


def _length(call: Call) -> int:
    return sum(len(name) + len(value) for name, value in (*call.query, *call.form))


def _grouped(pairs: tuple[tuple[str, str], ...]) -> dict[str, object]:
    """Pairs as an object; a name given more than once has the list of its values."""
    grouped: dict[str, object] = {}
    for name, value in pairs:
        if name not in grouped:
            grouped[name] = value
            continue
        earlier = grouped[name]
        grouped[name] = [*earlier, value] if isinstance(earlier, list) else [earlier, value]
    return grouped


def _short(text: str) -> str:
    """The text, cut when it is long, with a mark for what has no bytes (half of a surrogate pair)."""
    encodable = text.encode("utf-8", errors="replace").decode("utf-8")
    return encodable if len(encodable) <= LONGEST_TEXT else encodable[:LONGEST_TEXT] + MASK


# How a call is served -------------------------------------------------------------------------------------------------


log = logging.getLogger("sandbox")
Body = TypeVar("Body")


@dataclass(slots=True)
class Request(Generic[Body]):
    """A routed call, its query and body read once. `unreadable` says why one of them could not be; `call` is its line
    in the log; `arguments` are made when they are first asked for."""

    received: Received
    operation: Operation
    path_values: dict[str, str]
    query: Pairs
    body: Body
    unreadable: Exception | None
    call: Call
    arguments: Mapping[str, object] | None = None


class Front(ABC, Generic[Body]):
    """One service over one world. `later` keeps work that goes on after an answer; `stirred` is called after each."""

    scope: Scope
    speech: Speech

    def __init__(
        self,
        world: World,
        faults: Faults,
        calls: Calls,
        *,
        later: Later,
        stirred: Callable[[], None] = lambda: None,
    ) -> None:
        self._world = world
        self._faults = faults
        self._calls = calls
        self._later = later
        self._stirred = stirred

    @abstractmethod
    async def answer(self, received: Received) -> Delivery:
        """The answer to one request, or what a fault makes of it."""

    @abstractmethod
    def _read(self, received: Received, operation: Operation, path_values: dict[str, str]) -> Request[Body]:
        """The request with what it holds, written into the log."""

    @abstractmethod
    def _result(self, request: Request[Body]) -> object:
        """What comes of the call, as it goes out in JSON; raises what `_refused` knows."""

    @abstractmethod
    def _read_arguments(self, request: Request[Body]) -> Mapping[str, object]:
        """The arguments that path, query and body hold, as the world takes them; raises what `_refused` knows."""

    @abstractmethod
    def _refused(self, problem: Exception, operation: Operation) -> Answer:
        """The answer to a call that did not go well."""

    def _arguments(self, request: Request[Body]) -> Mapping[str, object]:
        """The arguments of the call, made once; raises what `_refused` knows."""
        if request.arguments is None:
            if request.unreadable is not None:
                raise request.unreadable
            request.arguments = self._read_arguments(request)
        return request.arguments

    async def _before(self, request: Request[Body]) -> None:
        """Waits for what the call wants to be waited for."""

    async def _written(self, request: Request[Body]) -> Answer | None:
        """A long answer, written a part at a time; None where it is executed at once."""
        return None

    async def _routed(self, received: Received, operation: Operation, path_values: dict[str, str]) -> Delivery:
        """The answer of the operation that a request names."""
        request = self._read(received, operation, path_values)
        await self._before(request)
        call = request.call
        fault = self._faults.claim(operation.name, key=call.key, kinds=REST_KINDS, scope=self.scope)
        if fault is None:
            delivery: Delivery = await self._written(request) or self._executed(request)
        else:
            call.fault = fault.kind
            delivery = await inject(
                fault, lambda: self._executed(request), target=received.target, later=self._later, speech=self.speech
            )
        if isinstance(delivery, Answer):
            call.status, call.body = delivery.status, delivery.logged
        return delivery

    def _executed(self, request: Request[Body]) -> Answer:
        try:
            result = self._result(request)
        except Exception as problem:
            return self._refused(problem, request.operation)
        finally:
            self._stirred()
        request.call.executed = True
        return answers.of_json(self._echoed(request, result))

    def _echoed(self, request: Request[Body], result: object) -> object:
        """The result, with the fields changed that faults want changed."""
        name, key = request.operation.name, request.call.key
        return echo(self._faults, name, key=key, scope=self.scope, value=result)
