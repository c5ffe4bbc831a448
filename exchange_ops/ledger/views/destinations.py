"""Destinations: addresses that were paid to, with how often, how much in all, and when last. Read only."""

from datetime import datetime
from typing import Final

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_http_methods, require_safe

from desk import clock
from desk.lists.declared import Column, List
from desk.lists.listing import Listing
from desk.views import lists
from desk.views.rendering import show
from desk.web.requests import DeskRequest
from exchange_ops.ledger import destinations as domain
from exchange_ops.ledger.forms import DestinationFilter
from exchange_ops.ledger.views import scope
from exchange_ops.shared import rules
from exchange_ops.shared.models import Account
from exchange_ops.shared.views.access import requires

PARTS = {"rows": "exchange_ops/destinations/_rows.html", "totals": "desk/lists/_totals.html"}
DESTINATIONS: Final = List(
    name="addresses",
    one="destination",
    many="destinations",
    route="addresses",
    export_route="addresses-export",
    cells="exchange_ops/destinations/_cells.html",
    filters=DestinationFilter,
    reads={"withdrawal.reference": ("pk",)},
    columns=(
        Column(name="address", head="Address", css="s-to", is_mono=True),
        Column(name="currency", head="Currency", css="s-name"),
        Column(name="total", head="Paid in total", css="s-amount", is_end=True),
        Column(name="count", head="Payouts", css="s-turn", is_end=True, on_phone="Payouts"),
        Column(name="last_amount", head="Last amount", is_end=True),
        Column(name="last", head="Last paid", css="s-when", order=("pk",), is_time=True),
        Column(name="by", head="Last payout", css="s-who"),
    ),
    exported=(
        ("account", "account.name"),
        ("currency", "currency"),
        ("address", "address"),
        ("payment id", "payment_id"),
        ("payouts", "paid_count"),
        ("paid in total", "paid_total"),
        ("last amount", "amount"),
        ("last paid at ({zone})", "updated_at"),
        ("last exchange id", "exchange_id"),
        ("last withdrawal", "withdrawal.reference"),
        ("last hash", "hash"),
    ),
)


@require_safe
@requires(rules.may_see)
@lists.opens(DESTINATIONS)
def destinations(request: DeskRequest) -> HttpResponse:
    """A page of them, the one that was paid last first."""
    now = clock.now()
    listing, mine = _listing(request, now)
    topics = " ".join(f"ledger:{each.pk}" for each in mine)
    return show(request, "exchange_ops/destinations.html", {"now": now, "list": listing, "topics": topics}, parts=PARTS)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(rules.may_see)
def export(request: DeskRequest, form: str) -> HttpResponseBase:
    """The filtered destinations as a file, or the chosen ones."""
    return lists.file(_listing(request, clock.now())[0], form)


def _listing(request: DeskRequest, now: datetime) -> tuple[Listing, list[Account]]:
    lines, mine = scope.lines_in_view(request)
    rows = domain.newest_payouts(lines).select_related("withdrawal", "account")
    return Listing(request, DESTINATIONS, rows, now=now), mine
