"""The account stream: balances and transactions as queries and as notifications (exchange streams, Account management;
exchange supplement 1.6)."""

from sandbox.exchange.terms import Event
from sandbox.server.sockets.stream_session import Method, Params, Part, StreamSession, log_in

BALANCE = "balance"
TRANSACTION = "updateTransaction"
NOTIFICATIONS = (TRANSACTION, BALANCE)
BALANCE_QUERY = "get_stream_balance"
_EVENTS = {"transaction": TRANSACTION, "balance": BALANCE}


def _asking(operation: str) -> Method:
    return lambda session, params: session.perform(operation, params)


def _ending(notification: str) -> Method:
    def unsubscribe(session: StreamSession, params: Params) -> object:
        session.subscribed.discard(notification)
        return True

    return unsubscribe


def subscribe_transactions(session: StreamSession, params: Params) -> object:
    """From now on every version of a transaction is told; what there was before is for `loadTransactions`."""
    session.subscribed.add(TRANSACTION)
    return True


def subscribe_balance(session: StreamSession, params: Params) -> object:
    """From now on every change of the bank account is told; its balances follow the answer."""
    balances = session.perform(BALANCE_QUERY, {})
    session.subscribed.add(BALANCE)
    session.behind(lambda: session.notify(BALANCE, balances))
    return True


def hear(session: StreamSession, event: Event) -> None:
    """Tells of a transaction or of the balances, wherever their change came from."""
    name, caller = _EVENTS.get(event.kind), session.caller
    if name in session.subscribed and caller is not None and event.account == caller.account:
        session.notify(str(name), event.payload)


_METHODS: dict[str, Method] = {
    "subscribeTransactions": subscribe_transactions,
    "unsubscribeTransactions": _ending(TRANSACTION),
    "subscribeBalance": subscribe_balance,
    "unsubscribeBalance": _ending(BALANCE),
    "getBalance": _asking(BALANCE_QUERY),
    "findTransactions": _asking("find_transactions"),
    "loadTransactions": _asking("load_transactions"),
}
PART = Part(
    methods={"login": log_in, **_METHODS},
    # On a socket the rights are those of the same question over REST.
    operations=dict.fromkeys(_METHODS, "get_transactions"),
    notifications=NOTIFICATIONS,
    hear=hear,
)
