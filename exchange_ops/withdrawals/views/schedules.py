"""Payout schedules: their list, setting one up from a template, and the page of one."""

from typing import Any, Final

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_http_methods, require_safe

from desk import clock
from desk.lists.declared import Column, List, Rows, Value
from desk.views.rendering import show
from desk.web.requests import DeskRequest
from exchange_ops.shared import rules
from exchange_ops.shared.forms import ReasonForm, fresh_key
from exchange_ops.shared.views import accounts
from exchange_ops.shared.views.access import posted, requires
from exchange_ops.withdrawals.schedules import book, requesting
from exchange_ops.withdrawals.schedules.forms import ScheduleFilter, ScheduleForm
from exchange_ops.withdrawals.schedules.models import ACTIVE, PayoutSchedule
from exchange_ops.withdrawals.templates import book as templates
from exchange_ops.withdrawals.templates.models import PayoutTemplate

ONLY: Final = "Only operators can set up payout schedules."
ONLY_STOP: Final = "Only operators and treasury can change payout schedules."
SHOWN: Final = 6  # coming occurrences on a page
_PROGRESS: Final = ("planned", "recorded", "ended_at")
_RHYTHM: Final = ("frequency", "step", "first_on", "time_of_day", "planned")


def _rows(request: DeskRequest) -> Rows:
    return Rows(book.of_accounts(accounts.in_view(request)), topics=book.TOPIC)


SCHEDULES: Final = List(
    name="payout-schedules",
    title="Payout schedules",
    one="schedule",
    many="schedules",
    path="withdrawals/schedules/",
    template="exchange_ops/payout_schedules.html",
    rows=_rows,
    may_see=rules.may_see,
    filters=ScheduleFilter,
    columns=(
        Column("schedule", "Schedule", Value("reference", reads=("pk",)), css="s-name"),
        Column("template", "Template", Value("template", "template.name"), css="s-to"),
        Column("state", "Status", Value("status", "label", _PROGRESS), css="s-state"),
        Value("currency", "template.currency"),
        Column("amount", "Amount", Value("amount", "template.amount"), css="s-amount", is_end=True),
        Column("words", "Repeats", Value("repeats", "words", _RHYTHM)),
        Column(
            "next",
            "Next payout",
            Value("next payout at ({zone})", "next_due", (*_RHYTHM, "recorded", "ended_at")),
            is_time=True,
        ),
        Column("recorded", "Payouts due so far", Value("due so far", "recorded"), is_end=True),
        Value("planned"),
        Column("who", "Set up by", Value("set up by", "person.username"), css="s-who"),
        Column("at", "Set up", Value("set up at ({zone})", "at"), css="s-when", order=("pk",), is_time=True),
    ),
    page="schedule template amount words next recorded state who at",
)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(rules.may_request, ONLY)
def new(request: DeskRequest, template_id: int) -> HttpResponse:
    """The form; sent, its preview; confirmed there, a schedule. Until then nothing is written."""
    template = get_object_or_404(templates.offered(accounts.in_view(request)), pk=template_id)
    if request.method != "POST":
        return _render_form(request, template, ScheduleForm(initial={"request_key": fresh_key()}))
    form, step = ScheduleForm(request.POST), request.POST.get("step", "check")
    if step == "edit":
        return _render_form(request, template, ScheduleForm(initial=request.POST.dict()))
    if form.is_valid():
        form.refuse(book.problems_of(template, form.rhythm(), now=clock.now()))
    if not form.is_valid():
        return _render_form(request, template, form)
    return _confirm(request, template, form) if step == "confirm" else _preview(request, template, form)


@require_safe
@requires(rules.may_see)
def schedule(request: DeskRequest, schedule_id: int) -> HttpResponse:
    """One schedule: what it requests and when, what became of each occurrence, and what can be done."""
    return _render_page(request, _row(request, schedule_id))


