"""The simulated traders: two-sided books around the quotes, and no customer's order passed by.

A book is made when somebody first looks at it, and made anew at each later look, at most once a second. Books in which
customers wait are kept up by a timer as well, and watched trade by trade: when the market trades beyond a customer's
price his order is filled, and when it reaches a stop price the stop wakes. All of that is a function of the time; what
it does to customers is journaled by the way the orders come in (`orders_house`), the traders themselves are not, and
begin from the clock after a restart.

A market that stands still makes every book once, as it was when time stopped there, and never again.
"""

from bisect import bisect_left
from collections.abc import Iterator
from operator import attrgetter
from typing import Final

from sandbox.engine.clock import DAY_MS
from sandbox.exchange.orders.matching import BUY, SELL, Pair
from sandbox.exchange.state import Exchange
from sandbox.exchange.tape.market import STEP_MS
from sandbox.exchange.tape.tape_records import Bar, Trade
from sandbox.exchange.tape.tape_sketches import LEAF_MS
from sandbox.exchange.traders.traders_ladder import Wishes
from sandbox.exchange.trading import orders_house

LONGEST_WALK_MS: Final = 31 * DAY_MS  # of a leap in time only the first month is gone through trade by trade
_EVERYTHING: Final = 10**60


class _Stall:
    """What the traders have in the book of one symbol: number and size by price, for either side; and before which
    instant no simulated trade happens."""

    __slots__ = ("asks", "bids", "next_ms", "pair", "step", "wishes")

    def __init__(self, pair: Pair, wishes: Wishes) -> None:
        self.pair = pair
        self.wishes = wishes
        self.step = -1
        self.next_ms = 0
        self.bids: dict[int, tuple[int, int]] = {}
        self.asks: dict[int, tuple[int, int]] = {}


