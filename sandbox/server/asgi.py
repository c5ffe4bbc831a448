"""The sandbox as one ASGI application: the exchange's REST interface, the control plane, the sockets, and the page.

Everything is decided on the event loop without waiting in between: a call is read whole, executed at once, answered.
Only answers about many symbols are written a slice at a time.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from chaindata.wire import catalogue as chain_catalogue
from exchange_ops.wire import catalogue
from sandbox.exchange.handlers import WAITING
from sandbox.exchange.handlers.market import LISTINGS
from sandbox.exchange.terms import Caller, NoHandler, Refusal
from sandbox.server import answers, arguments, asgi_io, auth, bodies, chunks, error_responses, long_poll, pages
from sandbox.server.answers import Answer
from sandbox.server.asgi_io import Delivery, Receive, Received, Scope, Send
from sandbox.server.calls import Call, Calls
from sandbox.server.control import Control
from sandbox.server.faults import fault_injection
from sandbox.server.faults.fault_kinds import REST_KINDS
from sandbox.server.faults.fault_kinds import Scope as FaultScope
from sandbox.server.faults.faults import Faults
from sandbox.server.limits import Limits, group_of
from sandbox.server.rest.chain_service import PREFIX as CHAIN
from sandbox.server.rest.chain_service import ChainFront, most_bytes
from sandbox.server.rest.chain_service import too_large as too_large_for_chain
from sandbox.server.routing import Routes
from sandbox.server.sockets.sockets import METHOD_NAMES, NOTIFICATION_NAMES, Sockets
from sandbox.world.world import World
from wire.operation import Operation
from wire.params import BadArgument, Place

log = logging.getLogger("sandbox")
Application = Callable[[Scope, Receive, Send], Awaitable[None]]
EXCHANGE = "/api/2/"
CONTROL = "/_sandbox/"


def every_fault() -> Faults:
    """An empty set of faults that knows what can be armed."""
    return Faults(
        operations=[operation.name for operation in catalogue.OPERATIONS],
        chain=[operation.name for operation in chain_catalogue.ALL],
        methods=METHOD_NAMES,
        notifications=NOTIFICATION_NAMES,
        knows_code=error_responses.knows,
    )


def app(
    world: World, faults: Faults, *, sealed: bool = False, stirred: Callable[[], None] = lambda: None
) -> Application:
    """The application. `sealed` leaves the control plane out; `stirred` is called after what may have set a timer."""
    return Sandbox(world, faults, sealed=sealed, stirred=stirred)


class Sandbox:
    """The application over one world."""

    def __init__(
        self,
        world: World,
        faults: Faults,
        *,
        sealed: bool,
        stirred: Callable[[], None],
        most_waiting: int | None = None,
    ) -> None:
        self.world = world
        self.faults = faults
        self.calls = Calls(world.clock.now_ms)
        self.sealed = sealed
        self._stirred = stirred
        self._limits = Limits()
        self._routes = Routes(catalogue.OPERATIONS)
        self._routes_of_any_case = Routes(catalogue.OPERATIONS, any_case=True)
        self._control = Control(world, faults, self.calls)
        self.sockets = Sockets(world, faults, self.calls, self._limits, most_waiting=most_waiting)
        self._background: set[asyncio.Task[None]] = set()
        self._chain = ChainFront(world, faults, self.calls, later=self._later)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request or one socket, until the server ends."""
        with contextlib.suppress(asyncio.CancelledError):
            if scope["type"] == "websocket":
                await self.sockets.serve(scope, receive, send)
            elif scope["type"] == "http":
                await self._request(scope, receive, send)

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            received = await asgi_io.read(scope, receive, most_bytes=most_bytes(scope["path"]))
            delivery = await self._answer(received)
        except asgi_io.ClientGone:
            return
        except asgi_io.TooLarge:
            is_chain = scope["path"].lower().startswith(CHAIN)
            delivery = too_large_for_chain() if is_chain else TOO_LARGE
        finally:
            self._stirred()
        await asgi_io.deliver(delivery, scope, receive, send, date_ms=self.world.clock.now_ms())

    async def _answer(self, received: Received) -> Delivery:
        path = received.path
        if path.startswith(EXCHANGE) or (self.world.config.is_observed and path.lower().startswith(EXCHANGE)):
            return await self._exchange(received)
        if path.startswith(CONTROL) and not self.sealed:
            return self._control.answer(received)
        if path == "/" and received.method in ("GET", "HEAD"):
            return answers.of_html(pages.page(self.world, sealed=self.sealed))
        if path.lower().startswith(CHAIN):
            return await self._chain.answer(received)
        return answers.not_routed(received.method, path)

    async def _exchange(self, received: Received) -> Delivery:
        routes = self._routes_of_any_case if self.world.config.is_observed else self._routes
        methods = routes.methods(received.raw_path) if received.method == "OPTIONS" else []
        if methods:
            return Answer(204, b"", headers=(("allow", ", ".join(methods)),))
        found = routes.find(received.method, received.raw_path)
        if found is None:
            return answers.not_routed(received.method, received.path)
        operation, path_values = found
        call = self._written_down(received, operation)
        if operation.name in WAITING:
            await self._wait(received, operation, path_values)

        def execute() -> Answer:
            answer = self._execute(received, operation, path_values, call)
            self._stirred()
            return answer

        fault = self.faults.take(operation.name, key=call.key, kinds=REST_KINDS, scope=FaultScope.REST)
        if fault is None:
            writes = operation.name in LISTINGS and not self._is_changed(operation, call)
            delivery: Delivery = await self._write(received, operation, path_values, call) if writes else execute()
        else:
            call.fault = fault.kind
            delivery = await fault_injection.spoil(fault, execute, target=received.target, later=self._later)
        if isinstance(delivery, Answer):
            call.status, call.body = delivery.status, delivery.shown
        return delivery

    def _written_down(self, received: Received, operation: Operation) -> Call:
        sensitive = frozenset(param.name for param in operation.params if param.sensitive)
        hidden = any(param.name in sensitive for param in operation.params if param.place is Place.PATH)
        call = self.calls.received(
            operation=operation.name,
            method=received.method,
            path=operation.path if hidden else received.path,
            sensitive=sensitive,
            query=_texts(lambda: bodies.query_pairs(received.query)),
            form=_texts(lambda: bodies.texts(_form(received))),
        )
        login = auth.claimed_login(received.headers.get("authorization"))
        # An unknown login is not kept: somebody may have put a secret in its place.
        call.key = login if self.world.keys.find(login) is not None else None
        return call

    def _execute(self, received: Received, operation: Operation, path_values: dict[str, str], call: Call) -> Answer:
        try:
            caller, arguments = self._admitted(received, operation, path_values)
            result = self.world.perform(operation.name, caller, arguments)
        except Exception as problem:
            return _refused(problem, operation)
        call.executed = True
        return answers.of_json(
            fault_injection.echo(self.faults, operation.name, key=call.key, scope=FaultScope.REST, value=result)
        )

    async def _write(self, received: Received, operation: Operation, path_values: dict[str, str], call: Call) -> Answer:
        """An answer about many symbols, during which others are answered too."""
        try:
            _, arguments = self._admitted(received, operation, path_values)
            body = await chunks.written(self.world, self.world.listing(operation.name, arguments))
        except Exception as problem:
            return _refused(problem, operation)
        call.executed = True
        return answers.of_text(body)

    def _admitted(
        self, received: Received, operation: Operation, path_values: dict[str, str]
    ) -> tuple[Caller | None, dict[str, object]]:
        """Who calls, within the rate of his group, and what he asks for."""
        caller = self._caller(received, operation)
        limited, rates = caller.account if caller else received.address, self.world.config.rate_limits
        if not self._limits.allows(group_of(operation), limited, rates):
            raise Refusal(error_responses.TOO_MANY_REQUESTS)
        return caller, self._arguments(received, operation, path_values)

    def _is_changed(self, operation: Operation, call: Call) -> bool:
        """Whether a fault wants the records of the answer changed."""
        kinds = ("echo_differs",)
        return any(self.faults.matching(operation.name, key=call.key, kinds=kinds, scope=FaultScope.REST))

    async def _wait(self, received: Received, operation: Operation, path_values: dict[str, str]) -> None:
        """Lets a call wait that wants to; one that is going to be refused is not kept waiting."""
        try:
            caller, arguments = self._caller(received, operation), self._arguments(received, operation, path_values)
        except (bodies.Unreadable, BadArgument, Refusal):
            return
        wait = self.world.wait_for(operation.name, caller, arguments)
        if wait is not None:
            await long_poll.wait_out(self.world, wait)

    def _caller(self, received: Received, operation: Operation) -> Caller | None:
        """Who calls, with the right the operation needs; public operations look at no credentials at all."""
        if operation.public:
            return None
        caller = auth.of_request(
            self.world.keys,
            received.headers.get("authorization"),
            auth.Signed(received.method, received.raw_path, received.query, received.body),
            clocks_ms=(self.world.clock.now_ms(), time.time_ns() // 1_000_000),
        )
        auth.require(caller, operation.right)
        return caller

    def _arguments(self, received: Received, operation: Operation, path_values: dict[str, str]) -> dict[str, object]:
        query, form = bodies.query_pairs(received.query), _form(received)
        return arguments.arguments_of(operation, path_values, query, form, is_observed=self.world.config.is_observed)

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)


TOO_LARGE = Answer(
    413,
    answers.text_of(answers.envelope(413, "Payload Too Large", f"A body holds at most {bodies.MOST_BYTES} bytes")),
    headers=(("connection", "close"),),
)


def _refused(problem: Exception, operation: Operation) -> Answer:
    """The answer to a call that did not go well."""
    match problem:
        case NoHandler():
            return error_responses.not_imitated(operation.name)
        case bodies.Unreadable():
            return error_responses.answer(Refusal(error_responses.VALIDATION_ERROR, str(problem)))
        case BadArgument():
            return error_responses.answer(error_responses.of_bad_argument(problem, operation))
        case Refusal():
            return error_responses.answer(problem)
    log.error("%s failed", operation.name, exc_info=problem)
    return error_responses.of_status(500)


def _form(received: Received) -> bodies.Values:
    return bodies.body_pairs(received.headers.get("content-type", ""), received.body)


def _texts(pairs: Callable[[], bodies.Pairs]) -> bodies.Pairs:
    """The pairs for the log; what can't be read is logged as nothing."""
    try:
        return pairs()
    except bodies.Unreadable:
        return []