@posted(book.may_stop, ONLY_STOP)
def skip(request: DeskRequest, schedule_id: int) -> HttpResponse:
    """Request nothing for the next occurrence, which the page named."""
    row, text = _row(request, schedule_id), request.POST.get("number", "")
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 6 else 0
    try:
        occurrence = book.skip(row.pk, number=number, **_who(request))
    except book.CannotSchedule as refusal:
        return _render_page(request, _row(request, row.pk), refusal=str(refusal), status=409)
    text = f"Skipped: no payout is requested for {row.reference} on {occurrence.due_at:%Y-%m-%d %H:%M} UTC."
    messages.success(request, text)
    return redirect("payout-schedule", row.pk)


@posted(book.may_stop, ONLY_STOP)
def end(request: DeskRequest, schedule_id: int) -> HttpResponse:
    """Request nothing more for this schedule."""
    row, form = _row(request, schedule_id), ReasonForm(request.POST, prefix="end")
    if not form.is_valid():
        return _render_page(request, row, end_form=form, status=422)
    try:
        book.end(row.pk, reason=form.cleaned_data["reason"], **_who(request))
    except book.CannotSchedule as refusal:
        return _render_page(request, _row(request, row.pk), refusal=str(refusal), end_form=form, status=409)
    messages.success(request, f"{row.reference} ended. Payouts that were requested already are not affected.")
    return redirect("payout-schedule", row.pk)


def _confirm(request: DeskRequest, template: PayoutTemplate, form: ScheduleForm) -> HttpResponse:
    key = str(form.cleaned_data["request_key"])
    try:
        row = book.set_up(template, rhythm=form.rhythm(), request_key=key, **_who(request))
    except book.CannotSchedule as refusal:
        form.refuse(refusal.problems)
        return _render_form(request, template, form)
    first = f"{row.rhythm.due(1):%Y-%m-%d %H:%M}"
    messages.success(request, f"{row.reference} set up. Nothing is requested before {first} UTC.")
    return redirect("payout-schedule", row.pk)


def _render_form(request: DeskRequest, template: PayoutTemplate, form: ScheduleForm) -> HttpResponse:
    context = {"template": template, "form": form}
    return show(request, "exchange_ops/payout_schedule_new.html", context, status=422 if form.errors else 200)


def _preview(request: DeskRequest, template: PayoutTemplate, form: ScheduleForm) -> HttpResponse:
    rhythm = form.rhythm()
    context = {
        "template": template,
        "form": form,
        "rhythm": rhythm,
        "dates": [rhythm.due(number) for number in range(1, min(rhythm.planned, SHOWN) + 1)],
        "others": book.of_accounts([template.account]).filter(pk__in=book.active().values("pk"), template=template),
        "total": rhythm.planned * template.amount,
    }
    return show(request, "exchange_ops/payout_schedule_preview.html", context)


def _render_page(
    request: DeskRequest, row: PayoutSchedule, *, refusal: str = "", status: int = 200, **forms: Any
) -> HttpResponse:
    now, is_active = clock.now(), row.label == ACTIVE
    numbers = range(row.recorded + 1, min(row.planned, row.recorded + SHOWN) + 1) if is_active else ()
    context = {
        "row": row,
        "now": now,
        "end": getattr(row, "end", None),
        "coming": [(number, row.rhythm.due(number)) for number in numbers],
        "occurrences": row.occurrences.select_related("withdrawal", "person"),
        "obstacle": requesting.obstacle(row, now=now) if is_active else "",
        "may_stop": is_active and book.may_stop(request.user, row.account_id),
        "refusal": refusal,
        "end_form": ReasonForm(prefix="end"),
        **forms,
    }
    parts = {"schedule": "exchange_ops/payout_schedule/_schedule.html"}
    return show(request, "exchange_ops/payout_schedule.html", context, parts=parts, status=status)


def _row(request: DeskRequest, number: int) -> PayoutSchedule:
    return get_object_or_404(book.of_accounts(accounts.in_view(request)).select_related("end__person"), pk=number)


def _who(request: DeskRequest) -> dict[str, Any]:
    return {"person": request.user, "now": clock.now(), "session_key": request.session.session_key or ""}
