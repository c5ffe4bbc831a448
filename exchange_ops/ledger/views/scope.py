"""The ledger lines that the lists show: those of the accounts in view."""

from typing import Final

from django.db.models import QuerySet

from desk.lists.declared import Totals
from desk.web.requests import DeskRequest
from exchange_ops.ledger import directions
from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.shared.models import Account
from exchange_ops.shared.views import accounts

# What lines of the ledger add up to: what came in, went out and moved, fees, the net of these, and what is under way.
BY_CURRENCY: Final = Totals(
    by=("currency",),
    apart=("type", "status"),
    sums={"amount": "", "fee": ""},
    units=dict.fromkeys(directions.FIGURES, "currency"),
    combine=directions.sums,
)


def lines_in_view(request: DeskRequest) -> tuple[QuerySet[LedgerEntry], list[Account]]:
    """The lines and the accounts. A single account is filtered by equality, so that its index gives the order."""
    mine = accounts.in_view(request)
    named = {"account": mine[0]} if len(mine) == 1 else {"account__in": mine}
    return LedgerEntry.objects.filter(**named), mine


def topics(mine: list[Account]) -> str:
    """What a page about these accounts follows."""
    return " ".join(f"ledger:{each.pk}" for each in mine)


def order(mine: list[Account]) -> tuple[str, ...] | None:
    """The order that several accounts have together: that in which the desk first saw the lines.

    Each account's ledger counts by itself.
    """
    return ("pk",) if len(mine) > 1 else None
