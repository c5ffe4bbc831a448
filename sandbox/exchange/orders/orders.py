"""All orders and account trades of one world, and how long the exchange remembers them.

An order is found by its exchange's number, or by the trader's id among the active ones. Orders that ended without a
trade are forgotten a day later (exchange REST, Order); those with trades are kept. A trader's id may not be used twice
in one trading day, UTC, nor while an order of that id is active.
"""

from collections import defaultdict, deque
from typing import Final

from sandbox.engine.clock import DAY_MS
from sandbox.exchange.orders.orders_records import Order, Trade
from sandbox.exchange.orders.pairs import Pair

FIRST_ORDER: Final = 340_000_000_000


class Dealings:
    """What one account ordered and traded. `orders` are those in its history, by number; `trades` are in the order in
    which they happened, which is also that of their numbers."""

    __slots__ = ("active", "latest", "orders", "trades")

    def __init__(self) -> None:
        self.active: dict[str, Order] = {}
        self.latest: dict[str, Order] = {}
        self.orders: dict[int, Order] = {}
        self.trades: list[Trade] = []


class Orders:
    """The orders of one world. `traded` holds the trade prices that may still wake stop orders."""

    def __init__(self) -> None:
        self.active: dict[int, Order] = {}
        self.traded: deque[tuple[Pair, int]] = deque()
        self.last_trade_id = 0
        self._last_house_id = 0
        self._last_id = FIRST_ORDER
        self._dealings: defaultdict[str, Dealings] = defaultdict(Dealings)
        self._tradeless: deque[Order] = deque()  # ended without a trade, in the order of their end

    def of(self, account: str) -> Dealings:
        """The account's dealings."""
        return self._dealings[account]

    def next_id(self) -> int:
        """The number of the next order that comes in."""
        return self._last_id + 1

    def new_house_id(self) -> int:
        """A number for an order of a simulated trader."""
        self._last_house_id -= 1
        return self._last_house_id

    def new_trade_id(self, at_ms: int) -> int:
        """The number of a trade of this moment: a thousand times its milliseconds, or the next after the last one.

        Numbers therefore go on to grow after a restart, though trades among simulated traders are not remembered.
        """
        self.last_trade_id = max(self.last_trade_id + 1, at_ms * 1_000)
        return self.last_trade_id

    def is_taken(self, account: str, client_id: str, at_ms: int) -> bool:
        """Whether an id was used on this trading day or belongs to an active order."""
        latest = self._dealings[account].latest.get(client_id)
        return latest is not None and (latest.is_active or latest.placed_ms // DAY_MS == at_ms // DAY_MS)

    def enter(self, order: Order) -> None:
        """Takes in a new order."""
        self._last_id = order.id
        dealings = self._dealings[order.account]
        self.active[order.id] = order
        dealings.active[order.client_id] = dealings.latest[order.client_id] = order
        dealings.orders[order.id] = order

    def leave(self, order: Order) -> None:
        """Takes an order that has ended out of the active ones."""
        del self.active[order.id]
        del self._dealings[order.account].active[order.client_id]
        if not order.filled:
            self._tradeless.append(order)
            if self._tradeless[0].updated_ms < order.updated_ms - DAY_MS:
                self.forget(order.updated_ms)

    def forget(self, at_ms: int) -> None:
        """Deletes the orders that ended without a trade more than a day before."""
        tradeless = self._tradeless
        while tradeless and tradeless[0].updated_ms < at_ms - DAY_MS:
            order = tradeless.popleft()
            dealings = self._dealings[order.account]
            del dealings.orders[order.id]
            if dealings.latest.get(order.client_id) is order:
                del dealings.latest[order.client_id]

    def listed(self, account: str, *, margin: bool, symbol: str = "") -> list[Order]:
        """The active orders of an account, oldest first, of one symbol when it is given."""
        return [
            order
            for order in self._dealings[account].active.values()
            if order.margin is margin and (not symbol or order.pair.symbol.id == symbol)
        ]

    def find(self, account: str, client_id: str, *, margin: bool) -> Order | None:
        """The active order of the trader's id."""
        found = self._dealings[account].active.get(client_id)
        return found if found is not None and found.margin is margin else None
