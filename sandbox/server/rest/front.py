"""What both REST services have in common: a routed call is written down, meets the faults, is executed, is answered.

A service says in its own way what a request holds, what comes of it, and what an error looks like. Everything is
decided on the event loop without waiting in between, but for what a call or a fault wants to wait for.
"""

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from sandbox.server import answers
from sandbox.server.answers import Answer
from sandbox.server.asgi_io import Delivery, Received
from sandbox.server.bodies import Pairs
from sandbox.server.calls import Call, Calls
from sandbox.server.faults import fault_injection
from sandbox.server.faults.fault_injection import Later, Speech
from sandbox.server.faults.fault_kinds import REST_KINDS, Scope
from sandbox.server.faults.faults import Faults
from sandbox.world.world import World
from wire.operation import Operation

log = logging.getLogger("sandbox")
Body = TypeVar("Body")


@dataclass(frozen=True, slots=True)
class Request(Generic[Body]):
    """A routed call, its query and body read once. `unreadable` says why one of them could not be; `call` is its line
    in the log."""

    received: Received
    operation: Operation
    path_values: dict[str, str]
    query: Pairs
    body: Body
    unreadable: Exception | None
    call: Call

    def must_be_readable(self) -> None:
        """Raises `unreadable`; for when it is the turn of the arguments."""
        if self.unreadable is not None:
            raise self.unreadable


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
    def _refused(self, problem: Exception, operation: Operation) -> Answer:
        """The answer to a call that did not go well."""

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
        fault = self._faults.take(operation.name, key=call.key, kinds=REST_KINDS, scope=self.scope)
        if fault is None:
            delivery: Delivery = await self._written(request) or self._executed(request)
        else:
            call.fault = fault.kind
            delivery = await fault_injection.inject(
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
        return fault_injection.echo(self._faults, name, key=key, scope=self.scope, value=result)
