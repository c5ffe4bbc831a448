"""What the tape is made of: trades and bars, the tracks on which they are made, and the texts of them.

There may be a hundred thousand records in one answer, so that candles, trades and levels are written as JSON at once.
All that is in them are digits and the words of this module: nothing needs to be escaped. Prices have the digits of the
tick, quantities those of the increment, and their products both together, zeros included (supplement 2.9).
"""

from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Final, NamedTuple

from sandbox.engine.clock import DAY_MS
from sandbox.exchange.listing.symbols import Symbol
from sandbox.exchange.orders.matching import BUY, SELL
from sandbox.exchange.tape.market import UNIT, Market, key_of, mixed
from sandbox.exchange.tape.tape_sketches import LEAF_MS, Slot


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


# Texts ----------------------------------------------------------------------------------------------------------------


_MINUTE_MS: Final = 60_000
_CLOCK: Final = tuple(f"T{minute // 60:02d}:{minute % 60:02d}:" for minute in range(24 * 60))
_EPOCH: Final = date(1970, 1, 1)


class Figures:
    """How the figures of one symbol are written."""

    __slots__ = ("_notional", "_price", "_quantity")

    def __init__(self, symbol: Symbol) -> None:
        self._price = _scale(symbol.tick)
        self._quantity = _scale(symbol.increment)
        self._notional = (self._price[0] * self._quantity[0], self._price[1] + self._quantity[1])

    def price(self, ticks: int) -> str:
        """A price."""
        return _text(ticks, *self._price)

    def quantity(self, increments: int) -> str:
        """A quantity."""
        return _text(increments, *self._quantity)

    def notional(self, product: int) -> str:
        """An amount of the quote currency: a sum of prices times quantities."""
        return _text(product, *self._notional)

    def candle(self, start_ms: int, bar: Bar) -> str:
        """The Candle record as JSON."""
        opened, closed, low, high, quantity, notional, _ = bar
        first = _text(opened, *self._price)  # most candles of a quiet symbol are of one trade
        last = first if closed == opened else _text(closed, *self._price)
        least = first if low == opened else last if low == closed else _text(low, *self._price)
        most = first if high == opened else last if high == closed else _text(high, *self._price)
        return (
            f'{{"timestamp":"{instant(start_ms)}","open":"{first}","close":"{last}","min":"{least}","max":"{most}",'
            f'"volume":"{_text(quantity, *self._quantity)}","volumeQuote":"{_text(notional, *self._notional)}"}}'
        )

    def trade(self, trade: Trade) -> str:
        """The Public trade record as JSON."""
        number, at_ms, price, quantity, side = trade
        return (
            f'{{"id":{number},"price":"{_text(price, *self._price)}","quantity":"{_text(quantity, *self._quantity)}",'
            f'"side":"{side}","timestamp":"{instant(at_ms)}"}}'
        )

    def levels(self, levels: Iterable[tuple[int, int]]) -> str:
        """The levels of one side of an order book as a JSON array."""
        records = [
            f'{{"price":"{_text(price, *self._price)}","size":"{_text(size, *self._quantity)}"}}'
            for price, size in levels
        ]
        return f"[{','.join(records)}]"


def _scale(step: Decimal) -> tuple[int, int]:
    """How many units of the last digit one step is, and how many digits after the point there are."""
    text = format(step, "f")
    digits = len(text.partition(".")[2])
    return int(text.replace(".", "")), digits


def _text(steps: int, factor: int, digits: int) -> str:
    text = str(steps * factor)
    if not digits:
        return text
    if len(text) <= digits:
        text = text.rjust(digits + 1, "0")
    return f"{text[:-digits]}.{text[-digits:]}"


def instant(at_ms: int) -> str:
    """ISO 8601 in UTC with milliseconds."""
    day, passed_ms = divmod(at_ms, DAY_MS)
    minute, rest = divmod(passed_ms, _MINUTE_MS)
    return f"{_date(day)}{_CLOCK[minute]}{rest // 1_000:02d}.{rest % 1_000:03d}Z"


def nine_digits(at_ms: int) -> str:
    """ISO 8601 in UTC with nine digits after the seconds, as order books have it."""
    return f"{instant(at_ms)[:-1]}000000Z"


@lru_cache(maxsize=4_000)
def _date(day: int) -> str:
    return (_EPOCH + timedelta(days=day)).isoformat()


# Tracks ---------------------------------------------------------------------------------------------------------------


