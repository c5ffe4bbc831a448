"""A symbol as it is traded: its book, matched by price and then by time; its waiting stop orders; and the way between
decimals and the whole numbers of both.

Prices count ticks, quantities count increments, money is in the ledger's units (10^-24). The product of a price and a
quantity is a notional; so many units of the quote currency make one. Whose an order is, what money backs it, what
becomes of it and what it is called outside are not known here: an order is its number. By convention the numbers of
customers' orders are positive and those of the simulated traders negative.

A level is a dict from the orders at one price, first come first, to what is left of each; a side is a dict of its
levels and a heap of their keys. A key is the price, negated for bids, so that the lowest key is the best one on both
sides. A level whose last order was cancelled stays until it comes to the top of the heap, or until the next sweep.
"""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from heapq import heapify, heappop, heappush, nsmallest
from typing import Final, NamedTuple, TypeAlias

from sandbox.amounts import EXACT, ZERO, text_of
from sandbox.exchange.accounts.ledger import UNIT, units_of
from sandbox.exchange.listing.symbols import Symbol

BUY: Final = "buy"
SELL: Final = "sell"
SIDES: Final = (SELL, BUY)
FOK: Final = "FOK"
POST_ONLY: Final = "postOnly"
UNFILLED: Final = "unfilled"
_NEVER_REST: Final = frozenset({"IOC", FOK})
_ANY_PRICE: Final = 10**60  # the limit of an order without one
_LEAST_LEVELS: Final = 64  # fewer levels than this are not worth a sweep


# What an incoming order took from one resting order: the number of the resting one, its price, and the quantity.
Fill: TypeAlias = tuple[int, int, int]


class Outcome(NamedTuple):
    """What became of an incoming order: its fills in their order, and whether what they left of it rests now.

    `reason` tells why what is left is gone: "postOnly" (it would have taken), "unfilled" (it may not rest), or "".
    """

    fills: Sequence[Fill]
    resting: bool
    reason: str = ""


# An order that meets nothing is the usual case, and always the same.
_RESTS: Final = Outcome((), True)
_WOULD_TAKE: Final = Outcome((), False, POST_ONLY)
_MET_NOTHING: Final = Outcome((), False, UNFILLED)


class _Side:
    """All bids or all asks. With `sweep_at` levels, those without orders are forgotten."""

    __slots__ = ("keys", "levels", "sweep_at")

    def __init__(self) -> None:
        self.levels: dict[int, dict[int, int]] = {}
        self.keys: list[int] = []
        self.sweep_at = _LEAST_LEVELS

    def best(self) -> int | None:
        """The key of the best level that has orders."""
        keys, levels = self.keys, self.levels
        while keys and not levels[keys[0]]:
            del levels[heappop(keys)]
        return keys[0] if keys else None

    def is_within(self, limit: int) -> bool:
        """Whether an order that takes up to the key `limit` meets one."""
        key = self.best()
        return key is not None and key <= limit

    def opened(self, key: int) -> dict[int, int]:
        """A new level."""
        if len(self.keys) >= self.sweep_at:
            self.levels = {key: level for key, level in self.levels.items() if level}
            self.keys = list(self.levels)
            heapify(self.keys)
            self.sweep_at = max(2 * len(self.keys), _LEAST_LEVELS)
        heappush(self.keys, key)
        level = self.levels[key] = {}
        return level


