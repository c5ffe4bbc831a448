"""What the simulated market can do to customers, by its name in the journal (`Exchange.happen`).

Each is lived again from its recorded arguments alone; a replay runs no simulated market.
"""

from collections.abc import Callable, Mapping

from sandbox.exchange import margin_liquidation, orders_house
from sandbox.exchange.state import Exchange

HAPPENINGS: dict[str, Callable[[Exchange, Mapping[str, object]], None]] = {
    orders_house.TRADES: orders_house.live_trades,
    margin_liquidation.ACTION: margin_liquidation.live_liquidation,
}
