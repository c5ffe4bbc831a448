"""A stop or a take profit alone for what is held on the trading account: a sale at a worse or at a better price.

It is an order like any other; besides the checks of every order it may sell no more than is held and in no open sale
yet, and the market must not have reached its price. A stop is a stop-limit sell, a take profit a limit sell.
Source: exchange REST, Order and Balance; supplement 2.8.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from django.db import transaction
from django.db.models import Q

from desk.audit import trail
from exchange_ops.market.models import Symbol, Ticker
from exchange_ops.orders import states
from exchange_ops.orders.models import Order
from exchange_ops.orders.request_checks import FORM, SELL, CannotPlace, OrderRequest, available
from exchange_ops.orders.ticket import shares
from exchange_ops.shared.models import Account
from wire.values import grouped_text

if TYPE_CHECKING:
    from desk.models import Person

STOP, TAKE = "stop", "take"
KINDS: Final = {STOP: "Stop", TAKE: "Take profit"}
TYPES: Final = {STOP: "stopLimit", TAKE: "limit"}
ZERO: Final = Decimal(0)


@dataclass(frozen=True, slots=True)
class Holding:
    """What the trading account holds of `currency`, as last read, and what of it open sales have reserved."""

    currency: str
    held: Decimal
    in_sales: Decimal
    available: Decimal
    read_at: datetime | None

    @property
    def most(self) -> Decimal:
        """What may still be protected: held less what open sales reserve, and never more than is available."""
        return max(min(self.held - self.in_sales, self.available), ZERO)


def holding(*, account: Account, symbol: Symbol) -> Holding:
    """The holding of the symbol's base currency; sales that wait for an approval or for a worker count as open."""
    currency = symbol.base_currency
    balance = available(account=account, currency=currency)
    if balance is None:
        return Holding(currency, ZERO, ZERO, ZERO, None)
    is_open = Q(active=True) | Q(state__in=(*states.AT_WORK, states.WAITING))
    codes = Symbol.objects.filter(base_currency=currency).values("code")
    sales = Order.objects.filter(is_open, account=account, side=SELL, margin=False, symbol__in=codes)
    in_sales = sum((row.remaining for row in sales), ZERO)
    return Holding(currency, balance.available + balance.reserved, in_sales, balance.available, balance.read_at)


def whole_lots(free: Holding, symbol: Symbol) -> Decimal:
    """The most that can be protected in whole quantity increments."""
    return shares.rounded_down(Fraction(free.most), symbol)


def problems(*, kind: str, account: Account, symbol: Symbol, requested: OrderRequest) -> dict[str, str]:
    """Why this order is no protection of that kind, by field; empty where it is one."""
    if requested.side != SELL or requested.margin or requested.type != TYPES[kind]:
        return {
            FORM: f"A {KINDS[kind].lower()} on a holding must sell from the trading account. Reload the page and try "
            "again."
        }
    sentences, free = {}, holding(account=account, symbol=symbol)
    if requested.quantity > free.most:
        sentences["quantity"] = (
            f"Enter at most {grouped_text(free.most)} {free.currency}: the trading account holds "
            f"{grouped_text(free.held)}, {grouped_text(free.held - free.most)} of it reserved by open orders."
        )
    field = "stop_price" if kind == STOP else "price"
    market, price = _market(kind, symbol), getattr(requested, field)
    if market is not None and price is not None and (price >= market if kind == STOP else price <= market):
        side = "below" if kind == STOP else "above"
        where = f"{grouped_text(market)} {symbol.quote_currency}"
        what = KINDS[kind].lower()
        sentences[field] = f"This would sell immediately: a {what} must be {side} the market price, now {where}."
    return sentences


def _market(kind: str, symbol: Symbol) -> Decimal | None:
    """The price that would trigger or fill it: the last trade for a stop, the best bid for a take profit."""
    ticker = Ticker.objects.filter(pk=symbol.pk).first()
    if ticker is None:
        return None
    price: Decimal | None = ticker.last or ticker.bid if kind == STOP else ticker.bid or ticker.last
    return price


def checked(
    place: Callable[..., Order],
    *,
    kind: str,
    initiator: "Person",
    account: Account,
    requested: OrderRequest,
    request_key: str,
    **request: object,
) -> Order:
    """Place the order if it is such a protection, judged in the same transaction; sent again, it gives the same order.

    Raises CannotPlace with the sentences of `problems`, and what `place` raises.
    """
    with transaction.atomic():
        trail.take_turn()  # of two that protect the same coins at once, the second sees the first
        if not Order.objects.filter(initiator=initiator, request_key=request_key).exists():
            symbol = Symbol.objects.filter(pk=requested.symbol).first()
            sentences = problems(kind=kind, account=account, symbol=symbol, requested=requested) if symbol else {}
            if sentences:
                raise CannotPlace(sentences)
        return place(initiator=initiator, account=account, requested=requested, request_key=request_key, **request)
