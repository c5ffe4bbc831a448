"""Spot orders over a socket (exchange supplement 1.4): the operations of the REST interface, answered and told as
reports.

Every order goes through the same operation as over REST, and into the journal under its name. A request is told in
this order: the report that its answer repeats, the answer, then what else came of it, such as trades.
"""

from collections.abc import Collection, Mapping, Sequence

from sandbox.exchange.terms import Event
from sandbox.server.sockets.stream_session import Method, Params, Part, StreamSession, log_in

REPORT = "report"
ACTIVE_ORDERS = "activeOrders"
NOTIFICATIONS = (REPORT, ACTIVE_ORDERS)
PLACED = frozenset({"new", "suspended"})
CANCELED = frozenset({"canceled"})
REPLACED = frozenset({"replaced", "canceled"})
# What has the right, the rate and the codes of each method over REST.
OPERATIONS = {
    "newOrder": "create_order",
    "cancelOrder": "cancel_order",
    "cancelReplaceOrder": "replace_order",
    "getOrders": "get_orders",
    "getTradingBalance": "get_trading_balances",
    "subscribeReports": "get_orders",
}


def dealing(operation: str, kind: str, reports: Collection[str]) -> Method:
    """The method of an operation on one order, told by events of the kind.

    Its answer is the first report of the order that the operation answers with, of one of the types `reports`.
    """

    def deal(session: StreamSession, params: Params) -> object:
        record, news = session.gather(lambda: session.perform(operation, params))
        ours = numbers_of(record)
        at = next(number for number, event in enumerate(news) if is_report(event, kind, ours, reports))
        publish_before_answer(session, news, at + 1)
        return news[at].payload

    return deal


def publish_before_answer(session: StreamSession, news: Sequence[Event], count: int) -> None:
    """Tells the first `count` events before the answer, and all others behind it."""
    session.publish(news[:count])
    session.behind(lambda: session.publish(news[count:]))


def numbers_of(*records: object) -> frozenset[str]:
    """The numbers of orders by their records; a report may have them as text."""
    return frozenset(str(record["id"]) for record in records if isinstance(record, Mapping))


def is_report(event: Event, kind: str, numbers: Collection[str], types: Collection[str]) -> bool:
    """Whether an event is a report of one of these types on one of these orders."""
    payload = event.payload
    if event.kind != kind or not isinstance(payload, Mapping):
        return False
    return str(payload["id"]) in numbers and payload["reportType"] in types


def get_orders(session: StreamSession, params: Params) -> object:
    """The active orders as reports."""
    return session.perform("get_order_reports", params)


def get_trading_balance(session: StreamSession, params: Params) -> object:
    """The trading account: every currency, zeros included."""
    return session.perform("get_trading_balances", params)


def subscribe_reports(session: StreamSession, params: Params) -> object:
    """From now on every change of an order is told; the active orders follow the answer."""
    active = session.perform("get_order_reports", params)
    session.subscribed.add(REPORT)
    session.behind(lambda: session.notify(ACTIVE_ORDERS, active))
    return True


def hear(session: StreamSession, event: Event) -> None:
    """Tells of an order, wherever its change came from."""
    caller = session.caller
    if event.kind == REPORT and REPORT in session.subscribed and caller is not None and event.account == caller.account:
        session.notify(REPORT, event.payload)


PART = Part(
    methods={
        "login": log_in,
        "newOrder": dealing("create_order", REPORT, PLACED),
        "cancelOrder": dealing("cancel_order", REPORT, CANCELED),
        "cancelReplaceOrder": dealing("replace_order", REPORT, REPLACED),
        "getOrders": get_orders,
        "getTradingBalance": get_trading_balance,
        "subscribeReports": subscribe_reports,
    },
    operations=OPERATIONS,
    notifications=NOTIFICATIONS,
    hear=hear,
)
