"""The template contexts of a market's page for the market itself: price, candles, order book, depth, trades.

The page (`exchange_ops/pages/trading/`) adds what belongs to the account.
"""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from desk.web.requests import DeskRequest
from exchange_ops.market import depth, favourites, interest, queries, topics
from exchange_ops.market.models import BookSnapshot, Candle, MarketLook, PublicTrade, Symbol
from exchange_ops.market.views import drawings

SHOWN_CANDLES, SHOWN_TRADES, SHOWN_LEVELS = 300, 30, 12
AS_TABLE = "table"
Own = Mapping[str, Mapping[Decimal, Decimal]]


def price(symbol: Symbol) -> dict[str, Any]:
    """The last 24 hours."""
    return {"line": next(iter(queries.lines(codes=[symbol.code])), None)}


def candles(symbol: Symbol, look: MarketLook) -> dict[str, Any]:
    """The newest candles of the period that is looked at, as a table and for the chart."""
    newest = Candle.objects.filter(symbol=symbol.code, period=look.period).order_by("-timestamp")[:SHOWN_CANDLES]
    rows = list(newest)
    return {"candles": rows, "drawn": drawings.candles(reversed(rows))}


def picture(symbol: Symbol) -> dict[str, Any]:
    """The complete depth as a chart."""
    book = _book(symbol)
    ladder = depth.ladder(book=book)
    return {"book": book, "full_ladder": ladder, "picture": drawings.depth(ladder)}


def ladder(request: DeskRequest, symbol: Symbol, own: Own) -> dict[str, Any]:
    """The best levels in a fixed number of rows, so that no row moves, or every level; grouped as requested.

    `own` are the sizes of our orders by side and by the price of their row.
    """
    book, all_of_them = _book(symbol), is_whole_depth(request)
    full_ladder = depth.ladder(book=book)
    rows = depth.grouped(full_ladder, symbol.tick_size * group(request))
    best, least = (rows, 0) if all_of_them else (rows.top(SHOWN_LEVELS), SHOWN_LEVELS)
    sides = {f"{side}s": depth.rungs(getattr(best, side), least=least, own=own[side]) for side in ("ask", "bid")}
    return {"book": book, "full_ladder": full_ladder, "ladder": best, **sides}


def trades(symbol: Symbol) -> dict[str, Any]:
    """The newest public trades."""
    return {"trades": list(PublicTrade.objects.filter(symbol=symbol.code).order_by("-trade_id")[:SHOWN_TRADES])}


def frame(request: DeskRequest, symbol: Symbol, look: MarketLook, now: datetime) -> dict[str, Any]:
    """What every part needs to be shown and followed."""
    return {
        "now": now,
        "symbol": symbol,
        "look": look,
        "periods": list(interest.PERIODS),
        "groups": [(count, symbol.tick_size * count) for count in depth.GROUPS],
        "group": group(request),
        "topic": topics.topic(symbol.code),
        "topics": {
            "book": topics.topic(symbol.code, "book"),
            "trades": topics.topic(symbol.code, "trades"),
            "candles": topics.topic(symbol.code, "candles", period=look.period),
        },
        "places": queries.places_of(symbol.tick_size),
        "steps": queries.places_of(symbol.quantity_increment),
        "is_late": interest.is_late(look, now=now),
        "is_favourite": symbol.code in favourites.codes(request.user),
        "candles_as_table": request.GET.get("candles") == AS_TABLE,
        "depth_as_table": is_whole_depth(request),
    }


def is_whole_depth(request: DeskRequest) -> bool:
    """Whether every level is to be listed."""
    return request.GET.get("depth") == AS_TABLE


def group(request: DeskRequest) -> int:
    """How many ticks one row of the ladder groups; any number that is not offered counts as one."""
    text = request.GET.get("group", "")
    return int(text) if text in map(str, depth.GROUPS) else depth.GROUPS[0]


def period(request: DeskRequest) -> str:
    """The requested period, or the default."""
    wished = request.GET.get("period", "")
    return wished if wished in interest.PERIODS else interest.DEFAULT_PERIOD


def _book(symbol: Symbol) -> BookSnapshot | None:
    return BookSnapshot.objects.filter(symbol=symbol.code).first()
