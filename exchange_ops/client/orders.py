"""Spot orders, trading history and rates. Source: exchange REST, Spot orders, Trading history; supplement 2.7, 2.8."""

from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal

from exchange_ops.client.core import PAGE, Calls
from exchange_ops.client.listings import Listing
from exchange_ops.client.market import Position
from exchange_ops.client.pacing import LastLook
from exchange_ops.client.paging import backwards, upwards
from exchange_ops.wire import checking, records
from exchange_ops.wire.new_orders import NewOrder


class OrderCalls(Calls):
    """What trades and what has been traded.

    Right for orders and rates: Place/cancel orders. For histories and the trading balance: Orderbook, History, Trading
    balance. A finished, unknown or not yet visible order is `Refused` with 20002: three meanings, one code.
    """

    def get_trading_fee(self, *, symbol: str) -> records.TradingFee:
        """The account's own rates of the symbol, as fractions of the volume."""
        rates: records.TradingFee = self.call("get_trading_fee", symbol=symbol)
        return rates

    def get_orders(self, *, symbol: str | None = None) -> Listing[records.Order]:
        """The active orders, of one symbol when it is named."""
        return self.listing("get_orders", symbol=symbol)

    def get_order(self, *, client_order_id: str, wait_ms: int | None = None) -> records.Order:
        """An active order; with `wait_ms` (0 to 60000) the answer waits so long for the order to finish.

        What comes after the wait is its present state. `Refused` with 20002 when no active order has that id.
        """
        order: records.Order = self.call("get_order", clientOrderId=client_order_id, wait=wait_ms)
        return order

    def create_order(
        self, *, order: NewOrder, rules: checking.SymbolRules | None = None, last_look: LastLook = str
    ) -> records.Order:
        """Place an order; the answer has its state, and in `trades_report` what it met at once.

        With `rules`, the symbol's own, what breaks them is a `BadArgument` before anything is sent. `Refused` with
        20001 for too little money, and with 20008 when the id was used in this trading day: an earlier call may have
        worked. After `OutcomeUnknown` look the order up (`sightings.look_for_order`); never send it again.
        """
        checking.refuse(checking.order_problems(order, rules))
        placed: records.Order = self.call("create_order", last_look=last_look, **order.arguments())
        return placed

    def put_order(
        self, *, order: NewOrder, rules: checking.SymbolRules | None = None, last_look: LastLook = str
    ) -> records.Order:
        """The same as `create_order` with the id in the path: an existing order is never changed (supplement 2.7)."""
        checking.refuse(checking.order_problems(order, rules))
        placed: records.Order = self.call("put_order", last_look=last_look, **order.arguments())
        return placed

    def cancel_order(self, *, client_order_id: str, last_look: LastLook = str) -> records.Order:
        """Cancel an active order and give it as it ended; `Refused` with 20002 when there is none of that id."""
        cancelled: records.Order = self.call("cancel_order", last_look=last_look, clientOrderId=client_order_id)
        return cancelled

    def cancel_all_orders(self, *, symbol: str | None = None, last_look: LastLook = str) -> list[records.Order]:
        """Cancel every active order, of one symbol when it is named, and give them as they ended."""
        cancelled: list[records.Order] = self.call("cancel_orders", last_look=last_look, symbol=symbol)
        return cancelled

    def replace_order(
        self,
        *,
        client_order_id: str,
        new_client_order_id: str,
        quantity: Decimal,
        price: Decimal | None = None,
        rules: checking.SymbolRules | None = None,
        last_look: LastLook = str,
    ) -> records.Order:
        """Cancel an active order and place another in its stead, which keeps what was filled and when it was made.

        When the new one can't be placed, the answer is the old one, cancelled: compare the id of the answer
        (supplement 1.4, 5.9). `Refused` with 20009 when price and quantity are the same, 20002 and 20008 as usual.
        """
        problems = checking.replacement_problems(
            new_client_order_id=new_client_order_id, quantity=quantity, price=price, rules=rules
        )
        checking.refuse(problems)
        answer: records.Order = self.call(
            "replace_order",
            last_look=last_look,
            clientOrderId=client_order_id,
            quantity=quantity,
            price=price,
            requestClientId=new_client_order_id,
        )
        return answer

    # Rates and the trading account -----------------------------------------------------------------------------------

    def get_trading_balances(self) -> Listing[records.Balance]:
        """The trading account, zeros included. Right: Orderbook, History, Trading balance."""
        return self.listing("get_trading_balances")

    # History ---------------------------------------------------------------------------------------------------------

    def get_order_history(
        self,
        *,
        client_order_id: str | None = None,
        symbol: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 100,
    ) -> Listing[records.Order]:
        """Past and present orders, newest first; with an id that order alone, or nothing: an empty list.

        It may lag by 30 seconds, and an order without trades is deleted after 24 hours (supplement 2.8).
        """
        if client_order_id is not None:
            return self.listing("get_order_history", clientOrderId=client_order_id)
        interval: dict[str, object] = {"from": since, "till": until, "limit": limit}
        return self.listing("get_order_history", symbol=symbol, **interval)

    def orders_back(
        self,
        *,
        symbol: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = PAGE,
    ) -> Iterator[Listing[records.Order]]:
        """Pages of the order history from `until`, or the newest order, back to `since`, no order twice."""
        return backwards(
            lambda till: self.get_order_history(symbol=symbol, since=since, until=till, limit=limit),
            till=until,
            limit=limit,
            instant_of=lambda order: order.created_at,
            key_of=lambda order: order.id,
        )

    def get_trade_history(
        self,
        *,
        symbol: str | None = None,
        by: str = "id",
        since: Position = None,
        until: Position = None,
        sort: str = "DESC",
        limit: int = 100,
        margin: str = "include",
    ) -> Listing[records.AccountTrade]:
        """The account's trades between two ids or, `by="timestamp"`, two instants; `limit` from 1 to 1000.

        `margin` says what to do with trades on margin: include, only, ignore.
        """
        interval: dict[str, object] = {"from": since, "till": until, "sort": sort, "by": by, "limit": limit}
        return self.listing("get_trade_history", symbol=symbol, margin=margin, **interval)

    def account_trades_after(
        self, *, trade_id: int, symbol: str | None = None, margin: str = "include", limit: int = PAGE
    ) -> Iterator[Listing[records.AccountTrade]]:
        """Pages of the account's trades with ids above `trade_id`, ascending, until a page is not full."""
        return upwards(
            lambda first: self.get_trade_history(
                symbol=symbol, by="id", since=first, sort="ASC", limit=limit, margin=margin
            ),
            after=trade_id,
            limit=limit,
            key_of=lambda trade: trade.id,
            aside_key=lambda aside: aside.number,
        )
