"""What the company's rules say about an order: its worth, how many are open, how far its price is from the market.

Each bound that an order goes beyond is an overstep with a name and figures. By the rules it is refused, approved by
somebody else, or confirmed by name by who places it; that is judged here, at the act, whatever the page said before.
Only a price that is worse for us is bounded: a limit order that pays more or takes less than the market does fills at
once. One that lies behind the market waits there, and can be cancelled. The limit of a stop order is judged against its
stop, and the stop only by its side of the market. What is not known is more than any bound.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from django.db.models import Q

from exchange_ops.market.models import Symbol, Ticker
from exchange_ops.market.valuation import STALE_AFTER
from exchange_ops.orders import distance, machine, request_checks
from exchange_ops.orders.models import Order
from exchange_ops.orders.request_checks import BUY, CannotPlace, Wanted
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

_SURE: Final = Decimal(1)  # percent: a stop that is beyond the market by less is confirmed for so much


class NotConfirmed(CannotPlace):
    """The order goes beyond bounds that have to be confirmed by name first: `oversteps`."""

    def __init__(self, oversteps: Collection[Overstep]) -> None:
        self.oversteps = list(oversteps)
        super().__init__({CONFIRMED: f"Confirm by name, then place it. {bounds.in_words(self.oversteps)}"})


def check(*, initiator: "Person", account: Account, wanted: Wanted, now: datetime) -> list[Overstep]:
    """The bounds that an order goes beyond, when everything else about it holds; else CannotPlace.

    What the rules refuse is refused; the rest is for `settle`.
    """
    symbol = request_checks.check(initiator=initiator, account=account, wanted=wanted, now=now)
    found = oversteps(initiator=initiator, account=account, symbol=symbol, wanted=wanted, now=now)
    if refused := bounds.refusals(found):
        raise CannotPlace(refused)
    return found


def settle(found: Iterable[Overstep], *, confirmed: Collection[str]) -> list[dict[str, Any]]:
    """What is kept of the oversteps, when each that has to be confirmed was. Raises NotConfirmed."""
    judged = list(found)
    if missing := bounds.unconfirmed(judged, confirmed=confirmed):
        raise NotConfirmed(missing)
    return bounds.facts(judged)


def problems(*, initiator: "Person", account: Account, symbol: Symbol, wanted: Wanted, now: datetime) -> dict[str, str]:
    """What the rules in force don't allow about an order that can't wait for an approval, by field."""
    found = oversteps(initiator=initiator, account=account, symbol=symbol, wanted=wanted, now=now, is_new=False)
    return bounds.refusals(found, can_wait=False)


def oversteps(
    *, initiator: "Person", account: Account, symbol: Symbol, wanted: Wanted, now: datetime, is_new: bool = True
) -> list[Overstep]:
    """The bounds of the rules in force that an order goes beyond, which is otherwise well formed.

    `is_new`: it would be open beside those that are.
    """
    found = [*_price(symbol, wanted, now), *_worth(initiator, account, symbol, wanted, now)]
    return [*found, *_count(initiator, account)] if is_new else found


def counts_open(*, person: "Person", account: Account) -> bool:
    """Whether a limit counts this person's open orders, so that two at once have to be judged one after the other."""
    return limits.limits_for(kind=ValueLimit.OPEN_ORDERS, person=person, account=account).exists()


def _worth(initiator: "Person", account: Account, symbol: Symbol, wanted: Wanted, now: datetime) -> Iterator[Overstep]:
    """By its value in both currencies: its own price may say less than the market does. The graver of both."""
    amounts = [(wanted.quantity, symbol.base_currency)]
    value = request_checks.figures(symbol=symbol, wanted=wanted).value
    if value is not None:
        amounts.append((value, symbol.quote_currency))
    exceeded = [
        limits.exceeded(
            kind=ValueLimit.ORDER, person=initiator, account=account, amount=amount, currency=currency, now=now
        )
        for amount, currency in amounts
    ]
    found = [
        Overstep(OVER_VALUE, "quantity", each.sentence, each.beyond, each.size) for each in exceeded if each is not None
    ]
    if found:
        yield max(found, key=lambda each: (_rank(each), each.size is None, each.size or 0))


def _rank(overstep: Overstep) -> int:
    return STRICTNESS[overstep.beyond]


def _count(initiator: "Person", account: Account) -> Iterator[Overstep]:
    if not counts_open(person=initiator, account=account):
        return
    open_ones = Order.objects.filter(Q(active=True) | Q(state__in=machine.AT_WORK), initiator=initiator)
    everywhere, here = open_ones.count() + 1, open_ones.filter(account=account).count() + 1
    found = limits.too_many(person=initiator, account=account, here=here, everywhere=everywhere)
    if found is not None:
        yield Overstep(MANY_OPEN, request_checks.FORM, found.sentence, found.beyond, found.size)


