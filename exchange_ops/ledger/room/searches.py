"""What a text names in the exchange's ledger."""

import re
from collections.abc import Iterator
from typing import Final

from django.db.models import Q

from desk.web.search import MOST_OF_A_KIND, Hit, Scope, numbered, plain, with_query
from exchange_ops.ledger.models import LedgerEntry

WHOLE_HASH: Final = re.compile(r"(?:0x)?[0-9a-fA-F]{64}")


def lines(text: str, scope: Scope) -> Iterator[Hit]:
    """Lines by the exchange's id, its index or the whole hash of its transaction."""
    named = lines_named(text)
    if WHOLE_HASH.fullmatch(text):
        named |= Q(hash=text.lower())
    for row in LedgerEntry.objects.filter(named, account__in=scope.accounts).order_by("-index")[:MOST_OF_A_KIND]:
        words = f"{plain(row.amount)} {row.currency}, {row.type}, {row.status}"
        yield Hit("Ledger", str(row.index), words, with_query("ledger", text=row.exchange_id), "book-open")


def lines_named(text: str) -> Q:
    """Lines of this id or index."""
    return Q(exchange_id=text) | numbered("index", text)
