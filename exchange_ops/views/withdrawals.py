"""The list of withdrawals, filtered by its address, and the same rows as a file."""

import csv
from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.views.decorators.http import require_safe

from desk import audit, clock, paging
from desk.views.rendering import show
from exchange_ops import rules
from exchange_ops.forms import WithdrawalFilter
from exchange_ops.models import Account, Withdrawal
from exchange_ops.views import accounts
from exchange_ops.views.access import requires
from wire.values import decimal_text

COLUMNS = (
    ("reference", "reference"),
    ("state", "label"),
    ("turn", "turn"),
    ("currency", "currency"),
    ("amount", "amount"),
    ("fee", "known_fee"),
    ("fee taken out of the amount", "include_fee"),
    ("address", "address"),
    ("payment id", "payment_id"),
    ("asked by", "initiator.username"),
    ("asked at (UTC)", "created_at"),
    ("changed at (UTC)", "updated_at"),
    ("exchange id", "exchange_id"),
    ("hash", "hash"),
    ("reason", "reason"),
)
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\0", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_AMOUNT_COLUMNS = frozenset({"amount", "known_fee"})


@require_safe
@requires(rules.may_see)
def withdrawals(request: HttpRequest) -> HttpResponse:
    """Fifty rows a page, newest first."""
    now, account = clock.now(), accounts.current()
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
    with transaction.atomic():
        audit.record(
            actor=request.user,
            action="withdrawals.exported",
            subject="withdrawals",
            before={},
            after={name: str(value) for name, value in filters.chosen().items()},
            now=now,
            session_key=request.session.session_key or "",
        )
    response = StreamingHttpResponse(
        _lines(filters.narrow(_rows(accounts.current()))), content_type="text/csv; charset=utf-8"
    )
    response["Content-Disposition"] = f'attachment; filename="withdrawals-{now:%Y%m%dT%H%M%SZ}.csv"'
    response["Cache-Control"] = "no-store"
    return response


def _rows(account: Account | None) -> QuerySet[Withdrawal]:
    return Withdrawal.objects.filter(account=account).select_related("initiator")


def _used_currencies(account: Account | None) -> list[str]:
    codes = Withdrawal.objects.filter(account=account).order_by("currency").values_list("currency", flat=True)
    return list(codes.distinct())


class _Line:
    """What csv.writer writes to: it gives the line back instead of keeping it."""

    def write(self, text: str) -> str:
        return text


def _lines(rows: QuerySet[Withdrawal]) -> Iterator[str]:
    writer = csv.writer(_Line())
    yield writer.writerow([title for title, _ in COLUMNS])
    for row in rows.order_by("-pk").iterator(chunk_size=500):
        yield writer.writerow([_cell(row, path) for _, path in COLUMNS])


def _cell(row: Withdrawal, path: str) -> str:
    value: Any = row
    for name in path.split("."):
        value = getattr(value, name)
    if path in _AMOUNT_COLUMNS:
        return decimal_text(value) if isinstance(value, Decimal) else ""
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%dT%H:%M:%SZ")
    if isinstance(value, bool):
        return "yes" if value else "no"
    return safe_cell(str(value or ""))


def safe_cell(text: str) -> str:
    """Text that no spreadsheet takes for a formula: an apostrophe stands before what could start one."""
    return f"'{text}" if text.lstrip(" \ufeff").startswith(_FORMULA_STARTS) else text
