"""Margin as last read: accounts, positions, and the prices at which they are in danger. Nothing can be done here."""

from datetime import datetime
from decimal import Decimal
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from desk import clock
from desk.views.rendering import show
from exchange_ops.margin.models import MarginAccount, MarginPosition
from exchange_ops.market.models import Symbol, Ticker
from exchange_ops.orders.models import OrderReading
from exchange_ops.orders.views import sources
from exchange_ops.shared import rules
from exchange_ops.shared.models import Account
from exchange_ops.shared.views import accounts
from exchange_ops.shared.views.access import requires

PARTS = {"rows": "exchange_ops/margin/_rows.html", "age": "exchange_ops/orders/_age.html"}


@require_safe
@requires(rules.may_see)
def margin(request: HttpRequest) -> HttpResponse:
    """One row a symbol, its position beside it."""
    now, account = clock.now(), accounts.current(request)
    context: dict[str, Any] = {
        "now": now,
        "lines": _lines(account, now),
        "back": "margin",
        "source": sources.of_orders(account, now),
        "reading_waits": OrderReading.objects.filter(account=account, answered_at=None).exists(),
        "may_trade": rules.may_trade(request.user),
    }
    return show(request, "exchange_ops/margin.html", context, parts=PARTS)


def _lines(account: Account | None, now: datetime) -> list[dict[str, Any]]:
    """Accounts with their positions, from four queries however many there are."""
    held = list(MarginAccount.objects.filter(account=account, gone_at=None).order_by("symbol"))
    positions = {row.symbol: row for row in MarginPosition.objects.filter(account=account, gone_at=None)}
    codes = {row.symbol for row in held}
    symbols, tickers = Symbol.objects.in_bulk(codes), Ticker.objects.in_bulk(codes)
    return [
        {
            "account": row,
            "position": positions.get(row.symbol),
            **_prices(positions.get(row.symbol)),
            "symbol": symbols.get(row.symbol) or Symbol(code=row.symbol),  # one we have no copy of
            "free": row.margin_balance - row.margin_balance_orders - row.margin_balance_required,
            "last": _last(tickers.get(row.symbol)),
        }
        for row in held
    ]


def _prices(position: MarginPosition | None) -> dict[str, Decimal | None]:
    names = ("price_entry", "pnl", "price_margin_call", "price_liquidation")
    return {name: getattr(position, name, None) for name in names}


def _last(ticker: Ticker | None) -> Decimal | None:
    return ticker.last if ticker else None
