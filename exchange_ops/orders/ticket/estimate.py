"""How the stored book would fill an order if it were placed now: average, slippage, levels, fee, what rests.

It is an estimate: the book is as old as its reading, others trade meanwhile, and it may end too early. Stop orders are
not estimated, because they meet the book of a later moment. Source: exchange REST, Order; supplement 2.8.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from typing import Final

from exchange_ops.market import depth
from exchange_ops.market.models import BookSnapshot, Symbol
from exchange_ops.orders.request_checks import BUY, OrderRequest
from exchange_ops.orders.ticket.fee_rates import Rates, usual

ZERO = Decimal(0)
_DIGITS: Final = 200  # of products and quotients of amounts
_PERCENT: Final = Decimal("0.01")
AT_ONCE: Final = ("IOC", "FOK")


@dataclass(frozen=True, slots=True)
class Estimate:
    """Quantities in the base, prices and the fee in the quote currency; `fee` below zero is a rebate.

    `slippage` is how much worse than the best price the average is, `deepest` the same for the worst price that is met;
    both in percent. `remaining` is what is not filled at once: it rests in the book, or lapses where `lapses` is set.
    `short`: the book ends before the order is filled. `cancelled`: a post-only order that would take.
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
    remaining: Decimal = ZERO
    lapses: bool = False
    short: bool = False
    cancelled: bool = False

    @property
    def rebate(self) -> Decimal:
        """What the exchange would pay, where the fee is below zero."""
        return max(-self.fee, ZERO)


def from_book(*, requested: OrderRequest, symbol: Symbol, rates: Rates | None = None) -> Estimate | None:
    """The estimate from the newest stored book; None for stop orders, without a book, and without its other side.

    Without `rates` the fee is computed with the symbol's usual ones.
    """
    book = BookSnapshot.objects.filter(pk=symbol.pk).first()
    if book is None or requested.type not in {"limit", "market"}:
        return None
    ladder = depth.ladder(book=book)
    side = ladder.ask if requested.side == BUY else ladder.bid
    if not side:
        return None
    with localcontext() as context:
        context.prec = _DIGITS
        return _estimate(requested, symbol, side, book.read_at, rates or usual(symbol))


def _estimate(
    requested: OrderRequest, symbol: Symbol, side: Sequence[depth.Step], read_at: datetime, rates: Rates
) -> Estimate:
    matches = _matches(requested, side)
    filled = sum((size for _, size in matches), ZERO)
    best, remaining = side[0].price, requested.quantity - filled
    is_refused = bool(matches) and requested.post_only
    if is_refused or (requested.time_in_force == "FOK" and remaining):
        return Estimate(
            best, read_at, remaining=requested.quantity, lapses=True, cancelled=is_refused, short=remaining > 0
        )
    lapses = requested.type == "market" or requested.time_in_force in AT_ONCE
    value = sum((price * size for price, size in matches), ZERO)
    fee = value * (rates.take + (requested.take_liquidity_markup or ZERO))
    if remaining and not lapses and requested.price is not None:
        fee += remaining * requested.price * (rates.provide + (requested.provide_liquidity_markup or ZERO))
    digits = symbol.tick_size.normalize().scaleb(-2)  # two more than a price has
    average = (value / filled).quantize(digits) if filled else None
    worst = matches[-1][0] if matches else None
    return Estimate(
        best=best,
        read_at=read_at,
        filled=filled,
        average=average,
        worst=worst,
        levels=len(matches),
        slippage=_percent_worse(average, best),
        deepest=_percent_worse(worst, best),
        fee=fee.quantize(digits),
        remaining=remaining,
        lapses=lapses,
        short=remaining > 0 and len(matches) == len(side),
    )


def _matches(requested: OrderRequest, side: Sequence[depth.Step]) -> list[tuple[Decimal, Decimal]]:
    """The prices that it would trade at, best first, each with the quantity."""
    matches, remaining = [], requested.quantity
    for step in side:
        beyond = requested.price is not None and (
            step.price > requested.price if requested.side == BUY else step.price < requested.price
        )
        if remaining <= 0 or beyond:
            break
        matches.append((step.price, min(step.size, remaining)))
        remaining -= matches[-1][1]
    return matches


def _percent_worse(price: Decimal | None, best: Decimal) -> Decimal:
    if price is None or not best:
        return ZERO
    return (abs(price / best - 1) * 100).quantize(_PERCENT, rounding=ROUND_HALF_EVEN)
