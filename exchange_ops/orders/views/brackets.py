"""Brackets: the list, one of them with what became of its orders, and guarding an open order."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_http_methods, require_safe

from desk import clock
from desk.lists.declared import Column, Interface, List, Rows, Value
from desk.people import trail_readers
from desk.views.rendering import show
from desk.web.requests import DeskRequest
from exchange_ops.market.models import Symbol, Ticker
from exchange_ops.orders.api_shapes import BracketOut
from exchange_ops.orders.brackets import exit_prices, plan, results, situation, states, workflow
from exchange_ops.orders.brackets.models import Bracket
from exchange_ops.orders.forms import BracketFilter, GuardForm
from exchange_ops.orders.models import Order
from exchange_ops.orders.request_checks import CannotPlace
from exchange_ops.orders.ticket import fee_rates
from exchange_ops.orders.views.titles import exits_title
from exchange_ops.shared import rules
from exchange_ops.shared.api.resources import OfAccount
from exchange_ops.shared.views import accounts
from exchange_ops.shared.views.access import posted, requires

ONLY_OPERATORS = "Only operators can add brackets. You can view all of them."
PAGE = "exchange_ops/bracket.html"
PARTS = {name: f"exchange_ops/bracket/_{name}.html" for name in ("facts", "act", "story")}


def _rows(request: DeskRequest) -> Rows:
    rows = Bracket.objects.filter(account=accounts.current(request)).select_related("initiator", "entry")
    return Rows(rows, topics="orders")


BRACKETS: Final = List(
    name="brackets",
    title="Brackets",
    one="bracket",
    many="brackets",
    path="orders/brackets/",
    template="exchange_ops/brackets.html",
    css="brackets",
    interface=Interface(
        name="brackets",
        sentence="Brackets on the account, fifty per page, newest first.",
        shape=BracketOut,
        resource=OfAccount,
        rows=Bracket.objects.select_related("initiator", "entry").prefetch_related("legs__order"),
    ),
    rows=_rows,
    prepare=results.add,
    may_see=rules.may_see,
    filters=BracketFilter,
    columns=(
        Column("bracket", "Bracket", Value("reference", reads=("pk",)), css="s-name", order=("pk",)),
        Column("state", "State", Value("state", "label", ("state",)), css="s-state"),
        Value("outcome", "outcome_label", ("outcome",)),
        Column("symbol", "Symbol, side", Value("symbol"), css="s-to", order=("symbol",)),
        Value("side of the entry", "side"),
        Value("margin"),
        Column("entry", "Entry", Value("entry", "entry_id"), css="f-order", on_phone="Entry"),
        Column("stop", "Stop", Value("stop", "stop_price"), css="s-turn", is_end=True, on_phone="Stop"),
        Column(
            "take",
            "Take profit",
            Value("take profit", "take_price"),
            css="s-amount",
            is_end=True,
            on_phone="Take profit",
        ),
        Column("result", "Result", Value("result", "result.realised"), css="s-result", is_end=True, on_phone="Result"),
        Value("quote currency", "result.quote_currency"),
        Value("fees", "result.fees"),
        Value("fee currency", "result.fee_currency"),
        Value("result after fees", "result.after_fees"),
        Column("who", "Requested by", Value("requested by", "initiator.username"), css="s-who"),
        Column("asked", "Requested", Value("requested at ({zone})", "created_at"), css="s-when", is_time=True),
        Value("changed at ({zone})", "updated_at"),
    ),
    page="bracket symbol entry stop take state result who asked",
)


@require_safe
@requires(rules.may_see)
def bracket(request: DeskRequest, bracket_id: int) -> HttpResponse:
    """The page, or one of its parts."""
    return _render_page(request, bracket_id)


@posted(rules.may_trade, ONLY_OPERATORS)
def end(request: DeskRequest, bracket_id: int) -> HttpResponse:
    """Have everything cancelled that is open of it."""
    return _changed(request, bracket_id, workflow.end, "Cancelling the open orders. Fills are kept.")


@posted(rules.may_trade, ONLY_OPERATORS)
def let_go(request: DeskRequest, bracket_id: int) -> HttpResponse:
    """Watch it no more; its orders stay."""
    return _changed(request, bracket_id, workflow.let_go, "Take profit no longer monitored. Open orders kept.")


@posted(rules.may_trade, ONLY_OPERATORS)
def place_stop(request: DeskRequest, bracket_id: int) -> HttpResponse:
    """Have another stop placed for what has none."""
    return _changed(request, bracket_id, workflow.place_stop_again, "Placing the stop again.")


@require_http_methods(["GET", "HEAD", "POST"])
@requires(rules.may_trade, ONLY_OPERATORS)
def guard(request: DeskRequest, order_id: int) -> HttpResponse:
    """The two prices for an open order; sent, they are one bracket however often they are sent."""
    order = get_object_or_404(Order.objects.select_related("account", "initiator", "replaces"), pk=order_id)
    form = GuardForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            row = workflow.attach(order_id=order.pk, exits=form.exits(), person=request.user, **_common(request))
        except CannotPlace as problem:
            form.refuse(problem.problems)
        else:
            messages.success(request, f"{row.reference} protects fills of {order.reference}. No orders were cancelled.")
            return redirect("bracket", row.pk)
    context = {"row": order, "form": form, "now": clock.now(), "why_not": workflow.why_not(order, request.user)}
    context |= _market(order.symbol)
    status = 422 if request.method == "POST" else 200
    return show(request, "exchange_ops/order_guard.html", context, status=status)


def _changed(request: DeskRequest, number: int, change: Any, sentence: str) -> HttpResponse:
    get_object_or_404(Bracket, pk=number)
    try:
        row = change(bracket_id=number, person=request.user, **_common(request))
    except workflow.CannotEnd as problem:
        return _render_page(request, number, status=409, refusal=str(problem))
    messages.success(request, f"{row.reference}: {sentence}")
    return redirect("bracket", number)


def _common(request: DeskRequest) -> dict[str, Any]:
    return {"now": clock.now(), "session_key": request.session.session_key or ""}


def _render_page(request: DeskRequest, number: int, *, status: int = 200, refusal: str = "") -> HttpResponse:
    row = get_object_or_404(Bracket.objects.select_related("account", "initiator", "entry__initiator"), pk=number)
    now = clock.now()
    chains, may_trade = situation.read(row), rules.may_trade(request.user)
    at = situation.current(row, now=now, chains=chains)
    entry = situation.head(chains[row.entry_id])
    context: dict[str, Any] = {
        "row": row,
        "now": now,
        "at": at,
        "price": situation.fresh_price(row, now=now),
        "entry": entry,
        "lines": list(_lines(row, chains)),
        "again": plan.place_again(at),
        **_figures(row, chains, entry, now),
        "closing": _closing(row),
        "refusal": refusal,
        "drawn_for": row.state,
        "is_live": row.state in states.WATCHED and row.state != states.ENDING,
        "may_trade": may_trade,
        "may_let_go": row.state not in {states.TAKING, states.ENDING, states.CLOSED},
        "may_place_stop": row.state == states.UNGUARDED,
        "events": row.events.select_related("actor").order_by("-pk"),
        "may_audit": trail_readers.may_read_about(request.user, row.subject),
        **_market(row.symbol),
    }
    return show(request, PAGE, context, parts=PARTS, status=status)


def _lines(row: Bracket, chains: situation.Chains) -> Iterator[dict[str, Any]]:
    """Each order that counts, with what it is for, and below it what was to replace it and may be there."""
    names = {row.entry_id: "Entry"} | {leg.order_id: leg.get_role_display() for leg in row.legs.order_by("number")}
    for number, name in names.items():
        counts = situation.head(chains[number])
        yield {"order": counts, "name": name}
        for order in situation.working(chains[number]):
            if order.pk != counts.pk:
                yield {"order": order, "name": f"Replaces {counts.reference}"}


def _figures(row: Bracket, chains: situation.Chains, entry: Order, now: datetime) -> dict[str, Any]:
    """What the exits would bring for what is open, and what they have brought."""
    exits = exit_prices.Exits(row.stop_price, row.take_price)
    result, symbol = results.of(row, chains), Symbol.objects.filter(pk=row.symbol).first()
    rates = None if symbol is None else fee_rates.current(account=row.account, symbol=symbol, now=now)
    is_over = row.state == states.CLOSED
    return {
        "exits_title": exits_title(exits, None),
        "result": result,
        "outcomes": None
        if is_over
        else exit_prices.outcomes(
            exits=exits, requested=entry, rates=exit_prices.rates_in_quote(rates, symbol), result=result
        ),
    }


def _closing(row: Bracket) -> str:
    """What a ticket is filled with beforehand that closes what is left by hand."""
    terms = {"symbol": row.symbol, "side": row.exit_side, "type": "market"}
    return urlencode(terms | ({"margin": "on"} if row.margin else {}))


def _market(code: str) -> dict[str, Any]:
    """The symbol, of which there may be no copy, and its best prices as last read."""
    symbol = Symbol.objects.filter(pk=code).first() or Symbol(code=code)
    return {"symbol": symbol, "ticker": Ticker.objects.filter(pk=code).first()}
