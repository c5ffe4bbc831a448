"""A socket whose methods stand in tables: name -> function of the session and the params.

An address serves one part, or several: the single old address is the union of market data and trading (exchange
supplement 1.1). What follows from a request is told in a fixed place: before its answer by `tell`, behind it by
`behind`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import msgspec

from exchange_ops.wire import catalogue, streams
from sandbox.exchange.handlers import arguments
from sandbox.exchange.terms import Caller, Event, NoHandler, Refusal
from sandbox.server import answers, auth, error_responses
from sandbox.server.auth import Limits
from sandbox.server.calls import Calls
from sandbox.server.faults.fault_kinds import Scope
from sandbox.server.faults.faults import Faults, echo
from sandbox.server.sockets.outgoing import Outgoing
from sandbox.server.sockets.sessions import Session
from sandbox.world.world import World
from wire import jsonrpc
from wire.jsonrpc import Call
from wire.operation import Operation, read
from wire.params import BadArgument

LOGIN = "login"
Params: TypeAlias = dict[str, object]
Method: TypeAlias = "Callable[[StreamSession, Params], object]"
Hearer: TypeAlias = "Callable[[StreamSession, Event], None]"
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Part:
    """Methods that belong together, and their notifications.

    `operations` names for a method the REST operation that shares its right, its rate of requests and the codes of its
    odd parameters. `hear` gets every event of the world; `closed` is called once the socket is gone.
    """

    methods: Mapping[str, Method]
    operations: Mapping[str, str]
    notifications: tuple[str, ...]
    hear: Hearer
    closed: "Callable[[StreamSession], None] | None" = None


class StreamSession(Session):
    """The conversation of one socket. `subscribed` and `kept` are for its parts: what they tell, and what they know."""

    def __init__(
        self,
        path: str,
        outgoing: Outgoing,
        calls: Calls,
        faults: Faults,
        *,
        world: World,
        limits: Limits,
        parts: Sequence[Part],
    ) -> None:
        super().__init__(path, outgoing, calls, faults)
        self.world = world
        self.caller: Caller | None = None
        self.subscribed: set[object] = set()
        self.part_state: dict[str, object] = {}
        self._limits = limits
        self._parts = tuple(parts)
        self._methods = {name: part for part in parts for name in part.methods}
        self._behind: list[Callable[[], None]] = []
        self._gathered: list[Event] | None = None

    def execute(self, call: Call) -> object:
        """The result of a method of the tables; raises what `Session` documents."""
        part = self._methods.get(call.method)
        if part is None:
            raise NoHandler(call.method)
        method = part.methods[call.method]
        if call.method == LOGIN:  # which has one code for everything that is odd about it
            return method(self, dict(call.params))
        name = part.operations.get(call.method)
        operation = catalogue.by_name[name] if name is not None else None
        if streams.by_name[call.method].login:
            self._must_be_let_in(operation)
        elif operation is not None:
            self._must_not_hurry(operation, f"socket {id(self)}")
        return method(self, self._read(call, operation))

    def _read(self, call: Call, operation: Operation | None) -> Params:
        """The params by the row of the method, in plain form; numbers may have come as text."""
        group = operation.group if operation is not None else ""
        row = Operation(call.method, "POST", self.path, streams.by_name[call.method].params, group=group)
        try:
            return arguments.plain_arguments(read(row, {}, (), call.params.items()))
        except BadArgument as problem:
            raise error_responses.of_bad_argument(problem, row) from None

    def _must_be_let_in(self, operation: Operation | None) -> None:
        if self.caller is None:
            raise Refusal(auth.AUTHORIZATION_REQUIRED)
        arguments.account(self.world.exchange, self.caller)  # which may have been frozen since
        if operation is None:
            return
        auth.require(self.caller, operation.right)
        self._must_not_hurry(operation, self.caller.account)

    def _must_not_hurry(self, operation: Operation, who: str) -> None:
        if not self._limits.allows(auth.group_of(operation), who, self.world.config.rate_limits):
            raise Refusal(error_responses.TOO_MANY_REQUESTS)

    def log_in(self, params: Mapping[str, object]) -> bool:
        """Remembers who speaks from now on. Raises 1002, or 403 for an account that may not log in."""
        caller = auth.of_login(self.world.keys, params)
        arguments.account(self.world.exchange, caller)
        self.caller, self.outgoing.key = caller, caller.login
        return True

    def perform(self, operation: str, params: Mapping[str, object]) -> object:
        """The answer of the world to who is logged in."""
        return self.world.perform(operation, self.caller, params)

    def gather(self, work: Callable[[], Answer]) -> tuple[Answer, list[Event]]:
        """The answer of some work and the events that it brought, which are not told yet; when it refuses, they are."""
        self.world.run_due()  # what is due comes before the request, and is told before it
        news = self._gathered = []
        try:
            answer = work()
        except Refusal:
            self._gathered = None
            self.publish(news)
            raise
        finally:
            self._gathered = None
        return answer, news

    def hear(self, event: Event) -> None:
        """Takes in an event of the world."""
        if self._gathered is not None:
            self._gathered.append(event)
        else:
            self.publish((event,))

    def publish(self, events: Sequence[Event]) -> None:
        """Lets the parts tell of events, each what was subscribed to."""
        for event in events:
            for part in self._parts:
                part.hear(self, event)

    def behind(self, work: Callable[[], None]) -> None:
        """Has something done as soon as the answer of the request at work is on its way."""
        self._behind.append(work)

    def after(self, call: Call, succeeded: bool) -> None:
        """Does what was to wait for the answer."""
        waiting, self._behind = self._behind, []
        for work in waiting:
            work()

    def notify(self, name: str, payload: object) -> None:
        """Sends a notification."""
        params = echo(self._faults, name, key=self.outgoing.key, scope=Scope.NOTIFICATION, value=payload)
        frame = jsonrpc.Notification(name, answers.text_of(params))
        self.outgoing.put(name, jsonrpc.encode(frame), Scope.NOTIFICATION)

    def pass_on(self, name: str, params: str, frame: str) -> None:
        """Sends a notification that is written already, and shared with others; `params` is the JSON within."""
        if any(self._faults.matching(name, key=self.outgoing.key, kinds=("echo_differs",), scope=Scope.NOTIFICATION)):
            self.notify(name, msgspec.json.decode(params))
        else:
            self.outgoing.put(name, frame, Scope.NOTIFICATION)

    def closed(self) -> None:
        """The socket is gone."""
        for part in self._parts:
            if part.closed is not None:
                part.closed(self)

    def sensitive(self, method: str) -> frozenset[str]:
        """Those that the row of the method marks."""
        row = streams.by_name.get(method)
        return frozenset(param.name for param in row.params if param.sensitive) if row else frozenset()

    def unknown(self, method: str) -> str:
        """The methods there are."""
        return f"There is no {method[:100]} here; there are {', '.join(self._methods)}"


def log_in(session: StreamSession, params: Params) -> object:
    """The method `login`, which is the same wherever there is one (exchange supplement 1.2)."""
    return session.log_in(params)
