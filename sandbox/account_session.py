"""The account stream: login, then balances and transactions as queries and as notifications (specification 2)."""

from collections.abc import Mapping

from exchange_ops.wire import catalogue
from sandbox import answers, auth, refusing
from sandbox.calls import Calls
from sandbox.exchange.terms import Caller, Event, NoHandler, Refusal
from sandbox.fault_kinds import Scope
from sandbox.faults import Faults
from sandbox.limits import Limits
from sandbox.outgoing import Outgoing
from sandbox.sessions import Params, Request, Session
from sandbox.spoiling import echo
from sandbox.world import World

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
METHODS = (LOGIN, *QUERIES, *SUBSCRIPTIONS)
NOTIFICATIONS = (TRANSACTION, BALANCE)
RIGHT = catalogue.by_name["get_transactions"].right
_EVENTS = {"transaction": TRANSACTION, "balance": BALANCE}
_WHOLE = frozenset({"limit", "offset"})


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

    def execute(self, request: Request) -> object:
        """Logs in, queries or subscribes."""
        if request.method == LOGIN:
            self._caller = auth.of_login(self._world.keys, request.params)
            self.outgoing.key = self._caller.login
            return True
        if request.method not in METHODS:
            raise NoHandler(request.method)
        caller = self._logged_in()
        query = QUERIES.get(request.method)
        if query is not None:
            return self._world.perform(query, caller, _plain_numbers(request.params))
        notification, on = SUBSCRIPTIONS[request.method]
        (self._subscribed.add if on else self._subscribed.discard)(notification)
        return True

    def _logged_in(self) -> Caller:
        if self._caller is None:
            raise Refusal(auth.AUTHORIZATION_REQUIRED)
        auth.require(self._caller, RIGHT)
        if not self._limits.allows("other", self._caller.account, self._world.config.rate_limits):
            raise Refusal(refusing.TOO_MANY_REQUESTS)
        return self._caller

    def after(self, request: Request, succeeded: bool) -> None:
        """The balances follow every successful subscription to them."""
        if succeeded and request.method == "subscribeBalance" and self._caller is not None:
            self._notify(BALANCE, self._world.perform(BALANCE_QUERY, self._caller, {}))

    def hear(self, event: Event) -> None:
        """Tells the client of a change it subscribed to."""
        notification = _EVENTS.get(event.kind, "")
        if self._caller is not None and event.account == self._caller.account and notification in self._subscribed:
            self._notify(notification, event.payload)

    def _notify(self, notification: str, payload: object) -> None:
        params = echo(self._faults, notification, key=self.outgoing.key, scope=Scope.NOTIFICATION, value=payload)
        frame = {"jsonrpc": "2.0", "method": notification, "params": params}
        self.outgoing.put(notification, answers.text_of(frame).decode(), Scope.NOTIFICATION)

    def unknown(self, method: str) -> str:
        """The methods there are."""
        return f"There is no {method[:100]} here; there are {', '.join(METHODS)}"


def _plain_numbers(params: Params) -> Mapping[str, object]:
    """The params with whole numbers that came as text made numbers: clients send both."""
    return {
        name: int(value) if name in _WHOLE and isinstance(value, str) and _is_digits(value) else value
        for name, value in params.items()
    }


def _is_digits(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 18
