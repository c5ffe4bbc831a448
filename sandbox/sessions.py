"""One socket's conversation: requests in, answers out, in order, whatever the methods behind them are."""

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from sandbox import answers, refusing
from sandbox.calls import Call, Calls
from sandbox.exchange.terms import NoHandler, Refusal
from sandbox.fault_kinds import Scope
from sandbox.faults import Faults
from sandbox.outgoing import Outgoing
from sandbox.spoiling import echo
from wire.operation import BadArgument

log = logging.getLogger("sandbox")
PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
Params = Mapping[str, object]


class NoRequest(ValueError):
    """The message is no JSON-RPC request; `code` is the error's."""

    def __init__(self, code: int, message: str, description: str) -> None:
        super().__init__(description)
        self.code = code
        self.message = message


@dataclass(frozen=True, slots=True)
class Request:
    """A request: `id` goes back exactly as it came, null when there was none; absent and null params are empty ones."""

    method: str
    params: Params
    id: object


def read(text: str | None) -> Request:
    """The request of a text message; the `jsonrpc` member may be missing. Raises NoRequest."""
    if text is None:
        raise NoRequest(PARSE_ERROR, "Parse error", "A request is a text message, not a binary one")
    try:
        members = json.loads(text, parse_float=Decimal, parse_constant=_no_number)
    except (ValueError, RecursionError, ArithmeticError):
        raise NoRequest(PARSE_ERROR, "Parse error", "The message is not valid JSON") from None
    if not isinstance(members, dict):
        raise NoRequest(INVALID_REQUEST, "Invalid Request", "A request is an object with method, params and id")
    method, params, request_id = members.get("method"), members.get("params"), members.get("id")
    if not isinstance(method, str) or not method:
        raise NoRequest(INVALID_REQUEST, "Invalid Request", "method is missing or no text")
    if isinstance(request_id, bool | dict | list) or not (_is_whole(request_id) and _is_whole(method)):
        raise NoRequest(INVALID_REQUEST, "Invalid Request", "id is neither a text nor a number")
    if params is not None and not isinstance(params, dict):
        raise NoRequest(INVALID_REQUEST, "Invalid Request", "params is no object")
    return Request(method, params or {}, request_id)


class Session:
    """A conversation that knows no method; streams build on it."""

    def __init__(self, path: str, outgoing: Outgoing, calls: Calls, faults: Faults) -> None:
        self.path = path
        self.outgoing = outgoing
        self._calls = calls
        self._faults = faults

    def take(self, text: str | None) -> None:
        """Executes and answers one message; it never raises for what a client sent."""
        try:
            request = read(text)
        except NoRequest as problem:
            envelope = answers.envelope(problem.code, problem.message, str(problem))
            self._put("", {"jsonrpc": "2.0", **envelope, "id": None})
            return
        call = self._calls.received(
            operation=request.method[:100],
            method="WS",
            path=self.path,
            form=[(name, str(value)) for name, value in request.params.items()],
        )
        call.key = self.outgoing.key
        call.body = self._outcome(request, call)
        call.key = self.outgoing.key
        call.status = 200
        self._put(request.method, {"jsonrpc": "2.0", **call.body, "id": request.id})
        self.after(request, "result" in call.body)

    def _outcome(self, request: Request, call: Call) -> dict[str, object]:
        try:
            self._may_be_refused(request, call)
            result = self.execute(request)
        except Refusal as refusal:
            return refusing.members(refusal)[1]
        except BadArgument as problem:
            return refusing.members(refusing.of_bad_argument(problem))[1]
        except NoHandler:
            return answers.envelope(METHOD_NOT_FOUND, "Method not found", self.unknown(request.method))
        except Exception:
            log.exception("%s failed", request.method)
            return answers.envelope(500, "Internal Server Error", "")
        call.executed = True
        key = self.outgoing.key
        return {"result": echo(self._faults, request.method, key=key, scope=Scope.METHOD, value=result)}

    def _may_be_refused(self, request: Request, call: Call) -> None:
        fault = self._faults.take(request.method, key=self.outgoing.key, kinds=("refuse",), scope=Scope.METHOD)
        if fault is not None:
            call.fault = fault.kind
            raise Refusal(fault.whole("code"), fault.text("description"))

    def _put(self, method: str, frame: Mapping[str, object]) -> None:
        self.outgoing.put(method, answers.text_of(frame).decode(), Scope.METHOD)

    def execute(self, request: Request) -> object:
        """The result of a request; raises Refusal, BadArgument, or NoHandler for a method there is not."""
        raise NoHandler(request.method)

    def after(self, request: Request, succeeded: bool) -> None:
        """What follows once the answer is on its way."""

    def unknown(self, method: str) -> str:
        """The description that goes with a method there is not."""
        return f"The sandbox has nothing behind {self.path} in this part; {method[:100]} is not imitated yet"


def _is_whole(value: object) -> bool:
    """Whether a text has bytes: half of a surrogate pair, which JSON can spell, has none."""
    return not isinstance(value, str) or not any("\ud800" <= character <= "\udfff" for character in value)


def _no_number(written: str) -> object:
    raise ValueError(written)
