"""The simulated trades of every symbol, made from the seed, the symbol and the quarter of an hour alone.

They follow the path of the market, and can be had in two ways that agree exactly: as the bar of a whole leaf, in a few
sums, or one by one. Lively symbols trade in every leaf, made-up ones in a few leaves a day.
"""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from sandbox.clock import DAY_MS
from sandbox.exchange.market import MARK_MS, UNIT, Market, key_of, mixed
from sandbox.exchange.matching import BUY, SELL
from sandbox.exchange.symbols import TABLE, Symbol
from sandbox.exchange.tape_figures import Figures
from sandbox.exchange.tape_sketches import FARTHEST, LEAF_MS, POINTS, Sketch, sketches

LEAVES_A_DAY: Final = DAY_MS // LEAF_MS
ID_STEP: Final = 1_000  # trade numbers per millisecond, as the matching engine gives them out
ID_ROOM: Final = 500  # of these the last ones belong to simulated trades
_MARKS: Final = LEAF_MS // MARK_MS
_HISTORY_DAYS: Final = 100
_LEAST_HISTORY_DAYS: Final = 31  # a made-up symbol was listed so many days before its world began, or up to twice that
_LIVELIEST: Final = 4  # the first symbols of the list
_USUAL: Final = 13
_OFFSET: Final = 20_000  # parts of the price for one offset from the path
_WIDEST_SWING: Final = 600  # millionths beyond the path


class Trade(NamedTuple):
    """A public trade: price in ticks, quantity in increments, `side` the taker's."""

    id: int
    at_ms: int
    price: int
    quantity: int
    side: str


class Bar(NamedTuple):
    """What the trades of some time come to; prices in ticks, quantity in increments, notional in their product."""

    open: int
    close: int
    low: int
    high: int
    quantity: int
    notional: int
    trades: int


class Track:
    """What tells one symbol's trades from another's.

    `number` is its place in the list of symbols; a quiet one trades in a few leaves a day only.
    """

    __slots__ = ("begin_day", "figures", "increments", "is_quiet", "key", "known", "lengths", "number", "symbol")

    def __init__(self, symbol: Symbol, number: int, market: Market, started_ms: int) -> None:
        self.symbol = symbol
        self.figures = Figures(symbol)
        self.number = number
        self.key = key_of(market.seed, f"tape|{symbol.id}")
        self.lengths = _lengths(number, self.key)
        increment = int(symbol.increment * UNIT)
        self.increments = UNIT**3 // (market.listed_price(symbol.base) * increment)  # for a dollar, times UNIT
        days = _HISTORY_DAYS if number < len(TABLE) else _LEAST_HISTORY_DAYS + self.key % _LEAST_HISTORY_DAYS
        self.begin_day = started_ms // DAY_MS - days
        self.is_quiet = number >= len(TABLE)
        self.known: tuple[int, Sequence[int]] = (-1, ())  # a day and its leaves, the latest that were asked for


def _lengths(number: int, key: int) -> tuple[int, ...]:
    """How many trades its leaves have, one of these at random."""
    if number >= len(TABLE):
        return 1, 1, 2, 3
    usual = 180 if number < _LIVELIEST else 60 + key % 60 if number < _USUAL else 12 + key % 30
    return usual // 2, usual * 3 // 4, usual, usual * 5 // 4


