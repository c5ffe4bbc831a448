"""The page of an order: its terms, its outcome, what this person can do, and everything that happened to it."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from desk import clock
from desk.actions import upcoming
from desk.models import Person
from desk.people import trail_readers
from desk.views.rendering import answer_here, show
from desk.web.requests import DeskRequest
from exchange_ops.market.models import Symbol
from exchange_ops.orders import outcomes, states, trades, workflow
from exchange_ops.orders.brackets import workflow as brackets
from exchange_ops.orders.models import Order
from exchange_ops.orders.steps import trading_line
from exchange_ops.orders.ticket import repeating
from exchange_ops.orders.views import choices
from exchange_ops.orders.views.listing import ONLY_OPERATORS
from exchange_ops.policy import freezes
from exchange_ops.shared import rules
from exchange_ops.shared.views.access import posted, requires

PAGE = "exchange_ops/order.html"
PARTS = {name: f"exchange_ops/order/_{name}.html" for name in ("facts", "act", "story")}
MOST_EVENTS = 200
OPEN = "Open order"


@require_safe
@requires(rules.may_see)
def order(request: DeskRequest, order_id: int) -> HttpResponse:
    """The page, or one of its parts."""
    return render_page(request, order_id)


@posted(rules.may_trade, ONLY_OPERATORS)
def cancel(request: DeskRequest, order_id: int) -> HttpResponse:
    """Cancel what is left of the order."""
    get_object_or_404(Order, pk=order_id)
    try:
        row = workflow.cancel(
            order_id=order_id, person=request.user, now=clock.now(), session_key=request.session.session_key or ""
        )
    except workflow.CannotCancel as problem:
        if request.htmx:
            sentence = f"O-{order_id} was not cancelled. {problem}"
            return answer_here(
                request, sentence, tone="bad", status=409, url=reverse("order", args=[order_id]), link=OPEN
            )
        return render_page(request, order_id, status=409, refusal=str(problem))
    sentence = f"Cancel requested for {row.reference}."
    if request.htmx:
        return answer_here(request, sentence)
    messages.success(request, sentence)
    return redirect(_back(request, row))


def _back(request: DeskRequest, row: Order) -> str:
    """The page that sent the form, where it says so, else the page of the order."""
    pages = {"orders": reverse("orders"), "market": reverse("market", args=[row.symbol])}
    return pages.get(request.POST.get("back", "")) or reverse("order", args=[row.pk])


def render_page(
    request: DeskRequest, order_id: int, *, status: int = 200, refusal: str = "", **forms: Any
) -> HttpResponse:
    """The page, with a sentence about what was refused, and the forms, so that nothing typed is lost."""
    rows = Order.objects.select_related("account", "initiator", "replaces", "decided_by")
    row = get_object_or_404(rows, pk=order_id)
    target = request.htmx.target if request.htmx else None
    context: dict[str, Any] = {
        "row": row,
        "now": clock.now(),
        "symbol": Symbol.objects.filter(pk=row.symbol).first() or Symbol(code=row.symbol),  # one we have no copy of
        "replacements": list(row.replacements.order_by("pk")),
        "bracket": brackets.bracket_of(row),
        "refusal": refusal,
        "drawn_for": f"{row.state}:{row.active}",
    }
    if target not in PARTS or target == "facts":
        context |= {"outcome": outcomes.of(row), "may_repeat": repeating.may_repeat(request.user, row)}
    if target not in PARTS or target == "act":
        context |= _act(row, request.user) | choices.decision_context(
            row, request.user, confirmed=request.POST.getlist("confirmed")
        )
    if target not in PARTS or target == "story":
        context |= _story(row, request.user)
    return show(request, PAGE, context | forms, parts=PARTS, status=status)


def _act(row: Order, person: Person) -> dict[str, Any]:
    cancellable = row.is_cancellable
    return {
        "may_replace": row.active and row.state in states.AT_EXCHANGE and rules.may_trade(person) and _replaceable(row),
        "may_cancel": cancellable and rules.may_trade(person),
        "may_guard": row.active and not brackets.why_not(row, person),
        "only_operators": cancellable and not rules.may_trade(person),
        "may_trade": rules.may_trade(person),
        "frozen": freezes.stopping(row.movement),
        "upcoming": upcoming.upcoming(person, row.scope) if row.decided_by_id == person.pk else None,
    }


def _replaceable(row: Order) -> bool:
    """Whether there is a way to have it replaced: one on margin needs the trading socket."""
    return not row.margin or trading_line.is_live(row.account)


def _story(row: Order, person: Person) -> dict[str, Any]:
    return {
        "words": list(row.approvals.select_related("person", "confirmation__signed_with").order_by("at", "pk")),
        "events": row.events.select_related("actor").order_by("-pk")[:MOST_EVENTS],
        "calls": row.calls.order_by("pk"),
        "trades": list(trades.of_order(row)) if row.exchange_id is not None else [],
        "may_audit": trail_readers.may_read_about(person, row.subject),
    }
