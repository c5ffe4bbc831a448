"""How far the price of an order is from the market: shown on the ticket; nothing is refused here.

The exchange accepts any limit. One that crosses the book fills at once at the book's prices, down to the limit; one far
behind the market hardly ever fills. Both are usually typing errors. For a stop order the stop is compared with the last
price, because trades trigger it (supplement 2.8), and the limit with the stop.
"""

from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from fractions import Fraction
from typing import Final

from exchange_ops.market.models import Ticker
from exchange_ops.orders.request_checks import BUY, OrderRequest

CROSSES_BY: Final = Decimal("0.01")  # warn of a limit that is worse for us than the best price by more than this
AWAY_BY: Final = Decimal("0.10")  # and one that is better for us by more than this
_DIGITS: Final = 200  # of the quotient of two amounts
_PERCENT: Final = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class Distance:
    """`percent` is positive above the market. `reference` names the price it is compared with, `warning` may be empty.

    `of_stop`: the distance is that of the stop; `past_stop` is how much worse the limit is than the stop, in percent.
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
    """The distance of the limit, or of the stop of a stop order; None without a price or a market."""
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
    """Whether a trade at this price triggers the stop: of a buy at or above it, of a sale at or below."""
    stop = requested.stop_price
    return stop is not None and (market >= stop if requested.side == BUY else market <= stop)


def past_stop(requested: OrderRequest) -> Fraction | None:
    """How much worse the limit of a stop-limit order is than its stop, as a fraction; negative: better."""
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
        verb = "buy above" if requested.side == BUY else "sell below"
        return f"At this limit the order would {verb} the market and fill immediately, as far as the book allows."
    if -worse > AWAY_BY:
        return "The limit is far from the market, so the order is unlikely to fill soon."
    return ""
