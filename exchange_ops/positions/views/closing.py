"""Closing every open position at the market: a page that lists each with its estimate, and one button."""

from dataclasses import replace
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from desk import clock
from desk.fields import plain
from desk.views.rendering import show
from desk.web.requests import DeskRequest
from exchange_ops.margin import danger
from exchange_ops.margin.models import MarginPosition
from exchange_ops.market import interest
from exchange_ops.market.models import BookSnapshot, Symbol, Ticker
from exchange_ops.orders.ticket import confirmations
from exchange_ops.policy import freezes
from exchange_ops.policy.freeze_scopes import Movement
from exchange_ops.positions import estimates, request_checks, states, workflow
from exchange_ops.positions.forms import CloseAllForm
from exchange_ops.positions.request_checks import ONLY_OPERATORS, Wish
from exchange_ops.shared import rules
from exchange_ops.shared.forms import fresh_key
from exchange_ops.shared.models import Account
from exchange_ops.shared.views import accounts
from exchange_ops.shared.views.access import requires

MOST_TICKED = 200
PARTS = {"positions": "exchange_ops/margin_close_all/_positions.html"}


@require_http_methods(["GET", "HEAD", "POST"])
@requires(rules.may_trade, ONLY_OPERATORS)
def close_all(request: DeskRequest) -> HttpResponse:
    """The list and its button; sent, each position that was listed becomes an action of its own."""
    account = accounts.required(request)
    if request.method != "POST":
        return _page(request, account, CloseAllForm())
    form = CloseAllForm(request.POST)
    if not form.is_valid():
        return _page(request, account, form, status=422)
    try:
        rows = _close_all(request, account, form)
    except workflow.CannotAct as problem:
        form.refuse(problem.problems)
        return _page(request, account, form, status=409)
    named = ", ".join(f"{row.reference} ({row.symbol})" for row in rows)
    messages.success(request, f"{named}: close request{'' if len(rows) == 1 else 's'} recorded; sending now.")
    return redirect("margin")


def _close_all(request: DeskRequest, account: Account, form: CloseAllForm) -> list[Any]:
    return workflow.close_all(
        initiator=request.user,
        account=account,
        positions=form.cleaned_data["positions"],
        request_key=str(form.cleaned_data["request_key"]),
        confirmed=form.cleaned_data["confirmed"],
        now=clock.now(),
        session_key=request.session.session_key or "",
    )


def _review(request: DeskRequest, account: Account, row: MarginPosition, ticked: list[str]) -> dict[str, Any]:
    """What is against closing it, and the boxes to tick; their tokens follow the symbol."""
    there = request_checks.read_copies(account=account, code=row.symbol)
    wish = Wish(kind=states.CLOSE, symbol=row.symbol, order_type=states.MARKET, position_id=row.exchange_id)
    action = request_checks.draft(initiator=request.user, account=account, wish=wish, there=there)
    problems, overstep_list = request_checks.judge(row=action, wish=wish, there=there, now=clock.now())
    before = f"{row.symbol}:"
    tokens = [text.removeprefix(before) for text in ticked if text.startswith(before)]
    ticks = [
        replace(one, label=f"{row.symbol}: {one.label}", token=f"{before}{one.token}")
        for one in confirmations.ticks(overstep_list, tokens)
    ]
    return {"problems": list(problems.values()), "ticks": ticks}


def _lines(request: DeskRequest, account: Account, now: datetime) -> list[dict[str, Any]]:
    """Each open position with its estimate and what is against closing it."""
    rows = list(MarginPosition.objects.filter(account=account, gone_at=None).exclude(quantity=0).order_by("symbol"))
    codes = {row.symbol for row in rows}
    symbols, books = Symbol.objects.in_bulk(codes), BookSnapshot.objects.in_bulk(codes)
    tickers = Ticker.objects.in_bulk(codes)
    ticked = [*request.GET.getlist("confirmed"), *request.POST.getlist("confirmed")][:MOST_TICKED]
    lines: list[dict[str, Any]] = []
    for row in rows:
        symbol = symbols.get(row.symbol)
        if symbol is None:
            continue
        interest.ask(symbol=symbol, period=interest.DEFAULT_PERIOD, now=now)
        estimate = estimates.from_book(
            position=row, symbol=symbol, quantity=abs(row.quantity), book=books.get(row.symbol)
        )
        line = {
            "position": row,
            "symbol": symbol,
            "exposure": danger.exposure(position=row, ticker=tickers.get(row.symbol), now=now),
            "estimate": estimate,
            "warnings": estimate.warnings(now=now),
            "token": f"{row.symbol}:{row.exchange_id}:{plain(row.quantity)}",
        }
        lines.append(line | _review(request, account, row, ticked))
    return lines


def _page(request: DeskRequest, account: Account, form: CloseAllForm, *, status: int = 200) -> HttpResponse:
    now = clock.now()
    lines = _lines(request, account, now)
    context = {
        "now": now,
        "form": form,
        "request_key": fresh_key(),
        "listed": lines,
        "oversteps": [tick for one in lines for tick in one["ticks"]],
        "frozen": freezes.stopping(Movement(account.pk)),
    }
    return show(request, "exchange_ops/margin_close_all.html", context, parts=PARTS, status=status)
