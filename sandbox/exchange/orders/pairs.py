"""A symbol as it is traded: its book, and the way between decimals and the whole numbers of the matching engine.

A price is counted in ticks, a quantity in increments, money in the ledger's units (10^-24). The product of a price and
a quantity is a notional; so many units of the quote currency make one.
"""

from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Final, NamedTuple

from sandbox.amounts import EXACT, ZERO, text_of
from sandbox.exchange.accounts.ledger import UNIT, units_of
from sandbox.exchange.listing.symbols import Symbol
from sandbox.exchange.orders.matching import Book
from sandbox.exchange.orders.orders_stops import Stops

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
