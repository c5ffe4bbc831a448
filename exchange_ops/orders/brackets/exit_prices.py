"""The two exit prices of a bracket, checked against its entry before anything is written."""

from dataclasses import dataclass
from decimal import Decimal, localcontext

from exchange_ops.market.models import Symbol, Ticker
from exchange_ops.orders.models import Order
from exchange_ops.orders.request_checks import OrderRequest
from exchange_ops.shared.amounts import storable
from exchange_ops.wire import checking
from wire.params import BadArgument, Problem
from wire.values import grouped_text

_DIGITS = 200  # of the product of two amounts


@dataclass(frozen=True, slots=True)
class Exits:
    """Two prices in the quote currency: a trade at `stop` closes at the market, `take` at that price or better."""

    stop: Decimal
    take: Decimal


def problems(*, exits: Exits, requested: OrderRequest | Order) -> dict[str, str]:
    """What is wrong with the two prices for this entry, by field."""
    symbol = Symbol.objects.filter(pk=requested.symbol).first()
    sentences: dict[str, str] = {}
    for name, price in (("stop_loss", exits.stop), ("take_profit", exits.take)):
        if not storable(price):
            sentences[name] = "More digits than any currency has."
        elif wrong := checking.price_problems(price, symbol):
            sentences[name] = _sentence(wrong[0])
    if sentences:
        return sentences
    at = _entered_at(requested)
    buys = requested.side == "buy"
    near, far = ("below", "above") if buys else ("above", "below")
    if at is None:
        if (exits.stop < exits.take) != buys:
            sentences["stop_loss"] = f"The stop has to be {near} the take profit."
        return sentences
    if (exits.stop < at) != buys or exits.stop == at:
        sentences["stop_loss"] = f"The stop has to be {near} the entry, {grouped_text(at)}: it limits the loss."
    if (exits.take > at) != buys or exits.take == at:
        sentences["take_profit"] = f"The take profit has to be {far} the entry, {grouped_text(at)}."
    return sentences


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Profit and loss of the exits in the quote currency, before fees: `loss` at the stop, `gain` at the take profit.

    `ratio` is gain divided by loss. A stop may be filled at a worse price than its own.
    """

    loss: Decimal
    gain: Decimal
    ratio: Decimal | None


def outcomes(*, exits: Exits, requested: OrderRequest | Order) -> Outcomes | None:
    """What the full quantity would lose or gain; None while no price of the entry is known."""
    at = _entered_at(requested)
    if at is None:
        return None
    with localcontext() as context:
        context.prec = _DIGITS
        loss, gain = requested.quantity * abs(at - exits.stop), requested.quantity * abs(exits.take - at)
        return Outcomes(loss, gain, (gain / loss).quantize(Decimal("0.1")) if loss else None)


def _entered_at(requested: OrderRequest | Order) -> Decimal | None:
    """The expected entry price: the limit, else the stop price, else the best price of the market as last read."""
    if requested.price is not None or requested.stop_price is not None:
        return requested.price if requested.price is not None else requested.stop_price
    ticker = Ticker.objects.filter(pk=requested.symbol).first()
    if ticker is None:
        return None
    best: Decimal | None = ticker.ask if requested.side == "buy" else ticker.bid
    return best if best is not None else ticker.last


def _sentence(wrong: BadArgument) -> str:
    if wrong.problem is Problem.NOT_A_MULTIPLE:
        return f"It has to be a multiple {wrong.detail}, the tick size of this symbol."
    return f"Too low: {wrong.detail}."
