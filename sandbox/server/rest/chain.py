"""The chain-data service over HTTP: routes, bodies, limits, errors; what it answers comes from the chain's handlers.

Arguments are read by the rows of the catalogue and checked in the documented order (chain supplement 1.7 to 1.9): is it
an array, how many elements; each element is for the handler. Source: chain data, Endpoints; chain supplement 1.7, 1.10
and 7. No operation needs credentials; the deployment's user
and pro password only raise the limits.
"""

import logging
import re
from collections.abc import Callable, Coroutine, Mapping
from decimal import Decimal
from typing import Any

from chaindata.wire import catalogue, refusals
from chaindata.wire.refusals import Refusal as ChainRefusal
from sandbox.chain.node.terms import Refused
from sandbox.exchange.terms import NoHandler, Refusal
from sandbox.server import answers, auth, requests
from sandbox.server.answers import Answer, Delivery
from sandbox.server.auth import Windows, route_of
from sandbox.server.calls import Calls, Front, Request
from sandbox.server.faults.fault_kinds import DEFAULT_STATUS, Scope
from sandbox.server.faults.faults import Fault, Faults
from sandbox.server.requests import FormText, Malformed, Pairs, Received, Routes, Undecodable
from sandbox.world.world import World
from wire.operation import Body, Operation
from wire.params import LISTS, BadArgument, Kind, Param, Place, Problem, from_text

log = logging.getLogger("sandbox")
PREFIX = "/v2/"
PRO_USER = "BITBOX"
LONGEST_PATH = 65_536  # the server's own bound of a request's head comes first
HEADERS = (
    ("access-control-allow-origin", "*"),
    ("x-dns-prefetch-control", "off"),
    ("x-frame-options", "SAMEORIGIN"),
    ("strict-transport-security", "max-age=15552000; includeSubDomains"),
    ("x-download-options", "noopen"),
    ("x-content-type-options", "nosniff"),
    ("x-xss-protection", "1; mode=block"),
)
PREFLIGHT = (
    ("access-control-allow-methods", "GET,HEAD,PUT,PATCH,POST,DELETE"),
    ("access-control-allow-headers", "Content-Type, Authorization"),
)
_IGNORED = frozenset({"get_properties"})  # its documented parameters change nothing, whatever they hold
_AS_THEY_CAME = frozenset({Kind.TEXT, *LISTS})
_MOST_DIGITS = 15
_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,400}")
_NODE_BITS = {"propertyId": 64}  # in which a node reads a number; 32 where nothing else is said
_OUT_OF_BOUNDS = {
    "height": refusals.HEIGHT_OUT_OF_RANGE,
    "index": refusals.TOKEN_HEIGHT_OUT_OF_RANGE,
    "startBlock": refusals.TOKEN_HEIGHT_OUT_OF_RANGE,
    "endBlock": refusals.TOKEN_HEIGHT_OUT_OF_RANGE,
    "propertyId": refusals.PROPERTY_OUT_OF_RANGE,
}


class ChainSpeech:
    """How this service says what a fault makes it say."""

    def refuse(self, fault: Fault) -> Answer:
        """The error of that status, with the text of the fault."""
        return of_status(fault.whole_number("code"), fault.text("description"))

    def of_status(self, status: int) -> Answer:
        """The error of that status."""
        return of_status(status)

    def rate_limit(self) -> Answer:
        """The window is used up, whatever it holds."""
        return error(DEFAULT_STATUS["rate_limit"], refusals.TOO_MANY_REQUESTS.text.format(limit=60))


