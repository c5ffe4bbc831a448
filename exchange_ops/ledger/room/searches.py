"""What a text names in the exchange's ledger."""

import re
from collections.abc import Iterator
from typing import Final

from django.db.models import Q
from django.urls import reverse

from chaindata.templatetags.chain import CURRENCIES
from desk.web.search import MOST_OF_A_KIND, Hit, Scope, numbered, plain, shortened, with_query
from exchange_ops.ledger.models import LedgerEntry

WHOLE_HASH: Final = re.compile(r"(?:0x)?[0-9a-fA-F]{64}")


def lines(text: str, scope: Scope) -> Iterator[Hit]:
    """Lines by the exchange's id, its index or the whole hash of its transaction."""
    named = _named(text)
    if WHOLE_HASH.fullmatch(text):
        named |= Q(hash=text.lower())
    for row in LedgerEntry.objects.filter(named, account__in=scope.accounts).order_by("-index")[:MOST_OF_A_KIND]:
        words = f"{plain(row.amount)} {row.currency}, {row.type}, {row.status}"
        yield Hit("Ledger", str(row.index), words, with_query("ledger", text=row.exchange_id), "book-open")


def transactions(text: str, scope: Scope) -> Iterator[Hit]:
    """The chain's transactions of the lines that the text names; a whole hash is looked for on the chain itself."""
    if WHOLE_HASH.fullmatch(text):
        return
    rows = LedgerEntry.objects.filter(_named(text), account__in=scope.accounts, currency__in=CURRENCIES, hash__gt="")
    for row in rows.order_by("-index")[:MOST_OF_A_KIND]:
        url = reverse("chain-transaction", args=[row.hash])
        yield Hit("On the chain", shortened(row.hash), f"Transaction of ledger line {row.index}", url, "link")


def _named(text: str) -> Q:
    return Q(exchange_id=text) | numbered("index", text)
