"""The account's own trades: every fill of its orders, whoever placed them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_http_methods, require_safe

from desk import clock
from desk.lists.declared import Column, List, Totals
from desk.lists.listing import Listing
from desk.views import lists
from desk.views.rendering import show
from desk.web.requests import DeskRequest
from exchange_ops.market.models import Symbol
from exchange_ops.orders.forms import TradeFilter
from exchange_ops.orders.models import AccountTrade, Order
from exchange_ops.shared import rules
from exchange_ops.shared.views import accounts
from exchange_ops.shared.views.access import requires

PARTS = {"rows": "exchange_ops/fills/_rows.html", "totals": "desk/lists/_totals.html"}
FILLS: Final = List(
    name="fills",
    one="fill",
    many="fills",
    route="fills",
    export_route="fills-export",
    cells="exchange_ops/fills/_cells.html",
    css="fills",
    filters=TradeFilter,
    order=("timestamp",),
    is_unique=False,
    totals=Totals(by=("symbol", "side"), sums={"quantity": "", "fee": "fees"}, units={}, is_named=True),
    columns=(
        Column(name="symbol", head="Symbol", css="s-name", order=("symbol", "timestamp")),
        Column(name="side", head="Side", css="s-state"),
        Column(name="quantity", head="Quantity", css="s-amount", is_end=True),
        Column(name="price", head="Price", css="s-turn", is_end=True, on_phone="at"),
        Column(name="value", head="Value", css="s-to", is_end=True, on_phone="Value"),
        Column(name="fee", head="Fee", css="s-who", is_end=True, on_phone="Fee"),
        Column(name="order", head="Order", css="f-order", on_phone="Order"),
        Column(name="liquidity", head="Liquidity", css="f-liquidity"),
        Column(name="traded", head="Traded", css="s-when", order=("timestamp",), is_time=True),
        Column(name="exchange_id", head="Exchange id", is_shown=False, is_end=True, is_mono=True),
    ),
    exported=(
        ("exchange id", "exchange_id"),
        ("traded at ({zone})", "timestamp"),
        ("symbol", "symbol"),
        ("side", "side"),
        ("quantity", "quantity"),
        ("price", "price"),
        ("value", "value"),
        ("fee", "fee"),
        ("taker", "taker"),
        ("liquidation", "liquidation"),
        ("order's exchange id", "exchange_order_id"),
        ("client order id", "client_order_id"),
    ),
    reads={"value": ("quantity", "price")},
)


@require_safe
@requires(rules.may_see)
@lists.opens(FILLS)
def fills(request: DeskRequest) -> HttpResponse:
    """The newest first unless it is sorted otherwise."""
    now = clock.now()
    return show(
        request,
        "exchange_ops/fills.html",
        {"now": now, "list": _listing(request, now), "topics": "orders"},
        parts=PARTS,
    )


@require_http_methods(["GET", "HEAD", "POST"])
@requires(rules.may_see)
def export(request: DeskRequest, form: str) -> HttpResponseBase:
    """The filtered fills as a file, or the chosen ones."""
    return lists.file(_listing(request, clock.now()), form)


def _listing(request: DeskRequest, now: datetime) -> Listing:
    rows = AccountTrade.objects.filter(account=accounts.current(request))
    return Listing(request, FILLS, rows, now=now, prepare=_with_orders)


def _with_orders(trades: Sequence[Any]) -> None:
    """Give each trade the currencies of its symbol, and the order that it filled."""
    symbols = {row.code: row for row in Symbol.objects.filter(code__in={trade.symbol for trade in trades})}
    numbers = {trade.exchange_order_id for trade in trades}
    accounts_of = {trade.account_id for trade in trades}
    orders = Order.objects.filter(account__in=accounts_of, exchange_id__in=numbers)
    known = {(order.account_id, order.exchange_id): order for order in orders}
    for trade in trades:
        trade.listed = symbols.get(trade.symbol)
        trade.order = known.get((trade.account_id, trade.exchange_order_id))
