"""What the ledger says of each account and what the exchange reports, side by side: a page and its files."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.contrib import messages as notes
from django.db import transaction
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from desk import clock
from desk.audit import trail
from desk.lists import dates, exports
from desk.lists.filters import DatedForm
from desk.personal import formats
from desk.views.rendering import show
from desk.web.requests import DeskRequest
from exchange_ops.reconciliation import files, statements
from exchange_ops.reconciliation.statements import Statement
from exchange_ops.shared import rules
from exchange_ops.shared.views import accounts
from exchange_ops.shared.views.access import requires

SINCE_THE_FIRST: Final = "Since the first entry"


class DaysForm(DatedForm):
    """The days of the page; without any, all since the first line of the ledger."""

    dated, dated_label = "updated_at", "Changed at the exchange"

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        choices = [("", SINCE_THE_FIRST), *dates.PRESETS.items(), (dates.CUSTOM, "From and to")]
        self.fields["range"].choices = choices  # type: ignore[attr-defined]
        self.for_people(formats.current().zone)

    @property
    def zone_name(self) -> str:
        """The zone whose days are meant."""
        return str(self.chosen().get("zone", self.usual_zone))


@dataclass(frozen=True, slots=True)
class Sheet:
    """What one request shows: the days, and the statement of each account in view."""

    form: DaysForm
    days: tuple[str, str]
    now: datetime
    statements: list[Statement]


@require_safe
@requires(rules.may_see)
def page(request: DeskRequest) -> HttpResponse:
    """One table for each account."""
    sheet = _sheet(request)
    context = {
        "now": sheet.now,
        "sheet": sheet,
        "form": sheet.form,
        "problems": list(sheet.form.problems()),
        "query": request.GET.urlencode(),
        "zones": list(dict.fromkeys(("UTC", sheet.form.usual_zone, sheet.form.zone_name))),
        "accounts": [each.account for each in sheet.statements],
    }
    parts = {"statements": "exchange_ops/reconciliation/_statements.html"}
    return show(request, "exchange_ops/reconciliation.html", context, parts=parts)


@require_safe
@requires(rules.may_see)
def export(request: DeskRequest, form: str) -> HttpResponse:
    """The same figures as a file; the export is recorded in the audit trail first."""
    if form not in exports.KINDS:
        raise Http404("Reconciliations can be exported as CSV or JSON.")
    sheet = _sheet(request)
    if problems := list(sheet.form.problems()):
        notes.error(request, f"Reconciliation not exported. {' '.join(problems)}")
        return redirect("reconciliation")
    _record(request, sheet)
    if form == "csv":
        text = files.as_csv(sheet.statements, sheet.days)
    else:
        text = files.as_json(sheet.statements, sheet.days, now=sheet.now)
    response = HttpResponse(text, content_type=exports.KINDS[form])
    exports.as_file(response, f"reconciliation_{sheet.now:%Y%m%dT%H%M%SZ}.{form}")
    return response


def _sheet(request: DeskRequest) -> Sheet:
    now, form = clock.now(), DaysForm(request.GET)
    (first, after), (since, until) = form.bounds(now), form.days(now)
    mine = accounts.in_view(request)
    return Sheet(
        form,
        (str(since or ""), str(until or "")),
        now,
        [statements.of(each, person=request.user, first=first, after=after, now=now) for each in mine],
    )


def _record(request: DeskRequest, sheet: Sheet) -> None:
    with transaction.atomic():
        trail.record(
            actor=request.user,
            action="reconciliation.exported",
            subject="reconciliation",
            before={},
            after={"accounts": [each.account.name for each in sheet.statements], "days": " to ".join(sheet.days)},
            now=sheet.now,
            session_key=request.session.session_key or "",
        )
