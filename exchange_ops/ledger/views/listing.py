"""The exchange's ledger as the desk has read it: the newest version of every line."""

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
from exchange_ops.ledger import sources
from exchange_ops.ledger import sync as domain
from exchange_ops.ledger.forms import LedgerFilter
from exchange_ops.ledger.models import Watermark
from exchange_ops.ledger.views import scope
from exchange_ops.shared import rules
from exchange_ops.shared.models import Account
from exchange_ops.shared.views.access import requires

PARTS = {
    "rows": "exchange_ops/ledger/_rows.html",
    "age": "exchange_ops/ledger/_age.html",
    "totals": "desk/lists/_totals.html",
}
EXPORTED: Final = (
    ("index", "index"),
    ("exchange id", "exchange_id"),
    ("account", "account.name"),
    ("kind", "type"),
    ("subkind", "sub_type"),
    ("status", "status"),
    ("currency", "currency"),
    ("amount", "amount"),
    ("fee", "fee"),
    ("address", "address"),
    ("payment id", "payment_id"),
    ("hash", "hash"),
    ("confirmations", "confirmations"),
    ("withdrawal", "withdrawal.reference"),
    ("transfer", "transfer.reference"),
    ("made elsewhere", "foreign"),
    ("error code", "error_code"),
    ("made at ({zone})", "created_at"),
    ("changed at ({zone})", "updated_at"),
)
LEDGER: Final = List(
    name="ledger",
    one="line",
    many="lines",
    route="ledger",
    export_route="ledger-export",
    cells="exchange_ops/ledger/_cells.html",
    css="lines",
    filters=LedgerFilter,
    order=("index",),
    totals=Totals(
        by=("currency",),
        sums={"amount": "", "fee": "fees"},
        units={"amount": "currency", "fee": "currency"},
    ),
    exported=EXPORTED,
    reads={"withdrawal.reference": ("pk",), "transfer.reference": ("pk",)},
    columns=(
        Column(name="kind", head="Kind", css="l-kind", order=("type", "updated_at")),
        Column(name="status", head="Status", css="l-state"),
        Column(name="amount", head="Amount", css="l-amount", order=("currency", "amount"), is_end=True),
        Column(name="fee", head="Fee", css="l-fee", is_end=True, on_phone="Fee"),
        Column(name="of", head="Belongs to", css="l-of"),
        Column(name="to", head="Address", css="l-to"),
        Column(name="changed", head="Changed", css="l-when", order=("updated_at",), is_time=True),
        Column(name="index", head="Index", css="l-index", order=("index",), is_end=True, is_mono=True),
        Column(name="created", head="Made", is_shown=False, is_time=True),
        Column(name="confirmations", head="Confirmations", is_shown=False, is_end=True),
        Column(name="hash", head="Hash", is_shown=False, is_mono=True),
        Column(name="exchange_id", head="Exchange id", is_shown=False, is_mono=True),
    ),
)


@require_safe
@requires(rules.may_see)
@lists.opens(LEDGER)
def ledger(request: DeskRequest) -> HttpResponse:
    """The most recently changed first; of all accounts, the newest first."""
    now = clock.now()
    listing, mine = _listing(request, now)
    account = mine[0] if len(mine) == 1 else None
    context = {
        "now": now,
        "source": sources.of_ledger(account, now),
        "account": account,
        "accounts": mine,
        "list": listing,
        "topics": " ".join(f"ledger:{each.pk}" for each in mine),
        "mark": Watermark.objects.filter(account=account, name=domain.WATERMARK).first(),
    }
    return show(request, "exchange_ops/ledger.html", context, parts=PARTS)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(rules.may_see)
def export(request: DeskRequest, form: str) -> HttpResponseBase:
    """The filtered lines as a file, or the chosen ones."""
    return lists.file(_listing(request, clock.now())[0], form)


def _listing(request: DeskRequest, now: datetime) -> tuple[Listing, list[Account]]:
    lines, mine = scope.lines_in_view(request)
    rows = lines.select_related("withdrawal", "transfer", "account")
    # Each account's ledger counts by itself; together they stand in the order in which the desk first saw the lines.
    return Listing(request, LEDGER, rows, now=now, order=("pk",) if len(mine) > 1 else None), mine
