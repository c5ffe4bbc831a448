"""Estimates of closing a position by the stored order book: average price, slippage, fee, and realized profit or loss.

An estimate is shown before anything is sent, and stored with the action that was confirmed on it. Its fee rates are
those of the symbol; the account's own may be lower.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from typing import Any, Final

from desk import clock
from desk.fields import plain
from exchange_ops.margin.models import MarginPosition
from exchange_ops.market import fills
from exchange_ops.market.models import BookSnapshot, Symbol

BUY, SELL = "buy", "sell"
STALE_AFTER = timedelta(seconds=60)
DEEP: Final = Decimal("0.05")  # warn of an average that is worse than the best price by this much
_DIGITS: Final = 200
_PLACES: Final = Decimal(1).scaleb(-12)


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a close would do now. `fill` is None where no book was read; `rests` waits at its limit.

    `fee` and `pnl` cover everything that is to be closed: what fills at once, at the book's prices, and what rests, at
    its limit. `net` is the pnl less the fee. All in the quote currency.
    """

    side: str
    quantity: Decimal
    price: Decimal | None = None
    fill: fills.Fill | None = None
    rests: Decimal = Decimal(0)
    short_of: Decimal = Decimal(0)
    worth: Decimal | None = None
    fee: Decimal | None = None
    pnl: Decimal | None = None
    net: Decimal | None = None
    read_at: datetime | None = None

    def warnings(self, *, now: datetime) -> list[str]:
        """What a person should know before pressing the button."""
        sentences = []
        if self.fill is None:
            sentences.append("No estimate: the order book is not loaded yet.")
        elif self.read_at is not None and not clock.is_fresh(self.read_at, now, within=STALE_AFTER):
            sentences.append("The order book is more than a minute old; the estimate may be off.")
        if self.short_of:
            sentences.append("Not enough liquidity in the order book: part of the position may stay open.")
        if self.fill is not None and self.fill.slippage is not None and self.fill.slippage > DEEP:
            percent = (self.fill.slippage * 100).quantize(Decimal("0.01"))
            sentences.append(f"Thin order book: average price {percent} % worse than the best price.")
        return sentences

    def facts(self) -> dict[str, Any]:
        """The estimate as it is stored with the action, figures as texts."""
        figures = {"average": self.fill.average if self.fill else None, "fee": self.fee, "pnl": self.pnl}
        texts = {name: str(plain(value)) for name, value in figures.items() if value is not None}
        return texts | ({"book_read_at": self.read_at.isoformat()} if self.read_at else {})


def current(*, position: MarginPosition, symbol: Symbol, quantity: Decimal, price: Decimal | None = None) -> Estimate:
    """The estimate of closing this quantity of the position by the newest book; at the market without a price."""
    book = BookSnapshot.objects.filter(pk=symbol.code).first()
    return from_book(position=position, symbol=symbol, quantity=quantity, price=price, book=book)


def from_book(
    *,
    position: MarginPosition,
    symbol: Symbol,
    quantity: Decimal,
    book: BookSnapshot | None,
    price: Decimal | None = None,
) -> Estimate:
    """The same by a given book."""
    is_long = position.quantity > 0
    side = SELL if is_long else BUY
    fill = fills.fill(book=book, side=side, quantity=quantity, limit=price)
    if fill is None and price is None:
        return Estimate(side, quantity)
    with localcontext() as context:
        context.prec = _DIGITS
        met = fill or fills.Fill(Decimal(0), quantity, Decimal(0))
        rests = met.missing if price is not None else Decimal(0)
        resting_worth = rests * (price or Decimal(0))
        worth, closed = met.worth + resting_worth, met.filled + rests
        fee = met.worth * symbol.take_liquidity_rate + resting_worth * symbol.provide_liquidity_rate
        gain = worth - closed * position.price_entry
        pnl = gain if is_long else -gain
        return Estimate(
            side,
            quantity,
            price,
            fill,
            rests=rests,
            short_of=met.missing - rests,
            worth=_rounded(worth),
            fee=_rounded(fee),
            pnl=_rounded(pnl),
            net=_rounded(pnl - fee),
            read_at=None if book is None else book.read_at,
        )


def _rounded(value: Decimal) -> Decimal:
    return value.quantize(_PLACES, rounding=ROUND_HALF_EVEN)
