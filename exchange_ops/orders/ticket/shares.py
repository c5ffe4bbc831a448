"""How much a quarter, half or all of what is available buys or sells: exact, rounded down to the symbol's increment.

"All" is what the exchange would accept: a buy needs more than its value plus the taker's fee, one at the market about a
tenth more, and on margin the collateral bounds both sides (supplement 1.5, 2.8).
"""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Final

from exchange_ops.market.models import Symbol
from exchange_ops.orders.request_checks import BUY
from exchange_ops.orders.ticket import collateral
from exchange_ops.orders.ticket.fee_rates import Rates
from exchange_ops.shared.models import Account

PERCENTS: Final = (25, 50, 75, 100)
_AT_THE_MARKET: Final = Fraction(11, 10)  # what a buy at the market has to cover beyond the best price


@dataclass(frozen=True, slots=True)
class Share:
    """A part of what is available, as a quantity in the base currency; zero where it is less than one increment."""

    percent: int
    quantity: Decimal

    @property
    def label(self) -> str:
        """What its button says."""
        return "Max" if self.percent == 100 else f"{self.percent} %"


def quarters(
    *,
    account: Account,
    symbol: Symbol,
    side: str,
    at: Decimal | None,
    available: Decimal,
    rates: Rates,
    margin: bool = False,
    has_limit: bool = True,
) -> list[Share]:
    """The four shares of what is `available` of the currency that is paid with; none where no price is known.

    `at` is the price in the quote currency. On margin what is free in the symbol's margin account counts instead.
    """
    if margin:
        most = collateral.most(account=account, symbol=symbol, at=at, rates=rates)
    elif side != BUY:
        most = Fraction(available)
    elif not at:
        return []
    else:
        cover = Fraction(1) if has_limit else _AT_THE_MARKET
        most = Fraction(available) / (Fraction(at) * cover * (1 + Fraction(rates.take)))
    return [
        Share(percent, rounded_down(most * percent / 100, symbol, below=percent == 100 and (margin or side == BUY)))
        for percent in PERCENTS
    ]


def rounded_down(most: Fraction, symbol: Symbol, *, below: bool = False) -> Decimal:
    """The largest multiple of the increment that is not above `most`, or is `below` it."""
    step = Fraction(symbol.quantity_increment)
    if step <= 0 or most <= 0:
        return Decimal(0)
    count = most // step
    if below and count * step == most:
        count -= 1
    quantity: Decimal = Decimal(max(count, 0)) * symbol.quantity_increment
    return quantity
