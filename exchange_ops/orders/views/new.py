"""Placing an order: the ticket, and its part with the figures. All arithmetic happens on the server.

The button names what it does, and the form sends these words along. When something was typed after they were drawn, the
page shows the new words first, and only the next press places the order.
"""

from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from desk import clock
from desk.fields import plain
from desk.models import Person
from desk.views.rendering import show
from desk.web.requests import DeskRequest, prefilled, prefilled_number
from exchange_ops.market import interest
from exchange_ops.market.models import Symbol, Ticker
from exchange_ops.orders import distance, policy_checks, request_checks, workflow
from exchange_ops.orders.brackets import exit_prices
from exchange_ops.orders.brackets import workflow as brackets
from exchange_ops.orders.brackets.exit_prices import Exits
from exchange_ops.orders.forms import OrderForm
from exchange_ops.orders.models import Order
from exchange_ops.orders.request_checks import BUY, SELL
from exchange_ops.orders.ticket import (
    collateral,
    confirmations,
    estimate,
    fee_rates,
    protection,
    repeating,
    shares,
    sizing,
)
from exchange_ops.orders.views.listing import ONLY_OPERATORS
from exchange_ops.orders.views.titles import exits_title, title
from exchange_ops.policy import freezes, oversteps
from exchange_ops.policy.freeze_scopes import Movement
from exchange_ops.policy.oversteps import CONFIRMED
from exchange_ops.shared import rules
from exchange_ops.shared.forms import fresh_key
from exchange_ops.shared.models import Account
from exchange_ops.shared.views import accounts, live_fields
from exchange_ops.shared.views.access import posted, requires

READ_WITH = "M30"  # the candles to read along with the book of a symbol on a ticket
REVIEW = "Check the order summary, then press the button to confirm."


@require_http_methods(["GET", "HEAD", "POST"])
@requires(rules.may_trade, ONLY_OPERATORS)
def new(request: DeskRequest) -> HttpResponse:
    """The ticket; sent with the words of its button, it becomes one order however often it is sent."""
    account = accounts.required(request)
    if request.method != "POST":
        return _render_form(request, account, _empty(request, account))
    form = OrderForm(request.POST, symbols=_symbols(), placer=request.user)
    if not form.is_valid():
        return _render_form(request, account, form, status=422)
    try:
        row = _place(request, account, form)
    except workflow.CannotPlace as problem:
        form.refuse(problem.problems)
        return _render_form(request, account, form, status=422)
    if row is None:
        return _render_form(request, account, form, review=REVIEW)
    sentence = f"{row.reference}: {row.label}."
    if _is_on_desk(request):
        return _next_ticket(request, account, row, sentence)
    messages.success(request, sentence, extra_tags="new-order")
    return redirect("market", row.symbol) if request.POST.get("back") == "market" else redirect("order", row.pk)


def _is_on_desk(request: DeskRequest) -> bool:
    """Whether the ticket of a trading desk was sent or changed its kind, and takes the answer in its place."""
    return bool(request.htmx) and (request.POST or request.GET).get("back") == "market"


def _protects(request: DeskRequest) -> str:
    """The kind of protection that the ticket is for; empty on the ticket of any order."""
    kind = (request.POST or request.GET).get("protect", "")
    return kind if kind in protection.KINDS else ""


def _empty(request: DeskRequest, account: Account, **terms: Any) -> OrderForm:
    """A ticket with what the link and `terms` fill in; one that protects sells what is held and in no open sale.

    A link that names an ended order of this symbol fills in that one's content.
    """
    initial, kind = _prefilled(request) | terms, _protects(request)
    number = None if kind else prefilled_number(request, "again")
    again = repeating.order_of(number, account=account, person=request.user)
    if again is not None and terms.get("symbol", again.symbol) == again.symbol:
        form = OrderForm(initial=initial | repeating.terms_of(again), symbols=_symbols())
        form.original = again
        return form
    symbol = Symbol.objects.filter(pk=initial.get("symbol", "")).first() if kind else None
    if symbol is not None:
        free = protection.whole_lots(protection.holding(account=account, symbol=symbol), symbol)
        initial |= {"side": SELL, "type": protection.TYPES[kind], "margin": ""}
        initial |= {"quantity": f"{plain(free):f}"} if free else {}
    return OrderForm(initial=initial, symbols=_symbols())


