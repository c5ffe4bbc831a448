"""What a kept order book would do to an order right now: what it takes, at which prices, and how far that reaches.

An estimate and nothing more: the book was read a moment ago, and others trade in it.
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
    """What of an order fills at once. Quantities in the base currency, prices and `worth` in the quote currency.

    `missing` is what the book doesn't take: it rests, or ends unfilled. `slippage` is how much worse the average is
    than the best price, as a fraction of it.
    """

    filled: Decimal
    missing: Decimal
    worth: Decimal
    best: Decimal | None = None
    average: Decimal | None = None
    worst: Decimal | None = None
    slippage: Decimal | None = None


def fill(*, book: BookSnapshot | None, side: str, quantity: Decimal, limit: Decimal | None = None) -> Fill | None:
    """What an order of this side takes from the other side of the book, at the limit or better; None without a book."""
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
