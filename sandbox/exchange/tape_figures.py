"""The texts of market data: whole numbers of ticks and increments as decimals, milliseconds as instants, made quickly.

Prices have the digits of the tick, quantities those of the increment, and their products both together, zeros included
(supplement 2.9).
"""

from decimal import Decimal
from functools import lru_cache
from typing import Final

from sandbox.exchange.symbols import Symbol
from sandbox.exchange.transactions import instant_text

_MINUTE_MS: Final = 60_000


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


def _scale(step: Decimal) -> tuple[int, int]:
    """How many units of the last digit one step is, and how many digits after the point there are."""
    text = format(step, "f")
    digits = len(text.partition(".")[2])
    return int(text.replace(".", "")), digits


def _text(steps: int, factor: int, digits: int) -> str:
    text = str(steps * factor)
    if not digits:
        return text
    text = text.rjust(digits + 1, "0")
    return f"{text[:-digits]}.{text[-digits:]}"


def instant(at_ms: int) -> str:
    """ISO 8601 in UTC with milliseconds."""
    minute, rest = divmod(at_ms, _MINUTE_MS)
    return f"{_minute(minute)}{rest // 1_000:02d}.{rest % 1_000:03d}Z"


def nine_digits(at_ms: int) -> str:
    """ISO 8601 in UTC with nine digits after the seconds, as order books have it."""
    return f"{instant(at_ms)[:-1]}000000Z"


@lru_cache(maxsize=20_000)
def _minute(minute: int) -> str:
    """The text of the instant up to its seconds."""
    return instant_text(minute * _MINUTE_MS)[:17]
