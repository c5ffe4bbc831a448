"""The list of withdrawals, filtered by its address, and the same rows as a file."""

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
from exchange_ops.shared import rules
from exchange_ops.shared.models import Account
from exchange_ops.shared.views import accounts
from exchange_ops.shared.views.access import requires
from exchange_ops.withdrawals import queries
from exchange_ops.withdrawals.forms import WithdrawalFilter
from exchange_ops.withdrawals.models import Withdrawal

PARTS = {"rows": "exchange_ops/withdrawals/_rows.html", "totals": "desk/lists/_totals.html"}
WITHDRAWALS: Final = List(
    name="withdrawals",
    one="withdrawal",
    many="withdrawals",
    route="withdrawals",
    export_route="withdrawals-export",
    cells="exchange_ops/withdrawals/_cells.html",
    actions="exchange_ops/withdrawals/_actions.html",
    css="withdrawals",
    filters=WithdrawalFilter,
    totals=Totals(by=("currency",), sums={"amount": ""}, units={"amount": "currency"}),
    columns=(
        Column(name="withdrawal", head="Withdrawal", css="s-name"),
        Column(name="amount", head="Amount", css="s-amount", order=("currency", "amount"), is_end=True),
        Column(name="to", head="To", css="s-to", is_mono=True),
        Column(name="state", head="State", css="s-state"),
        Column(name="turn", head="Whose turn", css="s-turn"),
        Column(name="who", head="Requested by", css="s-who"),
        Column(name="created", head="Requested", css="s-when", order=("pk",), is_time=True),
        Column(name="updated", head="Changed", order=("updated_at",), is_shown=False, is_time=True),
        Column(name="fee", head="Network fee", is_shown=False, is_end=True),
        Column(name="reason", head="Reason", is_shown=False),
        Column(name="hash", head="Hash", is_shown=False, is_mono=True),
        Column(name="exchange_id", head="Exchange id", is_shown=False, is_mono=True),
    ),
    exported=(
        ("reference", "reference"),
        ("state", "label"),
        ("turn", "turn"),
        ("currency", "currency"),
        ("amount", "amount"),
        ("fee", "known_fee"),
        ("fee deducted from amount", "include_fee"),
        ("address", "address"),
        ("payment id", "payment_id"),
        ("asked by", "initiator.username"),
        ("asked at ({zone})", "created_at"),
        ("changed at ({zone})", "updated_at"),
        ("exchange id", "exchange_id"),
        ("hash", "hash"),
        ("reason", "reason"),
    ),
    reads={
        "reference": ("pk",),
        "label": ("state", "ended_by", "ended_by_person", "initiator_id"),
        "turn": ("state",),
        "known_fee": ("fee", "fee_estimate"),
    },
)


@require_safe
@requires(rules.may_see)
@lists.opens(WITHDRAWALS)
def withdrawals(request: DeskRequest) -> HttpResponse:
    """A page of them, newest first unless it is sorted otherwise."""
    now = clock.now()
    context = {
        "now": now,
        "exchange_now": accounts.exchange_now(accounts.current(request), now),
        "list": _listing(request, now),
        "topics": "withdrawals",
        "may_request": rules.may_request(request.user),
    }
    return show(request, "exchange_ops/withdrawals.html", context, parts=PARTS)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(rules.may_see)
def export(request: DeskRequest, form: str) -> HttpResponseBase:
    """The filtered rows as a file, or the chosen ones. The trail has it before the first row leaves."""
    return lists.file(_listing(request, clock.now()), form)


def _listing(request: DeskRequest, now: datetime) -> Listing:
    account = accounts.current(request)
    rows = queries.with_ends(Withdrawal.objects.filter(account=account).select_related("initiator"))
    suggested, may_act = {"currency": _used_currencies(account)}, rules.may_request(request.user)
    return Listing(request, WITHDRAWALS, rows, now=now, suggested=suggested, may_act=may_act)


def _used_currencies(account: Account | None) -> list[str]:
    codes = Withdrawal.objects.filter(account=account).order_by("currency").values_list("currency", flat=True)
    return list(codes.distinct())
