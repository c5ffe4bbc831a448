"""Margin of one symbol: its account and position, its orders, what was done to it and what the exchange told."""

from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from desk import clock
from desk.views.rendering import show
from desk.web.requests import DeskRequest
from exchange_ops.market import interest
from exchange_ops.market.models import Symbol
from exchange_ops.orders.models import Order
from exchange_ops.orders.views import sources
from exchange_ops.policy import freezes
from exchange_ops.policy.freeze_scopes import Movement
from exchange_ops.positions.views import lines
from exchange_ops.shared import rules
from exchange_ops.shared.models import Account
from exchange_ops.shared.views import accounts
from exchange_ops.shared.views.access import requires

PARTS = {
    "standing": "exchange_ops/margin_symbol/_standing.html",
    "orders": "exchange_ops/margin_symbol/_orders.html",
    "realised": "exchange_ops/margin/_realised.html",
    "history": "exchange_ops/margin/_history.html",
}
MOST_ORDERS = 50


@require_safe
@requires(rules.may_see)
def symbol(request: DeskRequest, symbol: str) -> HttpResponse:
    """The page, or one of its parts. A code in small letters is led to its page."""
    if symbol != symbol.upper():
        return redirect("margin-symbol", symbol.upper())
    now, account = clock.now(), accounts.current(request)
    row = Symbol.objects.filter(pk=symbol).first()
    account_lines = lines.of_account(account, now=now, only=symbol)
    if row is None and not account_lines:
        raise Http404("The exchange does not list this symbol.")
    if row is not None:
        interest.glance(codes=[symbol], now=now)
    context: dict[str, Any] = {
        "now": now,
        "code": symbol,
        "symbol": row or Symbol(code=symbol),
        "line": next(iter(account_lines), None),
        "source": sources.of_orders(account, now),
        "may_trade": rules.may_trade(request.user),
        "frozen": account and freezes.stopping(Movement(account.pk, symbol=symbol)),
    }
    return show(request, "exchange_ops/margin_symbol.html", context | _more(account, symbol), parts=PARTS)


def _more(account: Account | None, symbol: str) -> dict[str, Any]:
    orders = Order.objects.filter(account=account, symbol=symbol, margin=True).order_by("-active", "-pk")
    return {
        "orders": orders[:MOST_ORDERS],
        **lines.realised(account, only=symbol, listed=lines.MOST_REPORTS),
        "reports": lines.reports(account, only=symbol),
        "liquidations": lines.liquidations(account, only=symbol),
        "actions": lines.actions(account, only=symbol),
    }
