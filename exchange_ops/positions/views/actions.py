"""One margin action: what was asked for, what became of it, and everything that happened to it."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_safe

from desk import clock
from desk.people import trail_readers
from desk.views.rendering import show
from desk.web.requests import DeskRequest
from exchange_ops.market.models import Symbol
from exchange_ops.positions import states, words, workflow
from exchange_ops.positions.forms import NoteForm
from exchange_ops.positions.models import MarginAction
from exchange_ops.positions.request_checks import ONLY_OPERATORS
from exchange_ops.shared import rules
from exchange_ops.shared.views.access import posted, requires

PAGE = "exchange_ops/margin_action.html"
PARTS = {name: f"exchange_ops/margin_action/_{name}.html" for name in ("facts", "act", "story")}


@require_safe
@requires(rules.may_see)
def action(request: DeskRequest, margin_action_id: int) -> HttpResponse:
    """The page, or one of its parts."""
    return _render_page(request, margin_action_id, NoteForm())


@posted(rules.may_trade, ONLY_OPERATORS)
def settle(request: DeskRequest, margin_action_id: int) -> HttpResponse:
    """Note what an unclear action did."""
    form = NoteForm(request.POST)
    if not form.is_valid():
        return _render_page(request, margin_action_id, form, status=422)
    try:
        row = workflow.settle(
            action_id=margin_action_id,
            person=request.user,
            note=form.cleaned_data["note"],
            now=clock.now(),
            session_key=request.session.session_key or "",
        )
    except workflow.CannotAct as problem:
        form.refuse(problem.problems)
        return _render_page(request, margin_action_id, form, status=409)
    messages.success(request, f"{row.reference}: result recorded. No request was sent.")
    return redirect("margin-action", margin_action_id)


def _render_page(request: DeskRequest, number: int, form: NoteForm, *, status: int = 200) -> HttpResponse:
    row = get_object_or_404(MarginAction.objects.select_related("account", "initiator"), pk=number)
    symbol = Symbol.objects.filter(pk=row.symbol).first()
    context: dict[str, Any] = {
        "row": row,
        "now": clock.now(),
        "symbol": symbol or Symbol(code=row.symbol),
        "sentence": words.sentence_of(row, symbol),
        "estimate": row.confirmed.get("estimate", {}),
        "form": form,
        "drawn_for": row.state,
        "may_settle": row.state == states.UNCLEAR and rules.may_trade(request.user),
        "may_trade": rules.may_trade(request.user),
        "events": row.events.select_related("actor").order_by("-pk"),
        "calls": row.calls.order_by("pk"),
        "may_audit": trail_readers.may_read_about(request.user, row.subject),
    }
    return show(request, PAGE, context, parts=PARTS, status=status)
