"""The quantity of an order that is placed by an amount of the quote currency.

A limit order is sized at its price, a stop-market order at its stop, a market order by the levels of the visible book.
The quantity is rounded down to the quantity increment, so the amount before fees is never exceeded at these prices.
Source: exchange REST, Order book and Symbol.
"""

import re
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Final, NamedTuple

from django.db import transaction

from desk import clock
from desk.fields import plain
from exchange_ops.market.models import BookSnapshot, Symbol
from exchange_ops.market.valuation import STALE_AFTER
from exchange_ops.orders.models import Order, OrderAmount
from exchange_ops.orders.request_checks import BUY, FORM, CannotPlace
from exchange_ops.orders.ticket import shares
from wire.values import grouped_text

if TYPE_CHECKING:
    from desk.models import Person

ONE_SIZE: Final = "Enter either a quantity or an amount."
NO_PRICE: Final = "Enter the price first: the quantity is computed from it."
NO_STOP: Final = "Enter the stop price first: the quantity is computed from it."
NO_BOOK: Final = "No current order book, so the quantity can't be computed. Enter a quantity instead."
NOT_LISTED: Final = "The exchange does not list this symbol."
_CLOSE: Final = Fraction(99, 100)  # of the quantity: beyond it a book has moved, and the new quantity is shown first
_TOKEN: Final = re.compile(r"(\d{1,36}(?:\.\d{1,24})?):(\d{1,36}(?:\.\d{1,24})?)", re.ASCII)


class Size(NamedTuple):
    """A quantity in the base currency, or the `problem` why there is none."""

    quantity: Decimal | None
    problem: str = ""


def compute(
    *,
    symbol: Symbol | None,
    side: str,
    type: str,
    amount: Decimal,
    price: Decimal | None,
    stop_price: Decimal | None,
    now: datetime,
) -> Size:
    """The largest quantity of whole increments that is worth at most `amount` of the quote currency before fees."""
    if symbol is None:
        return Size(None, NOT_LISTED)
    if type == "market":
        most, problem = _by_book(symbol, side, amount, now)
        if problem:
            return Size(None, problem)
    else:
        at = stop_price if type == "stopMarket" else price
        if not at:
            return Size(None, NO_STOP if type == "stopMarket" else NO_PRICE)
        most = Fraction(amount) / Fraction(at)
    quantity = shares.rounded_down(most, symbol)
    if not quantity:
        lot = f"{grouped_text(symbol.quantity_increment)} {symbol.base_currency}"
        return Size(None, f"Enter a larger amount: this is less than one lot ({lot}).")
    return Size(quantity)


def token(amount: Decimal, quantity: Decimal) -> str:
    """What goes back with a ticket: the amount, and the quantity that the page shows for it."""
    return f"{plain(amount):f}:{plain(quantity):f}"


def keep_shown(size: Size, *, page_token: str, amount: Decimal, symbol: Symbol | None) -> Size:
    """The quantity of the ticket's `page_token` for this amount while the book gives nearly that; else the present one.

    A book moves with every trade: what is placed is what was shown, unless that differs by more than a hundredth.
    """
    match = _TOKEN.fullmatch(page_token)
    if size.quantity is None or symbol is None or match is None or Decimal(match[1]) != amount:
        return size
    quantity, present = Fraction(match[2]), Fraction(size.quantity)
    is_whole = symbol.quantity_increment <= 0 or quantity % Fraction(symbol.quantity_increment) == 0
    is_close = quantity > 0 and min(quantity, present) >= max(quantity, present) * _CLOSE
    return Size(Decimal(match[2])) if is_whole and is_close else size


def earlier_quantity(*, initiator: "Person", request_key: str, amount: Decimal) -> Decimal | None:
    """The quantity of the order that the same request made before; None where there is none for this amount.

    A key that was used for another amount is refused when the order is placed, as for any other content.
    """
    rows = Order.objects.filter(initiator=initiator, request_key=request_key, by_amount__amount=amount)
    return rows.values_list("quantity", flat=True).first()


def recorded(place: Callable[..., Order], *, amount: Decimal, **request: object) -> Order:
    """Place the order of `request` and note the amount that it was placed for, both or neither.

    Raises what `place` raises, and CannotPlace where the same key placed an order by quantity or for another amount.
    """
    with transaction.atomic():
        row = place(**request)
        noted, is_new = OrderAmount.objects.get_or_create(order=row, defaults={"amount": amount})
        if noted.amount != amount or (is_new and row.created_at != request["now"]):
            raise CannotPlace({FORM: f"This form was already submitted with different content, as {row.reference}."})
    return row


def _by_book(symbol: Symbol, side: str, amount: Decimal, now: datetime) -> tuple[Fraction, str]:
    """How much the visible book gives for the amount, and why that is not known."""
    book = BookSnapshot.objects.filter(pk=symbol.pk).first()
    if book is None or not clock.is_fresh(book.read_at, now, within=STALE_AFTER):
        return Fraction(0), NO_BOOK
    remaining, quantity = Fraction(amount), Fraction(0)
    for price, size in book.ask if side == BUY else book.bid:
        level = Fraction(price) * Fraction(size)
        if level >= remaining:
            return quantity + remaining / Fraction(price), ""
        remaining, quantity = remaining - level, quantity + Fraction(size)
    visible = Decimal(int(Fraction(amount) - remaining))
    return Fraction(0), (
        f"The visible book ends at about {grouped_text(visible)} {symbol.quote_currency}. "
        "Enter a smaller amount, or enter a quantity instead."
    )
