"""What the company's rules say about an order: how much one may be worth, and how far its price may be from the market.

Only a price that is worse for us is bounded: a limit order that pays more or takes less than the market does fills at
once. One that lies behind the market waits there, and can be cancelled. What is not known is more than any bound.
"""

from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from exchange_ops.market.models import Symbol, Ticker
from exchange_ops.market.valuation import STALE_AFTER
from exchange_ops.orders import distance, request_checks
from exchange_ops.orders.request_checks import BUY, CannotPlace, Wanted
from exchange_ops.orders.ticket import estimate
from exchange_ops.policy import limits, quorum
from exchange_ops.policy.models import ValueLimit
from exchange_ops.shared.models import Account

if TYPE_CHECKING:
    from desk.models import Person


def check(*, initiator: "Person", account: Account, wanted: Wanted, now: datetime) -> Symbol:
    """The symbol, when everything about the order holds, the rules included; else CannotPlace."""
    symbol = request_checks.check(initiator=initiator, account=account, wanted=wanted, now=now)
    if found := problems(initiator=initiator, account=account, symbol=symbol, wanted=wanted, now=now):
        raise CannotPlace(found)
    return symbol


def problems(*, initiator: "Person", account: Account, symbol: Symbol, wanted: Wanted, now: datetime) -> dict[str, str]:
    """What the rules in force don't allow about an order that is otherwise well formed, by field."""
    found = {}
    for amount, currency in _amounts(symbol, wanted):
        sentence = limits.problem(
            kind=ValueLimit.ORDER, person=initiator, account=account, amount=amount, currency=currency, now=now
        )
        if sentence:
            found["quantity"] = sentence
            break
    if sentence := _distance_problem(symbol, wanted, now):
        found["quantity" if wanted.price is None else "price"] = sentence
    return found


def _amounts(symbol: Symbol, wanted: Wanted) -> Iterator[tuple[Decimal, str]]:
    """What the order is about, in both currencies: its own price may say less than the market does."""
    yield wanted.quantity, symbol.base_currency
    value = request_checks.figures(symbol=symbol, wanted=wanted).value
    if value is not None:
        yield value, symbol.quote_currency


def _distance_problem(symbol: Symbol, wanted: Wanted, now: datetime) -> str:
    policy = quorum.current()
    most = policy.price_distance if policy is not None else None
    if most is not None and wanted.type == "market":
        return _depth_problem(symbol, wanted, most, now)
    if most is None or wanted.type != "limit":
        return ""
    ticker = Ticker.objects.filter(pk=symbol.pk).first()
    found = distance.of(wanted=wanted, ticker=ticker)
    if ticker is None or found is None or now - ticker.read_at > STALE_AFTER:
        return f"The rules bound the price to {most.normalize():f} % from the market's, which is not known well enough."
    price, allowed = Fraction(wanted.price or 0), Fraction(most) / 100
    is_buy = wanted.side == BUY
    farthest = Fraction(found.market) * (1 + allowed if is_buy else 1 - allowed)
    if price <= farthest if is_buy else price >= farthest:
        return ""
    market = f"{found.market.normalize():f}"
    where = f"{found.size} % {'above' if is_buy else 'below'} the {found.beside} ({market})"
    return f"{where}: the rules allow {most.normalize():f} %."


def _depth_problem(symbol: Symbol, wanted: Wanted, most: Decimal, now: datetime) -> str:
    """A market order has no price, so how deep it would eat into the book is bounded."""
    found, allowed = estimate.of(wanted=wanted, symbol=symbol), f"{most.normalize():f} %"
    if found is None or now - found.read_at > STALE_AFTER:
        return f"The rules bound the price to {allowed} from the market's, and the book is not known well enough."
    if found.short:
        return f"The order is larger than the known book: the rules allow {allowed} from the best price."
    if found.worst is None or found.deepest <= most:
        return ""
    where = f"It would eat {found.deepest} % deep into the book, to {found.worst.normalize():f}"
    return f"{where}: the rules allow {allowed}."
