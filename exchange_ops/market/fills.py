"""How an order would fill against the stored order book right now: the quantity, the prices, the slippage.

It is only an estimate: the book was read a moment ago, and others trade in it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from typing import Final

from exchange_ops.market.models import BookSnapshot

BUY: Final = "buy"
ZERO: Final = Decimal(0)
_DIGITS: Final = 200
_PLACES: Final = Decimal(1).scaleb(-12)


@dataclass(frozen=True, slots=True)
class Fill:
    """The part of an order that fills at once. Quantities in the base currency, prices and `worth` in the quote one.

    `missing` is the quantity for which the book has no offer: it rests, or ends unfilled. `slippage` is how much worse
    the average price is than the best one, as a fraction of the best.
    """

    filled: Decimal
    missing: Decimal
    worth: Decimal
    best: Decimal | None = None
    average: Decimal | None = None
    worst: Decimal | None = None
    slippage: Decimal | None = None


def fill(*, book: BookSnapshot | None, side: str, quantity: Decimal, limit: Decimal | None = None) -> Fill | None:
    """How an order fills against the other side of the book, at the limit or better; None without a book."""
    if book is None:
        return None
    levels = [(Decimal(price), Decimal(size)) for price, size in (book.ask if side == BUY else book.bid)]
    if limit is not None:
        levels = [(price, size) for price, size in levels if (price <= limit if side == BUY else price >= limit)]
    with localcontext() as context:
        context.prec = _DIGITS
        return _walked(levels, quantity, side)


def _walked(levels: Sequence[tuple[Decimal, Decimal]], quantity: Decimal, side: str) -> Fill:
    filled, worth, worst = ZERO, ZERO, None
    for price, size in levels:
        taken = min(size, quantity - filled)
        if taken <= 0:
            break
        filled, worth, worst = filled + taken, worth + taken * price, price
    missing = quantity - filled
    if not filled:
        return Fill(ZERO, missing, ZERO, best=levels[0][0] if levels else None)
    best, average = levels[0][0], worth / filled
    worse = average - best if side == BUY else best - average
    return Fill(
        filled, missing, worth, best, _rounded(average), worst, slippage=_rounded(worse / best) if best else None
    )


def _rounded(value: Decimal) -> Decimal:
    return value.quantize(_PLACES, rounding=ROUND_HALF_EVEN)
