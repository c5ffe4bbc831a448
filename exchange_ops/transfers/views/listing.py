"""The list of transfers, filtered by its address, and the same rows as a file."""

from datetime import datetime
from typing import Any, Final

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_http_methods, require_safe

from desk import clock
from desk.lists.declared import Column, List, Totals
from desk.lists.listing import Listing
from desk.views import lists
from desk.views.rendering import show
from desk.web.requests import DeskRequest
from exchange_ops.shared import rules
from exchange_ops.shared.models import Account
from exchange_ops.shared.views import accounts
from exchange_ops.shared.views.access import requires
from exchange_ops.transfers import workflow as domain
from exchange_ops.transfers.forms import TransferFilter
from exchange_ops.transfers.models import Transfer

PARTS = {"rows": "exchange_ops/transfers/_rows.html", "totals": "desk/lists/_totals.html"}
TRANSFERS: Final = List(
    name="transfers",
    one="transfer",
    many="transfers",
    route="transfers",
    export_route="transfers-export",
    cells="exchange_ops/transfers/_cells.html",
    filters=TransferFilter,
    totals=Totals(by=("currency",), sums={"amount": ""}, units={"amount": "currency"}),
    columns=(
        Column(name="transfer", head="Transfer", css="s-name"),
        Column(name="amount", head="Amount", css="s-amount", order=("currency", "amount"), is_end=True),
        Column(name="what", head="What", css="s-to"),
        Column(name="state", head="State", css="s-state"),
        Column(name="turn", head="Whose turn", css="s-turn"),
        Column(name="who", head="Requested by", css="s-who"),
        Column(name="created", head="Requested", css="s-when", order=("pk",), is_time=True),
        Column(name="updated", head="Changed", order=("updated_at",), is_shown=False, is_time=True),
        Column(name="reason", head="Reason", is_shown=False),
        Column(name="exchange_id", head="Exchange id", is_shown=False, is_mono=True),
    ),
    exported=(
        ("reference", "reference"),
        ("state", "label"),
        ("turn", "turn"),
        ("kind", "kind_label"),
        ("currency", "currency"),
        ("amount", "amount"),
        ("into", "to_currency"),
        ("other user", "identifier"),
        ("sub-account", "subaccount_id"),
        ("asked by", "initiator.username"),
        ("asked at ({zone})", "created_at"),
        ("changed at ({zone})", "updated_at"),
        ("exchange id", "exchange_id"),
        ("second exchange id", "second_id"),
        ("replaces", "reissues_id"),
        ("reason", "reason"),
    ),
    reads={
        "reference": ("pk",),
        "label": ("state",),
        "turn": ("state",),
        "kind_label": ("kind",),
    },
)


@require_safe
@requires(rules.may_see)
@lists.opens(TRANSFERS)
def transfers(request: DeskRequest) -> HttpResponse:
    """A page of them, newest first unless it is sorted otherwise."""
    now = clock.now()
    context = {
        "now": now,
        "list": _listing(request, now),
        "topics": "transfers",
        "may_request": rules.may_request(request.user),
    }
    return show(request, "exchange_ops/transfers.html", context, parts=PARTS)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(rules.may_see)
def export(request: DeskRequest, form: str) -> HttpResponseBase:
    """The filtered rows as a file, or the chosen ones. The trail has it before the first row leaves."""
    return lists.file(_listing(request, clock.now()), form)


def _listing(request: DeskRequest, now: datetime) -> Listing:
    account = accounts.current(request)
    rows = domain.newest().filter(account=account)
    return Listing(request, TRANSFERS, rows, now=now, suggested={"currency": _used_currencies(account)})


def _used_currencies(account: Account | None) -> list[str]:
    codes: Any = Transfer.objects.filter(account=account).order_by("currency").values_list("currency", flat=True)
    return list(codes.distinct())
