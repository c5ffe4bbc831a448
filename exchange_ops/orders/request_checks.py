"""Checks of a new order, with each problem beside its field, before anything is written.

The exchange's rules for a symbol (tick size, quantity increment), for types and for times in force come from
`wire.checking`; funds are those of the trading wallet as last read. A buy needs more than its value plus the taker's
fee, a sale needs its quantity (supplement 2.8). The exchange has the last word.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import TYPE_CHECKING

from exchange_ops.ledger.models import Balance
from exchange_ops.market.models import Symbol, Ticker
from exchange_ops.orders.models import Order
from exchange_ops.orders.ticket import collateral, fee_rates
from exchange_ops.orders.ticket.fee_rates import Rates
from exchange_ops.policy import freezes
from exchange_ops.policy.freeze_scopes import Movement
from exchange_ops.shared import clocks, rules
from exchange_ops.shared.amounts import storable
from exchange_ops.shared.models import Account
from exchange_ops.wire import checking
from exchange_ops.wire.new_orders import NewOrder, terms_of
from wire.params import BadArgument, Problem
from wire.values import grouped_text

if TYPE_CHECKING:
    from desk.models import Person

FORM = "__all__"
BUY, SELL = "buy", "sell"
FIELDS = {
    "stopPrice": "stop_price",
    "timeInForce": "time_in_force",
    "expireTime": "expire_time",
    "postOnly": "post_only",
    "clientOrderId": FORM,
    "takeLiquidityMarkup": "take_liquidity_markup",
    "provideLiquidityMarkup": "provide_liquidity_markup",
}
_NEEDED = {
    "price": "Enter a price for this order type.",
    "stop_price": "Enter a stop price, the price that triggers the order.",
    "expire_time": "Enter an expiry date for the GTD order.",
}
_NOT_TAKEN = {
    "price": "Leave the price empty for this order type.",
    "stop_price": "Leave the stop price empty: only stop orders have one.",
    "expire_time": "Leave the expiry date empty: only GTD orders have one.",
    "time_in_force": "A market order can't rest in the book. Choose IOC or FOK.",
    "post_only": "An order that never rests in the book can't be post-only.",
}
_DIGITS = 200  # of the product of two amounts and a rate
_LARGEST = 36
_QUANTUM = Decimal(1).scaleb(-12)


class CannotPlace(Exception):
    """The order was not taken; `problems` names the field (or "__all__") and says why, one sentence each."""

    def __init__(self, problems: dict[str, str]) -> None:
        super().__init__(" ".join(problems.values()))
        self.problems = problems


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderRequest:
    """An order as a person or a program requests it; quantities in the base, prices in the quote currency.

    `margin`: on the isolated margin account of the symbol. Markups are fractions of the volume, on top of the fee.
    """

    symbol: str
    side: str
    type: str
    time_in_force: str
    quantity: Decimal
    price: Decimal | None = None
    stop_price: Decimal | None = None
    expire_time: datetime | None = None
    post_only: bool = False
    strict_validate: bool = True
    margin: bool = False
    take_liquidity_markup: Decimal | None = None
    provide_liquidity_markup: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Figures:
    """The amounts of an order at one price, in the quote currency.

    `fee` is at the taker's rate, `total` what a buy needs at most. Empty where no price is known; `at` is the price
    they were computed with, `estimated` that it was the market's.
    """

    at: Decimal | None = None
    value: Decimal | None = None
    fee: Decimal | None = None
    total: Decimal | None = None
    estimated: bool = False


def as_sent(order: OrderRequest | Order, *, client_order_id: str) -> NewOrder:
    """The order as the wire takes it. Its figures fit the steps of the symbol, even where the exchange may round."""
    return NewOrder(
        client_order_id=client_order_id,
        **terms_of(order),
        post_only=order.post_only,
        strict_validate=order.strict_validate,
        take_liquidity_markup=order.take_liquidity_markup,
        provide_liquidity_markup=order.provide_liquidity_markup,
    )


def request_of(order: Order) -> OrderRequest:
    """What the order asks for."""
    return OrderRequest(**{name: getattr(order, name) for name in OrderRequest.__dataclass_fields__})


def check(*, initiator: "Person", account: Account, requested: OrderRequest, now: datetime) -> Symbol:
    """Check the order and give its symbol; raises CannotPlace."""
    if not rules.may_trade(initiator, account):
        raise CannotPlace({FORM: "Only operators can place orders."})
    symbol = Symbol.objects.filter(pk=requested.symbol).first()
    if symbol is None:
        raise CannotPlace({"symbol": "The exchange does not list this symbol."})
    sentences = problems(account=account, symbol=symbol, requested=requested, now=now)
    if problem := freezes.obstacle(Movement(account.pk, symbol=requested.symbol)):
        sentences[FORM] = f"{problem} Open orders can still be cancelled."
    if sentences:
        raise CannotPlace(sentences)
    return symbol


def problems(
    *, account: Account, symbol: Symbol, requested: OrderRequest, now: datetime, instead_of: Order | None = None
) -> dict[str, str]:
    """What is wrong with an order, by field. The balance is the one last read plus what `instead_of` would free."""
    exchange_now = clocks.exchange_now(account=account, now=now)
    order = as_sent(requested, client_order_id="to-be-given")
    sentences = {}
    for problem in checking.order_problems(order, symbol, now=exchange_now):
        name = FIELDS.get(problem.param, problem.param)
        sentences[name] = _sentence(name, problem)
    for name in ("quantity", "price", "stop_price"):
        amount = getattr(requested, name)
        if amount is not None and not storable(amount):
            sentences.setdefault(name, "Too many digits.")
    if not sentences.keys() & {"quantity", "price"}:
        rates = fee_rates.current(account=account, symbol=symbol, now=now)
        short = _short_of(account, symbol, requested, instead_of, rates)
        sentences |= {"quantity": short} if short else {}
    return sentences


def figures(*, symbol: Symbol, requested: OrderRequest, rates: Rates | None = None) -> Figures:
    """The amounts at the order's own price, its stop price, or the best price of the market as last read.

    Without `rates` the fee is computed with the symbol's usual ones.
    """
    at, estimated = requested.price, False
    if at is None and requested.type == "stopMarket":
        at, estimated = requested.stop_price, True
    elif at is None:
        ticker = Ticker.objects.filter(pk=symbol.pk).first()
        at, estimated = _best(ticker, requested.side), True
    if at is None:
        return Figures(estimated=estimated)
    with localcontext() as context:
        context.prec = _DIGITS
        value = requested.quantity * at
        fee = value * ((rates or fee_rates.usual(symbol)).take + (requested.take_liquidity_markup or 0))
        return Figures(at, value, fee, value + fee if requested.side == BUY else value - fee, estimated)


def set_aside(*, requested: OrderRequest, sums: Figures) -> Decimal | None:
    """What the exchange reserves at most: of the quote currency for a buy, of the base currency for a sale.

    None on margin, where collateral is held instead, and for a buy at the market, whose reservation is not documented.
    Source: supplement 2.8.
    """
    if requested.margin:
        return None
    if requested.side != BUY:
        return requested.quantity
    return sums.total if requested.price is not None else None


def available(*, account: Account, currency: str) -> Balance | None:
    """What the trading wallet held of a currency when it was last read."""
    return Balance.objects.filter(account=account, currency=currency, wallet=Balance.TRADING).first()


def _best(ticker: Ticker | None, side: str) -> Decimal | None:
    if ticker is None:
        return None
    best: Decimal | None = ticker.ask if side == BUY else ticker.bid
    return best if best is not None else ticker.last


def _short_of(account: Account, symbol: Symbol, requested: OrderRequest, old: Order | None, rates: Rates) -> str:
    if requested.margin:
        remaining = requested if old is None else replace(requested, quantity=requested.quantity - old.cum_quantity)
        freed = (
            None
            if old is None
            else figures(symbol=symbol, requested=replace(request_of(old), quantity=old.remaining)).value
        )
        value = figures(symbol=symbol, requested=remaining).value
        return collateral.problem(account=account, symbol=symbol, value=value, freed=freed, rates=rates)
    return _funds_problem(account, symbol, requested, old, rates)


def _freed(symbol: Symbol, old: Order | None, rates: Rates) -> Decimal:
    """How much the rest of the order that is replaced holds of the currency it pays with."""
    if old is None:
        return Decimal(0)
    remaining = replace(request_of(old), quantity=old.remaining)
    return (
        old.remaining
        if old.side == SELL
        else figures(symbol=symbol, requested=remaining, rates=rates).total or Decimal(0)
    )


def _funds_problem(account: Account, symbol: Symbol, requested: OrderRequest, old: Order | None, rates: Rates) -> str:
    """Why the trading wallet can't cover it. A market order is checked at the best price; more may be needed."""
    if requested.side not in {BUY, SELL}:
        return ""
    if old is not None:
        requested = replace(requested, quantity=requested.quantity - old.cum_quantity)
    freed = Fraction(_freed(symbol, old, rates))
    buys = requested.side == BUY
    currency = symbol.quote_currency if buys else symbol.base_currency
    held = available(account=account, currency=currency)
    if held is None:
        never_read = not Balance.objects.filter(account=account, wallet=Balance.TRADING).exists()
        return "" if never_read else f"No {currency} in the trading account."
    if buys:
        sums = figures(symbol=symbol, requested=requested, rates=rates)
        if sums.total is None or Fraction(sums.total) < Fraction(held.available) + freed:
            return ""
        if sums.total.adjusted() >= _LARGEST:
            return "The order's cost is too large. Enter a smaller quantity or price."
        total = f"{_text(sums.total.quantize(_QUANTUM))} {currency}"
        needs = f"Insufficient balance: more than {total} required, including fees"
    elif Fraction(requested.quantity) <= Fraction(held.available) + freed:
        return ""
    else:
        needs = f"Insufficient balance: {_text(requested.quantity)} {currency} required"
    return f"{needs}; {_text(held.available)} available in the trading account at {held.read_at:%H:%M:%S} UTC."


def _sentence(name: str, problem: BadArgument) -> str:
    match problem.problem:
        case Problem.MISSING if name in _NEEDED:
            return _NEEDED[name]
        case Problem.NOT_TAKEN if name in _NOT_TAKEN:
            return _NOT_TAKEN[name]
        case Problem.NOT_A_MULTIPLE:
            step = "lot size" if name == "quantity" else "tick size"
            return f"Must be a multiple {problem.detail}, the {step}."
        case Problem.TOO_LOW if name == "expire_time":
            return "This time has already passed."
        case Problem.TOO_LOW:
            return f"Too low: {problem.detail}."
    return str(problem)


def _text(amount: Decimal) -> str:
    return grouped_text(amount)
