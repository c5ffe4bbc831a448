"""One socket's conversation: requests in, answers out, in order, whatever the methods behind them are."""

import logging
from itertools import islice

from sandbox.exchange.terms import NoHandler, Refusal
from sandbox.server import answers, error_responses
from sandbox.server.calls import Call as Logged
from sandbox.server.calls import Calls
from sandbox.server.faults.fault_kinds import Scope
from sandbox.server.faults.faults import Faults, echo
from sandbox.server.requests import MOST_FIELDS
from sandbox.server.sockets.outgoing import Outgoing
from wire import jsonrpc
from wire.jsonrpc import Call, Failure, NotAFrame, Notification, Result
from wire.params import BadArgument

log = logging.getLogger("sandbox")
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601


def read(text: str | None) -> Call:
    """The request of a text message; one without an id is answered with `id: null`. Raises NotAFrame."""
    if text is None:
        raise NotAFrame("a request is a text message, not a binary one")
    match jsonrpc.decode(text):
        case Call() as call:
            return call
        case Notification() as notification:
            return notification.call
    raise NotAFrame("the message is an answer, not a request")


class Session:
    """A conversation that knows no method; streams build on it."""

    def __init__(self, path: str, outgoing: Outgoing, calls: Calls, faults: Faults) -> None:
        self.path = path
        self.outgoing = outgoing
        self._calls = calls
        self._faults = faults

    def receive(self, text: str | None) -> None:
        """Executes and answers one message; it never raises for what a client sent."""
        try:
            call = read(text)
        except NotAFrame as problem:
            self._put("", Failure(problem.id, INVALID_REQUEST, "Invalid Request", f"{problem}"))
            return
        logged = self._calls.received(
            operation=call.method[:100],
            method="WS",
            path=self.path,
            form=[(name, str(value)) for name, value in islice(call.params.items(), MOST_FIELDS)],
            sensitive=self.sensitive(call.method),
        )
        logged.key = self.outgoing.key
        answer = self._outcome(call, logged)
        logged.key, logged.status, logged.body = self.outgoing.key, 200, _logged(answer)
        self._put(call.method, answer)
        self.after(call, isinstance(answer, Result))

    def _outcome(self, call: Call, logged: Logged) -> Result | Failure:
        try:
            self._may_be_refused(call, logged)
            result = self.execute(call)
        except Refusal as refusal:
            return _failure(call, refusal)
        except BadArgument as problem:
            return _failure(call, error_responses.of_bad_argument(problem))
        except NoHandler:
            return Failure(call.id, METHOD_NOT_FOUND, "Method not found", self.unknown(call.method))
        except Exception:
            log.exception("%s failed", call.method)
            return _failure(call, Refusal(500))
        logged.executed = True
        value = echo(self._faults, call.method, key=self.outgoing.key, scope=Scope.METHOD, value=result)
        return Result(call.id, answers.text_of(value))

    def _may_be_refused(self, call: Call, logged: Logged) -> None:
        fault = self._faults.claim(call.method, key=self.outgoing.key, kinds=("refuse",), scope=Scope.METHOD)
        if fault is not None:
            logged.fault = fault.kind
            raise Refusal(fault.whole_number("code"), fault.text("description"))

    def _put(self, method: str, frame: Result | Failure) -> None:
        self.outgoing.put(method, jsonrpc.encode(frame), Scope.METHOD)

    def execute(self, call: Call) -> object:
        """The result of a request; raises Refusal, BadArgument, or NoHandler for a method there is not."""
        raise NoHandler(call.method)

    def after(self, call: Call, succeeded: bool) -> None:
        """What follows once the answer is on its way."""

    def closed(self) -> None:
        """The socket is gone."""

    def sensitive(self, method: str) -> frozenset[str]:
        """The names of the params that no log may keep."""
        return frozenset()

    def unknown(self, method: str) -> str:
        """The description that goes with a method there is not."""
        return f"There is no {method[:100]} here"


def _failure(call: Call, refusal: Refusal) -> Failure:
    """The refusal as the error of an answer: the error object is the one of the REST interface."""
    _, code, message, description = error_responses.parts(refusal)
    return Failure(call.id, code, message, description)


def _logged(answer: Result | Failure) -> object:
    """The answer for the log of calls."""
    if isinstance(answer, Failure):
        return answers.envelope(answer.code, answer.message, answer.description)
    return {"result": answers.logged_body(answer.result)}
