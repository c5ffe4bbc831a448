"""Stop orders that wait for a trade price: a buy for one at or above its stop price, a sell for one at or below it."""

from heapq import heappop, heappush

from sandbox.exchange.orders.matching import BUY


class Stops:
    """The waiting stop orders of one symbol, by number; prices in ticks."""

    __slots__ = ("_buys", "_sells", "_waiting")

    def __init__(self) -> None:
        self._buys: list[tuple[int, int]] = []
        self._sells: list[tuple[int, int]] = []
        self._waiting: set[int] = set()

    def add(self, order_id: int, side: str, stop_price: int) -> None:
        """Lets an order wait."""
        self._waiting.add(order_id)
        if side == BUY:
            heappush(self._buys, (stop_price, order_id))
        else:
            heappush(self._sells, (-stop_price, order_id))

    def remove(self, order_id: int) -> None:
        """Forgets an order, whether or not it waits."""
        self._waiting.discard(order_id)
        if not self._waiting:
            self._buys.clear()
            self._sells.clear()

    def reached(self, price: int) -> bool:
        """Whether a trade at the price would wake an order."""
        return bool(self._waiting and (self._is_reached(self._buys, price) or self._is_reached(self._sells, -price)))

    def take(self, price: int) -> list[int]:
        """Takes out the orders that a trade at the price wakes: those with the nearest stop price, and then the oldest,
        first; buys before sells."""
        woken = []
        for waiting, key in ((self._buys, price), (self._sells, -price)):
            while self._is_reached(waiting, key):
                woken.append(heappop(waiting)[1])
        self._waiting.difference_update(woken)
        return woken

    def _is_reached(self, waiting: list[tuple[int, int]], key: int) -> bool:
        while waiting and waiting[0][1] not in self._waiting:
            heappop(waiting)
        return bool(waiting) and waiting[0][0] <= key

    def __len__(self) -> int:
        return len(self._waiting)
