"""The list of transfers, filtered by its address, and the same rows as a file."""

from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from desk import clock
from desk.views.rendering import show
from desk.web import paging
from exchange_ops.shared import rules
from exchange_ops.shared.models import Account
from exchange_ops.shared.views import accounts, exports
from exchange_ops.shared.views.access import requires
from exchange_ops.transfers import workflow as domain
from exchange_ops.transfers.forms import TransferFilter
from exchange_ops.transfers.models import Transfer

COLUMNS = (
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
    ("asked at (UTC)", "created_at"),
    ("changed at (UTC)", "updated_at"),
    ("exchange id", "exchange_id"),
    ("second exchange id", "second_id"),
    ("replaces", "reissues_id"),
    ("reason", "reason"),
)


@require_safe
@requires(rules.may_see)
def transfers(request: HttpRequest) -> HttpResponse:
    """Fifty rows a page, newest first."""
    account, filters = accounts.current(request), TransferFilter(request.GET)
    context = {
        "now": clock.now(),
        "filters": filters,
        "chosen": filters.chosen(),
        "page": paging.page(request, filters.narrow(_rows(account)), key="pk"),
        "currencies": _used_currencies(account),
        "may_request": rules.may_request(request.user),
    }
    return show(request, "exchange_ops/transfers.html", context, parts={"rows": "exchange_ops/transfers/_rows.html"})


@require_safe
@requires(rules.may_see)
def export(request: HttpRequest) -> HttpResponse:
    """The filtered rows as CSV. The export itself is written into the audit trail before the first row leaves."""
    filters = TransferFilter(request.GET)
    rows = filters.narrow(_rows(accounts.current(request)))
    return exports.export(request, rows, COLUMNS, name="transfers", chosen=filters.chosen(), now=clock.now())


def _rows(account: Account | None) -> QuerySet[Transfer]:
    return domain.newest().filter(account=account)


def _used_currencies(account: Account | None) -> list[str]:
    codes: Any = Transfer.objects.filter(account=account).order_by("currency").values_list("currency", flat=True)
    return list(codes.distinct())