class Book:
    """The book of one symbol."""

    __slots__ = ("_asks", "_bids", "_orders", "symbol")

    def __init__(self, symbol: str) -> None:
        self.symbol = symbol
        self._bids = _Side()
        self._asks = _Side()
        self._orders: dict[int, dict[int, int]] = {}  # the level of each order

    def add(
        self,
        order_id: int,
        side: str,
        price: int | None,
        quantity: int,
        *,
        post_only: bool = False,
        time_in_force: str = "GTC",
    ) -> Outcome:
        """Matches an order and lets what is left rest, unless it is a market order (no price), IOC or FOK.

        A post-only order that would take is not taken in at all, nor is a FOK order that can't be filled whole. All
        other times in force are GTC here: the book knows no time.
        """
        if side == BUY:
            own, other, limit = self._bids, self._asks, _ANY_PRICE if price is None else price
        else:
            own, other, limit = self._asks, self._bids, _ANY_PRICE if price is None else -price
        remaining: int = quantity
        fills: Sequence[Fill] = ()
        keys = other.keys
        if keys and keys[0] <= limit and (other.levels[keys[0]] or other.is_within(limit)):
            if post_only:
                return _WOULD_TAKE
            if time_in_force == FOK and self.walk(side, quantity, price)[0] < quantity:
                return _MET_NOTHING
            fills, remaining = self._fill_against(other, limit, quantity)
            if not remaining:
                return Outcome(fills, False)
        if price is None or time_in_force in _NEVER_REST:
            return Outcome(fills, False, UNFILLED) if fills else _MET_NOTHING
        level = own.levels.get(-limit)
        if level is None:
            level = own.opened(-limit)
        level[order_id] = remaining
        self._orders[order_id] = level
        return Outcome(fills, True) if fills else _RESTS

    def _fill_against(self, other: _Side, limit: int, remaining: int) -> tuple[list[Fill], int]:
        """The fills against the other side up to the key `limit`, and what is left; its best level has orders."""
        fills: list[Fill] = []
        orders, keys, levels = self._orders, other.keys, other.levels
        while keys and keys[0] <= limit:
            price, level, gone = abs(keys[0]), levels[keys[0]], []
            for maker_id, have in level.items():
                if have > remaining:
                    level[maker_id] = have - remaining
                    fills.append((maker_id, price, remaining))
                    remaining = 0
                    break
                fills.append((maker_id, price, have))
                gone.append(maker_id)
                remaining -= have
                if not remaining:
                    break
            for maker_id in gone:
                del level[maker_id], orders[maker_id]
            if not level:
                del levels[heappop(keys)]
            if not remaining:
                break
        return fills, remaining

    def rest(self, order_id: int, side: str, price: int, quantity: int) -> None:
        """Puts an order behind those of its price without matching it, as when a recorded outcome is lived again."""
        own, key = (self._bids, -price) if side == BUY else (self._asks, price)
        level = own.levels.get(key)
        if level is None:
            level = own.opened(key)
        level[order_id] = quantity
        self._orders[order_id] = level

    def cancel(self, order_id: int) -> int:
        """Takes an order out; returns what was left of it, 0 when it is not in the book."""
        level = self._orders.pop(order_id, None)
        return level.pop(order_id) if level is not None else 0

    def reduce(self, order_id: int, quantity: int) -> None:
        """Takes a fill off a resting order, as when a recorded outcome is lived again; the order keeps its place.

        Raises KeyError for an order that is not in the book, ValueError for more than is left of it.
        """
        level = self._orders[order_id]
        if not 0 < quantity <= level[order_id]:
            raise ValueError("not a part of what is left of the order")
        level[order_id] -= quantity
        if not level[order_id]:
            self.cancel(order_id)

    def best(self, side: str) -> int | None:
        """The best price of the bids ("buy") or the asks ("sell"); None when there are none."""
        key = (self._bids if side == BUY else self._asks).best()
        return None if key is None else abs(key)

    def remaining(self, order_id: int) -> int:
        """What is left of a resting order, 0 when it is not in the book."""
        return self._orders.get(order_id, {}).get(order_id, 0)

    def levels(self, side: str, depth: int = 0) -> list[tuple[int, int]]:
        """Price and size of the levels of a side, best first; `depth` 0 means all of them."""
        levels = (self._bids if side == BUY else self._asks).levels
        keys = [key for key, level in levels.items() if level]
        best = nsmallest(depth, keys) if 0 < depth < len(keys) else sorted(keys)
        return [(abs(key), sum(levels[key].values())) for key in best]

    def volume_for(self, side: str, quantity: int) -> list[tuple[int, int]]:
        """The levels of a side, best first, that are just deep enough for a quantity; all when they are not."""
        levels_taken, missing = [], quantity
        for level in self.levels(side):
            if missing <= 0:
                break
            levels_taken.append(level)
            missing -= level[1]
        return levels_taken

    def walk(self, side: str, quantity: int, price: int | None = None) -> tuple[int, int]:
        """What an order of `side` would take now: the quantity, and the sum of price times quantity."""
        taken = cost = 0
        for at, size in self.levels(SELL if side == BUY else BUY):
            if taken == quantity or (price is not None and (at > price if side == BUY else at < price)):
                break
            part = min(size, quantity - taken)
            taken += part
            cost += part * at
        return taken, cost

    def __contains__(self, order_id: int) -> bool:
        return order_id in self._orders

    def __len__(self) -> int:
        return len(self._orders)


