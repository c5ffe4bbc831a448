"""What a text names among the currencies and the markets."""

import re
from collections.abc import Iterator
from typing import Final

from django.db.models import Q, QuerySet
from django.urls import reverse

from desk.web.search import MOST_OF_A_KIND, Hit, Scope, exact_first, with_query
from exchange_ops.market.models import Currency, Symbol

_VERB_AND_CODE: Final = re.compile(r"([a-z]+)\s+([a-z0-9]{1,20})", re.IGNORECASE)


def currencies(text: str, scope: Scope) -> Iterator[Hit]:
    """By code or name; each leads to its funds."""
    rows = Currency.objects.filter(Q(code__istartswith=text) | Q(full_name__icontains=text))
    for row in rows.order_by(exact_first(Q(code__iexact=text)), "code")[:MOST_OF_A_KIND]:
        yield Hit("Currencies", row.code, row.full_name, with_query("funds", text=row.code, empty="on"), "wallet")


def symbols(text: str, scope: Scope) -> Iterator[Hit]:
    """By code, with or without a separator, or by one of the two currencies."""
    code = text.replace("/", "").replace("-", "").upper()
    if not code:
        return
    rows = Symbol.objects.filter(Q(code__istartswith=code) | Q(base_currency=code) | Q(quote_currency=code))
    for row in rows.order_by(exact_first(Q(code=code)), "code")[:MOST_OF_A_KIND]:
        words = f"{row.base_currency} in {row.quote_currency}"
        yield Hit("Markets", row.code, words, reverse("market", args=[row.code]), "chart-candlestick")


def currencies_after(verb: str, text: str) -> QuerySet[Currency]:
    """The currencies whose code begins with the word after `verb` in a text like "deposit btc"."""
    named = _VERB_AND_CODE.fullmatch(text)
    if named is None or named[1].lower() != verb:
        return Currency.objects.none()
    return Currency.objects.filter(code__istartswith=named[2]).order_by("code")[:MOST_OF_A_KIND]