def _next_ticket(request: DeskRequest, account: Account, row: Order, sentence: str) -> HttpResponse:
    """The ticket for the next order of the market, with a key of its own, and what became of this one.

    It has no quantity: the second half of a double press finds a ticket that can't be placed.
    """
    terms = {name: request.POST.get(name, "") for name in ("side", "type", "price", "stop_price", "margin")}
    form = OrderForm(initial=terms | {"symbol": row.symbol, "request_key": fresh_key()}, symbols=_symbols())
    page = {"sentence": sentence, "url": reverse("order", args=[row.pk])}
    return _on_desk(request, {"form": form, **_figures(account, form, request.user), **page, "protect": ""}, 200)


def _on_desk(request: DeskRequest, context: dict[str, Any], status: int) -> HttpResponse:
    ticket_of = str(context["form"]["symbol"].value() or "")
    response = show(request, "exchange_ops/new_order/_again.html", context | {"ticket_of": ticket_of}, status=status)
    response["HX-Retarget"], response["HX-Reswap"] = "#ticket", "outerHTML"
    return response


def ticket(request: DeskRequest, *, symbol: str = "") -> dict[str, Any]:
    """What `new_order/_ticket.html` needs inside another page, for one `symbol`; empty for people who may not trade.

    The form is answered in its place; a browser without scripts comes back to the market.
    """
    account = accounts.current(request)
    if account is None or not rules.may_trade(request.user):
        return {}
    form = _empty(request, account, **({"symbol": symbol} if symbol else {}))
    return {"form": form, "ticket_of": symbol, **_figures(account, form, request.user, _protects(request))}


@posted(rules.may_trade, ONLY_OPERATORS)
def figures(request: DeskRequest) -> HttpResponse:
    """What the order would come to, what is available, and the button with its words, for what is typed so far."""
    form = OrderForm(request.POST, symbols=_symbols())
    figures = _figures(accounts.required(request), form, request.user, _protects(request))
    fields = {"is_part": True, "field_states": live_fields.states(form, figures.get("field_problems"))}
    return show(request, "exchange_ops/new_order/_figures.html", figures | fields)


def _place(request: DeskRequest, account: Account, form: OrderForm) -> Any:
    """The order; None when the words of the button were not those of the form, or there were none yet."""
    requested, exits, kind = form.order_request(), form.exits(), _protects(request)
    sent = request.POST.get("effect")
    if sent not in {_effect(requested, exits), _effect(requested, exits, for_approval=True)}:
        policy_checks.check(initiator=request.user, account=account, requested=requested, now=clock.now())
        if sentences := exits and exit_prices.problems(exits=exits, requested=requested):
            raise workflow.CannotPlace(sentences)
        return None
    place: Callable[..., Order] = partial(brackets.place, exits=exits) if exits else workflow.place
    if amount := form.cleaned_data["amount"]:
        place = partial(sizing.recorded, place, amount=amount)
    if kind:
        place = partial(protection.checked, place, kind=kind)
    return place(
        confirmed=form.cleaned_data["confirmed"],
        for_approval=sent == _effect(requested, exits, for_approval=True),
        initiator=request.user,
        account=account,
        requested=requested,
        request_key=str(form.cleaned_data["request_key"]),
        now=clock.now(),
        session_key=request.session.session_key or "",
    )


def _render_form(
    request: DeskRequest, account: Account, form: OrderForm, *, status: int = 200, review: str = ""
) -> HttpResponse:
    context = {"form": form, "review": review, "now": clock.now()}
    context |= _figures(account, form, request.user, _protects(request))
    if _is_on_desk(request):
        return _on_desk(request, context, status)
    return show(request, "exchange_ops/new_order.html", context, status=status)


