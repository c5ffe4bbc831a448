"""One market: its price, candles, order book, trades and rules. The page asks a worker for them by being looked at."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from desk import clock
from desk.views.rendering import show
from exchange_ops.market import depth, interest, queries, topics
from exchange_ops.market.models import BookSnapshot, Candle, MarketLook, PublicTrade, Symbol
from exchange_ops.market.views import drawings
from exchange_ops.shared import rules
from exchange_ops.shared.views.access import requires

SHOWN_CANDLES, SHOWN_TRADES, SHOWN_LEVELS = 300, 30, 12
AS_TABLE = "table"

Reader = Callable[[Symbol, MarketLook], dict[str, Any]]


def _now(symbol: Symbol, look: MarketLook) -> dict[str, Any]:
    return {"line": next(iter(queries.lines(codes=[symbol.code])), None)}


def _candles(symbol: Symbol, look: MarketLook) -> dict[str, Any]:
    newest = Candle.objects.filter(symbol=symbol.code, period=look.period).order_by("-timestamp")[:SHOWN_CANDLES]
    rows = list(newest)
    return {"candles": rows, "drawn": drawings.candles(reversed(rows))}


def _book(symbol: Symbol, look: MarketLook) -> dict[str, Any]:
    book = BookSnapshot.objects.filter(symbol=symbol.code).first()
    whole = depth.ladder(book=book)
    return {"book": book, "whole": whole, "picture": drawings.depth(whole)}


def _rungs(whole: depth.Ladder, *, all_of_them: bool) -> dict[str, Any]:
    """What the ladder shows: the best levels in a fixed number of rows, so that none moves; or every level there is."""
    ladder = whole if all_of_them else whole.top(SHOWN_LEVELS)
    least = 0 if all_of_them else SHOWN_LEVELS
    sides = {"asks": ladder.ask, "bids": ladder.bid}
    return {"ladder": ladder, **{name: [*side, *[None] * (least - len(side))] for name, side in sides.items()}}


def _trades(symbol: Symbol, look: MarketLook) -> dict[str, Any]:
    return {"trades": list(PublicTrade.objects.filter(symbol=symbol.code).order_by("-trade_id")[:SHOWN_TRADES])}


READERS: dict[str, Reader] = {"now": _now, "candles": _candles, "book": _book, "trades": _trades}
PARTS = {name: f"exchange_ops/market/_{name}.html" for name in READERS}


@require_safe
@requires(rules.may_see)
def market(request: HttpRequest, symbol: str) -> HttpResponse:
    """One page; htmx asks for one part of it by the id of its element. A code in small letters is led to its page."""
    if symbol != symbol.upper():
        return redirect(f"{reverse('market', args=[symbol.upper()])}?{request.GET.urlencode()}".rstrip("?"))
    row, now = get_object_or_404(Symbol, code=symbol.replace("\0", "")), clock.now()
    look = interest.ask(symbol=row, period=_period(request), now=now)
    target = request.htmx.target if request.htmx else None  # type: ignore[attr-defined]  # by its middleware
    context: dict[str, Any] = {"now": now, "symbol": row, "look": look, **_frame(request, row, look, now)}
    for name, read in READERS.items():
        if target not in READERS or name == target:
            context |= read(row, look)
    context |= _rungs(context.get("whole", depth.Ladder()), all_of_them=context["depth_as_table"])
    return show(request, "exchange_ops/market.html", context, parts=PARTS)


def _frame(request: HttpRequest, symbol: Symbol, look: MarketLook, now: datetime) -> dict[str, Any]:
    return {
        "periods": list(interest.PERIODS),
        "topic": topics.of(symbol.code),
        "topics": {
            "book": topics.of(symbol.code, "book"),
            "trades": topics.of(symbol.code, "trades"),
            "candles": topics.of(symbol.code, "candles", period=look.period),
        },
        "places": queries.places_of(symbol.tick_size),
        "steps": queries.places_of(symbol.quantity_increment),
        "is_late": interest.is_late(look, now=now),
        "candles_as_table": request.GET.get("candles") == AS_TABLE,
        "depth_as_table": request.GET.get("depth") == AS_TABLE,
    }


def _period(request: HttpRequest) -> str:
    """The period that is asked for; another word counts as none."""
    period = request.GET.get("period", "")
    return period if period in interest.PERIODS else interest.DEFAULT_PERIOD
