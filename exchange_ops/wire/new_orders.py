"""An order as it is asked for, spot or on margin. Source: exchange REST, Order input fields; supplement 2.8."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

TERMS: Final = ("symbol", "side", "type", "time_in_force", "quantity", "price", "stop_price", "expire_time")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewOrder:
    """What goes into a new order. Quantities are in the base currency, prices in the quote currency.

    `client_order_id` is our own name for it, needed here: after an unknown outcome the order is found by it alone.
    It is unique for a trading day. `price` belongs to limit types, `stop_price` to stop types, `expire_time` to GTD.
    Without `time_in_force` it is GTC, and IOC for a market order, which can't rest. With `strict_validate` the exchange
    refuses what is no multiple of its steps instead of rounding it. Markups are fractions of the order's volume.
    """

    client_order_id: str
    symbol: str
    side: str
    quantity: Decimal
    type: str = "limit"
    price: Decimal | None = None
    stop_price: Decimal | None = None
    time_in_force: str | None = None
    expire_time: datetime | None = None
    strict_validate: bool = True
    post_only: bool = False
    take_liquidity_markup: Decimal | None = None
    provide_liquidity_markup: Decimal | None = None

    @property
    def in_force(self) -> str:
        """The time in force that is meant."""
        return self.time_in_force or ("IOC" if self.type == "market" else "GTC")

    def arguments(self) -> dict[str, object]:
        """The parameters by their names on the wire; None for absent ones."""
        return {
            "clientOrderId": self.client_order_id,
            "symbol": self.symbol,
            "side": self.side,
            "type": self.type,
            "timeInForce": self.in_force,
            "quantity": self.quantity,
            "price": self.price,
            "stopPrice": self.stop_price,
            "expireTime": self.expire_time,
            "strictValidate": self.strict_validate,
            "postOnly": self.post_only,
            "takeLiquidityMarkup": self.take_liquidity_markup,
            "provideLiquidityMarkup": self.provide_liquidity_markup,
        }


def terms_of(order: Any) -> dict[str, Any]:
    """What was agreed of an order, by the names that requests, records, reports and rows share."""
    return {name: getattr(order, name) for name in TERMS}