def _figures(account: Account, form: OrderForm, person: Person, protect: str = "") -> dict[str, Any]:
    """Everything the ticket can say about what is typed so far; `protect` is the kind of protection that it is for."""
    code = str(form["symbol"].value() or "")[:40]
    symbol = Symbol.objects.filter(pk=code).first()
    frozen = freezes.stopping(Movement(account.pk, symbol="" if symbol is None else code))
    context: dict[str, Any] = {"now": clock.now(), "symbol": symbol, "frozen": frozen}
    if symbol is None:
        return context
    context |= {"protect": protect, "kinds": protection.KINDS.items()}
    context |= {"holding": protection.holding(account=account, symbol=symbol) if protect else None}
    interest.ask(symbol=symbol, period=READ_WITH, now=context["now"])
    buys = form["side"].value() != "sell"
    currency = symbol.quote_currency if buys else symbol.base_currency
    context |= {
        "ticker": Ticker.objects.filter(pk=symbol.pk).first(),
        "pays_with": currency,
        "balance": request_checks.available(account=account, currency=currency),
        "buys": buys,
        "rates": fee_rates.ask(account=account, symbol=symbol, person=person, now=context["now"]),
    }
    if form.is_bound and form.errors.keys() <= {CONFIRMED}:
        requested, exits = form.order_request(), form.exits()
        problems = request_checks.problems(account=account, symbol=symbol, requested=requested, now=context["now"])
        problems |= exit_prices.problems(exits=exits, requested=requested) if exits else {}
        if protect:
            problems |= protection.problems(kind=protect, account=account, symbol=symbol, requested=requested)
        if not problems:
            bounds = policy_checks.find_oversteps(
                initiator=person, account=account, symbol=symbol, requested=requested, now=context["now"]
            )
            problems = oversteps.refusals(bounds)
            context["oversteps"] = confirmations.ticks(bounds, form.cleaned_data.get("confirmed", ()))
        for_approval = any(tick.approval for tick in context.get("oversteps", ()))
        context["field_problems"] = form.by_field(problems)
        context["problems"] = live_fields.elsewhere(form, context["field_problems"])
        context["effect"] = "" if problems else _effect(requested, exits, for_approval=for_approval)
        rates = exit_prices.rates_in_quote(context["rates"], symbol)
        outcomes = exit_prices.outcomes(exits=exits, requested=requested, rates=rates) if exits else None
        context["outcomes"] = outcomes
        context["sized"], context["for_amount"] = form.size_shown, form.cleaned_data["amount"]
        context["sized_quantity"] = requested.quantity
        context["sums"] = request_checks.figures(symbol=symbol, requested=requested, rates=context["rates"])
        context["distance"] = distance.from_market(requested=requested, ticker=context["ticker"])
        context["limit_price"], context["stop_price"] = requested.price, requested.stop_price
        context["set_aside"] = request_checks.set_aside(requested=requested, sums=context["sums"])
        context["estimate"] = estimate.from_book(requested=requested, symbol=symbol, rates=context["rates"])
    return context | _shares(account, symbol, form, context)


def _shares(account: Account, symbol: Symbol, form: OrderForm, context: dict[str, Any]) -> dict[str, Any]:
    """A quarter to all of what is available, at the typed price or the market's, and the collateral."""
    has_limit = form["type"].value() not in {"market", "stopMarket"}
    at = _typed(form, "price" if has_limit else "stop_price")
    ticker, balance = context["ticker"], context["balance"]
    if at is None and ticker is not None:
        at = ticker.ask if context["buys"] else ticker.bid
    on_margin, row = bool(form["margin"].value()), collateral.account_of(account=account, symbol=symbol)
    quarters = shares.quarters(
        account=account,
        symbol=symbol,
        side=BUY if context["buys"] else SELL,
        at=at,
        available=balance.available if balance else Decimal(0),
        rates=context["rates"],
        margin=on_margin,
        has_limit=has_limit,
    )
    return {"shares": quarters, "on_margin": on_margin, "collateral": row, "free": row and collateral.free(row)}


def _typed(form: OrderForm, name: str) -> Decimal | None:
    try:
        amount: Decimal | None = form.fields[name].clean(form[name].value()) or None
    except ValidationError:
        return None
    return amount


def _effect(requested: request_checks.OrderRequest, exits: Exits | None, *, for_approval: bool = False) -> str:
    """What the button says it does."""
    does = "Request approval: " if for_approval else "Place "
    symbol = Symbol.objects.filter(pk=requested.symbol).first()
    guarded = f", {exits_title(exits, symbol)}" if exits else ""
    return f"{does}{title(requested, symbol)}{guarded}"


def _prefilled(request: DeskRequest) -> dict[str, Any]:
    """Values that a link may fill in beforehand; a person still reads and sends the form."""
    return {"request_key": fresh_key(), **prefilled(request, "symbol", "side", "type", "price", "margin")}


def _symbols() -> list[str]:
    return list(Symbol.objects.order_by("code").values_list("code", flat=True))
