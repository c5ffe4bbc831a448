"""What came in: the payins of the exchange's ledger, with how far each is confirmed."""

from datetime import datetime
from typing import Final

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_http_methods, require_safe

from desk import clock
from desk.lists.declared import Column, List, Totals
from desk.lists.listing import Listing
from desk.views import lists
from desk.views.rendering import show
from desk.web.requests import DeskRequest
from exchange_ops.ledger.forms import DepositFilter
from exchange_ops.ledger.views import scope
from exchange_ops.shared import rules
from exchange_ops.shared.models import Account
from exchange_ops.shared.views.access import requires

PARTS = {"rows": "exchange_ops/deposits/_rows.html", "totals": "desk/lists/_totals.html"}
DEPOSITS: Final = List(
    name="deposits",
    one="deposit",
    many="deposits",
    route="deposits",
    export_route="deposits-export",
    cells="exchange_ops/deposits/_cells.html",
    filters=DepositFilter,
    order=("updated_at",),
    is_unique=False,
    totals=Totals(by=("currency",), sums={"amount": ""}, units={"amount": "currency"}),
    columns=(
        Column(name="amount", head="Amount", css="s-amount", order=("currency", "amount"), is_end=True),
        Column(name="status", head="Status", css="s-name"),
        Column(name="confirmations", head="Confirmations", css="s-turn", is_end=True, on_phone="Confirmations"),
        Column(name="address", head="To our address", css="s-to", is_mono=True),
        Column(name="hash", head="Transaction", css="s-state", is_mono=True),
        Column(name="changed", head="Changed", css="s-when", order=("updated_at",), is_time=True),
        Column(name="made", head="First seen by the exchange", is_shown=False, is_time=True),
        Column(name="payment_id", head="Payment id", is_shown=False, is_mono=True),
        Column(name="exchange_id", head="Exchange id", is_shown=False, is_mono=True),
    ),
    exported=(
        ("exchange id", "exchange_id"),
        ("account", "account.name"),
        ("status", "status"),
        ("currency", "currency"),
        ("amount", "amount"),
        ("address", "address"),
        ("payment id", "payment_id"),
        ("hash", "hash"),
        ("confirmations", "confirmations"),
        ("made at ({zone})", "created_at"),
        ("changed at ({zone})", "updated_at"),
    ),
)


@require_safe
@requires(rules.may_see)
@lists.opens(DEPOSITS)
def deposits(request: DeskRequest) -> HttpResponse:
    """The most recently changed first; of all accounts, the newest first."""
    now = clock.now()
    listing, mine = _listing(request, now)
    topics = " ".join(f"ledger:{each.pk}" for each in mine)
    return show(request, "exchange_ops/deposits.html", {"now": now, "list": listing, "topics": topics}, parts=PARTS)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(rules.may_see)
def export(request: DeskRequest, form: str) -> HttpResponseBase:
    """The filtered deposits as a file, or the chosen ones."""
    return lists.file(_listing(request, clock.now())[0], form)


def _listing(request: DeskRequest, now: datetime) -> tuple[Listing, list[Account]]:
    lines, mine = scope.lines_in_view(request)
    rows = lines.filter(type="payin").select_related("account")
    return Listing(request, DEPOSITS, rows, now=now, order=("pk",) if len(mine) > 1 else None), mine
