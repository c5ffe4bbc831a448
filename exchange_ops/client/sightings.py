"""Whether an order that was sent with an unknown outcome exists at the exchange. Nothing here ever sends it again.

“Order not found” means finished, not yet visible, or never placed, and active orders and history are two lists of
which the second lags (supplement 2.8, 5.1, 5.2): so both are read, in this order, and again later.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum

from exchange_ops.client import ExchangeClient
from exchange_ops.wire import records
from wire.errors import Refused

LOOKS = 3  # before an order may be called absent
HISTORY_LAG = timedelta(seconds=30)  # documented at most; about a second is usual
ABSENT_AFTER = 2 * HISTORY_LAG
ORDER_NOT_FOUND = 20002


class Sight(Enum):
    """What one look at the exchange showed."""

    PRESENT = "found"
    NOT_YET_SEEN = "not yet seen"  # look again later
    ABSENT = "absent"  # looked often and long enough: it was not placed, as far as the exchange can tell


@dataclass(frozen=True, slots=True)
class Sighting:
    """The order if it is there, and the number of looks so far, this one included."""

    sight: Sight
    looks: int
    order: records.Order | None = None


def look_for_order(
    client: ExchangeClient,
    *,
    client_order_id: str,
    sent_at: datetime,
    now: datetime,
    looks_before: int = 0,
    margin: bool = False,
    history: ExchangeClient | None = None,
) -> Sighting:
    """One look: the active orders, then the history. Call it again later until it says found or absent.

    `sent_at` and `now` are in the exchange's time. An order of that id that was last touched before `sent_at` is
    another day's: ids may repeat. Absent is said after three looks and a minute after sending. Rights: Place/cancel
    orders and Orderbook, History, Trading balance; where no key has both, `history` is a client with the second. A look
    that fails raises what its call raises and does not count.
    """
    looks = looks_before + 1
    order = _active(client, client_order_id, margin=margin) or _past(history or client, client_order_id)
    if order is not None and order.client_order_id == client_order_id and order.updated_at >= _whole_ms(sent_at):
        return Sighting(Sight.PRESENT, looks, order)
    if looks >= LOOKS and now - sent_at >= ABSENT_AFTER:
        return Sighting(Sight.ABSENT, looks)
    return Sighting(Sight.NOT_YET_SEEN, looks)


def _active(client: ExchangeClient, client_order_id: str, *, margin: bool) -> records.Order | None:
    ask = client.get_margin_order if margin else client.get_order
    try:
        return ask(client_order_id=client_order_id)
    except Refused as refusal:
        if refusal.code != ORDER_NOT_FOUND:
            raise
        return None


def _past(client: ExchangeClient, client_order_id: str) -> records.Order | None:
    orders: list[records.Order] = client.call("get_order_history", clientOrderId=client_order_id)
    return max(orders, key=lambda order: order.updated_at, default=None)


def _whole_ms(instant: datetime) -> datetime:
    return instant.replace(microsecond=instant.microsecond // 1000 * 1000)  # what the exchange can tell
