"""How a worker reaches the exchange for an order: over a trading socket of its own while the stream is live, else REST.

The follower's socket is in another process. A frame handed to it would wait in a second queue, and nobody could say
whether it had left. So each worker thread that places orders keeps a socket of its own for each key, logged in once
and reused for some seconds: the row of the call is committed first, the frame leaves from the thread that then hears
the answer, and the rules of REST hold. A frame without an answer is an unknown outcome, resolved by reading and never
sent again, neither here nor over REST. The way is chosen before the claim, so that a call is made one way only. Source:
exchange streams; supplement 1.1, 1.4, 1.5, 1.7.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

import structlog
from django.conf import settings

from exchange_ops.client import ExchangeClient
from exchange_ops.client.budgets import Budget, NoPlace, urgency_of
from exchange_ops.client.pacing import TOO_MANY, HeldBack, LastLook, NoPlaceInTime
from exchange_ops.client.sockets import CannotFollow
from exchange_ops.client.stream_calls import StreamClient
from exchange_ops.keys import store
from exchange_ops.market.models import Symbol
from exchange_ops.orders import records as order_records
from exchange_ops.shared import stream_states
from exchange_ops.shared.models import Account, FollowerState
from exchange_ops.wire import catalogue, checking, records, streams
from exchange_ops.wire.catalogue import Right
from exchange_ops.wire.new_orders import NewOrder
from exchange_ops.wire.streams import Address
from wire.errors import CallFailed, OutcomeUnknown, Refused

REST, SOCKET = "rest", "socket"
IDLE_NS: Final = 15 * 1_000_000_000  # a socket that was silent for longer may be gone without a sign
NEEDS_SOCKET: Final = "a margin order can be replaced only over the trading stream, which is disconnected"
TURN_WITHIN_NS: Final = 5 * 1_000_000_000
_log = structlog.get_logger(__name__)


@dataclass
class _KeptSocket:
    """A socket that this thread keeps for a key."""

    stream: StreamClient
    used_ns: int


@dataclass
class _Threads(threading.local):
    """What each thread keeps, by account and key."""

    sockets: dict[tuple[int, int], _KeptSocket] = field(default_factory=dict)


_threads = _Threads()


class TradingLine:
    """The calls that the steps of an order make, over the socket where there is one. `way` says which it is."""

    def __init__(self, client: ExchangeClient, stream: StreamClient | None, budget: Budget | None) -> None:
        self._client, self._stream, self._budget = client, stream, budget

    def close(self) -> None:
        """Let go of the client; the socket is kept for the thread's next order."""
        self._client.close()

    @property
    def way(self) -> str:
        """Whether calls leave over REST or the socket."""
        return REST if self._stream is None else SOCKET

    def way_of(self, order: NewOrder, *, margin: bool) -> str:
        """How this order would leave: commissions of spot orders travel over REST alone."""
        method = "marginOrderNew" if margin else "newOrder"
        return self.way if carries(method, order.arguments()) else REST

    def place(self, order: NewOrder, *, margin: bool, rules: Symbol | None, last_look: LastLook) -> records.Order:
        """Place it. Raises as `ExchangeClient.create_order`."""
        method = "marginOrderNew" if margin else "newOrder"
        if self.way_of(order, margin=margin) == REST:
            client = self._client
            create = client.create_margin_order if margin else client.create_order
            return create(order=order, rules=rules, last_look=last_look)
        checking.refuse(checking.order_problems(order, rules))
        return self._act(method, order.arguments(), last_look)

    def cancel(self, client_order_id: str, *, margin: bool, last_look: LastLook) -> records.Order:
        """Cancel what is left of it. Raises as `ExchangeClient.cancel_order`."""
        if self._stream is None:
            client = self._client
            act = client.cancel_margin_order if margin else client.cancel_order
            return act(client_order_id=client_order_id, last_look=last_look)
        method = "marginOrderCancel" if margin else "cancelOrder"
        return self._act(method, {"clientOrderId": client_order_id}, last_look)

    def cancel_all_of(self, symbol: str, *, margin: bool, last_look: LastLook) -> list[records.Order]:
        """Cancel every order of the symbol, and give them as they ended: over REST only.

        The socket's only call of the kind is for all margin orders of the account (exchange streams, Margin trading).
        """
        client = self._client
        act = client.cancel_all_margin_orders if margin else client.cancel_all_orders
        return act(symbol=symbol, last_look=last_look)

    def cancel_every_margin_order(self, *, last_look: LastLook) -> list[records.Order]:
        """Cancel every margin order of the account, of whatever symbol, and give them as they ended."""
        if self._stream is None:
            client = self._client
            return client.cancel_all_margin_orders(last_look=last_look)
        reports = self._ask("marginOrdersCancel", {}, last_look)
        return [order for report in reports if (order := order_records.from_report(report)) is not None]

    def replace(
        self,
        client_order_id: str,
        *,
        by: str,
        quantity: Decimal,
        price: Decimal | None,
        rules: Symbol | None,
        last_look: LastLook,
        margin: bool = False,
    ) -> records.Order:
        """Put another order in its place. Raises as `ExchangeClient.replace_order`.

        REST has no call to replace an order on margin (supplement 2.7): without a socket it is held back.
        """
        if self._stream is None and margin:
            raise HeldBack(NEEDS_SOCKET)
        if self._stream is None:
            client = self._client
            return client.replace_order(
                client_order_id=client_order_id,
                new_client_order_id=by,
                quantity=quantity,
                price=price,
                rules=rules,
                last_look=last_look,
            )
        problems = checking.replacement_problems(new_client_order_id=by, quantity=quantity, price=price, rules=rules)
        checking.refuse(problems)
        arguments = {"clientOrderId": client_order_id, "requestClientId": by, "quantity": quantity, "price": price}
        return self._act("marginOrderCancelReplace" if margin else "cancelReplaceOrder", arguments, last_look)

    def get_order(self, client_order_id: str, *, margin: bool = False) -> records.Order:
        """An active order, over REST."""
        client = self._client
        read = client.get_margin_order if margin else client.get_order
        return read(client_order_id=client_order_id)

    def _act(self, method: str, arguments: dict[str, Any], last_look: LastLook) -> records.Order:
        order = order_records.from_report(self._ask(method, arguments, last_look))
        if order is None:
            raise OutcomeUnknown("the exchange's response has a non-numeric ID")
        return order

    def _ask(self, method: str, arguments: dict[str, Any], last_look: LastLook) -> Any:
        """The answer to one frame, sent once."""
        with _turn(self._budget):
            if problem := last_look():
                raise HeldBack(problem)
            if self._stream is None:
                raise HeldBack("the trading stream is not connected")
            find_param = streams.by_name[method].param
            return self._stream.call(method, **{name: value for name, value in arguments.items() if find_param(name)})


