"""What an order would meet in the kept book if it were placed now: average, slippage, levels, fee, what rests.

An estimate: the book is as old as its reading, others trade meanwhile, and what the book doesn't reach is not known.
A stop order is not estimated, since it meets the book of another moment. Source: exchange REST, Order; supplement 2.8.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from typing import Final

from exchange_ops.market import depth
from exchange_ops.market.models import BookSnapshot, Symbol
from exchange_ops.orders.request_checks import BUY, Wanted
from exchange_ops.orders.ticket.rates import Rates, usual

ZERO = Decimal(0)
_DIGITS: Final = 200  # of products and quotients of amounts
_PERCENT: Final = Decimal("0.01")
AT_ONCE: Final = ("IOC", "FOK")


@dataclass(frozen=True, slots=True)
class Estimate:
    """Quantities in the base, prices and the fee in the quote currency; `fee` below zero is a rebate.

    `slippage` is how much worse than the best price the average is, `deepest` the same of the worst price that is met;
    both in percent. `left` is what is not filled at once: it rests, or lapses where `lapses`. `short`: the book ends
    before the order does. `cancelled`: a post-only order that would take.
    """

    best: Decimal
    read_at: datetime
    filled: Decimal = ZERO
    average: Decimal | None = None
    worst: Decimal | None = None
    levels: int = 0
    slippage: Decimal = ZERO
    deepest: Decimal = ZERO
    fee: Decimal = ZERO
    left: Decimal = ZERO
    lapses: bool = False
    short: bool = False
    cancelled: bool = False

    @property
    def rebate(self) -> Decimal:
        """What the exchange would pay, where the fee is below zero."""
        return max(-self.fee, ZERO)


def of(*, wanted: Wanted, symbol: Symbol, rates: Rates | None = None) -> Estimate | None:
    """The estimate, from the newest kept book; nothing for stop orders and where no book or no other side is known.

    Without `rates` the fee is reckoned with the symbol's usual ones.
    """
    book = BookSnapshot.objects.filter(pk=symbol.pk).first()
    if book is None or wanted.type not in {"limit", "market"}:
        return None
    ladder = depth.ladder(book=book)
    side = ladder.ask if wanted.side == BUY else ladder.bid
    if not side:
        return None
    with localcontext() as context:
        context.prec = _DIGITS
        return _reckoned(wanted, symbol, side, book.read_at, rates or usual(symbol))


def _reckoned(wanted: Wanted, symbol: Symbol, side: Sequence[depth.Step], read_at: datetime, rates: Rates) -> Estimate:
    met = _met(wanted, side)
    filled = sum((size for _, size in met), ZERO)
    best, left = side[0].price, wanted.quantity - filled
    is_refused = bool(met) and wanted.post_only
    if is_refused or (wanted.time_in_force == "FOK" and left):
        return Estimate(best, read_at, left=wanted.quantity, lapses=True, cancelled=is_refused, short=left > 0)
    lapses = wanted.type == "market" or wanted.time_in_force in AT_ONCE
    value = sum((price * size for price, size in met), ZERO)
    fee = value * (rates.take + (wanted.take_liquidity_markup or ZERO))
    if left and not lapses and wanted.price is not None:
        fee += left * wanted.price * (rates.provide + (wanted.provide_liquidity_markup or ZERO))
    digits = symbol.tick_size.normalize().scaleb(-2)  # two more than a price has
    average = (value / filled).quantize(digits) if filled else None
    worst = met[-1][0] if met else None
    return Estimate(
        best=best,
        read_at=read_at,
        filled=filled,
        average=average,
        worst=worst,
        levels=len(met),
        slippage=_worse(average, best),
        deepest=_worse(worst, best),
        fee=fee.quantize(digits),
        left=left,
        lapses=lapses,
        short=left > 0 and len(met) == len(side),
    )


def _met(wanted: Wanted, side: Sequence[depth.Step]) -> list[tuple[Decimal, Decimal]]:
    """The prices that it takes, best first, each with how much of it."""
    met, left = [], wanted.quantity
    for step in side:
        beyond = wanted.price is not None and (
            step.price > wanted.price if wanted.side == BUY else step.price < wanted.price
        )
        if left <= 0 or beyond:
            break
        met.append((step.price, min(step.size, left)))
        left -= met[-1][1]
    return met


def _worse(price: Decimal | None, best: Decimal) -> Decimal:
    if price is None or not best:
        return ZERO
    return (abs(price / best - 1) * 100).quantize(_PERCENT, rounding=ROUND_HALF_EVEN)
