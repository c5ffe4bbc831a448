"""The two exit prices of a bracket: checked against its entry before anything is written, and what each would bring."""

from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal, localcontext

from exchange_ops.market.models import Symbol, Ticker
from exchange_ops.orders.brackets.results import Fills, Result
from exchange_ops.orders.models import Order
from exchange_ops.orders.request_checks import OrderRequest
from exchange_ops.orders.ticket.fee_rates import Rates
from exchange_ops.shared.amounts import storable
from exchange_ops.wire import checking
from wire.params import BadArgument, Problem
from wire.values import grouped_text

_DIGITS = 200  # of the product of two amounts
_PLACES = Decimal(1).scaleb(-8)  # of an estimate


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
            sentences[name] = "Too many digits."
        elif wrong := checking.price_problems(price, symbol):
            sentences[name] = _sentence(wrong[0])
    if sentences:
        return sentences
    at = _entered_at(requested)
    buys = requested.side == "buy"
    near, far = ("below", "above") if buys else ("above", "below")
    if at is None:
        if (exits.stop < exits.take) != buys:
            sentences["stop_loss"] = f"The stop must be {near} the take profit."
        return sentences
    if (exits.stop < at) != buys or exits.stop == at:
        sentences["stop_loss"] = f"The stop must be {near} the entry price, {grouped_text(at)}."
    if (exits.take > at) != buys or exits.take == at:
        sentences["take_profit"] = f"The take profit must be {far} the entry price, {grouped_text(at)}."
    return sentences


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Profit or loss at each exit in the quote currency, with its sign, for what is open or may still be filled.

    Both are after the fees of the entry and of the exit, which takes; `fees_at_stop` and `fees_at_take` are these in
    the quote currency, None where they are charged in a third currency, and then both are before fees. `ratio` is the
    gain divided by the loss, None where there is not one of each. A stop may be filled at a worse price than its own.
    """

    at_stop: Decimal
    at_take: Decimal
    fees_at_stop: Decimal | None
    fees_at_take: Decimal | None

    @property
    def ratio(self) -> Decimal | None:
        """How many times the loss the gain is, to a tenth."""
        if self.at_stop >= 0 or self.at_take <= 0:
            return None
        return (self.at_take / -self.at_stop).quantize(Decimal("0.1"))


def outcomes(
    *,
    exits: Exits,
    requested: OrderRequest | Order,
    rates: Rates | None,
    result: Result | None = None,
) -> Outcomes | None:
    """Gain and loss from the entry: the average of its fills by `result`, and the expected price for what isn't filled.

    None while no price of the entry is known, or nothing is open. Without `rates` both are before fees.
    """
    with localcontext() as context:
        context.prec = _DIGITS
        entry = _entry(requested, rates, result)
        if entry is None or not entry.quantity:
            return None
        sign = 1 if requested.side == "buy" else -1
        sums: list[Decimal] = []
        fees: list[Decimal | None] = []
        for price in (exits.stop, exits.take):
            gross = sign * (entry.quantity * price - entry.value)
            paid = None
            if rates is not None and entry.fee_value is not None:
                paid = _rounded(entry.fee_value + entry.quantity * price * rates.take)
            sums.append(_rounded(gross - (paid or 0)))
            fees.append(paid)
        return Outcomes(*sums, *fees)


def rates_in_quote(rates: Rates | None, symbol: Symbol | None) -> Rates | None:
    """The rates where the fee has a value in the quote currency; None where it is charged in a third currency."""
    if symbol is None or symbol.fee_currency not in {symbol.base_currency, symbol.quote_currency}:
        return None
    return rates


def _entry(requested: OrderRequest | Order, rates: Rates | None, result: Result | None) -> Fills | None:
    """What is open of the entry together with what may still be filled; None where that has no price."""
    filled = result.cost if result is not None else Fills()
    rest = requested.quantity
    if isinstance(requested, Order):
        rest = requested.remaining if requested.is_open else Decimal(0)
    if not rest:
        return filled
    at = _entered_at(requested)
    if at is None:
        return None
    rate = Decimal(0) if rates is None else rates.take + (requested.take_liquidity_markup or 0)
    fee_value = None if filled.fee_value is None else filled.fee_value + rest * at * rate
    return Fills(filled.quantity + rest, filled.value + rest * at, fee_value=fee_value)


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
        return f"Price must be a multiple {wrong.detail}, the tick size."
    return f"Too low: {wrong.detail}."


def _rounded(value: Decimal) -> Decimal:
    return value.quantize(_PLACES, rounding=ROUND_HALF_EVEN)
