"""What the tape is made of: tracks, and how the trades and bars of one are made."""

from collections.abc import Iterable, Sequence
from typing import Final

from sandbox.engine.clock import DAY_MS
from sandbox.exchange.listing.symbols import TABLE, Symbol
from sandbox.exchange.orders.matching import BUY, SELL
from sandbox.exchange.tape.market import UNIT, Market, key_of, mixed
from sandbox.exchange.tape.tape_figures import Figures
from sandbox.exchange.tape.tape_sketches import LEAF_MS, Slot
from sandbox.exchange.tape.trades import Bar, Trade

LEAVES_A_DAY: Final = DAY_MS // LEAF_MS
ID_STEP: Final = 1_000  # trade numbers per millisecond, as the matching engine gives them out
ID_ROOM: Final = 500  # of these the last ones belong to simulated trades
_HISTORY_DAYS: Final = 100
_LEAST_HISTORY_DAYS: Final = 31  # a made-up symbol was listed so many days before its world began, or up to twice that
_LIVELIEST: Final = 4  # the first symbols of the list
_USUAL: Final = 13
# Knuth's linear congruential generator of MMIX, modulo 2^64: one multiplication a trade, of which the upper half is
# random enough to place trades in time. Other figures would make other trades of the same seed.
_MULTIPLIER: Final = 6364136223846793005
_INCREMENT: Final = 1442695040888963407
_MASK: Final = 2**64 - 1
_OFFSET: Final = 10_000  # parts of the price for one offset from the path


class Track:
    """What tells one symbol's trades from another's.

    `number` is its place in the list of symbols; a quiet one is made up and trades in a few leaves a day only. One
    `offset` from the path is so many ticks; so many times `UNIT` `increments` are worth a dollar.
    """

    __slots__ = (
        "begin_day",
        "figures",
        "increments",
        "is_quiet",
        "key",
        "known",
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
        self.is_quiet = number >= len(TABLE)
        days = _LEAST_HISTORY_DAYS + self.key % _LEAST_HISTORY_DAYS if self.is_quiet else _HISTORY_DAYS
        self.begin_day = started_ms // DAY_MS - days
        self.known: tuple[int, Sequence[int]] = (-1, ())  # a day and its leaves, the latest that were asked for


def _lengths(number: int, key: int) -> tuple[int, ...]:
    """How many trades the leaves of a listed symbol have, one of these at random."""
    usual = 180 if number < _LIVELIEST else 60 + key % 60 if number < _USUAL else 12 + key % 30
    return usual // 2, usual * 3 // 4, usual, usual * 5 // 4


def made(track: Track, leaf: int, slots: Sequence[Slot], prices: Sequence[int], size: int) -> list[Trade]:
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