def _price(symbol: Symbol, wanted: Wanted, now: datetime) -> Iterator[Overstep]:
    most, beyond = ruleset.rules_of(quorum.current()).price_bound
    if wanted.type == "market":
        yield from _depth(symbol, wanted, most, beyond, now)
    elif wanted.type == "limit":
        yield from _distance(symbol, wanted, most, beyond, now)
    else:
        yield from _stop(symbol, wanted, most, beyond, now)


def _distance(symbol: Symbol, wanted: Wanted, most: Decimal, beyond: str, now: datetime) -> Iterator[Overstep]:
    ticker = Ticker.objects.filter(pk=symbol.pk).first()
    found, allowed = distance.of(wanted=wanted, ticker=ticker), bounds.percent(most)
    if ticker is None or found is None or now - ticker.read_at > STALE_AFTER:
        sentence = f"The rules bound the price to {allowed} from the market's, which is not known well enough."
        yield Overstep(PRICE_FAR, "price", sentence, beyond)
        return
    price, share = Fraction(wanted.price or 0), Fraction(most) / 100
    is_buy = wanted.side == BUY
    farthest = Fraction(found.market) * (1 + share if is_buy else 1 - share)
    if price <= farthest if is_buy else price >= farthest:
        return
    where = f"{found.size} % {'above' if is_buy else 'below'} the {found.beside} ({found.market.normalize():f})"
    yield Overstep(PRICE_FAR, "price", f"{where}: the rules allow {allowed}.", beyond, found.size)


def _stop(symbol: Symbol, wanted: Wanted, most: Decimal, beyond: str, now: datetime) -> Iterator[Overstep]:
    """A stop order trades at the market of another moment, so its limit is judged against the price that wakes it.

    A stop far from the market is what it is for. One that the market has reached already is woken by the next trade:
    that is confirmed by name whatever the rules say, and a stop-market order then eats into the book of this moment.
    """
    yield from _past_stop(wanted, most, beyond)
    ticker = Ticker.objects.filter(pk=symbol.pk).first()
    found = distance.of(wanted=wanted, ticker=ticker)
    if ticker is None or found is None or now - ticker.read_at > STALE_AFTER:
        sentence = "Whether the market has reached the stop already is not known: its price is not known well enough."
        yield Overstep(STOP_REACHED, "stop_price", sentence, CONFIRM)
    elif distance.is_reached(wanted=wanted, market=found.market):
        where = f"A {wanted.side} stop belongs {'above' if wanted.side == BUY else 'below'} the market"
        sentence = f"{where} ({found.market.normalize():f}): the next trade triggers this one."
        yield Overstep(STOP_REACHED, "stop_price", sentence, CONFIRM, max(found.size, _SURE))
        if wanted.type == "stopMarket":
            yield from _depth(symbol, replace(wanted, type="market", stop_price=None), most, beyond, now)


def _past_stop(wanted: Wanted, most: Decimal, beyond: str) -> Iterator[Overstep]:
    """How far beyond its stop the limit lets the order trade; one that is better than the stop only rests."""
    room = distance.past_stop(wanted)
    if room is not None and wanted.stop_price is not None and room > Fraction(most) / 100:
        size = distance.percent_of(room)
        where = f"{size} % {'above' if wanted.side == BUY else 'below'} the stop"
        sentence = f"{where} ({wanted.stop_price.normalize():f}): the rules allow {bounds.percent(most)}."
        yield Overstep(LIMIT_PAST_STOP, "price", sentence, beyond, size)


def _depth(symbol: Symbol, wanted: Wanted, most: Decimal, beyond: str, now: datetime) -> Iterator[Overstep]:
    """A market order has no price, so how deep it would eat into the book is bounded."""
    found, allowed = estimate.of(wanted=wanted, symbol=symbol), bounds.percent(most)
    if found is None or now - found.read_at > STALE_AFTER:
        sentence = f"The rules bound the price to {allowed} from the market's, and the book is not known well enough."
        yield Overstep(BOOK_DEEP, "quantity", sentence, beyond)
    elif found.short:
        sentence = f"The order is larger than the known book: the rules allow {allowed} from the best price."
        yield Overstep(BOOK_DEEP, "quantity", sentence, beyond)
    elif found.worst is not None and found.deepest > most:
        where = f"It would eat {found.deepest} % deep into the book, to {found.worst.normalize():f}"
        yield Overstep(BOOK_DEEP, "quantity", f"{where}: the rules allow {allowed}.", beyond, found.deepest)
