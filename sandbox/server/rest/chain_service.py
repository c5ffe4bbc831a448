"""The chain-data service over HTTP: routes, bodies, limits, errors; what it answers comes from the chain's handlers.

Source: chain data, Endpoints; supplement 1.7, 1.10 and 7. No operation needs credentials; the deployment's user and
pro password only raise the limits.
"""

import logging
from collections.abc import Callable, Coroutine
from typing import Any

from chaindata.wire import catalogue
from sandbox.chain.node.terms import Refused
from sandbox.exchange.terms import NoHandler, Refusal
from sandbox.server import answers as plain
from sandbox.server import auth, bodies
from sandbox.server.answers import Answer
from sandbox.server.asgi_io import Delivery, Received
from sandbox.server.calls import Call, Calls
from sandbox.server.faults import fault_injection
from sandbox.server.faults.fault_kinds import REST_KINDS
from sandbox.server.faults.fault_kinds import Scope as FaultScope
from sandbox.server.faults.faults import Faults
from sandbox.server.rest import chain_answers, chain_arguments, chain_bodies
from sandbox.server.rest.chain_arguments import Asked
from sandbox.server.rest.chain_bodies import MOST_BYTES, Malformed
from sandbox.server.rest.chain_limits import Windows, route_of
from sandbox.server.rest.chain_routing import Routes, Undecodable
from sandbox.world.world import World
from wire.operation import Operation

log = logging.getLogger("sandbox")
PREFIX = "/v2/"
PRO_USER = "BITBOX"
Later = Callable[[Coroutine[Any, Any, None]], None]


class ChainFront:
    """The service over one world. `later` keeps work that goes on after an answer."""

    def __init__(self, world: World, faults: Faults, calls: Calls, *, later: Later) -> None:
        self._world = world
        self._faults = faults
        self._calls = calls
        self._later = later
        self._routes = Routes(catalogue.ALL, catalogue.GROUP_ROOTS.items())
        self._windows = Windows()

    async def answer(self, received: Received) -> Delivery:
        """The answer to one request, or what a fault makes of it."""
        if received.method == "OPTIONS":
            return Answer(204, b"", headers=(*chain_answers.HEADERS, *chain_answers.PREFLIGHT))
        headers, limited = self._counted(received)
        delivery = limited or await self._routed(received)
        if not isinstance(delivery, Answer):
            return delivery
        return Answer(
            delivery.status, delivery.body, delivery.content_type, (*delivery.headers, *chain_answers.HEADERS, *headers)
        )

    def _counted(self, received: Received) -> tuple[tuple[tuple[str, str], ...], Answer | None]:
        """The headers of the limit, and the answer of a call beyond it; neither when the limit is off."""
        limit = self._world.config.chain_rate_limit
        if not limit:
            return (), None
        limit *= catalogue.RATE_PRO // catalogue.RATE if self._is_pro(received) else 1
        standing = self._windows.count(received.address, route_of(received.method, received.path), limit)
        return standing.headers(), None if standing.is_allowed else chain_answers.too_many_requests(limit)

    def _is_pro(self, received: Received) -> bool:
        return auth.is_basic(
            received.headers.get("authorization"), PRO_USER, self._world.config.chain_pro_password.encode()
        )

    async def _routed(self, received: Received) -> Delivery:
        method = "GET" if received.method == "HEAD" else received.method
        root = self._routes.root(received.raw_path) if method == "GET" else None
        if root is not None:
            return plain.of_json({"status": root})
        try:
            found = self._routes.find(method, received.raw_path)
        except Undecodable as problem:
            return chain_answers.told(400, f"Failed to decode param '{problem}'")
        if found is None or self._is_off(found[0]):
            return chain_answers.not_found()
        return await self._spoilt(received, *found)

    def _is_off(self, operation: Operation) -> bool:
        """Whether an operation is not served here: one that carries a private key wants a setting of its own."""
        return operation.name in catalogue.WITH_PRIVATE_KEY and not self._world.config.non_js_framework

    async def _spoilt(self, received: Received, operation: Operation, path_values: dict[str, str]) -> Delivery:
        call = self._written_down(received, operation)

        def execute() -> Answer:
            return self._execute(received, operation, path_values, call)

        fault = self._faults.take(operation.name, key=None, kinds=REST_KINDS, scope=FaultScope.CHAIN)
        if fault is None:
            delivery: Delivery = execute()
        else:
            call.fault = fault.kind
            speech = chain_answers.Speech()
            delivery = await fault_injection.spoil(
                fault, execute, target=received.target, later=self._later, speech=speech
            )
        if isinstance(delivery, Answer):
            call.status, call.body = delivery.status, delivery.shown
        return delivery

    def _written_down(self, received: Received, operation: Operation) -> Call:
        """The call in the log; one that carries a private key in its path is there without its path."""
        hidden = operation.name in catalogue.WITH_PRIVATE_KEY
        return self._calls.received(
            operation=operation.name,
            method=received.method,
            path=operation.path if hidden else received.path,
            query=() if hidden else _query(received),
        )

    def _execute(self, received: Received, operation: Operation, path_values: dict[str, str], call: Call) -> Answer:
        try:
            asked = Asked(path_values, _query(received), _body(received))
            most = catalogue.BULK_PRO if self._is_pro(received) else catalogue.BULK
            given = chain_arguments.of(operation, asked, most=most)
            result = (
                [] if chain_arguments.is_empty_bulk(operation, given) else self._world.ask_chain(operation.name, given)
            )
        except Exception as problem:
            return _refused(problem, operation)
        call.executed = True
        return plain.of_json(
            fault_injection.echo(self._faults, operation.name, key=None, scope=FaultScope.CHAIN, value=result)
        )


def too_large() -> Answer:
    """The body is longer than the service reads."""
    answer = chain_answers.told(413, "request entity too large")
    return Answer(answer.status, answer.body, headers=(("connection", "close"), *chain_answers.HEADERS))


def _refused(problem: Exception, operation: Operation) -> Answer:
    match problem:
        case Refused():
            return chain_answers.refused(problem)
        case Malformed():
            return chain_answers.told(400, str(problem))
        case NoHandler():
            return chain_answers.error(501, f"The sandbox does not imitate {operation.name} yet")
        case Refusal():  # the world takes nothing in
            return chain_answers.of_status(503)
    log.error("%s failed", operation.name, exc_info=None if operation.name in catalogue.WITH_PRIVATE_KEY else problem)
    return chain_answers.error(500, "Internal Server Error")


def _query(received: Received) -> bodies.Pairs:
    """The pairs of the query; one that can't be read has none."""
    try:
        return bodies.query_pairs(received.query)
    except bodies.Unreadable:
        return []


def _body(received: Received) -> object:
    return chain_bodies.read(received.headers.get("content-type", ""), received.body)


def most_bytes(path: str) -> int:
    """How long a body may be."""
    return MOST_BYTES if path.lower().startswith(PREFIX) else bodies.MOST_BYTES
