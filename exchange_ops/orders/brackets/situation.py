"""Reading how a bracket stands: its orders and what replaced them, the fresh price, the position, a freeze."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final

from exchange_ops.margin.models import MarginPosition
from exchange_ops.market.models import Symbol, Ticker
from exchange_ops.orders import machine as orders
from exchange_ops.orders.brackets.models import Bracket, BracketLeg
from exchange_ops.orders.brackets.plan import ZERO, Entry, Leg, Situation
from exchange_ops.orders.models import Order
from exchange_ops.orders.ticket import rates
from exchange_ops.policy import freezes

FRESH: Final = timedelta(seconds=30)  # a price older than this decides nothing
SETTLING: Final = timedelta(seconds=2)  # until a reading of positions has everything that an order filled
_NEVER_PLACED: Final = (
    orders.REFUSED,
    orders.NOT_SENT,
    orders.DECLINED,
    orders.WITHDRAWN,
    orders.LAPSED,
)
_NEVER_LEFT: Final = (orders.NOT_SENT, orders.DECLINED, orders.WITHDRAWN, orders.LAPSED)


Chains = Mapping[int, Order]  # what each order of a bracket is now, by the number of the order that it began with


def of(row: Bracket, *, now: datetime, chains: Chains | None = None) -> Situation:
    """How it stands, as last read; nothing is asked of anybody. Without `chains` its orders are read here."""
    symbol = Symbol.objects.filter(pk=row.symbol).first()
    chains = read(row) if chains is None else chains
    entry = chains[row.entry_id]
    legs = [_leg(leg, chains[leg.order_id]) for leg in row.legs.order_by("number")]
    return Situation(
        state=row.state,
        entry=Entry(
            filled=_opened(row, entry, symbol, now),
            open=_is_open(entry),
            seen=entry.state != orders.NOT_SEEN,
        ),
        legs=legs,
        step=symbol.quantity_increment if symbol else ZERO,
        reached=is_reached(row, price=fresh_price(row, now=now, since=entry.exchange_updated_at)),
        frozen=freezes.active(row.account) is not None,
        now=now,
        held=_held(row, entry, legs),
    )


def replacement(order: Order) -> Order | None:
    """What really took the place of the order: people may amend an entry or a stop."""
    found: Order | None = order.replacements.exclude(state__in=_NEVER_PLACED).order_by("-pk").first()
    return found


def newest(order: Order) -> Order:
    """What the order is now. It keeps what those before it had filled (exchange REST, Spot orders)."""
    while (found := replacement(order)) is not None:
        order = found
    return order


def read(row: Bracket) -> Chains:
    """What the entry and each leg are now, the entry first, then the legs as they were placed."""
    roots = [row.entry, *(leg.order for leg in row.legs.select_related("order").order_by("number"))]
    return {root.pk: newest(root) for root in roots}


def is_reached(row: Bracket, *, price: Decimal | None) -> bool:
    """Whether the take profit can be had at this price of the other side of the book."""
    if price is None:
        return False
    return bool(price >= row.take_price if row.side == "buy" else price <= row.take_price)


def fresh_price(row: Bracket, *, now: datetime, since: datetime | None = None) -> Decimal | None:
    """What a closing order would meet: the best bid for one that sells, else the best ask. None where it is old.

    `since`: a price from before this moment of the exchange is old as well.
    """
    ticker = Ticker.objects.filter(pk=row.symbol).first()
    if ticker is None or now - ticker.read_at > FRESH or (since is not None and ticker.timestamp < since):
        return None
    price: Decimal | None = ticker.bid if row.side == "buy" else ticker.ask
    return price


def _is_open(order: Order) -> bool:
    return order.is_open or order.state == orders.WAITING


def _opened(row: Bracket, entry: Order, symbol: Symbol | None, now: datetime) -> Decimal:
    """What the entry opened; a fee that was kept from what was bought can't be sold.

    Of the account's own rate and the symbol's the higher one counts: a stop for more than there is would be refused.
    """
    filled: Decimal = entry.cum_quantity
    if symbol is not None and row.side == "buy" and not row.margin and symbol.fee_currency == symbol.base_currency:
        markup = entry.take_liquidity_markup or ZERO
        rate = max(symbol.take_liquidity_rate, rates.of(account=row.account, symbol=symbol, now=now).take)
        filled *= max(1 - rate - markup, ZERO)
    return filled


def _leg(leg: BracketLeg, order: Order) -> Leg:
    return Leg(
        number=leg.number,
        role=leg.role,
        quantity=order.quantity,
        filled=order.cum_quantity,
        open=_is_open(order),
        at=order.updated_at if order.exchange_updated_at is None else max(order.updated_at, order.exchange_updated_at),
        lost=order.state == orders.NOT_SEEN,
        never_left=order.state in _NEVER_LEFT,
        settled=leg.settled_at is not None,
        reason=_reason(leg, order),
    )


def _reason(leg: BracketLeg, order: Order) -> str:
    """What became of an order that is over, for people."""
    what = dict(BracketLeg.ROLES)[leg.role].lower()
    if order.state == orders.NOT_SEEN:
        return f"The {what}, {order.reference}, was not seen at the exchange; whether it is there is not known."
    if order.state in _NEVER_PLACED:
        return f"The {what}, {order.reference}, was not placed: {order.last_problem or order.sentence}"
    return f"The {what}, {order.reference}, is over without being filled whole: {orders.state_of(order)}."


def _held(row: Bracket, entry: Order, legs: list[Leg]) -> Decimal | None:
    """What of the position on margin can be closed by this bracket, once it was read after the last fill."""
    if not row.margin:
        return None
    position = MarginPosition.objects.filter(account=row.account, symbol=row.symbol).first()
    moments = [leg.at for leg in legs] + [entry.updated_at, entry.exchange_updated_at or entry.updated_at]
    if position is None or (position.gone_at or position.read_at) < max(moments) + SETTLING:
        return None
    signed: Decimal = ZERO if position.gone_at else position.quantity
    return max(signed if row.side == "buy" else -signed, ZERO)