def carries(method: str, arguments: dict[str, Any]) -> bool:
    """Whether the method takes every one of these arguments that has a value."""
    row = streams.by_name[method]
    return all(value is None or row.param(name) is not None for name, value in arguments.items())


def open_line(account: Account, client: ExchangeClient) -> TradingLine:
    """The line for one step; when anything is wrong with the socket, it is REST."""
    if not is_live(account):
        return TradingLine(client, None, None)
    try:
        key = store.stream_key(account, Right.ORDERS)
        stream = _borrow_socket(account, key)
    except (CallFailed, store.NoUsableKey, CannotFollow) as problem:
        _log.info("orders.no_socket", account=account.pk, reason=str(problem))
        return TradingLine(client, None, None)
    return TradingLine(client, stream, store.budget_of(key).budget_for(catalogue.by_name["create_order"]))


def close_sockets() -> None:
    """Close what this thread keeps."""
    for entry in _threads.sockets.values():
        entry.stream.close()
    _threads.sockets.clear()


def is_live(account: Account) -> bool:
    """Whether orders travel over the trading socket now, as far as is known."""
    return bool(settings.ORDERS_OVER_SOCKET) and _is_followed(account)


def _is_followed(account: Account) -> bool:
    """Whether the account's trading stream is followed, so that changes of an order arrive at once."""
    return FollowerState.objects.filter(name=stream_states.trading_name(account), connected=True).exists()


def _borrow_socket(account: Account, key: Any) -> StreamClient:
    """This thread's socket for the key, if it was used recently and is open; else a new one."""
    name, now_ns = (account.pk, key.pk), time.monotonic_ns()
    entry = _threads.sockets.pop(name, None)
    if entry is not None and (now_ns - entry.used_ns > IDLE_NS or not entry.stream.is_open()):
        entry.stream.close()
        entry = None
    if entry is None:
        stream = StreamClient(
            store.place_of(account).stream_url,
            Address.TRADING,
            credentials=store.credentials_of(key),
            private_hosts=settings.PRIVATE_HOSTS,
        )
        entry = _KeptSocket(stream, now_ns)
    _threads.sockets[name] = _KeptSocket(entry.stream, now_ns)
    return entry.stream


@contextmanager
def _turn(budget: Budget | None) -> Iterator[None]:
    """A place among the calls of the key: sockets are counted as well (supplement 1.7)."""
    if budget is None:
        yield
        return
    try:
        with budget.place(urgency_of(catalogue.by_name["create_order"]), within_ns=TURN_WITHIN_NS):
            try:
                yield
            except Refused as refused:
                (budget.refused if refused.code == TOO_MANY else budget.answered)()
                raise
            budget.answered()
    except NoPlace:
        raise NoPlaceInTime("not sent: too many requests in progress") from None
