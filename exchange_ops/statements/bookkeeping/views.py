"""The account numbers of the journal, and its files for accounting programs."""

from datetime import datetime
from typing import Final

from django.contrib import messages as notes
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from desk import clock
from desk.lists import exports
from desk.views.rendering import show
from desk.web.requests import DeskRequest
from exchange_ops.shared import rules
from exchange_ops.shared.periods import Period, PeriodForm
from exchange_ops.shared.views import accounts as viewed
from exchange_ops.shared.views.access import requires
from exchange_ops.statements import recording
from exchange_ops.statements.bookkeeping import accounts, programs
from exchange_ops.statements.bookkeeping.accounts import Chart
from exchange_ops.statements.bookkeeping.forms import ChartForm
from exchange_ops.statements.bookkeeping.programs import Export, Program

MOST_CHANGES: Final = 10


@require_http_methods(["GET", "HEAD", "POST"])
@requires(rules.may_see)
def chart(request: DeskRequest) -> HttpResponse:
    """The account numbers; administrators change them."""
    current = accounts.current()
    if request.method != "POST":
        return _chart_page(request, current, ChartForm(chart=current))
    if not accounts.may_change(request.user):
        raise PermissionDenied("Only administrators for all accounts can change account numbers.")
    form = ChartForm(request.POST, chart=current)
    if not form.is_valid():
        return _chart_page(request, current, form, status=422)
    key = request.session.session_key or ""
    try:
        saved = accounts.change(form.chart, person=request.user, session_key=key, now=clock.now())
    except accounts.CannotChange as problem:
        return _chart_page(request, accounts.current(), form, refusal=str(problem), status=409)
    notes.success(request, f"Account numbers saved as AM-{saved.version}. They apply from now on.")
    return redirect("journal-accounts")


def _chart_page(
    request: DeskRequest, current: Chart, form: ChartForm, *, refusal: str = "", status: int = 200
) -> HttpResponse:
    context = {
        "now": clock.now(),
        "chart": current,
        "form": form,
        # After a refusal the person has seen the newest version; after a wrong entry still the one that they sent.
        "version": current.version if refusal or not form.is_bound else form["version"].value(),
        "refusal": refusal,
        "may_change": accounts.may_change(request.user),
        "changes": list(accounts.history(most=MOST_CHANGES)),
    }
    return show(request, "exchange_ops/journal_accounts.html", context, status=status)


@require_safe
@requires(rules.may_see)
def program(request: DeskRequest, program: str) -> HttpResponseBase:
    """What the file for an accounting program would have, what it leaves out, and what prevents it."""
    chosen, now = programs.PROGRAMS[program], clock.now()
    period = _period(request, now)
    if period is None:
        return redirect("statements")
    context = {
        "now": now,
        "program": chosen,
        "file": f"journal-{chosen.name}-file",
        "period": period,
        "accounts": viewed.in_view(request),
        "export": _export(request, chosen, period),
    }
    return show(request, "exchange_ops/journal_program.html", context)


@require_safe
@requires(rules.may_see)
def program_file(request: DeskRequest, program: str) -> HttpResponseBase:
    """The file for an accounting program; the export is recorded in the audit trail first."""
    chosen, now = programs.PROGRAMS[program], clock.now()
    period = _period(request, now)
    if period is None:
        return redirect("statements")
    export = _export(request, chosen, period)
    if export.problems:
        notes.error(request, f"Nothing was exported. {' '.join(export.problems)}")
        return redirect(f"{reverse(f'journal-{chosen.name}')}?{period.query}")
    name, kind, content = export.file(now)
    facts = {
        "program": chosen.label,
        "mapping": f"AM-{export.chart.version}",
        "amounts": export.batch.count,
        "movements": len(export.batch.movements),
        "left_out": export.batch.unvalued,
        "too_small": export.batch.small,
    }
    recording.exported(request, "journal", accounts=viewed.in_view(request), period=period, now=now, facts=facts)
    response = HttpResponse(content, content_type=kind)
    exports.as_file(response, name)
    return response


def _period(request: DeskRequest, now: datetime) -> Period | None:
    """The period of the address; None with a message where it makes no sense."""
    form = PeriodForm(request.GET, now=now)
    period = form.period()
    if period is None:
        notes.error(request, f"Nothing was exported. {' '.join(form.problems())}")
    return period


def _export(request: DeskRequest, program: Program, period: Period) -> Export:
    return programs.prepare(program, viewed.in_view(request), period=period, chart=accounts.current())
