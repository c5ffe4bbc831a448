"""What a text names among the orders and the brackets."""

from collections.abc import Iterator

from django.db.models import Q
from django.urls import reverse

from desk.web.search import Hit, Scope, newest, plain, referenced
from exchange_ops.orders.brackets.models import Bracket
from exchange_ops.orders.forms import orders_named
from exchange_ops.orders.models import Order


def orders(text: str, scope: Scope) -> Iterator[Hit]:
    """By reference or id."""
    for row in newest(Order, orders_named(text), Q(), scope):
        words = f"{row.side.capitalize()} {plain(row.quantity)} {row.symbol}"
        yield Hit("Orders", row.reference, words, reverse("order", args=[row.pk]), "file-check")
    for bracket in newest(Bracket, referenced(Bracket.mark, text), Q(), scope):
        words = f"{bracket.side.capitalize()} {bracket.symbol}, {bracket.label.lower()}"
        yield Hit("Orders", bracket.reference, words, reverse("bracket", args=[bracket.pk]), "shield-check")
