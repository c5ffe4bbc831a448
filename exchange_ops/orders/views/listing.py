"""The list of orders, filtered by its address, the same rows as a file, and what can be done with all of them."""

from datetime import datetime
from typing import Any
from urllib.parse import quote

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from desk import clock
from desk.models import Person
from desk.views.rendering import show
from desk.web import paging
from exchange_ops.orders import machine
from exchange_ops.orders import workflow as domain
from exchange_ops.orders.forms import CancelAllForm, OrderFilter
from exchange_ops.orders.models import Order, OrderReading
from exchange_ops.orders.views import sources
from exchange_ops.shared import rules
from exchange_ops.shared.models import Account
from exchange_ops.shared.views import accounts, exports
from exchange_ops.shared.views.access import posted, requires

ONLY_OPERATORS = "Operators place and cancel orders. You can look at every order in the list."
NEWEST = 10**18 - 1  # every order there is
PARTS = {"rows": "exchange_ops/orders/_rows.html", "age": "exchange_ops/orders/_age.html"}
COLUMNS = (
    ("reference", "reference"),
    ("state at the desk", "label"),
    ("status at the exchange", "status"),
    ("open", "is_open"),
    ("symbol", "symbol"),
    ("side", "side"),
    ("type", "type"),
    ("time in force", "time_in_force"),
    ("quantity", "quantity"),
    ("price", "price"),
    ("stop price", "stop_price"),
    ("filled", "cum_quantity"),
    ("average price", "average_price"),
    ("post-only", "post_only"),
    ("margin", "margin"),
    ("placed by", "initiator.username"),
    ("asked at or first seen (UTC)", "created_at"),
    ("made at the exchange (UTC)", "exchange_created_at"),
    ("changed at the exchange (UTC)", "exchange_updated_at"),
    ("replaces", "replaces_id"),
    ("client order id", "client_order_id"),
    ("exchange id", "exchange_id"),
)


@require_safe
@requires(rules.may_see)
def orders(request: HttpRequest) -> HttpResponse:
    """Fifty rows a page, newest first; the open ones unless asked otherwise."""
    return render_page(request)


def render_page(request: HttpRequest, *, status: int = 200, refusal: str = "") -> HttpResponse:
    """The list, with a sentence about what was refused."""
    now, account = clock.now(), accounts.current(request)
    filters = OrderFilter(request.GET)
    page = paging.page(request, filters.narrow(_rows(account)), key="pk")
    context: dict[str, Any] = {
        "now": now,
        "filters": filters,
        "chosen": filters.chosen(),
        "page": page,
        "may_trade": rules.may_trade(request.user),
        "refusal": refusal,
        **_age(account, now),
        **_to_cancel(account, request.user, filters),
    }
    return show(request, "exchange_ops/orders.html", context, parts=PARTS, status=status)


@require_safe
@requires(rules.may_see)
def export(request: HttpRequest) -> HttpResponse:
    """The filtered rows as CSV."""
    now, filters = clock.now(), OrderFilter(request.GET)
    rows = filters.narrow(_rows(accounts.current(request)))
    return exports.export(request, rows, COLUMNS, name="orders", chosen=filters.chosen(), now=now)


@posted(rules.may_trade, ONLY_OPERATORS)
def refresh(request: HttpRequest) -> HttpResponse:
    """Have the exchange's lists read now; a worker does, and the page hears of it."""
    domain.ask_to_read(account=accounts.required(request), person=request.user, now=clock.now())
    messages.info(request, "The exchange's lists are being read again. Nothing was placed or cancelled.")
    return redirect("margin" if request.POST.get("back") == "margin" else "orders")


@posted(rules.may_trade, ONLY_OPERATORS)
def cancel_all(request: HttpRequest) -> HttpResponse:
    """Cancel the open orders that the person saw, of one symbol or of all."""
    form = CancelAllForm(request.POST)
    if not form.is_valid():
        return render_page(request, status=422, refusal="Nothing was cancelled: the form was not whole. Press again.")
    symbol = form.cleaned_data["symbol"].upper()
    count = domain.cancel_all(
        account=accounts.required(request),
        symbol=symbol,
        newest=int(form.cleaned_data["newest"] or NEWEST),
        person=request.user,
        now=clock.now(),
        session_key=request.session.session_key or "",
    )
    sentence = (
        f"{count} order{'' if count == 1 else 's'} requested to be cancelled."
        if count
        else "No open order was left to cancel."
    )
    messages.success(request, f"{sentence} Each says when the exchange has confirmed it.")
    return redirect(f"{reverse('orders')}?view=all&symbol={quote(symbol)}" if symbol else reverse("orders"))


def _rows(account: Account | None) -> QuerySet[Order]:
    return Order.objects.filter(account=account).select_related("initiator").prefetch_related("replacements")


def _age(account: Account | None, now: datetime) -> dict[str, Any]:
    """When the exchange's lists were last read, and what was wrong with it."""
    waits = OrderReading.objects.filter(account=account, answered_at=None).exists()
    return {"source": sources.of_orders(account, now), "reading_waits": waits, "back": "orders"}


def _to_cancel(account: Account | None, person: Person, filters: OrderFilter) -> dict[str, Any]:
    """How many open orders a person could cancel at once, of the symbol that is filtered by or of all."""
    if account is None or not rules.may_trade(person):
        return {}
    symbol = str(filters.chosen().get("symbol", "")).upper()
    rows = Order.objects.filter(account=account, active=True, state__in=machine.CANCELLABLE)
    numbers = list((rows.filter(symbol=symbol) if symbol else rows).values_list("pk", flat=True))
    if not numbers:
        return {}
    of = f" of {symbol}" if symbol else ""
    count = f"all {len(numbers)} open orders{of}" if len(numbers) > 1 else f"the one open order{of}"
    return {"cancel_symbol": symbol, "cancel_newest": max(numbers), "cancel_what": count}
