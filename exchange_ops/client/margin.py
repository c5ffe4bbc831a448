"""Margin: isolated accounts, positions, orders. Source: exchange REST, Margin orders; supplement 1.5, 2.7.

Right: Place/cancel orders. Balances and prices are in the symbol's quote currency.
"""

from decimal import Decimal

from exchange_ops.client.core import Calls
from exchange_ops.client.listings import Listing
from exchange_ops.client.pacing import LastLook
from exchange_ops.wire import checking, records
from exchange_ops.wire.new_orders import NewOrder


class MarginCalls(Calls):
    """A symbol without a margin account, or without a position, is `Refused` with 20032; without margin with 20040."""

    # Accounts --------------------------------------------------------------------------------------------------------

    def get_margin_accounts(self) -> Listing[records.MarginAccount]:
        """All isolated margin accounts, each with its position when it has one."""
        return self.listing("get_margin_accounts")

    def get_margin_account(self, *, symbol: str) -> records.MarginAccount:
        """The isolated account of a symbol, with its position when it has one."""
        account: records.MarginAccount = self.call("get_margin_account", symbol=symbol)
        return account

    def set_margin_account(
        self, *, symbol: str, margin_balance: Decimal, last_look: LastLook = str
    ) -> records.MarginAccount:
        """Open the isolated account of a symbol with this collateral, or make its collateral this much.

        Zero closes the account. Digits that the currency does not have are refused, never rounded.
        """
        account: records.MarginAccount = self.call(
            "set_margin_account", last_look=last_look, symbol=symbol, marginBalance=margin_balance, strictValidate=True
        )
        return account

    def close_margin_account(self, *, symbol: str, last_look: LastLook = str) -> records.MarginAccount:
        """Close the position of a symbol at market, then its account, and give the account as it ended."""
        account: records.MarginAccount = self.call("close_margin_account", last_look=last_look, symbol=symbol)
        return account

    # Positions -------------------------------------------------------------------------------------------------------

    def get_margin_positions(self) -> Listing[records.Position]:
        """All open positions; a negative quantity is a short one."""
        return self.listing("get_margin_positions")

    def close_margin_position(
        self,
        *,
        symbol: str,
        price: Decimal | None = None,
        strict_validate: bool = True,
        rules: checking.SymbolRules | None = None,
        last_look: LastLook = str,
    ) -> list[records.Position]:
        """Close the position of a symbol at market or, with `price`, at this limit.

        With `rules`, the symbol's own, a price that is no multiple of the tick is a `BadArgument`.
        """
        checking.refuse(checking.price_problems(price, rules))
        closed: list[records.Position] = self.call(
            "close_margin_position", last_look=last_look, symbol=symbol, price=price, strictValidate=strict_validate
        )
        return closed

    # Orders ----------------------------------------------------------------------------------------------------------

    def get_margin_orders(self, *, symbol: str | None = None) -> Listing[records.Order]:
        """The active margin orders, of one symbol when it is named."""
        return self.listing("get_margin_orders", symbol=symbol)

    def get_margin_order(self, *, client_order_id: str) -> records.Order:
        """An active margin order; `Refused` with 20002 when there is none of that id."""
        order: records.Order = self.call("get_margin_order", clientOrderId=client_order_id)
        return order

    def create_margin_order(
        self, *, order: NewOrder, rules: checking.SymbolRules | None = None, last_look: LastLook = str
    ) -> records.Order:
        """Place an order on margin; otherwise as `create_order`. `Refused` with 20034 when only closing is allowed."""
        checking.refuse(checking.order_problems(order, rules))
        placed: records.Order = self.call("create_margin_order", last_look=last_look, **order.arguments())
        return placed

    def put_margin_order(
        self, *, order: NewOrder, rules: checking.SymbolRules | None = None, last_look: LastLook = str
    ) -> records.Order:
        """The same as `create_margin_order` with the id in the path."""
        checking.refuse(checking.order_problems(order, rules))
        placed: records.Order = self.call("put_margin_order", last_look=last_look, **order.arguments())
        return placed

    def cancel_all_margin_orders(self, *, symbol: str | None = None, last_look: LastLook = str) -> list[records.Order]:
        """Cancel every active margin order, of one symbol when it is named, and give them as they ended."""
        cancelled: list[records.Order] = self.call("cancel_margin_orders", last_look=last_look, symbol=symbol)
        return cancelled

    def cancel_margin_order(self, *, client_order_id: str, last_look: LastLook = str) -> records.Order:
        """Cancel an active margin order and give it as it ended; `Refused` with 20002 when there is none."""
        cancelled: records.Order = self.call("cancel_margin_order", last_look=last_look, clientOrderId=client_order_id)
        return cancelled
