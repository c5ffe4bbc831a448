"""Replacing an open order: the page shows what would change before it is requested.

The button names what it does, and the form sends these words along, as on the ticket: when something was typed after
they were drawn, the page shows the new words first, and only the next press replaces the order.
"""

from decimal import Decimal
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from desk import clock
from desk.fields import plain
from desk.views.rendering import answer_here, show, target
from desk.web.requests import DeskRequest, prefilled
from exchange_ops.market.models import Symbol, Ticker
from exchange_ops.orders import distance, request_checks
from exchange_ops.orders.forms import ReplaceForm
from exchange_ops.orders.models import Order
from exchange_ops.orders.steps import replacing
from exchange_ops.orders.ticket import confirmations
from exchange_ops.orders.views.listing import ONLY_OPERATORS
from exchange_ops.orders.views.new import REVIEW
from exchange_ops.orders.views.titles import title
from exchange_ops.policy.oversteps import CONFIRMED
from exchange_ops.shared import rules
from exchange_ops.shared.forms import fresh_key
from exchange_ops.shared.views import live_fields
from exchange_ops.shared.views.access import requires

PAGE = "exchange_ops/order_replace.html"
FIGURES = "exchange_ops/order_replace/_figures.html"
# On the page of a market the form stands in a panel of its own, beside the ticket and with other ids.
HERE = "change-form"
PARTS = {"figures": FIGURES, "change-figures": FIGURES, HERE: "exchange_ops/order_replace/_here.html"}


@require_http_methods(["GET", "HEAD", "POST"])
@requires(rules.may_trade, ONLY_OPERATORS)
def replace(request: DeskRequest, order_id: int) -> HttpResponse:
    """What the price and quantity of the address or the form would change; sent with its words, it is done once."""
    row = get_object_or_404(Order.objects.select_related("account", "initiator"), pk=order_id)
    form = _form(request, row)
    if request.method != "POST" or not form.is_valid():
        return _render(request, row, form, status=422 if request.method == "POST" else 200)
    if request.POST.get("effect") != _effect(row, form):
        return _render(request, row, form, review=REVIEW)
    try:
        new = _replacement(request, row, form)
    except replacing.CannotReplace as problem:
        form.refuse(problem.problems)
        return _render(request, row, form, status=422)
    sentence = f"{new.reference} replaces {row.reference}: {new.label}."
    if _is_here(request):
        return answer_here(request, sentence, url=reverse("order", args=[new.pk]), link="Open order")
    messages.success(request, sentence)
    return redirect("order", new.pk)


def _is_here(request: DeskRequest) -> bool:
    """Whether the form stands on the page of a market, and stays there."""
    return bool(request.htmx) and (target(request).startswith("change-") or request.POST.get("back") == "market")


def _replacement(request: DeskRequest, row: Order, form: ReplaceForm) -> Order:
    return replacing.ask(
        order_id=row.pk,
        person=request.user,
        quantity=form.cleaned_data["quantity"],
        price=form.cleaned_data["price"] or None,
        request_key=str(form.cleaned_data["request_key"]),
        confirmed=form.cleaned_data["confirmed"],
        now=clock.now(),
        session_key=request.session.session_key or "",
    )


def _form(request: DeskRequest, row: Order) -> ReplaceForm:
    """The typed values, else the order as it is with those of the link; the figures are read again with typed ones."""
    ids = "change_%s" if _is_here(request) else "id_%s"
    if request.method == "POST":
        return ReplaceForm(request.POST, order=row, auto_id=ids)
    typed = {name: text for name, text in prefilled(request, "price", "quantity").items() if text}
    start = {"price": _text(row.price), "quantity": _text(row.quantity), "request_key": fresh_key()}
    return ReplaceForm(start | typed, order=row, auto_id=ids)


def _render(
    request: DeskRequest, row: Order, form: ReplaceForm, *, status: int = 200, review: str = ""
) -> HttpResponse:
    symbol = Symbol.objects.filter(pk=row.symbol).first() or Symbol(code=row.symbol)
    context: dict[str, Any] = {"row": row, "form": form, "symbol": symbol, "now": clock.now(), "review": review}
    refused = ""
    try:
        replacing.replaceable(row.pk, request.user)
    except replacing.CannotReplace as problem:
        refused = str(problem)
    context |= {"refused": refused} if refused else _figures(request, row, form, symbol)
    if target(request) in PARTS and target(request) != HERE:
        context["field_states"] = live_fields.states(form, context.get("field_problems"))
    if not _is_here(request) or request.method != "POST":
        return show(request, PAGE, context, parts=PARTS, status=status)
    response = show(request, PARTS[HERE], context, status=status)
    response["HX-Retarget"], response["HX-Reswap"] = f"#{HERE}", "innerHTML"
    return response


def _figures(request: DeskRequest, row: Order, form: ReplaceForm, symbol: Symbol) -> dict[str, Any]:
    """The figures of the replacing order, what is against it, and the words of the button."""
    if not form.errors.keys() <= {CONFIRMED}:
        return {}
    requested = form.order_request()
    ticker = Ticker.objects.filter(pk=symbol.pk).first()
    problems = replacing.problems(row, requested, person=request.user, now=clock.now())
    oversteps = [] if problems else replacing.find_oversteps(row, requested, person=request.user, now=clock.now())
    return {
        "oversteps": confirmations.ticks(oversteps, form.cleaned_data.get("confirmed", ())),
        "field_problems": problems,
        "problems": [] if request.method == "POST" and form.errors else live_fields.elsewhere(form, problems),
        "effect": "" if problems else _effect(row, form),
        "requested": requested,
        "remaining": requested.quantity - row.cum_quantity,
        "sums": request_checks.figures(symbol=symbol, requested=requested),
        "distance": distance.from_market(requested=requested, ticker=ticker),
        "ticker": ticker,
    }


def _effect(row: Order, form: ReplaceForm) -> str:
    """What the button says it does."""
    return f"Replace {row.reference} with {title(form.order_request(), Symbol.objects.filter(pk=row.symbol).first())}"


def _text(amount: Decimal | None) -> str:
    return "" if amount is None else f"{plain(amount):f}"