class ChainFront(Front[object]):
    """The service over one world."""

    scope = Scope.CHAIN
    speech = ChainSpeech()

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
            return Answer(204, b"", headers=(*HEADERS, *PREFLIGHT))
        headers, limited = self._counted(received)
        delivery = limited or await self._dispatch(received)
        if not isinstance(delivery, Answer):
            return delivery
        return Answer(delivery.status, delivery.body, delivery.content_type, (*delivery.headers, *HEADERS, *headers))

    def _counted(self, received: Received) -> tuple[tuple[tuple[str, str], ...], Answer | None]:
        """The headers of the limit, and the answer of a call beyond it; neither when the limit is off."""
        limit = self._world.config.chain_rate_limit
        if not limit:
            return (), None
        limit *= catalogue.RATE_PRO // catalogue.RATE if self._is_pro(received) else 1
        allowance = self._windows.count(received.address, route_of(received.method, received.path), limit)
        return allowance.headers(), None if allowance.is_allowed else too_many_requests(limit)

    def _is_pro(self, received: Received) -> bool:
        return auth.is_basic(
            received.headers.get("authorization"), PRO_USER, self._world.config.chain_pro_password.encode()
        )

    async def _dispatch(self, received: Received) -> Delivery:
        root = self._roots.get(received.path.strip("/").lower()) if received.method in ("GET", "HEAD") else None
        if root is not None:
            return answers.of_json({"status": root})
        try:
            requests.must_decode(received.raw_path)
        except Undecodable as problem:
            return envelope(400, f"Failed to decode param '{problem}'")
        route = self._routes.find(received.method, received.raw_path)
        if route is None or self._is_off(route[0]):
            return not_found()
        return await self._routed(received, *route)

    def _is_off(self, operation: Operation) -> bool:
        """Whether an operation is not served here: one that carries a private key wants a setting of its own."""
        return operation.name in catalogue.WITH_PRIVATE_KEY and not self._world.config.non_js_framework

    def _read(self, received: Received, operation: Operation, path_values: dict[str, str]) -> Request[object]:
        """The request, in the log; one that carries a private key in its path is there without its path."""
        hidden = operation.name in catalogue.WITH_PRIVATE_KEY
        query, body, unreadable = _query(received), None, None
        try:
            body = requests.chain_body(received.headers.get("content-type", ""), received.body)
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
        operation, arguments = request.operation, self._arguments(request)
        return [] if is_empty_bulk(operation, arguments) else self._world.ask_chain(operation.name, arguments)

    def _read_arguments(self, request: Request[object]) -> Mapping[str, object]:
        most = catalogue.BULK_PRO if self._is_pro(request.received) else catalogue.BULK
        return of_chain(request.operation, request.path_values, request.query, request.body, most=most)

    def _refused(self, problem: Exception, operation: Operation) -> Answer:
        match problem:
            case Refused():
                return refused(problem)
            case Malformed():
                return envelope(400, str(problem))
            case NoHandler():
                return error(501, f"The sandbox does not imitate {operation.name} yet")
            case Refusal():  # the world takes nothing in
                return of_status(503)
        is_secret = operation.name in catalogue.WITH_PRIVATE_KEY
        log.error("%s failed", operation.name, exc_info=None if is_secret else problem)
        return error(500, "Internal Server Error")


def too_large() -> Answer:
    """The body is longer than the service reads."""
    answer = envelope(413, "request entity too large")
    return Answer(answer.status, answer.body, headers=(("connection", "close"), *HEADERS))


def _query(received: Received) -> requests.Pairs:
    """The pairs of the query; one that can't be read has none."""
    try:
        return requests.query_pairs(received.query)
    except requests.Unreadable:
        return []


# Answers --------------------------------------------------------------------------------------------------------------


def envelope(status: int, message: str) -> Answer:
    """The envelope of what no operation answers for: an unknown path, a body that can't be read."""
    return answers.of_json({"status": status, "message": message}, status)


def not_found() -> Answer:
    """No operation is behind the path and method."""
    return envelope(refusals.ROUTE_UNKNOWN.http_status, refusals.ROUTE_UNKNOWN.text)


def error(status: int, text: str) -> Answer:
    """An operation's error."""
    return answers.of_json({"error": text}, status)


def refused(problem: Refused) -> Answer:
    """The answer to a call that was refused; one that is not served here is an unknown path."""
    if problem.refusal is refusals.ROUTE_UNKNOWN:
        return not_found()
    return error(problem.refusal.http_status, problem.text)


def too_many_requests(limit: int) -> Answer:
    """The window of the route is used up."""
    return error(refusals.TOO_MANY_REQUESTS.http_status, refusals.TOO_MANY_REQUESTS.text.format(limit=limit))


def of_status(status: int, text: str = "") -> Answer:
    """An error with that status, as a failing service or its node would answer."""
    return error(status, text or refusals.NODE_AWAY.text)


# Arguments ------------------------------------------------------------------------------------------------------------


def of_chain(
    operation: Operation, path_values: Mapping[str, str], query_pairs: Pairs, body: object, *, most: int
) -> dict[str, object]:
    """The arguments by name: numbers and switches typed, defaults filled in, texts as they came.

    `most` is how many elements an array may have; its elements are texts, an empty or odd one included, so that the
    handler can name it. The members of a payload come untouched: its handler reads them in their documented order.
    Raises `Refused`.
    """
    if operation.group == catalogue.PAYLOADS:
        return dict(body) if isinstance(body, dict) else {}
    values = _by_param(operation, path_values, query_pairs, body, most)
    arguments = {}
    for param in operation.params:
        value = values.get(param.name)
        if value is None or value == "":
            if param.required:
                raise Refused(refusals.EMPTY_MEMBER, name=param.name)
            value = param.default
        if value is not None:
            arguments[param.name] = value if param.kind in _AS_THEY_CAME else _typed(param, value)
    return arguments


