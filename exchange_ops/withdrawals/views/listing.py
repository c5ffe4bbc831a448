"""The list of withdrawals, filtered by its address, and the same rows as a file."""

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
from exchange_ops.withdrawals import queries
from exchange_ops.withdrawals.forms import WithdrawalFilter
from exchange_ops.withdrawals.models import Withdrawal

COLUMNS = (
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
    ("asked at (UTC)", "created_at"),
    ("changed at (UTC)", "updated_at"),
    ("exchange id", "exchange_id"),
    ("hash", "hash"),
    ("reason", "reason"),
)


@require_safe
@requires(rules.may_see)
def withdrawals(request: HttpRequest) -> HttpResponse:
    """Fifty rows a page, newest first."""
    now, account = clock.now(), accounts.current(request)
    filters = WithdrawalFilter(request.GET)
    page = paging.page(request, filters.narrow(_rows(account)), key="pk")
    context = {
        "now": now,
        "exchange_now": accounts.exchange_now(account, now),
        "filters": filters,
        "chosen": filters.chosen(),
        "page": page,
        "currencies": _used_currencies(account),
        "may_request": rules.may_request(request.user),
    }
    return show(
        request, "exchange_ops/withdrawals.html", context, parts={"rows": "exchange_ops/withdrawals/_rows.html"}
    )


@require_safe
@requires(rules.may_see)
def export(request: HttpRequest) -> HttpResponse:
    """The filtered rows as CSV. The export itself is written into the audit trail before the first row leaves."""
    now, filters = clock.now(), WithdrawalFilter(request.GET)
    rows = filters.narrow(_rows(accounts.current(request)))
    return exports.export(request, rows, COLUMNS, name="withdrawals", chosen=filters.chosen(), now=now)


def _rows(account: Account | None) -> QuerySet[Withdrawal]:
    rows = Withdrawal.objects.filter(account=account).select_related("initiator")
    return queries.with_ends(rows)


def _used_currencies(account: Account | None) -> list[str]:
    codes = Withdrawal.objects.filter(account=account).order_by("currency").values_list("currency", flat=True)
    return list(codes.distinct())