class Simulation:
    """The simulated trades of one world."""

    def __init__(self, market: Market) -> None:
        self._market = market

    def leaves(self, track: Track, day: int) -> Sequence[int]:
        """The leaves of a day (both counted since 1970) in which the symbol trades, in their order."""
        if day < track.begin_day:
            return ()
        first = day * LEAVES_A_DAY
        if not track.is_quiet:
            return range(first, first + LEAVES_A_DAY)
        if track.known[0] != day:
            bits = mixed(track.key ^ day << 20)
            places = {(bits >> 7 * place & 127) % LEAVES_A_DAY for place in range(3 + bits % 7)}
            track.known = day, sorted([first + place for place in places])
        return track.known[1]

    def has(self, track: Track, leaf: int) -> bool:
        """Whether the symbol trades in the leaf."""
        return leaf in self.leaves(track, leaf // LEAVES_A_DAY)

    def count(self, track: Track, leaf: int) -> int:
        """How many trades a leaf has in which the symbol trades."""
        return len(self._sketch(track, mixed(track.key ^ leaf)).slots)

    def bar(self, track: Track, leaf: int) -> Bar:
        """The bar of a leaf in which the symbol trades."""
        number = mixed(track.key ^ leaf)
        sketch = self._sketch(track, number)
        prices, offset = self._prices(track, leaf, number)
        size = _size(track, number, sketch)
        notional = sum(map(int.__mul__, prices, sketch.weights)) + offset * sketch.net
        reached = [prices[point] + (many * offset if point < POINTS else 0) for point, many in sketch.reach]
        first, last = sketch.slots[0], sketch.slots[-1]
        return Bar(
            prices[first.point] + first.offset * offset,
            prices[last.point] + last.offset * offset,
            min(reached),
            max(reached),
            size * sketch.total,
            size * notional,
            len(sketch.slots),
        )

    def trades(self, track: Track, leaf: int) -> list[Trade]:
        """The trades of a leaf in which the symbol trades, in their order; no two in the same millisecond."""
        number = mixed(track.key ^ leaf)
        sketch = self._sketch(track, number)
        prices, offset = self._prices(track, leaf, number)
        size = _size(track, number, sketch)
        stretch_ms = LEAF_MS // len(sketch.slots)
        at_ms, drawn, last_digits = leaf * LEAF_MS, number, 1 + track.number % ID_ROOM
        made = []
        for point, many, weight in sketch.slots:
            drawn = drawn * 6364136223846793005 + 1442695040888963407 & 0xFFFFFFFFFFFFFFFF
            when_ms = at_ms + (drawn >> 32) % stretch_ms
            price = prices[point] + (many * offset if point < POINTS else 0)
            made.append(
                Trade(when_ms * ID_STEP - last_digits, when_ms, price, weight * size, BUY if many > 0 else SELL)
            )
            at_ms += stretch_ms
        return made

    def _sketch(self, track: Track, number: int) -> Sketch:
        variants = sketches(track.lengths[number >> 60 & 3])
        return variants[number % len(variants)]

    def _prices(self, track: Track, leaf: int, number: int) -> tuple[tuple[int, ...], int]:
        """The prices by point, HIGH and LOW included, and how many ticks one offset from those of the path is."""
        path, symbol, mark = self._market.path, track.symbol, leaf * _MARKS
        first, last = path(symbol, mark), path(symbol, mark + _MARKS)
        if track.is_quiet:  # its few trades need no more than a straight line
            points = tuple(first + (last - first) * point // (POINTS - 1) for point in range(POINTS))
        else:
            early, late = path(symbol, mark + 1), path(symbol, mark + 2)
            points = first, (first + early) // 2, early, (early + late) // 2, late, (late + last) // 2, last
        offset = first // _OFFSET or 1
        up = first * ((number >> 16) % _WIDEST_SWING) // 10**6
        down = first * ((number >> 32) % _WIDEST_SWING) // 10**6
        high, low = max(points) + FARTHEST * offset + up, min(points) - FARTHEST * offset - down
        return (*points, high, max(low, 1)), offset


def _size(track: Track, number: int, sketch: Sketch) -> int:
    """Increments for each share of the volume: some twenty to four hundred dollars for a trade, at least one."""
    dollars = len(sketch.slots) * (20 + (number >> 8) % 400)
    return max(dollars * track.increments // UNIT // sketch.total, 1)


def bar_of(trades: Iterable[Trade]) -> Bar | None:
    """The bar of trades in their order; None when there are none."""
    made = list(trades)
    if not made:
        return None
    prices = [trade.price for trade in made]
    quantity = sum(trade.quantity for trade in made)
    notional = sum(trade.price * trade.quantity for trade in made)
    return Bar(prices[0], prices[-1], min(prices), max(prices), quantity, notional, len(made))


def joined(bars: Sequence[Bar]) -> Bar:
    """The bar of bars that follow each other, at least one."""
    if len(bars) == 1:
        return bars[0]
    _, _, lows, highs, quantities, notionals, trades = zip(*bars, strict=True)
    return Bar(bars[0].open, bars[-1].close, min(lows), max(highs), sum(quantities), sum(notionals), sum(trades))
