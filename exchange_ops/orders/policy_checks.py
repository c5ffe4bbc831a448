"""What the company's rules say about an order: its value, how many are open, how far its price is from the market.

Each bound that an order goes beyond is an overstep with a name and figures. By the rules it is refused, approved by
somebody else, or confirmed by name by the person who places it. This is judged when the order is placed, whatever the
page showed before. Only prices that are worse for us are bounded: a limit that pays more or takes less than the market
fills at once, while one behind the market waits and can be cancelled. The limit of a stop order is judged against its
stop, and the stop only by its side of the market. A figure that is not known counts as beyond every bound.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from django.db.models import Q

from desk import clock
from exchange_ops.market.models import Symbol, Ticker
from exchange_ops.market.valuation import STALE_AFTER
from exchange_ops.orders import distance, request_checks, states
from exchange_ops.orders.models import Order
from exchange_ops.orders.request_checks import BUY, CannotPlace, OrderRequest
from exchange_ops.orders.ticket import estimate
from exchange_ops.policy import limits, quorum, ruleset
from exchange_ops.policy import oversteps as bounds
from exchange_ops.policy.models import ValueLimit
from exchange_ops.policy.modes import CONFIRM, STRICTNESS
from exchange_ops.policy.oversteps import (
    BOOK_DEEP,
    CONFIRMED,
    LIMIT_PAST_STOP,
    MANY_OPEN,
    OVER_VALUE,
    PRICE_FAR,
    STOP_REACHED,
    Overstep,
)
from exchange_ops.shared.models import Account

if TYPE_CHECKING:
    from desk.models import Person

_SURE: Final = Decimal(1)  # percent: the least size for which a stop beyond the market is confirmed


class NotConfirmed(CannotPlace):
    """The order goes beyond bounds that have to be confirmed by name first: `oversteps`."""

    def __init__(self, oversteps: Collection[Overstep]) -> None:
        self.oversteps = list(oversteps)
        super().__init__({CONFIRMED: f"Confirm the following, then place the order. {bounds.in_words(self.oversteps)}"})


def check(*, initiator: "Person", account: Account, requested: OrderRequest, now: datetime) -> list[Overstep]:
    """The bounds that an order goes beyond, when everything else about it holds; else CannotPlace.

    Raises it too for what the rules refuse; the other bounds are for `settle`.
    """
    symbol = request_checks.check(initiator=initiator, account=account, requested=requested, now=now)
    oversteps = find_oversteps(initiator=initiator, account=account, symbol=symbol, requested=requested, now=now)
    if refused := bounds.refusals(oversteps):
        raise CannotPlace(refused)
    return oversteps


def settle(oversteps: Iterable[Overstep], *, confirmed: Collection[str]) -> list[dict[str, Any]]:
    """The oversteps as the order stores them, once all that need it are confirmed. Raises NotConfirmed."""
    listed = list(oversteps)
    if missing := bounds.unconfirmed(listed, confirmed=confirmed):
        raise NotConfirmed(missing)
    return bounds.facts(listed)


def problems(
    *, initiator: "Person", account: Account, symbol: Symbol, requested: OrderRequest, now: datetime
) -> dict[str, str]:
    """What the current rules refuse of an order that can't wait for an approval, by field."""
    oversteps = find_oversteps(
        initiator=initiator, account=account, symbol=symbol, requested=requested, now=now, is_new=False
    )
    return bounds.refusals(oversteps, can_wait=False)


def find_oversteps(
    *,
    initiator: "Person",
    account: Account,
    symbol: Symbol,
    requested: OrderRequest,
    now: datetime,
    is_new: bool = True,
) -> list[Overstep]:
    """The bounds of the current rules that a well-formed order goes beyond.

    `is_new`: it would be one more open order.
    """
    oversteps = [*_price(symbol, requested, now), *_worth(initiator, account, symbol, requested, now)]
    return [*oversteps, *_count(initiator, account)] if is_new else oversteps


def counts_open(*, person: "Person", account: Account) -> bool:
    """Whether a limit counts this person's open orders, so that two at once are judged one after the other."""
    return limits.limits_for(kind=ValueLimit.OPEN_ORDERS, person=person, account=account).exists()


def _worth(
    initiator: "Person", account: Account, symbol: Symbol, requested: OrderRequest, now: datetime
) -> Iterator[Overstep]:
    """Its value in both currencies, since its own price may understate it; the stricter of the two oversteps."""
    amounts = [(requested.quantity, symbol.base_currency)]
    value = request_checks.figures(symbol=symbol, requested=requested).value
    if value is not None:
        amounts.append((value, symbol.quote_currency))
    excesses = [
        limits.exceeded(
            kind=ValueLimit.ORDER, person=initiator, account=account, amount=amount, currency=currency, now=now
        )
        for amount, currency in amounts
    ]
    oversteps = [
        Overstep(OVER_VALUE, "quantity", each.sentence, each.beyond, each.size) for each in excesses if each is not None
    ]
    if oversteps:
        yield max(oversteps, key=lambda each: (_rank(each), each.size is None, each.size or 0))


def _rank(overstep: Overstep) -> int:
    return STRICTNESS[overstep.beyond]


