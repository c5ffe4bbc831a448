"""The arithmetic of isolated margin: what orders and positions need, and the prices at which a position is in danger
(supplement 1.5).

Money is counted in the ledger's units and prices in ticks. The size of a position is what it gains, in units, when the
price rises by one tick: negative for a short one.
"""

from decimal import Decimal
from fractions import Fraction
from math import ceil
from typing import Final, NamedTuple

from sandbox.exchange.orders.matching import FEE_STEP

_WARNING: Final = Fraction(1, 30)  # the margin call comes so much of the price before the liquidation


class Terms(NamedTuple):
    """What the amounts of an account depend on: its leverage L and the taker's rate f."""

    leverage: Decimal
    rate: Decimal

    def for_order(self, value: int) -> int:
        """What an order of this value needs: value x ((1 + f)/L + 2f), rounded up to twelve digits."""
        return _rounded_up(value * (self._share() + 2 * Fraction(self.rate)))

    def for_position(self, cost: int) -> int:
        """What a position that was entered at this cost needs: cost x ((1 + f)/L + f), rounded up to twelve digits."""
        return _rounded_up(cost * (self._share() + Fraction(self.rate)))

    def liquidation_price(self, balance: int, cost: int, size: int) -> int:
        """The price at which a position is liquidated, cut off to the tick; 0 when a long one never is."""
        return _edge(balance, cost, size, 1 / (2 * Fraction(self.leverage)) + Fraction(self.rate))

    def margin_call_price(self, balance: int, cost: int, size: int) -> int:
        """The price from which on a position may only be reduced, cut off to the tick; 0 when a long one has none."""
        return _edge(balance, cost, size, 1 / (2 * Fraction(self.leverage)) + _WARNING + Fraction(self.rate))

    def _share(self) -> Fraction:
        return (1 + Fraction(self.rate)) / Fraction(self.leverage)


def _edge(balance: int, cost: int, size: int, share: Fraction) -> int:
    """Short: (balance + cost) / (size x (1 + share)); long: (cost - balance) / (size x (1 - share))."""
    if size < 0:
        return int((balance + cost) / (-size * (1 + share)))
    if cost <= balance or share >= 1:
        return 0
    return int((cost - balance) / (size * (1 - share)))


def _rounded_up(units: Fraction) -> int:
    return ceil(units / FEE_STEP) * FEE_STEP
