"""The texts of market data: whole numbers of ticks and increments as decimals, milliseconds as instants, made quickly.

There may be a hundred thousand records in one answer, so that candles, trades and levels are written as JSON at once.
All that is in them are digits and the words of this module: nothing needs to be escaped. Prices have the digits of the
tick, quantities those of the increment, and their products both together, zeros included (supplement 2.9).
"""

from collections.abc import Iterable
from datetime import date, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Final

from sandbox.engine.clock import DAY_MS
from sandbox.exchange.listing.symbols import Symbol
from sandbox.exchange.tape.trades import Bar, Trade

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