LEAVES_A_DAY: Final = DAY_MS // LEAF_MS
ID_STEP: Final = 1_000  # trade numbers per millisecond, as the matching engine gives them out
ID_ROOM: Final = 500  # of these the last ones belong to simulated trades
_HISTORY_DAYS: Final = 100
_LEAST_HISTORY_DAYS: Final = 31  # a made-up symbol was listed so many days before its world began, or up to twice that
_LIVELIEST: Final = 4  # the first symbols of the list
_USUAL: Final = 13
# Knuth's linear congruential generator of MMIX (The Art of Computer Programming, volume 2, 3.3.4), modulo 2^64: one
# multiplication a trade. Its increment is odd and its multiplier one more than a multiple of four, so it repeats only
# after 2^64 numbers (Hull and Dobell); its lowest bit alternates, which is why only the upper half of a number places a
# trade in time. Other figures would make other trades of the same seed.
_MULTIPLIER: Final = 6364136223846793005
_INCREMENT: Final = 1442695040888963407
_MASK: Final = 2**64 - 1
_OFFSET: Final = 10_000  # parts of the price for one offset from the path


class Track:
    """What tells one symbol's trades from another's.

    `number` is its place in the list of symbols; a quiet one has a currency that the sandbox does not list, and trades
    in a few leaves a day only. One `offset` from the path is so many ticks; so many times `UNIT` `increments` are worth
    a dollar.
    """

    __slots__ = (
        "begin_day",
        "figures",
        "increments",
        "is_quiet",
        "key",
        "leaves_of_day",
        "lengths",
        "number",
        "offset",
        "symbol",
    )

    def __init__(self, symbol: Symbol, number: int, market: Market, started_ms: int) -> None:
        self.symbol = symbol
        self.figures = Figures(symbol)
        self.number = number
        self.key = key_of(market.seed, f"tape|{symbol.id}")
        self.lengths = _lengths(number, self.key)
        self.offset = market.listed_ticks(symbol) // _OFFSET or 1
        self.increments = UNIT**3 // (market.listed_price(symbol.base) * int(symbol.increment * UNIT))
        self.is_quiet = not market.is_listed(symbol)
        days = _LEAST_HISTORY_DAYS + self.key % _LEAST_HISTORY_DAYS if self.is_quiet else _HISTORY_DAYS
        self.begin_day = started_ms // DAY_MS - days
        self.leaves_of_day: tuple[int, Sequence[int]] = (-1, ())  # a day and its leaves, the latest that were asked for


def _lengths(number: int, key: int) -> tuple[int, ...]:
    """How many trades the leaves of a listed symbol have, one of these at random."""
    usual = 180 if number < _LIVELIEST else 60 + key % 60 if number < _USUAL else 12 + key % 30
    return usual // 2, usual * 3 // 4, usual, usual * 5 // 4


def trades_of_leaf(track: Track, leaf: int, slots: Sequence[Slot], prices: Sequence[int], size: int) -> list[Trade]:
    """Trades of a leaf, spread over it at random."""
    stretch_ms, at_ms, last_digits = LEAF_MS // len(slots), leaf * LEAF_MS, 1 + track.number % ID_ROOM
    drawn, trades = mixed(track.key ^ leaf), []
    for (_, offset, weight), price in zip(slots, prices, strict=True):
        drawn = drawn * _MULTIPLIER + _INCREMENT & _MASK
        when_ms = at_ms + (drawn >> 32) % stretch_ms
        side = BUY if offset > 0 else SELL
        trades.append(Trade(when_ms * ID_STEP - last_digits, when_ms, price, weight * size, side))
        at_ms += stretch_ms
    return trades


def bar_of(trades: Iterable[Trade]) -> Bar | None:
    """The bar of trades in their order; None when there are none."""
    trade_list = list(trades)
    if not trade_list:
        return None
    prices = [trade.price for trade in trade_list]
    quantity = sum(trade.quantity for trade in trade_list)
    notional = sum(trade.price * trade.quantity for trade in trade_list)
    return Bar(prices[0], prices[-1], min(prices), max(prices), quantity, notional, len(trade_list))


def joined(bars: Sequence[Bar]) -> Bar:
    """The bar of bars that follow each other, at least one."""
    if len(bars) == 1:
        return bars[0]
    _, _, lows, highs, quantities, notionals, trades = zip(*bars, strict=True)
    return Bar(bars[0].open, bars[-1].close, min(lows), max(highs), sum(quantities), sum(notionals), sum(trades))
