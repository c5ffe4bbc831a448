"""The exchange's REST interface: credentials, rates of requests, arguments by the catalogue, errors as documented."""

import logging
import time
from collections.abc import Callable, Coroutine
from typing import Any

from exchange_ops.wire import catalogue
from sandbox.exchange.handlers import WAITING
from sandbox.exchange.handlers.market import LISTINGS
from sandbox.exchange.terms import Caller, NoHandler, Refusal
from sandbox.server import answers, arguments, auth, bodies, chunks, error_responses, long_poll
from sandbox.server.answers import Answer
from sandbox.server.asgi_io import Delivery, Received
from sandbox.server.bodies import Pairs, Unreadable, Values
from sandbox.server.calls import Calls
from sandbox.server.faults.fault_kinds import Scope
from sandbox.server.faults.faults import Faults
from sandbox.server.limits import Limits, group_of
from sandbox.server.rest.front import Front, Request
from sandbox.server.routing import Routes
from sandbox.world.world import World
from wire.operation import Operation
from wire.params import BadArgument, Place

log = logging.getLogger("sandbox")
PREFIX = "/api/2/"
TOO_LARGE = Answer(
    413,
    answers.text_of(answers.envelope(413, "Payload Too Large", f"A body holds at most {bodies.MOST_BYTES} bytes")),
    headers=(("connection", "close"),),
)


class ExchangeFront(Front[Values]):
    """The interface over one world."""

    scope = Scope.REST
    speech = error_responses.ExchangeSpeech()

    def __init__(
        self,
        world: World,
        faults: Faults,
        calls: Calls,
        limits: Limits,
        *,
        later: Callable[[Coroutine[Any, Any, None]], None],
        stirred: Callable[[], None],
    ) -> None:
        super().__init__(world, faults, calls, later=later, stirred=stirred)
        self._limits = limits
        self._routes = Routes(catalogue.OPERATIONS)
        self._routes_of_any_case = Routes(catalogue.OPERATIONS, any_case=True)

    async def answer(self, received: Received) -> Delivery:
        """The answer to one request, or what a fault makes of it."""
        routes = self._routes_of_any_case if self._world.config.is_observed else self._routes
        methods = routes.methods(received.raw_path) if received.method == "OPTIONS" else []
        if methods:
            return Answer(204, b"", headers=(("allow", ", ".join(methods)),))
        found = routes.find(received.method, received.raw_path)
        if found is None or not received.raw_path.isascii():
            return answers.not_routed(received.method, received.path)
        return await self._routed(received, *found)

    def _read(self, received: Received, operation: Operation, path_values: dict[str, str]) -> Request[Values]:
        query, body, unreadable = _values(received)
        sensitive = frozenset(param.name for param in operation.params if param.sensitive)
        hidden = any(param.name in sensitive for param in operation.params if param.place is Place.PATH)
        call = self._calls.received(
            operation=operation.name,
            method=received.method,
            path=operation.path if hidden else received.path,
            sensitive=sensitive,
            query=query,
            form=bodies.texts(body),
        )
        login = auth.claimed_login(received.headers.get("authorization"))
        # An unknown login is not kept: somebody may have put a secret in its place.
        call.key = login if self._world.keys.find(login) is not None else None
        return Request(received, operation, path_values, query, body, unreadable, call)

    async def _before(self, request: Request[Values]) -> None:
        """Lets a call wait that wants to; one that is going to be refused is not kept waiting."""
        operation = request.operation
        if operation.name not in WAITING:
            return
        try:
            caller, values = self._caller(request), self._arguments(request)
        except (Unreadable, BadArgument, Refusal):
            return
        wait = self._world.wait_for(operation.name, caller, values)
        if wait is not None:
            await long_poll.wait_out(self._world, wait)

    async def _written(self, request: Request[Values]) -> Answer | None:
        """An answer about many symbols, during which others are answered too."""
        operation, call = request.operation, request.call
        if operation.name not in LISTINGS or self._is_changed(request):
            return None
        try:
            self._let_in(request)
            listing = self._world.listing(operation.name, self._arguments(request))
            body = await chunks.written(self._world, listing)
        except Exception as problem:
            return self._refused(problem, operation)
        call.executed = True
        return answers.of_text(body)

    def _result(self, request: Request[Values]) -> object:
        caller = self._let_in(request)
        return self._world.perform(request.operation.name, caller, self._arguments(request))

    def _let_in(self, request: Request[Values]) -> Caller | None:
        """Who calls, within the rate of his group."""
        caller = self._caller(request)
        limited, rates = caller.account if caller else request.received.address, self._world.config.rate_limits
        if not self._limits.allows(group_of(request.operation), limited, rates):
            raise Refusal(error_responses.TOO_MANY_REQUESTS)
        return caller

    def _caller(self, request: Request[Values]) -> Caller | None:
        """Who calls, with the right the operation needs; public operations look at no credentials at all."""
        received, operation = request.received, request.operation
        if operation.public:
            return None
        caller = auth.of_request(
            self._world.keys,
            received.headers.get("authorization"),
            auth.Signed(received.method, received.raw_path, received.query, received.body),
            clocks_ms=(self._world.clock.now_ms(), time.time_ns() // 1_000_000),
        )
        auth.require(caller, operation.right)
        return caller

    def _arguments(self, request: Request[Values]) -> dict[str, object]:
        request.must_be_readable()
        is_observed = self._world.config.is_observed
        operation = request.operation
        return arguments.of_exchange(
            operation, request.path_values, request.query, request.body, is_observed=is_observed
        )

    def _is_changed(self, request: Request[Values]) -> bool:
        """Whether a fault wants the records of the answer changed."""
        name, key = request.operation.name, request.call.key
        return any(self._faults.matching(name, key=key, kinds=("echo_differs",), scope=self.scope))

    def _refused(self, problem: Exception, operation: Operation) -> Answer:
        match problem:
            case NoHandler():
                return error_responses.not_imitated(operation.name)
            case Unreadable():
                return error_responses.answer(Refusal(error_responses.VALIDATION_ERROR, str(problem)))
            case BadArgument():
                return error_responses.answer(error_responses.of_bad_argument(problem, operation))
            case Refusal():
                return error_responses.answer(problem)
        log.error("%s failed", operation.name, exc_info=problem)
        return error_responses.of_status(500)


def _values(received: Received) -> tuple[Pairs, Values, Unreadable | None]:
    """Query and body; what can't be read holds nothing, and the first of the two problems says why."""
    query: Pairs = []
    body: Values = []
    unreadable = None
    try:
        query = bodies.query_pairs(received.query)
    except Unreadable as problem:
        unreadable = problem
    try:
        body = bodies.body_pairs(received.headers.get("content-type", ""), received.body)
    except Unreadable as problem:
        unreadable = unreadable or problem
    return query, body, unreadable