class Traders:
    """The simulated traders of one world."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._market = exchange.market
        self._tape = exchange.tape
        self._stalls: dict[str, _Stall] = {}
        self._awaited: dict[str, None] = {}  # symbols in whose books customers may wait
        self._lived_ms = -1
        self._step = -1  # the latest one in which all awaited books were kept up

    def refresh(self, symbol_id: str) -> None:
        """Brings the book of a symbol up to the moment."""
        self._awaited[symbol_id] = None
        self._offer_anew(self._stall(symbol_id))

    def quotes(self, symbol_id: str) -> tuple[int | None, int | None]:
        """Best bid and ask at the moment; the book is only made up for it where customers may have changed it."""
        stall = self._stalls.get(symbol_id)
        if stall is None or (symbol_id not in self._awaited and self._market.still_at_ms is None):
            return self._market.quotes(self._exchange.symbols[symbol_id], self._exchange.moment_ms)
        self._offer_anew(stall)
        return stall.pair.book.best(BUY), stall.pair.book.best(SELL)

    def next_due_ms(self) -> int | None:
        """When the traders want to act unasked; None while nobody waits for them."""
        if not self._awaited or self._market.still_at_ms is not None:
            return None
        return (self._exchange.moment_ms // STEP_MS + 1) * STEP_MS

    def live_until(self, until_ms: int, *, is_last: bool) -> bool:
        """Acts up to an instant where customers wait; True when it stopped after something happened on the way.

        `is_last` lets the traders offer anew at the instant, which becomes the present moment. The moment goes along
        with what happens.
        """
        if self._lived_ms < 0:
            self._wake(until_ms)
        for trade, stall in self._passing(until_ms):
            if self._meets(stall, trade):
                return True
        self._lived_ms = max(self._lived_ms, until_ms)
        if is_last:
            self._exchange.moment_ms = max(self._exchange.moment_ms, until_ms)
            self._keep_up()
        return False

    def _wake(self, until_ms: int) -> None:
        self._lived_ms = until_ms
        for order in self._exchange.orders.active.values():
            self._awaited[order.pair.symbol.id] = None

    # What trades on the way do ---------------------------------------------------------------------------------------

    def _passing(self, until_ms: int) -> Iterator[tuple[Trade, _Stall]]:
        """The simulated trades up to an instant in the symbols where customers wait, in their order; how far they were
        gone through is remembered as they are taken."""
        if not self._awaited:
            return
        first_ms, last_ms = self._lived_ms + 1, self._market.reached_ms(min(until_ms, self._lived_ms + LONGEST_WALK_MS))
        if last_ms < first_ms:
            return
        stalls = [stall for stall in map(self._stall, self._awaited) if self._may_pass(stall, first_ms, last_ms)]
        if not stalls:
            return
        for leaf in range(first_ms // LEAF_MS, last_ms // LEAF_MS + 1):
            trades = [passing for stall in stalls for passing in self._in_leaf(stall, leaf, first_ms, last_ms)]
            trades.sort(key=lambda passing: passing[0])
            for trade, stall in trades:
                self._lived_ms = max(self._lived_ms, trade.at_ms - 1)
                yield trade, stall
            self._lived_ms = max(self._lived_ms, min(last_ms, (leaf + 1) * LEAF_MS - 1))

    def _may_pass(self, stall: _Stall, first_ms: int, last_ms: int) -> bool:
        """Whether simulated trades happen between two instants where customers wait."""
        if stall.next_ms > last_ms:
            return False
        stall.next_ms = self._tape.next_ms(self._tape.track(stall.pair.symbol.id), first_ms - 1)
        return stall.next_ms <= last_ms and self._has_customers(stall)

    def _in_leaf(self, stall: _Stall, leaf: int, first_ms: int, last_ms: int) -> list[tuple[Trade, _Stall]]:
        """The trades of a leaf between two instants that may reach a customer."""
        track = self._tape.track(stall.pair.symbol.id)
        if (leaf + 1) * LEAF_MS <= last_ms and not self._may_meet(stall, self._tape.bar(track, leaf, last_ms)):
            return []
        trades = self._tape.simulated(track, leaf, last_ms)
        return [(trade, stall) for trade in trades[bisect_left(trades, first_ms, key=attrgetter("at_ms")) :]]

    def _may_meet(self, stall: _Stall, bar: Bar | None) -> bool:
        """Whether trades with this bar may reach a customer."""
        if bar is None:
            return False
        self._withdraw(stall)
        book, stops = stall.pair.book, stall.pair.stops
        bid, ask = book.best(BUY), book.best(SELL)
        return (
            (bid is not None and bid > bar.low)
            or (ask is not None and ask < bar.high)
            or stops.reached(bar.low)
            or stops.reached(bar.high)
        )

    def _meets(self, stall: _Stall, trade: Trade) -> bool:
        """Lets a simulated trade reach the customers whose prices it passes; whether it reached any."""
        self._withdraw(stall)
        pair, exchange, symbol_id = stall.pair, self._exchange, stall.pair.symbol.id
        bid, ask = pair.book.best(BUY), pair.book.best(SELL)
        if not ((bid or 0) > trade.price or (ask or trade.price) < trade.price or pair.stops.reached(trade.price)):
            return False
        exchange.moment_ms = max(exchange.moment_ms, trade.at_ms)
        for side, limit in ((SELL, trade.price + 1), (BUY, trade.price - 1)):
            waiting, _ = pair.book.walk(side, _EVERYTHING, limit)
            if waiting:
                orders_house.offer(exchange, symbol_id, side, limit, waiting, time_in_force="IOC")
        if pair.stops.reached(trade.price):
            self._offer_anew(stall)
            recorded = [[trade.id, 0, trade.price, trade.quantity]]
            exchange.happen(
                orders_house.TRADES, orders_house.live_trades, symbol=symbol_id, side=trade.side, trades=recorded
            )
        return True

    # What they offer -------------------------------------------------------------------------------------------------

    def _keep_up(self) -> None:
        """Offers anew, once a step, where customers wait, and leaves the books alone where nobody does."""
        step = self._exchange.moment_ms // STEP_MS
        if step == self._step:
            return
        self._step = step
        for symbol_id in tuple(self._awaited):
            stall = self._stall(symbol_id)
            if self._has_customers(stall):
                self._offer_anew(stall)
            elif stall.step != step:
                del self._awaited[symbol_id]

    def _has_customers(self, stall: _Stall) -> bool:
        book = stall.pair.book
        own = sum(number in book for side in (stall.bids, stall.asks) for number, _ in side.values())
        return len(stall.pair.stops) > 0 or len(book) > own

    def _offer_anew(self, stall: _Stall) -> None:
        """Brings the traders' offers up to the moment: what is no longer wished goes, what was taken comes back."""
        moment_ms = self._exchange.moment_ms
        step = moment_ms // STEP_MS
        if stall.step == step or (stall.step >= 0 and self._market.still_at_ms is not None):
            return
        stall.step = step
        book = stall.pair.book
        sides = tuple(zip((BUY, SELL), (stall.bids, stall.asks), stall.wishes.at(moment_ms), strict=True))
        for _, own, sizes in sides:
            for price, (number, size) in tuple(own.items()):
                if sizes.get(price) != size or book.remaining(number) != size:
                    book.cancel(number)
                    del own[price]
        for side, own, sizes in sides:
            for price, size in sizes.items():
                if price not in own:
                    number, outcome = orders_house.offer(self._exchange, stall.pair.symbol.id, side, price, size)
                    if outcome.resting:
                        own[price] = number, size

    def _withdraw(self, stall: _Stall) -> None:
        """Takes all offers of the traders out, so that only customers are left."""
        for own in (stall.bids, stall.asks):
            for number, _ in own.values():
                stall.pair.book.cancel(number)
            own.clear()
        stall.step = self._step = -1

    def _stall(self, symbol_id: str) -> _Stall:
        stall = self._stalls.get(symbol_id)
        if stall is None:
            wishes = Wishes(self._market, self._tape.track(symbol_id))
            stall = self._stalls[symbol_id] = _Stall(self._exchange.pair(symbol_id), wishes)
        return stall
