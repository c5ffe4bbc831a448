"""The trading desk of one market: its chart, ladder and trades, a ticket beside them, our orders and position below.

Opening the page makes a worker read what it shows. Our orders and position are on the chart and in the ladder too, as
figures that their scripts draw; the exact ones are in the tables.
"""

from collections.abc import Callable
from typing import Any, Final

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from desk import clock
from desk.views.rendering import show
from desk.web.requests import DeskRequest
from exchange_ops.market import interest
from exchange_ops.market.models import MarketLook, Symbol
from exchange_ops.market.views import parts
from exchange_ops.orders.views import new
from exchange_ops.pages.trading import own
from exchange_ops.shared import places, rules
from exchange_ops.shared.models import Account
from exchange_ops.shared.views import accounts
from exchange_ops.shared.views.access import requires

PARTS: Final = {
    name: f"exchange_ops/market/_{name}.html"
    for name in ("now", "candles", "book", "depth", "trades", "work", "available")
}


@require_safe
@requires(rules.may_see)
def market(request: DeskRequest, symbol: str) -> HttpResponse:
    """The page; htmx asks for a single part by the id of its element. A code in small letters is redirected."""
    if symbol != symbol.upper():
        return redirect(f"{reverse('market', args=[symbol.upper()])}?{request.GET.urlencode()}".rstrip("?"))
    row, account = get_object_or_404(Symbol, code=symbol.replace("\0", "")), accounts.current(request)
    now = clock.now()
    look = interest.ask(symbol=row, period=parts.period(request), now=now)
    target = request.htmx.target if request.htmx else None
    context = parts.frame(request, row, look, now) | {"account": account, "may_trade": rules.may_trade(request.user)}
    context["elsewhere"] = places.elsewhere([account] if account else [])
    for name in [target] if target in PARTS else PARTS:
        context |= _part(name, request, row, look, account)
    if target not in PARTS:
        ticket = new.ticket(request, symbol=row.code)
        context |= {**ticket, "ticket": bool(ticket)}
    return show(request, "exchange_ops/market.html", context, parts=PARTS)


def _part(name: str, request: DeskRequest, symbol: Symbol, look: MarketLook, account: Account | None) -> dict[str, Any]:
    """The context of one part, without what other parts need."""
    may_trade = rules.may_trade(request.user)
    readers: dict[str, Callable[[], dict[str, Any]]] = {
        "now": lambda: parts.price(symbol),
        "candles": lambda: parts.candles(symbol, look),
        "book": lambda: parts.ladder(request, symbol, own.sizes(account, symbol, parts.group(request))),
        "depth": lambda: parts.picture(symbol),
        "trades": lambda: parts.trades(symbol),
        "available": lambda: own.available(account, symbol),
        "work": lambda: own.work(account, symbol, may_trade=may_trade, now=clock.now()),
    }
    return readers[name]()
