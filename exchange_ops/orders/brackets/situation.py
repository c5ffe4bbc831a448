"""Reading how a bracket stands: its orders and what replaced them, the fresh price, the position, a freeze."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final

from desk.machines import calls
from exchange_ops.margin.models import MarginPosition
from exchange_ops.market.models import Symbol, Ticker
from exchange_ops.orders import machine as orders
from exchange_ops.orders.brackets import chains, machine, plan, sentences
from exchange_ops.orders.brackets.chains import ZERO, Link, Presence
from exchange_ops.orders.brackets.models import Bracket, BracketLeg
from exchange_ops.orders.brackets.plan import Entry, Leg, Situation
from exchange_ops.orders.models import Order, OrderCall
from exchange_ops.orders.ticket import rates
from exchange_ops.policy import freezes
from exchange_ops.shared import heartbeats

FRESH: Final = timedelta(seconds=30)  # a price older than this decides nothing
SETTLING: Final = timedelta(seconds=2)  # until a reading of positions has everything that an order filled
_NEVER_LEFT: Final = (orders.NOT_SENT, orders.DECLINED, orders.WITHDRAWN, orders.LAPSED)
_PRESENCE: Final = {
    **dict.fromkeys((orders.WAITING, *orders.ON_THE_WAY), Presence.COMING),
    **dict.fromkeys((orders.PLACED, orders.FOUND, orders.CANCELLING, orders.REPLACING), Presence.THERE),
    **dict.fromkeys((orders.REFUSED, *_NEVER_LEFT), Presence.ABSENT),
    orders.NOT_SEEN: Presence.NOT_SEEN,
}
_CANCELED: Final = "canceled"  # the only end of an order whose place another one took

# Each order of a bracket with everything that was to replace it, in the order of their numbers, by the number of the
# order that it began with.
Chains = Mapping[int, Sequence[Order]]


def of(row: Bracket, *, now: datetime, chains: Chains | None = None) -> Situation:
    """How it stands, as last read; nothing is asked of anybody. Without `chains` its orders are read here."""
    symbol = Symbol.objects.filter(pk=row.symbol).first()
    chains = read(row) if chains is None else chains
    entry = head(chains[row.entry_id])
    legs = [_leg(row, leg, chains[leg.order_id], now) for leg in row.legs.order_by("number")]
    return Situation(
        state=row.state,
        entry=_entry(row, chains[row.entry_id], symbol, now),
        legs=legs,
        step=symbol.quantity_increment if symbol else ZERO,
        reached=is_reached(row, price=fresh_price(row, now=now, since=entry.exchange_updated_at)),
        frozen=freezes.active(row.account) is not None,
        now=now,
        held=_held(row, entry, legs),
    )


def read(row: Bracket) -> Chains:
    """The chains of the entry and of each leg, the entry first, then the legs as they were placed."""
    roots = [row.entry, *(leg.order for leg in row.legs.select_related("order").order_by("number"))]
    families: dict[int, list[Order]] = {root.pk: [root] for root in roots}
    root_of = {root.pk: root.pk for root in roots}
    latest = list(root_of)
    while latest:
        replacements = list(Order.objects.filter(replaces__in=latest).order_by("pk"))
        for order in replacements:
            root_of[order.pk] = root_of[order.replaces_id or 0]
            families[root_of[order.pk]].append(order)
        latest = [order.pk for order in replacements]
    return families


def head(chain: Sequence[Order]) -> Order:
    """What the order is now: the last one in the line that the exchange is known to have.

    It keeps what those before it had filled (exchange REST, Spot orders).
    """
    number = chains.head_of(_links(chain)).number
    return next(order for order in chain if order.pk == number)


def working(chain: Sequence[Order]) -> list[Order]:
    """The order that counts and what may have taken its place: all that can be filled of it."""
    links = _links(chain)
    counts = chains.head_of(links)
    numbers = {counts.number, *(heir.number for heir in chains.heirs_of(counts, links))}
    return [order for order in chain if order.pk in numbers]


def bracket_of(order: Order) -> Bracket | None:
    """The bracket that the order belongs to, as its entry or as one of its exits, itself or what it replaced."""
    numbers, earlier = [order.pk], order
    while earlier.replaces is not None:
        earlier = earlier.replaces
        numbers.append(earlier.pk)
    rows = Bracket.objects.select_related("account", "initiator", "entry")
    return rows.filter(entry__in=numbers).first() or rows.filter(legs__order__in=numbers).first()


def most_instead_of(row: Bracket, order: Order, *, now: datetime) -> Decimal | None:
    """The largest whole quantity that may replace this order of the bracket; None where the bracket sets no bound.

    An entry may be any, and what a bracket that ended has left behind.
    """
    if row.state == machine.CLOSED:
        return None
    families = read(row)
    number = next((root for root, chain in families.items() if order.pk in {each.pk for each in chain}), row.entry_id)
    leg = row.legs.filter(order=number).first()
    if leg is None:
        return None
    return plan.most_instead_of(of(row, now=now, chains=families), leg.number)


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


def _link(order: Order, *, final: bool) -> Link:
    presence = _PRESENCE[order.state]
    at_work = order.state in {orders.CANCELLING, orders.REPLACING} and order.status not in orders.ENDED
    return Link(
        number=order.pk,
        quantity=order.quantity,
        filled=order.cum_quantity,
        presence=presence,
        since=None if order.state == orders.WAITING else order.sent_at or order.created_at,
        replaces=order.replaces_id,
        open=presence is Presence.THERE and (order.active or at_work),
        final=final,
    )


def _links(chain: Sequence[Order]) -> list[Link]:
    """The facts of the chain's orders. How one ended is looked up only where something else may have replaced it."""
    unknown = {Presence.COMING, Presence.NOT_SEEN}
    in_doubt = {order.replaces_id for order in chain if _PRESENCE[order.state] in unknown}
    return [_link(order, final=order.pk in in_doubt and _is_final(order)) for order in chain]


