"""The wire forms of orders and trades: REST records, order reports of the streams, public trades (supplement 1.4, 2.8).

Reports are collected as small tuples while the world changes and written out only when they are told.
"""

from typing import NamedTuple

from sandbox.amounts import text_of
from sandbox.engine.clock import instant_text
from sandbox.exchange.accounts.ledger import amount_of
from sandbox.exchange.orders.matching import Pair
from sandbox.exchange.orders.orders import Order, Status, Trade
from sandbox.exchange.terms import Event


class MarketTrade(NamedTuple):
    """A trade as everybody sees it; `side` is the taker's, price and quantity count ticks and increments."""

    pair: Pair
    id: int
    price: int
    quantity: int
    side: str
    at_ms: int

    def wire(self) -> dict[str, object]:
        """The Public trade record."""
        return {
            "id": self.id,
            "price": self.pair.price_text(self.price),
            "quantity": self.pair.quantity_text(self.quantity),
            "side": self.side,
            "timestamp": instant_text(self.at_ms),
        }

    def event(self) -> Event:
        """What listeners hear: the record with its symbol."""
        return Event("trade", "", self.wire() | {"symbol": self.pair.symbol.id})


class Report(NamedTuple):
    """What happened to an order, with those of its members that go on to change as they were then.

    `type` is the report type: new, suspended, canceled, expired, trade or replaced; `replaced` is the trader's id of
    the order that this one replaced.
    """

    order: Order
    type: str
    status: Status
    filled: int
    updated_ms: int
    trade: Trade | None = None
    replaced: str = ""

    def wire(self) -> dict[str, object]:
        """The order report. The number of a spot order is a text there, that of a margin order a number."""
        order = self.order
        record = _described(order, order.id if order.margin else str(order.id), self.status)
        record |= {
            "cumQuantity": order.pair.quantity_text(self.filled),
            "postOnly": order.terms.post_only,
            "createdAt": instant_text(order.created_ms),
            "updatedAt": instant_text(self.updated_ms),
            "reportType": str(self.type),
        }
        if self.replaced:
            record["originalRequestClientOrderId"] = self.replaced
        if self.trade is not None:
            record |= _traded(self.trade)
        return record

    def event(self) -> Event:
        """What the account's listeners hear."""
        return Event("marginReport" if self.order.margin else "report", self.order.account, self.wire())


def status_report(order: Order) -> dict[str, object]:
    """The report of an active order to who has just subscribed."""
    return Report(order, "status", order.status, order.filled, order.updated_ms).wire()


def order_record(order: Order, *, with_trades: bool = False) -> dict[str, object]:
    """The Order record; `with_trades` adds what an order met at once, if it met anything."""
    record = _described(order, order.id, order.status)
    record |= {
        "cumQuantity": order.pair.quantity_text(order.filled),
        "postOnly": order.terms.post_only,
        "createdAt": instant_text(order.created_ms),
        "updatedAt": instant_text(order.updated_ms),
    }
    if with_trades and order.trades:
        record["tradesReport"] = [_reported(trade) for trade in order.trades]
    return record


def history_record(order: Order) -> dict[str, object]:
    """The Order record of the history: with the average price, without `postOnly`."""
    return _described(order, order.id, order.status) | {
        "avgPrice": order.pair.average_text(order.spent, order.filled),
        "cumQuantity": order.pair.quantity_text(order.filled),
        "createdAt": instant_text(order.created_ms),
        "updatedAt": instant_text(order.updated_ms),
    }


def trade_record(trade: Trade) -> dict[str, object]:
    """The Account trade record; `liquidation` is told of margin trades alone."""
    order = trade.order
    record: dict[str, object] = {
        "id": trade.id,
        "orderId": order.id,
        "clientOrderId": order.client_id,
        "symbol": order.pair.symbol.id,
        "side": order.terms.side,
        "quantity": order.pair.quantity_text(trade.quantity),
        "price": order.pair.price_text(trade.price),
        "fee": fee_text(trade.fee),
        "timestamp": instant_text(trade.at_ms),
        "taker": trade.taker,
    }
    if order.margin:
        record["liquidation"] = trade.liquidation
    return record


def fee_text(units: int) -> str:
    """A fee without trailing zeros; a rebate has a minus sign."""
    return text_of(amount_of(units))


def _described(order: Order, number: int | str, status: Status) -> dict[str, object]:
    terms, pair = order.terms, order.pair
    record: dict[str, object] = {
        "id": number,
        "clientOrderId": order.client_id,
        "symbol": pair.symbol.id,
        "side": terms.side,
        "status": status.value,
        "type": terms.type,
        "timeInForce": terms.time_in_force,
        "quantity": pair.quantity_text(terms.quantity),
    }
    if terms.price is not None:
        record["price"] = pair.price_text(terms.price)
    if terms.stop_price is not None:
        record["stopPrice"] = pair.price_text(terms.stop_price)
    if terms.expire_ms is not None:
        record["expireTime"] = instant_text(terms.expire_ms)
    return record


def _reported(trade: Trade) -> dict[str, object]:
    pair = trade.order.pair
    return {
        "id": trade.id,
        "quantity": pair.quantity_text(trade.quantity),
        "price": pair.price_text(trade.price),
        "fee": fee_text(trade.fee),
        "timestamp": instant_text(trade.at_ms),
    }


def _traded(trade: Trade) -> dict[str, object]:
    pair = trade.order.pair
    record: dict[str, object] = {
        "tradeId": trade.id,
        "tradeQuantity": pair.quantity_text(trade.quantity),
        "tradePrice": pair.price_text(trade.price),
        "tradeFee": fee_text(trade.fee),
    }
    if trade.position_id is not None:
        record["tradePositionId"] = trade.position_id
    return record
