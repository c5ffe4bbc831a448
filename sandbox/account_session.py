"""The account stream: login, then balances and transactions as queries and as notifications (specification 2)."""

from exchange_ops.wire import catalogue, streams
from sandbox import answers, auth, refusing
from sandbox.calls import Calls
from sandbox.exchange.terms import Caller, Event, NoHandler, Refusal
from sandbox.fault_kinds import Scope
from sandbox.faults import Faults
from sandbox.handlers import given
from sandbox.limits import Limits
from sandbox.outgoing import Outgoing
from sandbox.sessions import Session
from sandbox.spoiling import echo
from sandbox.world import World
from wire import jsonrpc
from wire.jsonrpc import Call
from wire.operation import Operation, read

LOGIN = "login"
BALANCE = "balance"
TRANSACTION = "updateTransaction"
BALANCE_QUERY = "get_stream_balance"
# Each query with the operation of the world behind it.
QUERIES = {
    "getBalance": BALANCE_QUERY,
    "findTransactions": "find_transactions",
    "loadTransactions": "load_transactions",
}
# Each subscription with the notification that it switches, on or off.
SUBSCRIPTIONS = {
    "subscribeTransactions": (TRANSACTION, True),
    "unsubscribeTransactions": (TRANSACTION, False),
    "subscribeBalance": (BALANCE, True),
    "unsubscribeBalance": (BALANCE, False),
}
METHODS = tuple(method.name for method in streams.METHODS if streams.Address.ACCOUNT in method.addresses)
NOTIFICATIONS = tuple(event.name for event in streams.EVENTS if event.address is streams.Address.ACCOUNT)
# On a socket the rights are those of the same question over REST.
RIGHT = catalogue.by_name["get_transactions"].right
_EVENTS = {"transaction": TRANSACTION, "balance": BALANCE}


class AccountSession(Session):
    """The conversation of one account socket. Nothing but `login` is answered before a login succeeded."""

    def __init__(
        self, path: str, outgoing: Outgoing, calls: Calls, faults: Faults, *, world: World, limits: Limits
    ) -> None:
        super().__init__(path, outgoing, calls, faults)
        self._world = world
        self._limits = limits
        self._caller: Caller | None = None
        self._subscribed: set[str] = set()

    def execute(self, call: Call) -> object:
        """Logs in, queries or subscribes."""
        if call.method == LOGIN:
            caller = auth.of_login(self._world.keys, call.params)
            given.account(self._world, caller)  # a frozen one can't log in (supplement 2.11)
            self._caller, self.outgoing.key = caller, caller.login
            return True
        if call.method not in METHODS:
            raise NoHandler(call.method)
        caller = self._logged_in()
        query = QUERIES.get(call.method)
        if query is not None:
            return self._world.perform(query, caller, _arguments(call))
        notification, on = SUBSCRIPTIONS[call.method]
        (self._subscribed.add if on else self._subscribed.discard)(notification)
        return True

    def _logged_in(self) -> Caller:
        if self._caller is None:
            raise Refusal(auth.AUTHORIZATION_REQUIRED)
        auth.require(self._caller, RIGHT)
        if not self._limits.allows("other", self._caller.account, self._world.config.rate_limits):
            raise Refusal(refusing.TOO_MANY_REQUESTS)
        return self._caller

    def after(self, call: Call, succeeded: bool) -> None:
        """The balances follow every successful subscription to them."""
        if succeeded and call.method == "subscribeBalance" and self._caller is not None:
            self._notify(BALANCE, self._world.perform(BALANCE_QUERY, self._caller, {}))

    def hear(self, event: Event) -> None:
        """Tells the client of a change it subscribed to."""
        notification = _EVENTS.get(event.kind, "")
        if self._caller is not None and event.account == self._caller.account and notification in self._subscribed:
            self._notify(notification, event.payload)

    def _notify(self, name: str, payload: object) -> None:
        params = echo(self._faults, name, key=self.outgoing.key, scope=Scope.NOTIFICATION, value=payload)
        frame = jsonrpc.Notification(name, answers.text_of(params))
        self.outgoing.put(name, jsonrpc.encode(frame), Scope.NOTIFICATION)

    def sensitive(self, method: str) -> frozenset[str]:
        """Those that the row of the method marks."""
        row = streams.by_name.get(method)
        return frozenset(param.name for param in row.params if param.sensitive) if row else frozenset()

    def unknown(self, method: str) -> str:
        """The methods there are."""
        return f"There is no {method[:100]} here; there are {', '.join(METHODS)}"


def _arguments(call: Call) -> dict[str, object]:
    """The params of a query, typed as their rows say; numbers may have come as text. Raises BadArgument."""
    row = Operation(call.method, "POST", streams.Address.ACCOUNT.value, streams.by_name[call.method].params)
    return read(row, {}, (), call.params.items())
