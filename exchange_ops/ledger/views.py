"""The exchange's ledger as the desk has read it: the newest version of every line."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from desk import clock
from desk.views.rendering import show
from desk.web import paging
from exchange_ops.ledger import sources
from exchange_ops.ledger import sync as domain
from exchange_ops.ledger.forms import LedgerFilter
from exchange_ops.ledger.models import LedgerEntry, Watermark
from exchange_ops.shared import rules
from exchange_ops.shared.views import accounts
from exchange_ops.shared.views.access import requires

PARTS = {"rows": "exchange_ops/ledger/_rows.html", "age": "exchange_ops/ledger/_age.html"}


@require_safe
@requires(rules.may_see)
def ledger(request: HttpRequest) -> HttpResponse:
    """Fifty lines a page, the most recently changed first; of all accounts, the newest first."""
    mine, filters = accounts.in_view(request), LedgerFilter(request.GET)
    account = mine[0] if len(mine) == 1 else None
    rows = LedgerEntry.objects.filter(account__in=mine).select_related("withdrawal", "account")
    # Each account's ledger counts by itself; together they stand in the order in which the desk first saw the lines.
    page = paging.page(request, filters.narrow(rows), key="pk" if len(mine) > 1 else "index")
    now = clock.now()
    context = {
        "now": now,
        "source": sources.of_ledger(account, now),
        "account": account,
        "accounts": mine,
        "filters": filters,
        "chosen": filters.chosen(),
        "page": page,
        "entries": page.rows,
        "mark": Watermark.objects.filter(account=account, name=domain.WATERMARK).first(),
    }
    return show(request, "exchange_ops/ledger.html", context, parts=PARTS)
