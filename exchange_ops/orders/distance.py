"""How far the price of an order lies from the market: said on the ticket, refused nowhere here.

The exchange takes any limit. One that crosses the book fills at once at the book's prices, down to the limit; one that
lies far behind it hardly fills at all. Both are most often a slip of the keyboard. Of a stop order the stop is compared
with the last price, since trades wake it (supplement 2.8), and the limit with the stop.
"""

from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from fractions import Fraction
from typing import Final

from exchange_ops.market.models import Ticker
from exchange_ops.orders.request_checks import BUY, OrderRequest

CROSSES_BY: Final = Decimal("0.01")  # a limit that is worse for us than the best price by more than this is warned of
AWAY_BY: Final = Decimal("0.10")  # and one that is better for us by more than this
_DIGITS: Final = 200  # of the quotient of two amounts
_PERCENT: Final = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class Distance:
    """`percent` is above zero over the market. `reference` names the price it is compared with, `warning` may be empty.

    `of_stop`: it is that of what wakes the order; `past_stop` is how much worse than that its limit is, in percent.
    """

    percent: Decimal
    reference: str
    market: Decimal
    warning: str = ""
    of_stop: bool = False
    past_stop: Decimal | None = None

    @property
    def size(self) -> Decimal:
        """The distance without its direction, in percent."""
        return abs(self.percent)


def from_market(*, requested: OrderRequest, ticker: Ticker | None) -> Distance | None:
    """The distance of the limit, or of what wakes a stop order; None without a price or a market."""
    price = requested.stop_price if requested.stop_price is not None else requested.price
    if ticker is None or price is None:
        return None
    reference, market = _reference_price(requested, ticker)
    if not market:
        return None
    with localcontext() as context:
        context.prec = _DIGITS
        share = price / market - 1
        percent = (share * 100).quantize(_PERCENT, rounding=ROUND_HALF_EVEN)
    if requested.stop_price is None:
        return Distance(percent, reference, market, _warning(requested, share) if requested.type == "limit" else "")
    room = past_stop(requested)
    return Distance(percent, reference, market, of_stop=True, past_stop=None if room is None else percent_of(room))


def is_reached(*, requested: OrderRequest, market: Decimal) -> bool:
    """Whether a trade at the market's price wakes the stop: a buy at or above it, a sale at or below."""
    stop = requested.stop_price
    return stop is not None and (market >= stop if requested.side == BUY else market <= stop)


def past_stop(requested: OrderRequest) -> Fraction | None:
    """How much worse than its stop the limit of a stop-limit order is, as a fraction of it; below zero: better."""
    if requested.price is None or not requested.stop_price:
        return None
    share = Fraction(requested.price) / Fraction(requested.stop_price) - 1
    return share if requested.side == BUY else -share


def percent_of(share: Fraction) -> Decimal:
    """A fraction in percent, to the hundredth."""
    hundredths = round(share * 10_000)
    return Decimal(hundredths).scaleb(-2)


def _reference_price(requested: OrderRequest, ticker: Ticker) -> tuple[str, Decimal | None]:
    best = ticker.ask if requested.side == BUY else ticker.bid
    if requested.type != "limit" or best is None:
        return "last price", ticker.last
    return ("best ask" if requested.side == BUY else "best bid"), best


def _warning(requested: OrderRequest, share: Decimal) -> str:
    worse = share if requested.side == BUY else -share
    if worse > CROSSES_BY:
        verb = "pay more" if requested.side == BUY else "take less"
        return f"The limit lets the order {verb} than the market does: it fills at once, as far as the book reaches."
    if -worse > AWAY_BY:
        return "The limit is far from the market: the order is not expected to fill soon."
    return ""
