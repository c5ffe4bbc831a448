"""The statements of the accounts for a period: a page, its files, and the journal of the movements."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from django.contrib import messages as notes
from django.db import transaction
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from desk import clock
from desk.audit import trail
from desk.lists import exports
from desk.views.rendering import show
from desk.web.requests import DeskRequest
from exchange_ops.shared import rules
from exchange_ops.shared.models import Account
from exchange_ops.shared.views import accounts
from exchange_ops.shared.views.access import requires
from exchange_ops.statements import files, journal, links, statement
from exchange_ops.statements.lines import KINDS
from exchange_ops.statements.periods import Period, PeriodForm
from exchange_ops.statements.statement import Statement

PARTS: Final = {"statements": "exchange_ops/statements/_statements.html"}


@require_safe
@requires(rules.may_see)
def page(request: DeskRequest) -> HttpResponse:
    """The statement of each account in view, or what is wrong with the period."""
    now = clock.now()
    form = PeriodForm(request.GET, now=now)
    period, mine = form.period(), accounts.in_view(request)
    context = {
        "now": now,
        "form": form,
        "period": period,
        "problems": form.problems(),
        "kinds": KINDS,
        "accounts": mine,
        "statements": [(each, links.rows(each)) for each in _statements(request, mine, period, now)],
    }
    return show(request, "exchange_ops/statements.html", context, parts=PARTS, status=200 if period else 422)


@require_safe
@requires(rules.may_see)
def export(request: DeskRequest, form: str) -> HttpResponseBase:
    """The same figures as a file; the export is recorded in the audit trail first."""
    if form not in exports.KINDS:
        raise Http404("Statements can be exported as CSV or JSON.")

    def answer(mine: Sequence[Account], period: Period, now: datetime) -> HttpResponseBase:
        rows = _statements(request, mine, period, now)
        text = files.as_csv(rows) if form == "csv" else files.as_json(rows, now=now)
        return HttpResponse(text, content_type=exports.KINDS[form])

    return _file(request, "statements", form, answer)


@require_safe
@requires(rules.may_see)
def export_journal(request: DeskRequest) -> HttpResponseBase:
    """Every movement of the period in double entry, as CSV; the export is recorded in the audit trail first."""

    def answer(mine: Sequence[Account], period: Period, _: datetime) -> HttpResponseBase:
        rows = (row for account in mine for row in journal.rows(account, period))
        table = exports.streamed_table(journal.COLUMNS, rows)
        return StreamingHttpResponse(table, content_type=exports.KINDS["csv"])

    return _file(request, "journal", "csv", answer)


def _statements(request: DeskRequest, mine: Sequence[Account], period: Period | None, now: datetime) -> list[Statement]:
    if period is None:
        return []
    return [statement.of(account, period, person=request.user, now=now) for account in mine]


def _file(
    request: DeskRequest,
    name: str,
    kind: str,
    answer: Callable[[Sequence[Account], Period, datetime], HttpResponseBase],
) -> HttpResponseBase:
    now = clock.now()
    form = PeriodForm(request.GET, now=now)
    period = form.period()
    if period is None:
        notes.error(request, f"Nothing was exported. {' '.join(form.problems())}")
        return redirect("statements")
    mine = accounts.in_view(request)
    _record(request, name, mine, period, now)
    response = answer(mine, period, now)
    exports.as_file(response, f"{name}_{period.first}_{period.last}_{now:%Y%m%dT%H%M%SZ}.{kind}")
    return response


def _record(request: DeskRequest, name: str, mine: Sequence[Account], period: Period, now: datetime) -> None:
    with transaction.atomic():
        trail.record(
            actor=request.user,
            action=f"{name}.exported",
            subject=name,
            before={},
            after={"accounts": [each.name for each in mine], "days": f"{period.first} to {period.last}"},
            now=now,
            session_key=request.session.session_key or "",
        )
