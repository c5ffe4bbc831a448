"""The exchange's REST interface: credentials, rates of requests, arguments by the catalogue, errors as documented.

Long answers are written a slice at a time: other calls come in between, and each part is of its own instant. A call
that polls is answered when something has changed, or when its time is up.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final

from exchange_ops.wire import catalogue
from sandbox.exchange.handlers import WAITING
from sandbox.exchange.handlers.arguments import plain_arguments
from sandbox.exchange.handlers.market import LISTINGS, Listing
from sandbox.exchange.terms import Caller, Event, NoHandler, Refusal, Wait
from sandbox.server import answers, auth, error_responses, requests
from sandbox.server.answers import Answer, Delivery
from sandbox.server.auth import Limits, group_of
from sandbox.server.calls import Calls, Front, Request
from sandbox.server.faults.fault_kinds import Scope
from sandbox.server.faults.faults import Faults
from sandbox.server.requests import Pairs, Received, Routes, Unreadable, Values
from sandbox.settings.dialects import DOCUMENTED, OBSERVED
from sandbox.world.world import World
from wire.operation import Operation, read
from wire.params import BadArgument, Place

log = logging.getLogger("sandbox")
PREFIX = "/api/2/"
CHUNK_NS: Final = 8_000_000  # of work between two looks at what else there is to do
# With the named parameter all others are ignored, the odd ones too (exchange REST, Trading history).
_OVERRIDING: Final = {"get_order_history": "clientOrderId"}
TOO_LARGE = Answer(
    413,
    answers.text_of(answers.envelope(413, "Payload Too Large", f"A body holds at most {requests.MOST_BYTES} bytes")),
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
        self._routes = {
            DOCUMENTED: Routes(catalogue.OPERATIONS),
            OBSERVED: Routes(catalogue.OPERATIONS, any_case=True),
        }

    async def answer(self, received: Received) -> Delivery:
        """The answer to one request, or what a fault makes of it."""
        routes = self._routes[self._world.config.dialect]
        methods = routes.methods(received.raw_path) if received.method == "OPTIONS" else []
        if methods:
            return Answer(204, b"", headers=(("allow", ", ".join(methods)),))
        route = routes.find(received.method, received.raw_path)
        if route is None or not received.raw_path.isascii():
            return answers.not_routed(received.method, received.path)
        return await self._routed(received, *route)

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
            form=requests.texts(body),
        )
        login = auth.claimed_login(received.headers.get("authorization"))
        # An unknown login is not kept: somebody may have put a secret in its place.
        call.key = login if login in self._world.keys else None
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
            await wait_out(self._world, wait)

    async def _written(self, request: Request[Values]) -> Answer | None:
        """An answer about many symbols, during which others are answered too."""
        operation, call = request.operation, request.call
        if operation.name not in LISTINGS or self._is_changed(request):
            return None
        try:
            self._let_in(request)
            listing = self._world.listing(operation.name, self._arguments(request))
            body = await written(self._world, listing)
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

    def _read_arguments(self, request: Request[Values]) -> Mapping[str, object]:
        """The arguments in plain form, defaults filled in; in the observed dialect also that of an order without a time
        in force, which the specification requires there (exchange supplement 6). Raises `BadArgument`, `Refusal`."""
        operation, query, body = request.operation, request.query, request.body
        if self._world.config.dialect == OBSERVED and operation.name == "put_order":
            body = body if "timeInForce" in dict([*query, *body]) else [*body, ("timeInForce", "GTC")]
        overriding = [pair for pair in query if pair[0] == _OVERRIDING.get(operation.name) and pair[1]]
        return plain_arguments(read(operation, request.path_values, overriding or query, body))

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
        query = requests.query_pairs(received.query)
    except Unreadable as problem:
        unreadable = problem
    try:
        body = requests.body_pairs(received.headers.get("content-type", ""), received.body)
    except Unreadable as problem:
        unreadable = unreadable or problem
    return query, body, unreadable


async def written(world: World, listing: Listing) -> bytes:
    """The JSON of a listing. Raises `Refusal` when the world breaks meanwhile; a world that is begun again does not
    disturb what was asked of the old one."""
    parts, stop_ns = [], time.monotonic_ns() + CHUNK_NS
    for symbol in listing.symbols:
        parts.append(listing.part(symbol))
        if time.monotonic_ns() >= stop_ns:
            await asyncio.sleep(0)
            world.run_due()
            stop_ns = time.monotonic_ns() + CHUNK_NS
    return listing.join(parts).encode("ascii")


async def wait_out(world: World, wait: Wait) -> None:
    """Returns when the change has come, or after `wait.ms` of real time."""
    over = asyncio.get_running_loop().create_future()

    def hear(event: Event) -> None:
        if not over.done() and wait.is_over(event):
            over.set_result(None)

    stop = world.listen(hear)
    try:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(wait.ms / 1000):
                await over
    finally:
        stop()