def _count(initiator: "Person", account: Account) -> Iterator[Overstep]:
    if not counts_open(person=initiator, account=account):
        return
    open_ones = Order.objects.filter(Q(active=True) | Q(state__in=states.AT_WORK), initiator=initiator)
    everywhere, here = open_ones.count() + 1, open_ones.filter(account=account).count() + 1
    excess = limits.too_many(person=initiator, account=account, here=here, everywhere=everywhere)
    if excess is not None:
        yield Overstep(MANY_OPEN, request_checks.FORM, excess.sentence, excess.beyond, excess.size)


def _price(symbol: Symbol, requested: OrderRequest, now: datetime) -> Iterator[Overstep]:
    most, beyond = ruleset.rules_of(quorum.current()).price_bound
    if requested.type == "market":
        yield from _depth(symbol, requested, most, beyond, now)
    elif requested.type == "limit":
        yield from _distance(symbol, requested, most, beyond, now)
    else:
        yield from _stop(symbol, requested, most, beyond, now)


def _distance(symbol: Symbol, requested: OrderRequest, most: Decimal, beyond: str, now: datetime) -> Iterator[Overstep]:
    ticker = Ticker.objects.filter(pk=symbol.pk).first()
    offset, allowed = distance.from_market(requested=requested, ticker=ticker), bounds.percent(most)
    if ticker is None or offset is None or not clock.is_fresh(ticker.read_at, now, within=STALE_AFTER):
        sentence = f"Policy allows at most {allowed} from the market, but there is no current price to check against."
        yield Overstep(PRICE_FAR, "price", sentence, beyond)
        return
    price, share = Fraction(requested.price or 0), Fraction(most) / 100
    is_buy = requested.side == BUY
    farthest = Fraction(offset.market) * (1 + share if is_buy else 1 - share)
    if price <= farthest if is_buy else price >= farthest:
        return
    where = f"{offset.size} % {'above' if is_buy else 'below'} the {offset.reference} ({offset.market.normalize():f})"
    yield Overstep(PRICE_FAR, "price", f"{where}; policy allows {allowed}.", beyond, offset.size)


def _stop(symbol: Symbol, requested: OrderRequest, most: Decimal, beyond: str, now: datetime) -> Iterator[Overstep]:
    """A stop order trades later, at the market of that moment, so its limit is judged against its stop.

    A stop far from the market is the usual case. One that the market has already reached is triggered by the next
    trade: that is confirmed by name whatever the rules say, and a stop-market order is then judged by the present book.
    """
    yield from _past_stop(requested, most, beyond)
    ticker = Ticker.objects.filter(pk=symbol.pk).first()
    offset = distance.from_market(requested=requested, ticker=ticker)
    if ticker is None or offset is None or not clock.is_fresh(ticker.read_at, now, within=STALE_AFTER):
        sentence = "No current price: the market may already have reached the stop."
        yield Overstep(STOP_REACHED, "stop_price", sentence, CONFIRM)
    elif distance.is_reached(requested=requested, market=offset.market):
        where = f"A {requested.side} stop should be {'above' if requested.side == BUY else 'below'} the market"
        sentence = f"{where} ({offset.market.normalize():f}). The next trade would trigger this one."
        yield Overstep(STOP_REACHED, "stop_price", sentence, CONFIRM, max(offset.size, _SURE))
        if requested.type == "stopMarket":
            yield from _depth(symbol, replace(requested, type="market", stop_price=None), most, beyond, now)


def _past_stop(requested: OrderRequest, most: Decimal, beyond: str) -> Iterator[Overstep]:
    """How far beyond its stop the limit lets the order trade; a limit better than the stop only rests."""
    room = distance.past_stop(requested)
    if room is not None and requested.stop_price is not None and room > Fraction(most) / 100:
        size = distance.percent_of(room)
        where = f"{size} % {'above' if requested.side == BUY else 'below'} the stop"
        sentence = f"{where} ({requested.stop_price.normalize():f}); policy allows {bounds.percent(most)}."
        yield Overstep(LIMIT_PAST_STOP, "price", sentence, beyond, size)


def _depth(symbol: Symbol, requested: OrderRequest, most: Decimal, beyond: str, now: datetime) -> Iterator[Overstep]:
    """A market order has no price, so the bound is on how deep it would reach into the book."""
    impact, allowed = estimate.from_book(requested=requested, symbol=symbol), bounds.percent(most)
    if impact is None or not clock.is_fresh(impact.read_at, now, within=STALE_AFTER):
        sentence = (
            f"Policy allows at most {allowed} from the best price, but there is no current order book to check against."
        )
        yield Overstep(BOOK_DEEP, "quantity", sentence, beyond)
    elif impact.short:
        sentence = f"The order is larger than the visible book; policy allows at most {allowed} from the best price."
        yield Overstep(BOOK_DEEP, "quantity", sentence, beyond)
    elif impact.worst is not None and impact.deepest > most:
        where = f"The order would move the price {impact.deepest} %, to {impact.worst.normalize():f}"
        yield Overstep(BOOK_DEEP, "quantity", f"{where}; policy allows {allowed}.", beyond, impact.deepest)
