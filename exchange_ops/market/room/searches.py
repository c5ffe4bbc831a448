"""What a text names among the currencies and the markets."""

import re
from collections.abc import Iterator
from typing import Final

from django.db.models import Case, IntegerField, Q, QuerySet, When
from django.urls import reverse

from desk.web.search import MOST_OF_A_KIND, Hit, Scope, exact_first, with_query
from exchange_ops.market.models import Currency, Symbol

_VERB_AND_CODE: Final = re.compile(r"([a-z]+)\s+([a-z0-9]{1,20})", re.IGNORECASE)


def currencies(text: str, scope: Scope) -> Iterator[Hit]:
    """By code or name; each leads to its funds."""
    rows = Currency.objects.filter(Q(code__istartswith=text) | Q(full_name__icontains=text))
    for row in rows.order_by(exact_first(Q(code__iexact=text)), "code")[:MOST_OF_A_KIND]:
        url, is_exact = with_query("funds", text=row.code, empty="on"), row.code.lower() == text.lower()
        yield Hit("Currencies", row.code, row.full_name, url, "wallet", is_exact)


def symbols(text: str, scope: Scope) -> Iterator[Hit]:
    """By code, with or without a separator, or by one of the two currencies: those of the base currency first."""
    code = text.replace("/", "").replace("-", "").replace(" ", "").upper()
    if not code:
        return
    for row in symbols_of(code, scope):
        words = f"{row.base_currency} / {row.quote_currency}"
        is_exact = code in {row.code, row.base_currency}
        url = reverse("market", args=[row.code])
        yield Hit("Markets", row.code, words, url, "chart-candlestick", is_exact)


def symbols_of(code: str, scope: Scope) -> list[Symbol]:
    """The symbols that a code names: itself, then its markets as base currency, those in the account quote first."""
    rows = Symbol.objects.filter(Q(code__istartswith=code) | Q(base_currency=code) | Q(quote_currency=code))
    quotes = {account.quote_currency for account in scope.accounts}
    place = Case(
        When(code=code, then=0),
        When(base_currency=code, quote_currency__in=quotes, then=1),
        When(base_currency=code, then=2),
        When(code__istartswith=code, then=3),
        default=4,
        output_field=IntegerField(),
    )
    return list(rows.order_by(place, "code")[:MOST_OF_A_KIND])


def verb_and_code(text: str, *verbs: str) -> tuple[str, str] | None:
    """The verb and the code, in capitals, of a text like "buy btc"; None for another text."""
    named = _VERB_AND_CODE.fullmatch(text)
    if named is None or named[1].lower() not in verbs:
        return None
    return named[1].lower(), named[2].upper()


def currencies_after(text: str, *verbs: str) -> QuerySet[Currency]:
    """The currencies whose code begins with the word after one of the verbs in a text like "deposit btc"."""
    named = verb_and_code(text, *verbs)
    if named is None:
        return Currency.objects.none()
    return Currency.objects.filter(code__istartswith=named[1]).order_by("code")[:MOST_OF_A_KIND]
