"""What the company's rules say about an order: its worth, how many are open, how far its price is from the market.

Each bound that an order goes beyond is an overstep with a name and figures. By the rules it is refused, approved by
somebody else, or confirmed by name by who places it; that is judged here, at the act, whatever the page said before.
Only a price that is worse for us is bounded: a limit order that pays more or takes less than the market does fills at
once. One that lies behind the market waits there, and can be cancelled. What is not known is more than any bound.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_CEILING, Decimal
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
from exchange_ops.policy.models import ValueLimit
from exchange_ops.policy.modes import APPROVE, CONFIRM, REFUSE, STRICTNESS
from exchange_ops.shared.models import Account

if TYPE_CHECKING:
    from desk.models import Person

PRICE_FAR: Final = "price_far"
BOOK_DEEP: Final = "book_deep"
OVER_VALUE: Final = "over_value"
MANY_OPEN: Final = "many_open"
LABELS: Final = {
    PRICE_FAR: "Price far from the market",
    BOOK_DEEP: "Eats deep into the book",
    OVER_VALUE: "Worth more than the limit",
    MANY_OPEN: "Many open orders",
}
CONFIRMED: Final = "confirmed"  # the field that carries what was confirmed
MOST_CONFIRMED: Final = len(LABELS)
NO_APPROVAL: Final = "This can't wait for an approval."
_UNKNOWN: Final = "unknown"
_MOST_AHEAD: Final = 2  # how many times the present size may be confirmed: not any size beforehand
_AHEAD: Final = Decimal("1.1")  # what is confirmed covers a tenth more than was seen: the market moves meanwhile
_DIGITS: Final = 2  # of what is confirmed, rounded up


@dataclass(frozen=True, slots=True)
class Overstep:
    """One bound that an order goes beyond. `size` is what it is measured by (percent, value, or number of orders);
    None where it is not known well enough. `field` is the one it is about."""

    name: str
    field: str
    sentence: str
    beyond: str
    size: Decimal | None = None

    @property
    def label(self) -> str:
        """Its name in words."""
        return LABELS[self.name]

    @property
    def token(self) -> str:
        """What a person confirms: this name, up to a tenth more than they saw; a number of orders as it is."""
        if self.size is None:
            return f"{self.name}:{_UNKNOWN}"
        return f"{self.name}:{f'{self.size:f}' if self.name == MANY_OPEN else _rounded_up(self.size * _AHEAD)}"

    @property
    def fact(self) -> dict[str, str]:
        """What is kept of it on the order and in the audit trail."""
        size = _UNKNOWN if self.size is None else f"{self.size.normalize():f}"
        return {"name": self.name, "size": size, "beyond": self.beyond, "sentence": self.sentence, "up_to": self.token}

    def confirmed_by(self, tokens: Iterable[str]) -> str:
        """The one of these that confirms it, of at least its size; an empty text where there is none."""
        for token in tokens:
            name, _, most = token.partition(":")
            if name != self.name:
                continue
            if most == _UNKNOWN if self.size is None else _reaches(most, self.size):
                return token
        return ""


class NotConfirmed(CannotPlace):
    """The order goes beyond bounds that have to be confirmed by name first: `oversteps`."""

    def __init__(self, oversteps: Collection[Overstep]) -> None:
        self.oversteps = list(oversteps)
        names = " ".join(f"{each.label}: {each.sentence}" for each in self.oversteps)
        super().__init__({CONFIRMED: f"Confirm by name, then place it. {names}"})


def check(*, initiator: "Person", account: Account, wanted: Wanted, now: datetime) -> list[Overstep]:
    """The bounds that an order goes beyond, when everything else about it holds; else CannotPlace.

    What the rules refuse is refused; the rest is for `settle`.
    """
    symbol = request_checks.check(initiator=initiator, account=account, wanted=wanted, now=now)
    found = oversteps(initiator=initiator, account=account, symbol=symbol, wanted=wanted, now=now)
    if refused := refusals(found):
        raise CannotPlace(refused)
    return found


def settle(found: Iterable[Overstep], *, confirmed: Collection[str]) -> list[dict[str, Any]]:
    """What is kept of the oversteps, when each that has to be confirmed was. Raises NotConfirmed."""
    kept = list(found)
    if missing := [each for each in kept if each.beyond == CONFIRM and not each.confirmed_by(confirmed)]:
        raise NotConfirmed(missing)
    return [each.fact for each in kept]


def refusals(found: Iterable[Overstep], *, can_wait: bool = True) -> dict[str, str]:
    """By field, what the rules refuse; also what needs an approval, where the order `can_wait` for none."""
    problems: dict[str, str] = {}
    for each in found:
        if each.beyond == REFUSE:
            problems.setdefault(each.field, each.sentence)
        elif each.beyond == APPROVE and not can_wait:
            problems.setdefault(each.field, f"{each.sentence} {NO_APPROVAL}")
    return problems


def problems(*, initiator: "Person", account: Account, symbol: Symbol, wanted: Wanted, now: datetime) -> dict[str, str]:
    """What the rules in force don't allow about an order that can't wait for an approval, by field."""
    found = oversteps(initiator=initiator, account=account, symbol=symbol, wanted=wanted, now=now, is_new=False)
    return refusals(found, can_wait=False)


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
    return limits.of(kind=ValueLimit.OPEN_ORDERS, person=person, account=account).exists()


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
    most, beyond = ruleset.of(quorum.current()).price_bound
    if wanted.type == "market":
        yield from _depth(symbol, wanted, most, beyond, now)
    elif wanted.type == "limit":
        yield from _distance(symbol, wanted, most, beyond, now)


def _distance(symbol: Symbol, wanted: Wanted, most: Decimal, beyond: str, now: datetime) -> Iterator[Overstep]:
    ticker = Ticker.objects.filter(pk=symbol.pk).first()
    found, allowed = distance.of(wanted=wanted, ticker=ticker), _percent(most)
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


def _depth(symbol: Symbol, wanted: Wanted, most: Decimal, beyond: str, now: datetime) -> Iterator[Overstep]:
    """A market order has no price, so how deep it would eat into the book is bounded."""
    found, allowed = estimate.of(wanted=wanted, symbol=symbol), _percent(most)
    if found is None or now - found.read_at > STALE_AFTER:
        sentence = f"The rules bound the price to {allowed} from the market's, and the book is not known well enough."
        yield Overstep(BOOK_DEEP, "quantity", sentence, beyond)
    elif found.short:
        sentence = f"The order is larger than the known book: the rules allow {allowed} from the best price."
        yield Overstep(BOOK_DEEP, "quantity", sentence, beyond)
    elif found.worst is not None and found.deepest > most:
        where = f"It would eat {found.deepest} % deep into the book, to {found.worst.normalize():f}"
        yield Overstep(BOOK_DEEP, "quantity", f"{where}: the rules allow {allowed}.", beyond, found.deepest)


def _percent(share: Decimal) -> str:
    return f"{share.normalize():f} %"


def _rounded_up(size: Decimal) -> str:
    """The size with two digits, rounded up."""
    if not size:
        return "0"
    step = Decimal(1).scaleb(size.adjusted() - _DIGITS + 1)
    return f"{(size / step).to_integral_value(rounding=ROUND_CEILING) * step:f}"


def _reaches(most: str, size: Decimal) -> bool:
    """Whether what was confirmed covers the size, and not any size at all."""
    try:
        return size <= Decimal(most) <= _MOST_AHEAD * Decimal(_rounded_up(size))
    except ArithmeticError:
        return False
