"""Parts and small actions of market pages: older candles of a chart, search for a symbol while typing, favourites."""

from datetime import UTC, datetime
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_safe

from desk import clock
from desk.views.rendering import show
from desk.web.requests import DeskRequest
from exchange_ops.market import favourites, history, queries, topics
from exchange_ops.market.models import Symbol
from exchange_ops.market.views import drawings, parts
from exchange_ops.shared import rules
from exchange_ops.shared.views.access import posted, requires

MOST_FOUND = 12
_LONGEST_SECOND = 11


@require_safe
@requires(rules.may_see)
def older(request: DeskRequest, symbol: str) -> HttpResponse:
    """The candles before a second, for the chart; while a worker reads them, the part reloads itself."""
    row, period, moment = _named(symbol), parts.period(request), _second(request.GET.get("before", ""))
    candles = history.before(symbol=row.code, period=period, moment=moment, person=request.user, now=clock.now())
    context = {
        "symbol": row,
        "older": candles,
        "topic": topics.topic(row.code, "history", period=period),
        "drawn": drawings.candles(reversed(candles.rows)),
    }
    return show(request, "exchange_ops/market/_older.html", context)


@require_safe
@requires(rules.may_see)
def find(request: DeskRequest) -> HttpResponse:
    """The choice of another symbol: favourites until something is typed, then the matches."""
    text = request.GET.get("text", "")
    lines = (
        queries.search(text=text, most=MOST_FOUND)
        if text.strip()
        else queries.lines(codes=favourites.codes(request.user))
    )
    context: dict[str, Any] = {"lines": lines, "text": text, "period": request.GET.get("period", "")}
    return show(request, "exchange_ops/market/_found.html", context)


@posted(rules.may_see)
def star(request: DeskRequest, symbol: str) -> HttpResponse:
    """Add a symbol to one's favourites, or remove it."""
    row, is_favourite = _named(symbol), request.POST.get("on") == "yes"
    try:
        if is_favourite:
            favourites.mark(person=request.user, symbol=row, now=clock.now())
        else:
            favourites.unmark(person=request.user, symbol=row)
    except favourites.TooMany as problem:
        is_favourite = False
        messages.warning(request, str(problem))
    if not request.htmx:
        return redirect("market", row.code)
    return show(request, "exchange_ops/market/_star.html", {"symbol": row, "is_favourite": is_favourite})


def _named(code: str) -> Symbol:
    return get_object_or_404(Symbol, code=code.replace("\0", ""))


def _second(text: str) -> datetime:
    if not (text.isascii() and text.isdigit() and len(text) <= _LONGEST_SECOND):
        raise Http404("A time is required.")
    return datetime.fromtimestamp(int(text), UTC)
