"""Margin trading over a socket (exchange streams, Margin trading; exchange supplement 1.5).

As over REST in everything but its form. A change of orders is told as the samples have it: the reports of the orders
that the answer repeats, the answer, then the account. A balance that is set is answered before it is told, a position
that is closed is told before it is answered.
"""

from collections.abc import Collection, Mapping

from sandbox.exchange.terms import Event
from sandbox.server.sockets.stream_session import Params, Part, StreamSession
from sandbox.server.sockets.trading_session import (
    CANCELED,
    PLACED,
    REPLACED,
    dealing,
    is_report,
    numbers_of,
    publish_before_answer,
)

ORDER_REPORT = "marginOrderReport"
ACCOUNT_REPORT = "marginAccountReport"
ORDERS = "marginOrders"
ACCOUNTS = "marginAccounts"
NOTIFICATIONS = (ORDER_REPORT, ACCOUNT_REPORT, ORDERS, ACCOUNTS)
_ORDER, _ACCOUNT = "marginReport", "marginAccount"  # events of the world
_EVENTS = {_ORDER: ORDER_REPORT, _ACCOUNT: ACCOUNT_REPORT}
_UPDATED = {"reportType": "updated", "reportReason": "updated"}
# What has the right, the rate and the codes of each method over REST.
OPERATIONS = {
    "marginAccountsGet": "get_margin_accounts",
    "marginAccountSet": "set_margin_account",
    "marginPositionClose": "close_margin_position",
    "marginOrdersGet": "get_margin_orders",
    "marginOrdersCancel": "cancel_margin_orders",
    "marginOrderNew": "create_margin_order",
    "marginOrderCancel": "cancel_margin_order",
    "marginOrderCancelReplace": "create_margin_order",
    "marginSubscribe": "get_margin_orders",
}


def get_accounts(session: StreamSession, params: Params) -> object:
    """The isolated accounts with their positions, as reports."""
    return session.perform("get_margin_account_reports", params)


def set_account(session: StreamSession, params: Params) -> object:
    """Opens, changes or closes an isolated account; the answer is the report, which follows it."""
    _, news = session.gather(lambda: session.perform("set_margin_account", params))
    at = next(number for number, event in enumerate(news) if _is_of_account(event, params, _DONE))
    publish_before_answer(session, news, at)
    return news[at].payload


_DONE = ("created", "reopened", "marginChanged", "closed")


def close_position(session: StreamSession, params: Params) -> object:
    """Closes a position at the market, after its orders are cancelled; the answer is the account, still open."""
    _, news = session.gather(lambda: session.perform("close_margin_position", params))
    closings = [number for number, event in enumerate(news) if _is_of_account(event, params, ("closed",))]
    publish_before_answer(session, news, closings[-1] + 1 if closings else len(news))
    account = session.perform("get_margin_account", {"symbol": params["symbol"]})
    return {**account, **_UPDATED} if isinstance(account, Mapping) else account


def get_orders(session: StreamSession, params: Params) -> object:
    """The active margin orders as reports."""
    return session.perform("get_margin_order_reports", params)


def cancel_orders(session: StreamSession, params: Params) -> object:
    """Cancels the active margin orders."""
    records, news = session.gather(lambda: session.perform("cancel_margin_orders", params))
    ours = numbers_of(*records) if isinstance(records, list) else frozenset()
    at = [number for number, event in enumerate(news) if is_report(event, _ORDER, ours, CANCELED)]
    publish_before_answer(session, news, at[-1] + 1 if at else 0)
    return [news[number].payload for number in at]


def subscribe(session: StreamSession, params: Params) -> object:
    """From now on changes of margin orders and accounts are told; those there are follow the answer."""
    orders = session.perform("get_margin_order_reports", params)
    accounts = session.perform("get_margin_account_reports", params)
    session.subscribed.add(ORDERS)
    session.behind(lambda: session.notify(ORDERS, orders))
    session.behind(lambda: session.notify(ACCOUNTS, accounts))
    return True


def hear(session: StreamSession, event: Event) -> None:
    """Tells of a margin order or account, wherever its change came from."""
    name, caller = _EVENTS.get(event.kind), session.caller
    if name and ORDERS in session.subscribed and caller is not None and event.account == caller.account:
        session.notify(name, event.payload)


def _is_of_account(event: Event, params: Params, reasons: Collection[str]) -> bool:
    payload = event.payload
    if event.kind != _ACCOUNT or not isinstance(payload, Mapping):
        return False
    return payload["symbol"] == params["symbol"] and payload["reportReason"] in reasons


PART = Part(
    methods={
        "marginAccountsGet": get_accounts,
        "marginAccountSet": set_account,
        "marginPositionClose": close_position,
        "marginOrdersGet": get_orders,
        "marginOrdersCancel": cancel_orders,
        "marginOrderNew": dealing("create_margin_order", _ORDER, PLACED),
        "marginOrderCancel": dealing("cancel_margin_order", _ORDER, CANCELED),
        "marginOrderCancelReplace": dealing("replace_margin_order", _ORDER, REPLACED),
        "marginSubscribe": subscribe,
    },
    operations=OPERATIONS,
    notifications=NOTIFICATIONS,
    hear=hear,
)
