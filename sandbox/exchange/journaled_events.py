"""What happens unasked, by its name in the journal: what the simulated market does to customers (`Exchange.happen`),
and what happens to the chain.

Each is lived again from its recorded arguments alone; a replay runs no simulated market.
"""

from collections.abc import Callable, Mapping

from sandbox.exchange.funds import chain_blocks
from sandbox.exchange.margin import margin_liquidation
from sandbox.exchange.state import Exchange
from sandbox.exchange.trading import orders_house

JOURNALED_EVENTS: dict[str, Callable[[Exchange, Mapping[str, object]], None]] = {
    orders_house.TRADES: orders_house.live_trades,
    margin_liquidation.ACTION: margin_liquidation.live_liquidation,
    chain_blocks.BROADCAST: chain_blocks.live_broadcast,
    chain_blocks.LEAP: chain_blocks.leap,
    chain_blocks.MARK: chain_blocks.mark,
}
