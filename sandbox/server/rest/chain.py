"""The chain-data service over HTTP: routes, bodies, limits, errors; what it answers comes from the chain's handlers.

Source: chain data, Endpoints; chain supplement 1.7, 1.10 and 7. No operation needs credentials; the deployment's user
and pro password only raise the limits.
"""

import logging
from collections.abc import Callable, Coroutine
from typing import Any

from chaindata.wire import catalogue
from sandbox.chain.node.terms import Refused
from sandbox.exchange.terms import NoHandler, Refusal
from sandbox.server import answers, arguments, auth, bodies, chain_bodies, routing
from sandbox.server import chain_error_responses as errors
from sandbox.server.answers import Answer
from sandbox.server.asgi_io import Delivery, Received
from sandbox.server.calls import Calls
from sandbox.server.chain_bodies import Malformed
from sandbox.server.faults.fault_kinds import Scope
from sandbox.server.faults.faults import Faults
from sandbox.server.limits import Windows, route_of
from sandbox.server.rest.front import Front, Request
from sandbox.server.routing import Routes, Undecodable
from sandbox.world.world import World
from wire.operation import Operation

log = logging.getLogger("sandbox")
PREFIX = "/v2/"
PRO_USER = "BITBOX"
LONGEST_PATH = 65_536  # the server's own bound of a request's head comes first


class ChainFront(Front[object]):
    """The service over one world."""

    scope = Scope.CHAIN
    speech = errors.ChainSpeech()

    def __init__(
        self, world: World, faults: Faults, calls: Calls, *, later: Callable[[Coroutine[Any, Any, None]], None]
    ) -> None:
        super().__init__(world, faults, calls, later=later)
        self._routes = Routes(catalogue.ALL, any_case=True, longest_path=LONGEST_PATH)
        self._roots = {f"v2/{first}".lower(): word for first, word in catalogue.GROUP_ROOTS.items()}
        self._windows = Windows()

    async def answer(self, received: Received) -> Delivery:
        """The answer to one request, or what a fault makes of it."""
        if received.method == "OPTIONS":
            return Answer(204, b"", headers=(*errors.HEADERS, *errors.PREFLIGHT))
        headers, limited = self._counted(received)
        delivery = limited or await self._found(received)
        if not isinstance(delivery, Answer):
            return delivery
        return Answer(
            delivery.status, delivery.body, delivery.content_type, (*delivery.headers, *errors.HEADERS, *headers)
        )

    def _counted(self, received: Received) -> tuple[tuple[tuple[str, str], ...], Answer | None]:
        """The headers of the limit, and the answer of a call beyond it; neither when the limit is off."""
        limit = self._world.config.chain_rate_limit
        if not limit:
            return (), None
        limit *= catalogue.RATE_PRO // catalogue.RATE if self._is_pro(received) else 1
        allowance = self._windows.count(received.address, route_of(received.method, received.path), limit)
        return allowance.headers(), None if allowance.is_allowed else errors.too_many_requests(limit)

    def _is_pro(self, received: Received) -> bool:
        return auth.is_basic(
            received.headers.get("authorization"), PRO_USER, self._world.config.chain_pro_password.encode()
        )

    async def _found(self, received: Received) -> Delivery:
        root = self._roots.get(received.path.strip("/").lower()) if received.method in ("GET", "HEAD") else None
        if root is not None:
            return answers.of_json({"status": root})
        try:
            routing.must_decode(received.raw_path)
        except Undecodable as problem:
            return errors.envelope(400, f"Failed to decode param '{problem}'")
        found = self._routes.find(received.method, received.raw_path)
        if found is None or self._is_off(found[0]):
            return errors.not_found()
        return await self._routed(received, *found)

    def _is_off(self, operation: Operation) -> bool:
        """Whether an operation is not served here: one that carries a private key wants a setting of its own."""
        return operation.name in catalogue.WITH_PRIVATE_KEY and not self._world.config.non_js_framework

    def _read(self, received: Received, operation: Operation, path_values: dict[str, str]) -> Request[object]:
        """The request, in the log; one that carries a private key in its path is there without its path."""
        hidden = operation.name in catalogue.WITH_PRIVATE_KEY
        query, body, unreadable = _query(received), None, None
        try:
            body = chain_bodies.read(received.headers.get("content-type", ""), received.body)
        except Malformed as problem:
            unreadable = problem
        call = self._calls.received(
            operation=operation.name,
            method=received.method,
            path=operation.path if hidden else received.path,
            query=() if hidden else query,
        )
        return Request(received, operation, path_values, query, body, unreadable, call)

    def _result(self, request: Request[object]) -> object:
        request.must_be_readable()
        operation = request.operation
        most = catalogue.BULK_PRO if self._is_pro(request.received) else catalogue.BULK
        values = arguments.of_chain(operation, request.path_values, request.query, request.body, most=most)
        return [] if arguments.is_empty_bulk(operation, values) else self._world.ask_chain(operation.name, values)

    def _refused(self, problem: Exception, operation: Operation) -> Answer:
        match problem:
            case Refused():
                return errors.refused(problem)
            case Malformed():
                return errors.envelope(400, str(problem))
            case NoHandler():
                return errors.error(501, f"The sandbox does not imitate {operation.name} yet")
            case Refusal():  # the world takes nothing in
                return errors.of_status(503)
        is_secret = operation.name in catalogue.WITH_PRIVATE_KEY
        log.error("%s failed", operation.name, exc_info=None if is_secret else problem)
        return errors.error(500, "Internal Server Error")


def too_large() -> Answer:
    """The body is longer than the service reads."""
    answer = errors.envelope(413, "request entity too large")
    return Answer(answer.status, answer.body, headers=(("connection", "close"), *errors.HEADERS))


def _query(received: Received) -> bodies.Pairs:
    """The pairs of the query; one that can't be read has none."""
    try:
        return bodies.query_pairs(received.query)
    except bodies.Unreadable:
        return []


def most_bytes(path: str) -> int:
    """How long a body may be."""
    return chain_bodies.MOST_BYTES if path.lower().startswith(PREFIX) else bodies.MOST_BYTES