def is_empty_bulk(operation: Operation, arguments: Mapping[str, object]) -> bool:
    """Whether a bulk call asks for nothing, which is answered with nothing."""
    bulk = bulk_of(operation)
    return bulk is not None and arguments.get(bulk.name) == []


def bulk_of(operation: Operation) -> Param | None:
    """The parameter that makes an operation a bulk one: its array; None when it has none."""
    return next((param for param in operation.params if param.place is Place.FORM and param.kind in LISTS), None)


def _by_param(
    operation: Operation, path_values: Mapping[str, str], query_pairs: Pairs, body: object, most: int
) -> dict[str, object]:
    """What the path, the query and the body hold for each parameter, what servers pass over left out."""
    values: dict[str, object] = dict(path_values)
    query = dict(query_pairs)
    members = _members(operation, body, most)
    for param in operation.params:
        names = (param.name, *param.other_names)
        if param.place is Place.FORM:
            values[param.name] = _lenient(param, members.get(param.name))
        elif param.place is Place.QUERY or param.name not in values:
            query_text = next((query[name] for name in names if name in query), None)
            values[param.name] = None if operation.name in _IGNORED else _lenient(param, query_text)
    return values


def _members(operation: Operation, body: object, most: int) -> dict[str, object]:
    bulk = bulk_of(operation)
    if bulk is None:
        return dict(body) if isinstance(body, dict) else {}
    values = {bulk.name: body} if operation.body is Body.ARRAY else dict(body) if isinstance(body, dict) else {}
    elements = values.get(bulk.name)
    elements = [elements] if isinstance(elements, FormText) else elements
    if not isinstance(elements, list):
        raise Refused(ChainRefusal(400, refusals.NOT_AN_ARRAY.get(operation.name, f"{bulk.name} needs to be an array")))
    if len(elements) > most:
        raise Refused(refusals.ARRAY_TOO_LARGE)
    return values | {bulk.name: [_element(operation, bulk, each) for each in elements]}


def _element(operation: Operation, bulk: Param, value: object) -> object:
    if bulk.kind is Kind.OBJECTS:
        return _pair(bulk, value)
    if bulk.kind is not Kind.INTEGERS:
        return _text(value)
    if value in (0, None, "", False):  # real servers take the number 0 for nothing, the text "0" for a height
        raise Refused(ChainRefusal(400, refusals.EMPTY_ELEMENT[operation.name]))
    text = _text(value)
    if not _WHOLE_NUMBER.fullmatch(text):
        raise Refused(refusals.NOT_AN_INTEGER)
    _must_be_in_range(bulk, text)
    return int(text)


def _pair(bulk: Param, value: object) -> dict[str, str]:
    """The texts of an object; members that are absent are empty, for the handler to name."""
    members = value if isinstance(value, dict) else {}
    return {name: _text(members.get(name)) for name in bulk.choices}


def _text(value: object) -> str:
    """An element as a text that an error can name."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case str() | int() | Decimal():
            return str(value)
        case _:
            return "[object Object]"


def _lenient(param: Param, value: object) -> object:
    """A value as servers take it: a switch is on when it says so, a page that is no number is none at all."""
    if value is None or param.kind in LISTS:
        return value
    if param.kind is Kind.BOOLEAN:
        return value is True or (isinstance(value, str) and value.lower() == "true")
    text = _text(value)
    is_whole = text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS
    return None if param.kind is Kind.INTEGER and param.place is not Place.PATH and not is_whole else text


def _must_be_in_range(param: Param, text: str) -> None:
    """A node refuses a whole number that it can't hold before it looks at what the number is for (chain supplement
    10)."""
    highest = 1 << _NODE_BITS.get(param.name, 32) - 1
    if _WHOLE_NUMBER.fullmatch(text) and not -highest <= int(text) < highest:
        raise Refused(refusals.INTEGER_OUT_OF_RANGE)


def _typed(param: Param, value: object) -> object:
    if param.kind is Kind.INTEGER:
        _must_be_in_range(param, _text(value))
    try:
        return from_text(param, value)
    except BadArgument as problem:
        if problem.problem in (Problem.TOO_LOW, Problem.TOO_HIGH):
            raise Refused(_OUT_OF_BOUNDS.get(param.name, refusals.NOT_AN_INTEGER)) from None
        raise Refused(refusals.NOT_AN_INTEGER) from None
