"""Reads the situation of a bracket: its orders and what replaced them, the fresh price, the position, a freeze."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final

from desk import clock
from desk.machines import calls
from exchange_ops.margin.models import MarginPosition
from exchange_ops.market.models import Symbol, Ticker
from exchange_ops.orders import states as order_states
from exchange_ops.orders.brackets import chains, plan, sentences, states
from exchange_ops.orders.brackets.chains import ZERO, Link, Presence
from exchange_ops.orders.brackets.models import Bracket, BracketLeg
from exchange_ops.orders.brackets.plan import Entry, Leg, Situation
from exchange_ops.orders.models import Order, OrderCall
from exchange_ops.orders.ticket import fee_rates
from exchange_ops.policy import freezes
from exchange_ops.policy.freeze_scopes import Movement
from exchange_ops.shared import heartbeats

FRESH: Final = timedelta(seconds=30)  # a price older than this decides nothing
SETTLING: Final = timedelta(seconds=2)  # until a reading of positions has everything that an order filled
_NEVER_LEFT: Final = (order_states.NOT_SENT, order_states.DECLINED, order_states.WITHDRAWN, order_states.LAPSED)
_PRESENCE: Final = {
    **dict.fromkeys((order_states.WAITING, *order_states.ON_THE_WAY), Presence.COMING),
    **dict.fromkeys(
        (order_states.PLACED, order_states.FOUND, order_states.CANCELLING, order_states.REPLACING), Presence.THERE
    ),
    **dict.fromkeys((order_states.REFUSED, *_NEVER_LEFT), Presence.ABSENT),
    order_states.NOT_SEEN: Presence.NOT_SEEN,
}
_CANCELED: Final = "canceled"  # the only end of an order whose place another one took

# Each order of a bracket with everything that was to replace it, in the order of their numbers; the key is the number
# of the first order.
Chains = Mapping[int, Sequence[Order]]


def current(row: Bracket, *, now: datetime, chains: Chains | None = None) -> Situation:
    """The situation by what was last read; nobody outside is asked. Without `chains` its orders are read here."""
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
        frozen=_frozen(row),
        now=now,
        held=_held(row, entry, legs, now),
    )


def _frozen(row: Bracket) -> str:
    freeze = freezes.stopping(Movement(row.account_id, symbol=row.symbol))
    return "" if freeze is None else freeze.title


def read(row: Bracket) -> Chains:
    """The chains of the entry and of each leg, the entry first, then the legs as they were placed."""
    return read_all([row])[row.pk]


def read_all(rows: Sequence[Bracket]) -> dict[int, Chains]:
    """The same for several brackets, by their number; the number of queries does not depend on how many there are."""
    roots_of: dict[int, list[Order]] = {row.pk: [row.entry] for row in rows}
    for leg in BracketLeg.objects.filter(bracket__in=roots_of).select_related("order").order_by("number"):
        roots_of[leg.bracket_id].append(leg.order)
    families: dict[int, list[Order]] = {root.pk: [root] for roots in roots_of.values() for root in roots}
    root_of = {number: number for number in families}
    latest = list(root_of)
    while latest:
        replacements = list(Order.objects.filter(replaces__in=latest).order_by("pk"))
        for order in replacements:
            root_of[order.pk] = root_of[order.replaces_id or 0]
            families[root_of[order.pk]].append(order)
        latest = [order.pk for order in replacements]
    return {number: {root.pk: families[root.pk] for root in roots} for number, roots in roots_of.items()}


def head(chain: Sequence[Order]) -> Order:
    """The order that counts now: the newest replacement that the exchange is known to have.

    It carries what those before it had filled (exchange REST, Spot orders).
    """
    number = chains.head_of(_links(chain)).number
    return next(order for order in chain if order.pk == number)


def working(chain: Sequence[Order]) -> list[Order]:
    """The order that counts and those that may have replaced it: everything in the chain that can be filled."""
    links = _links(chain)
    counts = chains.head_of(links)
    numbers = {counts.number, *(heir.number for heir in chains.heirs_of(counts, links))}
    return [order for order in chain if order.pk in numbers]


def bracket_of(order: Order) -> Bracket | None:
    """The bracket of the order: it, or one that it replaced, is the entry or one of the exits."""
    numbers, earlier = [order.pk], order
    while earlier.replaces is not None:
        earlier = earlier.replaces
        numbers.append(earlier.pk)
    rows = Bracket.objects.select_related("account", "initiator", "entry")
    return rows.filter(entry__in=numbers).first() or rows.filter(legs__order__in=numbers).first()


def most_instead_of(row: Bracket, order: Order, *, now: datetime) -> Decimal | None:
    """The largest full quantity for a replacement of this order; None where the bracket sets no bound.

    There is none for an entry, nor for orders that a bracket left behind when it ended.
    """
    if row.state == states.CLOSED:
        return None
    families = read(row)
    number = next((root for root, chain in families.items() if order.pk in {each.pk for each in chain}), row.entry_id)
    leg = row.legs.filter(order=number).first()
    if leg is None:
        return None
    return plan.most_instead_of(current(row, now=now, chains=families), leg.number)


def is_reached(row: Bracket, *, price: Decimal | None) -> bool:
    """Whether the take profit can be had at this price of the other side of the book."""
    if price is None:
        return False
    return bool(price >= row.take_price if row.side == "buy" else price <= row.take_price)


def fresh_price(row: Bracket, *, now: datetime, since: datetime | None = None) -> Decimal | None:
    """The price that a closing order would get: the best bid for a sale, else the best ask. None where it is old.

    A price from before `since`, in the exchange's time, counts as old too.
    """
    ticker = Ticker.objects.filter(pk=row.symbol).first()
    is_old = ticker is None or not clock.is_fresh(ticker.read_at, now, within=FRESH)
    if ticker is None or is_old or (since is not None and ticker.timestamp < since):
        return None
    price: Decimal | None = ticker.bid if row.side == "buy" else ticker.ask
    return price


def _link(order: Order, *, final: bool) -> Link:
    presence = _PRESENCE[order.state]
    at_work = (
        order.state in {order_states.CANCELLING, order_states.REPLACING} and order.status not in order_states.ENDED
    )
    return Link(
        number=order.pk,
        quantity=order.quantity,
        filled=order.cum_quantity,
        presence=presence,
        since=None if order.state == order_states.WAITING else order.sent_at or order.created_at,
        replaces=order.replaces_id,
        open=presence is Presence.THERE and (order.active or at_work),
        final=final,
    )


def _links(chain: Sequence[Order]) -> list[Link]:
    """A link for each order. How one ended is looked up only where another order may have replaced it."""
    unknown = {Presence.COMING, Presence.NOT_SEEN}
    in_doubt = {order.replaces_id for order in chain if _PRESENCE[order.state] in unknown}
    return [_link(order, final=order.pk in in_doubt and _is_final(order)) for order in chain]


def _is_final(order: Order) -> bool:
    """Whether nothing replaced it: it was filled, expired, or cancelled at the request of the desk."""
    if order.status not in order_states.ENDED:
        return False
    cancelled = order.calls.filter(kind=OrderCall.CANCEL, outcome=calls.ACCEPTED)
    return order.status != _CANCELED or cancelled.exists()


def _entry(row: Bracket, chain: Sequence[Order], symbol: Symbol | None, now: datetime) -> Entry:
    facts = chains.comes_to(_links(chain), now=now)
    return Entry(
        filled=_opened(row, head(chain), facts.filled, symbol, now),
        open=facts.open,
        is_certain=not facts.is_lost and not facts.is_overdue(now),
        gross=facts.filled,
        note=sentences.note(chain, facts, what="entry"),
    )


def _opened(row: Bracket, entry: Order, filled: Decimal, symbol: Symbol | None, now: datetime) -> Decimal:
    """What the entry opened, less the fee that was deducted from what it bought: that can't be sold.

    The higher of the account's rate and the symbol's counts, because a stop for more than there is would be refused.
    """
    if symbol is not None and row.side == "buy" and not row.margin and symbol.fee_currency == symbol.base_currency:
        markup = entry.take_liquidity_markup or ZERO
        rate = max(symbol.take_liquidity_rate, fee_rates.current(account=row.account, symbol=symbol, now=now).take)
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
        and _is_read(row, since=max(leg.settled_at, order.updated_at), now=now),
        reason=sentences.reason(chain, facts, what=what),
        note=(sentences.note if leg.settled_at is None else sentences.note_of_settled)(chain, facts, what=what),
    )


def _is_read(row: Bracket, *, since: datetime, now: datetime) -> bool:
    """Whether all orders of the exchange were read since this moment; a reading from before the clock fell is none."""
    reading = heartbeats.state_of(heartbeats.orders_of(row.account))
    heard_at = None if reading is None else reading.heard_at
    return heard_at is not None and heard_at >= since and not clock.is_future(heard_at, now)


def _held(row: Bracket, entry: Order, legs: list[Leg], now: datetime) -> Decimal | None:
    """The size of the margin position on the bracket's side, once it was read after the last fill."""
    if not row.margin:
        return None
    position = MarginPosition.objects.filter(account=row.account, symbol=row.symbol).first()
    moments = [leg.at for leg in legs] + [entry.updated_at, entry.exchange_updated_at or entry.updated_at]
    read_at = None if position is None else position.gone_at or position.read_at
    if position is None or read_at is None or read_at < max(moments) + SETTLING or clock.is_future(read_at, now):
        return None
    signed: Decimal = ZERO if position.gone_at else position.quantity
    return max(signed if row.side == "buy" else -signed, ZERO)