def _is_final(order: Order) -> bool:
    """Whether nothing took its place: the exchange fills, expires, or cancels at the desk's word only what is there."""
    if order.status not in orders.ENDED:
        return False
    cancelled = order.calls.filter(kind=OrderCall.CANCEL, outcome=calls.ACCEPTED)
    return order.status != _CANCELED or cancelled.exists()


def _entry(row: Bracket, chain: Sequence[Order], symbol: Symbol | None, now: datetime) -> Entry:
    facts = chains.comes_to(_links(chain), now=now)
    return Entry(
        filled=_opened(row, head(chain), facts.filled, symbol, now),
        open=facts.open,
        seen=not facts.is_lost and not facts.is_overdue(now),
        gross=facts.filled,
        note=sentences.note(chain, facts, what="entry"),
    )


def _opened(row: Bracket, entry: Order, filled: Decimal, symbol: Symbol | None, now: datetime) -> Decimal:
    """What the entry opened; a fee that was kept from what was bought can't be sold.

    Of the account's own rate and the symbol's the higher one counts: a stop for more than there is would be refused.
    """
    if symbol is not None and row.side == "buy" and not row.margin and symbol.fee_currency == symbol.base_currency:
        markup = entry.take_liquidity_markup or ZERO
        rate = max(symbol.take_liquidity_rate, rates.of(account=row.account, symbol=symbol, now=now).take)
        filled *= max(1 - rate - markup, ZERO)
    return filled


def _leg(row: Bracket, leg: BracketLeg, chain: Sequence[Order], now: datetime) -> Leg:
    order, facts = head(chain), chains.comes_to(_links(chain), now=now)
    what = dict(BracketLeg.ROLES)[leg.role].lower()
    return Leg(
        number=leg.number,
        role=leg.role,
        chain=facts,
        at=order.updated_at if order.exchange_updated_at is None else max(order.updated_at, order.exchange_updated_at),
        never_left=order.state in _NEVER_LEFT,
        settled_at=leg.settled_at,
        read_since=leg.settled_at is not None
        and facts.is_lost
        and _is_read(row, since=max(leg.settled_at, order.updated_at)),
        reason=sentences.reason(chain, facts, what=what),
        note=(sentences.note if leg.settled_at is None else sentences.note_of_settled)(chain, facts, what=what),
    )


def _is_read(row: Bracket, *, since: datetime) -> bool:
    """Whether the exchange's orders were read whole, from this moment on."""
    reading = heartbeats.state_of(heartbeats.orders_of(row.account))
    return reading is not None and reading.heard_at is not None and reading.heard_at >= since


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
