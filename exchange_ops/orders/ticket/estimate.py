"""What an order would do by the stored book, which the page shows: fill, average, fee, cost or proceeds, what rests.

Every figure comes from the same simulated fill. It is an estimate: the book is as old as its reading, others trade
meanwhile, and it may end too early. A stop that the market has not reached meets the book of a later moment, so it is
estimated at its limit or its stop; one that is reached is triggered by the next trade and meets the present book.
Source: exchange REST, Order; supplement 2.8.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from typing import Final

from exchange_ops.market.models import BookSnapshot, Symbol, Ticker
from exchange_ops.orders import distance
from exchange_ops.orders.request_checks import BUY, OrderRequest
from exchange_ops.orders.ticket.fee_rates import Rates, usual

ZERO = Decimal(0)
_DIGITS: Final = 200  # of products and quotients of amounts
_PERCENT: Final = Decimal("0.01")
AT_ONCE: Final = ("IOC", "FOK")
LIMITS: Final = ("limit", "stopLimit")
Level = tuple[Decimal, Decimal]  # a price and the quantity offered there


@dataclass(frozen=True, slots=True)
class Estimate:
    """Quantities in the base, prices and amounts in the quote currency; `fee` below zero is a rebate.

    `average`, `worst`, `slippage` and `deepest` are of what fills at once; the last two say in percent how much worse
    than the best price the average and the worst price are. `remaining` is what doesn't fill at once: it is cancelled
    where `lapses` is set, else it rests in the book at its limit. `value`, `fee` and `total` are of what fills at once
    and of what rests; `total` is the cost of a buy with the fee, and the proceeds of a sale less the fee. `short`: the
    book ends before the order is filled. `cancelled`: a post-only order that would take. `waits`: a stop that is not
    reached; its amounts are those at its limit, or at its stop.
    """

    best: Decimal | None
    read_at: datetime
    filled: Decimal = ZERO
    average: Decimal | None = None
    worst: Decimal | None = None
    levels: int = 0
    slippage: Decimal = ZERO
    deepest: Decimal = ZERO
    value: Decimal = ZERO
    fee: Decimal = ZERO
    total: Decimal = ZERO
    remaining: Decimal = ZERO
    lapses: bool = False
    short: bool = False
    cancelled: bool = False
    waits: bool = False

    @property
    def rests(self) -> Decimal:
        """What stays in the book at its limit."""
        return ZERO if self.lapses or self.waits else self.remaining

    @property
    def rebate(self) -> Decimal:
        """What the exchange would pay, where the fee is below zero."""
        return max(-self.fee, ZERO)


def from_book(*, requested: OrderRequest, symbol: Symbol, rates: Rates | None = None) -> Estimate | None:
    """The estimate from the newest stored book and last price; None without a book.

    Without `rates` the fee is computed with the symbol's usual ones.
    """
    book = BookSnapshot.objects.filter(pk=symbol.pk).first()
    if book is None:
        return None
    offers = book.ask if requested.side == BUY else book.bid
    ticker = Ticker.objects.filter(pk=symbol.pk).first() if requested.stop_price is not None else None
    return simulate(
        requested=requested,
        levels=[(Decimal(price), Decimal(size)) for price, size in offers],
        tick=symbol.tick_size,
        rates=rates or usual(symbol),
        read_at=book.read_at,
        last=ticker.last if ticker is not None else None,
    )


def simulate(
    *,
    requested: OrderRequest,
    levels: Sequence[Level],
    tick: Decimal,
    rates: Rates,
    read_at: datetime,
    last: Decimal | None = None,
) -> Estimate:
    """What the order would do against these offers of the other side, best first.

    `last` is the price of the last trade, which triggers stops; a stop waits where it is not known.
    """
    with localcontext() as context:
        context.prec = _DIGITS
        digits = tick.normalize().scaleb(-2)  # two more than a price has
        if requested.stop_price is None:
            return _filled(requested, levels, digits, rates, read_at)
        if last is not None and distance.is_reached(requested=requested, market=last):
            kind = "limit" if requested.type in LIMITS else "market"
            return _filled(replace(requested, type=kind, stop_price=None), levels, digits, rates, read_at)
        value = requested.quantity * (requested.price if requested.price is not None else requested.stop_price)
        fee = (value * _taker(requested, rates)).quantize(digits)
        return Estimate(
            best=levels[0][0] if levels else None,
            read_at=read_at,
            remaining=requested.quantity,
            waits=True,
            value=value,
            fee=fee,
            total=_total(requested, value, fee),
        )


def _filled(
    requested: OrderRequest, levels: Sequence[Level], digits: Decimal, rates: Rates, read_at: datetime
) -> Estimate:
    matches = _matches(requested, levels)
    filled = sum((size for _, size in matches), ZERO)
    best, remaining = levels[0][0] if levels else None, requested.quantity - filled
    is_refused = bool(matches) and requested.post_only
    if is_refused or (requested.time_in_force == "FOK" and remaining):
        is_short = remaining > 0 and len(matches) == len(levels)
        return Estimate(best, read_at, remaining=requested.quantity, lapses=True, cancelled=is_refused, short=is_short)
    lapses = requested.type == "market" or requested.time_in_force in AT_ONCE
    taken = sum((price * size for price, size in matches), ZERO)
    rest = ZERO if lapses or requested.price is None else remaining * requested.price
    provide = rates.provide + (requested.provide_liquidity_markup or ZERO)
    fee = (taken * _taker(requested, rates) + rest * provide).quantize(digits)
    average = (taken / filled).quantize(digits) if filled else None
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
        value=taken + rest,
        fee=fee,
        total=_total(requested, taken + rest, fee),
        remaining=remaining,
        lapses=lapses,
        short=remaining > 0 and len(matches) == len(levels),
    )


def _taker(requested: OrderRequest, rates: Rates) -> Decimal:
    return rates.take + (requested.take_liquidity_markup or ZERO)


def _total(requested: OrderRequest, value: Decimal, fee: Decimal) -> Decimal:
    return value + fee if requested.side == BUY else value - fee


def _matches(requested: OrderRequest, levels: Sequence[Level]) -> list[Level]:
    """The prices that it would trade at, best first, each with the quantity."""
    matches: list[Level] = []
    remaining = requested.quantity
    for price, size in levels:
        beyond = requested.price is not None and (
            price > requested.price if requested.side == BUY else price < requested.price
        )
        if remaining <= 0 or beyond:
            break
        matches.append((price, min(size, remaining)))
        remaining -= matches[-1][1]
    return matches


def _percent_worse(price: Decimal | None, best: Decimal | None) -> Decimal:
    if price is None or not best:
        return ZERO
    return (abs(price / best - 1) * 100).quantize(_PERCENT, rounding=ROUND_HALF_EVEN)