# Stop orders ----------------------------------------------------------------------------------------------------------


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

    def wake(self, price: int) -> list[int]:
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


# Decimals and whole numbers -------------------------------------------------------------------------------------------


FEE_STEP: Final[int] = UNIT // 10**12  # fees have at most twelve digits after the point (supplement 2.8)
_AVERAGE_DIGITS: Final[int] = 6  # an average price has so many digits more than a tick, at most


class Rate(NamedTuple):
    """A fee as a fraction of a notional, in steps of the fee: `numerator` / `denominator` steps for each."""

    numerator: int
    denominator: int

    def fee(self, notional: int) -> int:
        """The fee in units, rounded up to the next step; a rebate is negative and rounded towards zero."""
        return -(-notional * self.numerator // self.denominator) * FEE_STEP

    def floor(self, notional: int) -> int:
        """The fee in units, rounded down."""
        return notional * self.numerator // self.denominator * FEE_STEP

    def is_below(self, notional: int, units: int) -> bool:
        """Whether the exact, unrounded fee is less than so many units."""
        return notional * self.numerator * FEE_STEP < units * self.denominator


class Rates(NamedTuple):
    """The fees of an order: as taker, as maker, and the highest of them, which is not negative."""

    take: Rate
    provide: Rate
    cover: Rate


class Pair:
    """A symbol with its book, its waiting stops, and its scales."""

    __slots__ = ("_rated", "base", "base_unit", "book", "quote", "quote_unit", "stops", "symbol")

    def __init__(self, symbol: Symbol) -> None:
        self.symbol = symbol
        self.base, self.quote = symbol.base, symbol.quote
        self.base_unit = units_of(symbol.increment)
        self.quote_unit = units_of(EXACT.multiply(symbol.increment, symbol.tick))
        self.book = Book(symbol.id)
        self.stops = Stops()
        self._rated: tuple[Decimal, Decimal, Rates] | None = None  # the latest answer of `rates`

    def rate(self, fraction: Decimal) -> Rate:
        """The fee of so large a fraction of the volume."""
        return _rate(self.quote_unit, fraction)

    def rates(self, take: Decimal, provide: Decimal) -> Rates:
        """The fees of these fractions for takers and makers, and the highest that an order may come to."""
        latest = self._rated
        if latest is None or latest[0] is not take or latest[1] is not provide:
            rates = Rates(self.rate(take), self.rate(provide), self.rate(max(take, provide, ZERO)))
            latest = self._rated = take, provide, rates
        return latest[2]

    def price_text(self, ticks: int) -> str:
        """A price with the digits of the tick."""
        return format(EXACT.multiply(Decimal(ticks), self.symbol.tick), "f")

    def quantity_text(self, increments: int) -> str:
        """A quantity with the digits of the increment."""
        return format(EXACT.multiply(Decimal(increments), self.symbol.increment), "f")

    def average_text(self, notional: int, quantity: int) -> str:
        """The average price of what was traded, with the digits of the tick and as many more as it needs, up to six;
        zero when nothing was traded."""
        digits = len(self.price_text(0).partition(".")[2])
        if not quantity:
            return self.price_text(0)
        scale = 10 ** (digits + _AVERAGE_DIGITS)
        average = Fraction(self.symbol.tick) * notional / quantity
        return text_of(Decimal(round(average * scale)).scaleb(-digits - _AVERAGE_DIGITS, EXACT), digits)


@lru_cache(maxsize=4096)
def _rate(quote_unit: int, fraction: Decimal) -> Rate:
    exact = Fraction(fraction) * quote_unit / FEE_STEP
    return Rate(exact.numerator, exact.denominator)


def to_nearest(value: Decimal, step: Decimal) -> tuple[int, bool]:
    """How many steps a value is, rounded half down, and whether it is exactly so many."""
    above, below = value.as_integer_ratio()
    step_above, step_below = step.as_integer_ratio()
    above, below = above * step_below, below * step_above
    return -((below - 2 * above) // (2 * below)), not above % below
