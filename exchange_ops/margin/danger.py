"""How far a position is from its margin call and its liquidation, by the newest known price.

The distance is measured as the share that is left of the way from the entry to the margin call: 1 at the entry, 0 at
the call, below 0 beyond it. A warning begins at one share and ends at a larger one, so that a price that hovers at the
border warns once. The prices themselves are the exchange's; only what a change would make of them is computed here, by
the formula that reproduces the exchange's own (supplement 1.5).
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from typing import Final

from desk import clock
from exchange_ops.margin.models import MarginAccount, MarginPosition
from exchange_ops.market.models import Symbol, Ticker

# Shares of the way from the entry: below the first a warning begins, from the second on it ends.
CALL_NEAR, CALL_FAR = Decimal("0.30"), Decimal("0.40")
LIQUIDATION_NEAR, LIQUIDATION_FAR = Decimal("0.25"), Decimal("0.35")
CALL_SHARE: Final = Decimal(1) / Decimal(30)  # of the value: how far the margin call lies before the liquidation
_DIGITS: Final = 200
_PLACES: Final = Decimal(1).scaleb(-12)
ZERO: Final = Decimal(0)


@dataclass(frozen=True, slots=True)
class Exposure:
    """One position against the newest price. Prices and `pnl` are in the quote currency; shares are fractions.

    `pnl` is the unrealised result that the exchange named at `pnl_at`, `percent` the same as a fraction of the value at
    entry: every page shows this one. Only where the exchange named none it is computed from the mark.
    `to_call` and `to_liquidation` are how far the price may still move against the position, as a fraction of the
    price; `call_left` and `liquidation_left` are what is left of the way from the entry. All are None without a price,
    or where the exchange names no such danger.
    """

    is_long: bool
    entry: Decimal
    mark: Decimal | None = None
    mark_at: datetime | None = None
    pnl: Decimal | None = None
    pnl_at: datetime | None = None
    percent: Decimal | None = None
    call: Decimal | None = None
    liquidation: Decimal | None = None
    to_call: Decimal | None = None
    to_liquidation: Decimal | None = None
    call_left: Decimal | None = None
    liquidation_left: Decimal | None = None

    @property
    def is_past_call(self) -> bool:
        """Whether the price is beyond that of the margin call: the exchange lets the position only be closed."""
        return self.to_call is not None and self.to_call <= 0

    def is_near_call(self, *, warned: bool) -> bool:
        """Whether to warn of the margin call; once `warned`, the warning stays until the call is far."""
        return self.call_left is not None and self.call_left < (CALL_FAR if warned else CALL_NEAR)

    def is_near_liquidation(self, *, warned: bool) -> bool:
        """Whether to warn of the liquidation; once `warned`, the warning stays until it is far."""
        share, border = self.liquidation_left, LIQUIDATION_FAR if warned else LIQUIDATION_NEAR
        return share is not None and share < border


def exposure(*, position: MarginPosition, ticker: Ticker | None, now: datetime) -> Exposure:
    """How a position stands: its result is the exchange's own, its distances are from the newest price.

    What has a time after `now` was read before the clock fell back, and is older than what was read since.
    """
    is_long, entry = position.quantity > 0, position.price_entry
    call, liquidation = _danger(position.price_margin_call), _danger(position.price_liquidation)
    mark_and_time = _mark(position, ticker, now)
    if mark_and_time is None:
        return Exposure(is_long, entry, call=call, liquidation=liquidation)
    mark, mark_at = mark_and_time
    with localcontext() as context:
        context.prec = _DIGITS
        pnl, pnl_at = position.pnl, position.read_at
        if pnl is None:
            pnl, pnl_at = position.quantity * (mark - entry), mark_at
        worth = abs(position.quantity) * entry
        return Exposure(
            is_long,
            entry,
            mark,
            mark_at,
            pnl=_rounded(pnl),
            pnl_at=pnl_at,
            percent=_rounded(pnl / worth) if worth else None,
            call=call,
            liquidation=liquidation,
            to_call=_away(mark, call, mark, is_long),
            to_liquidation=_away(mark, liquidation, mark, is_long),
            call_left=_share_left(mark, call, entry, is_long),
            liquidation_left=_share_left(mark, liquidation, entry, is_long),
        )


def after(
    *,
    position: MarginPosition,
    held: MarginAccount,
    symbol: Symbol,
    mark: Decimal,
    balance: Decimal,
    quantity: Decimal | None = None,
) -> Exposure:
    """How the position would stand with this collateral and this signed quantity (by default the present one).

    `balance` and `mark` are in the quote currency. Open orders are left out: by themselves they open nothing.
    """
    size = position.quantity if quantity is None else quantity
    share = 1 / (2 * max(held.leverage, Decimal(1))) + symbol.take_liquidity_rate
    call, liquidation = (
        _reckoned(size, position.price_entry, balance, share=one, tick=symbol.tick_size)
        for one in (share + CALL_SHARE, share)
    )
    then = MarginPosition(
        quantity=size,
        price_entry=position.price_entry,
        pnl=size * (mark - position.price_entry),
        price_margin_call=call,
        price_liquidation=liquidation,
        read_at=position.read_at,
    )
    return exposure(position=then, ticker=None, now=position.read_at)


def _reckoned(quantity: Decimal, entry: Decimal, balance: Decimal, *, share: Decimal, tick: Decimal) -> Decimal:
    """A price of danger, down to the tick: for a short (b + q e) / (q (1 + s)), for a long the same mirrored."""
    with localcontext() as context:
        context.prec = _DIGITS
        sign, size = (1, abs(quantity)) if quantity > 0 else (-1, abs(quantity))
        price = (size * entry - sign * balance) / (size * (1 - sign * share))
        return _rounded(price // tick * tick if tick else price)


def _danger(price: Decimal | None) -> Decimal | None:
    """A price that can be reached; zero or less means that the collateral covers every loss."""
    return price if price is not None and price > 0 else None


def _mark(position: MarginPosition, ticker: Ticker | None, now: datetime) -> tuple[Decimal, datetime] | None:
    """The price that the exchange judges by, which only the pnl reveals (its last trade, else the middle)."""

    def age(read_at: datetime) -> tuple[bool, datetime]:
        return not clock.is_future(read_at, now), read_at

    if ticker is not None and ticker.last is not None and age(ticker.read_at) > age(position.read_at):
        return ticker.last, ticker.read_at
    if position.pnl is not None and position.quantity:
        with localcontext() as context:
            context.prec = _DIGITS
            return _rounded(position.price_entry + position.pnl / position.quantity), position.read_at
    return None if ticker is None or ticker.last is None else (ticker.last, ticker.read_at)


def _away(mark: Decimal, danger: Decimal | None, base: Decimal, is_long: bool) -> Decimal | None:
    if danger is None or base <= 0:
        return None
    way = mark - danger if is_long else danger - mark
    return _rounded(way / base)


def _share_left(mark: Decimal, danger: Decimal | None, entry: Decimal, is_long: bool) -> Decimal | None:
    """The share left of the way from the entry; a danger on the wrong side of the entry has been reached."""
    if danger is None:
        return None
    distance = entry - danger if is_long else danger - entry
    way = mark - danger if is_long else danger - mark
    if distance <= 0:
        return ZERO if way <= 0 else _rounded(way / danger)
    return _rounded(way / distance)


def _rounded(value: Decimal) -> Decimal:
    return value.quantize(_PLACES, rounding=ROUND_HALF_EVEN)
