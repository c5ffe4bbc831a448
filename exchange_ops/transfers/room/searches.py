"""What a text names among the transfers."""

from collections.abc import Iterator

from django.db.models import Q
from django.urls import reverse

from desk.web.search import SHORTEST_PIECE, Hit, Scope, newest, plain
from exchange_ops.transfers.forms import transfers_named
from exchange_ops.transfers.models import Transfer


def transfers(text: str, scope: Scope) -> Iterator[Hit]:
    """By reference or id, or by a piece of the reason."""
    pieces = Q(reason__icontains=text) if len(text) >= SHORTEST_PIECE else Q()
    for row in newest(Transfer, transfers_named(text), pieces, scope):
        words = f"{plain(row.amount)} {row.currency}, {row.kind_label}"
        yield Hit("Transfers", row.reference, words, reverse("transfer", args=[row.pk]), "arrow-left-right")
